//! Commands that were read before. Reading one means to walk it several times, and the same script
//! stands in many manifests, and in each of them before and after every fix that is tried.

use super::waits::{self, Reading};
use crate::shell::Surroundings;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// The most commands that a thread remembers.
const MOST: usize = 4096;

/// A reading, with all that it asked of its surroundings.
struct Known {
    variables: Vec<(String, Option<String>)>,
    unknown: Vec<(String, bool)>,
    files: Vec<(String, Option<String>)>,
    reading: Arc<Reading>,
}

impl Known {
    /// Whether these surroundings give the same answers, so that the reading would be the same.
    fn fits(&self, surroundings: Surroundings<'_>) -> bool {
        let variable =
            |(name, value): &(String, Option<String>)| (surroundings.env)(name) == *value;
        let unknown =
            |(name, may_be_set): &(String, bool)| (surroundings.may_be_set)(name) == *may_be_set;
        let file = |(path, text): &(String, Option<String>)| (surroundings.file)(path) == *text;
        self.variables.iter().all(variable)
            && self.unknown.iter().all(unknown)
            && self.files.iter().all(file)
    }
}

thread_local! {
    static READINGS: RefCell<HashMap<Vec<String>, Vec<Known>>> = RefCell::default();
}

/// [`waits::read_anew`], but what was read before in the same surroundings is not read again.
pub(super) fn read(words: &[String], surroundings: Surroundings<'_>) -> Arc<Reading> {
    let remembered = READINGS.with_borrow(|readings| {
        let known = readings
            .get(words)?
            .iter()
            .find(|known| known.fits(surroundings))?;
        Some(Arc::clone(&known.reading))
    });
    remembered.unwrap_or_else(|| read_and_remember(words, surroundings))
}

fn read_and_remember(words: &[String], surroundings: Surroundings<'_>) -> Arc<Reading> {
    let variables = RefCell::new(Vec::new());
    let unknown = RefCell::new(Vec::new());
    let files = RefCell::new(Vec::new());
    let reading = Arc::new(waits::read_anew(
        words,
        Surroundings {
            env: &|name| noted(&variables, name, (surroundings.env)(name)),
            may_be_set: &|name| noted(&unknown, name, (surroundings.may_be_set)(name)),
            file: &|path| noted(&files, path, (surroundings.file)(path)),
        },
    ));
    let known = Known {
        variables: variables.into_inner(),
        unknown: unknown.into_inner(),
        files: files.into_inner(),
        reading: Arc::clone(&reading),
    };
    READINGS.with_borrow_mut(|readings| {
        if readings.len() >= MOST {
            readings.clear();
        }
        readings.entry(words.to_vec()).or_default().push(known);
    });
    reading
}

/// Notes what was asked, and passes the answer on.
fn noted<T: Clone>(asked: &RefCell<Vec<(String, T)>>, name: &str, answer: T) -> T {
    let mut asked = asked.borrow_mut();
    if !asked.iter().any(|(known, _)| known == name) {
        asked.push((name.to_owned(), answer.clone()));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waited_for(words: &[String], host: &str) -> String {
        let env = |name: &str| (name == "HOST").then(|| host.to_owned());
        let surroundings = Surroundings {
            env: &env,
            may_be_set: &|_| false,
            file: &|_| None,
        };
        let reading = read(words, surroundings);
        format!("{:?}", reading.waits.first().map(|wait| &wait.target))
    }

    #[test]
    fn other_variables_make_another_reading() {
        let script = "until nc -z $HOST 5432; do sleep 1; done";
        let words: Vec<String> = ["sh", "-c", script].map(str::to_owned).into();
        assert!(waited_for(&words, "one").contains("one"));
        assert!(waited_for(&words, "two").contains("two"));
        assert_eq!(waited_for(&words, "one"), waited_for(&words, "one"));
    }
}
