//! The words of an ignore: `startorder: ignore[rule, rule] reason`.

use crate::nearness::distance;

/// What stands between the brackets, and behind them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Directive<'t> {
    /// The rules, each with its place in the comment; none when the brackets are missing or empty.
    pub rules: Vec<(usize, &'t str)>,
    /// Why; may be empty.
    pub reason: &'t str,
}

/// What a word of ours in a comment begins with.
pub(super) const MARK: &str = "startorder:";

impl<'t> Directive<'t> {
    /// Reads a comment, `#` included. An ignore may follow another comment:
    /// `# our proxy # startorder: ignore[rule]`.
    pub fn parse(comment: &'t str) -> Option<Directive<'t>> {
        let mut marks = comment.match_indices('#');
        let own = marks.find_map(|(at, _)| comment[at + 1..].trim_start().strip_prefix(MARK))?;
        let text = own.trim_start();
        let verb = text.split(|char: char| !char.is_alphabetic()).next();
        let verb = verb.unwrap_or_default();
        if verb != "ignore" {
            let is_meant = !verb.is_empty() && distance(verb, "ignore") <= 2;
            return is_meant.then_some(Directive::without_rules(text));
        }
        let behind = text[verb.len()..].trim_start();
        let inside = behind.strip_prefix('[').and_then(|it| it.split_once(']'));
        let Some((inside, reason)) = inside else {
            return Some(Directive::without_rules(behind));
        };
        Some(Directive {
            rules: words(inside, |char| char == ',')
                .map(|word| (offset(comment, word), word))
                .collect(),
            reason: reason
                .trim_start_matches(|char: char| char.is_whitespace() || ":-–—".contains(char))
                .trim_end(),
        })
    }

    fn without_rules(reason: &'t str) -> Directive<'t> {
        Directive {
            rules: Vec::new(),
            reason: reason.trim(),
        }
    }
}

/// The words between separators, without blanks around them.
pub(super) fn words(text: &str, is_separator: fn(char) -> bool) -> impl Iterator<Item = &str> {
    let words = text.split(is_separator).map(str::trim);
    words.filter(|word| !word.is_empty())
}

/// Where a part of a text begins in it.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(comment: &str, rules: &[&str], reason: &str) {
        let directive = Directive::parse(comment).expect("an ignore");
        let names: Vec<&str> = directive.rules.iter().map(|(_, name)| *name).collect();
        assert_eq!((names.as_slice(), directive.reason), (rules, reason));
        for (at, name) in &directive.rules {
            assert!(comment[*at..].starts_with(name));
        }
    }

    #[test]
    fn rules_and_reason_are_read_as_people_write_them() {
        reads(
            "# startorder: ignore[a-b] spans wait",
            &["a-b"],
            "spans wait",
        );
        reads("#startorder:ignore[ a , b,]", &["a", "b"], "");
        reads(
            "# ours # startorder: ignore [a]: see #12",
            &["a"],
            "see #12",
        );
        reads("# startorder: ignore a-b", &[], "a-b");
        reads("# startorder: ignore[] why", &[], "why");
        reads("# startorder: ignroe[a]", &[], "ignroe[a]");
    }

    #[test]
    fn other_comments_say_nothing() {
        for comment in [
            "# ignore[a]",
            "# startorder: see below",
            "# no startorder: ignore[a]",
        ] {
            assert_eq!(Directive::parse(comment), None, "{comment}");
        }
    }
}
