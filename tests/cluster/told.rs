//! What `watch -o json` tells, ready to be asked.

use jiff::Timestamp;
use libtest_mimic::Failed;
use serde_json::Value;

/// The lines of one run.
#[derive(Debug)]
pub struct Told {
    lines: Vec<Value>,
}

/// An instant between two certain bounds.
#[derive(Debug)]
pub struct Between {
    pub not_before: Option<Timestamp>,
    pub not_after: Option<Timestamp>,
    pub estimate: Option<Timestamp>,
}

impl Told {
    /// Reads standard output; each interval in it holds its own estimate.
    pub fn read(stdout: &str) -> Result<Told, Failed> {
        let lines: Vec<Value> = stdout
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()?;
        let told = Told { lines };
        for line in told.of_type("milestone") {
            let between = Between::read(line);
            let is_within = between.not_before <= between.estimate
                && (between.not_after.is_none() || between.estimate <= between.not_after);
            if between.estimate.is_some() && !is_within {
                return Err(format!("the estimate is outside of its bounds: {line}").into());
            }
        }
        Ok(told)
    }

    fn of_type<'t>(&'t self, word: &'t str) -> impl Iterator<Item = &'t Value> {
        self.lines.iter().filter(move |line| line["type"] == word)
    }

    /// The first instant of this kind: `container` is empty for the pod's own.
    pub fn instant(&self, container: &str, event: &str) -> Result<Between, Failed> {
        let line = self.of_type("milestone").find(|line| {
            line["container"].as_str().unwrap_or_default() == container && line["event"] == event
        });
        let line = line.ok_or_else(|| format!("no {event} of {container:?}: {self:#?}"))?;
        Ok(Between::read(line))
    }

    /// How many instants of this kind there are.
    pub fn count(&self, container: &str, event: &str) -> usize {
        self.of_type("milestone")
            .filter(|line| line["container"] == container && line["event"] == event)
            .count()
    }

    /// The verdict about what `after` waits for, and its basis.
    pub fn verdict(&self, before: &str, after: &str) -> Result<(&str, &str), Failed> {
        let verdict = self.of_type("verdict").find(|line| {
            line["before"]["container"] == before && line["after"]["container"] == after
        });
        let verdict =
            verdict.ok_or_else(|| format!("no verdict on {before} and {after}: {self:#?}"))?;
        let word = |key: &str| verdict[key].as_str().unwrap_or_default();
        Ok((word("verdict"), word("basis")))
    }

    /// All verdicts.
    pub fn verdicts(&self) -> Vec<&str> {
        let words = self.of_type("verdict").map(|line| line["verdict"].as_str());
        words.map(Option::unwrap_or_default).collect()
    }

    /// The closing line of each pod.
    pub fn summaries(&self) -> Vec<&Value> {
        self.of_type("summary").collect()
    }

    /// The closing line of the only pod.
    pub fn summary(&self) -> Result<&Value, Failed> {
        match self.summaries().as_slice() {
            [only] => Ok(only),
            several => Err(format!("{} summaries", several.len()).into()),
        }
    }

    /// Fails unless these happened one after the other, as far as is known.
    pub fn is_in_order(&self, steps: &[(&str, &str)]) -> Result<(), Failed> {
        for pair in steps.windows(2) {
            let (first, second) = (self.instant_of(pair[0])?, self.instant_of(pair[1])?);
            if first.estimate.is_none() || first.estimate > second.estimate {
                return Err(format!("{:?} is not before {:?}: {self:#?}", pair[0], pair[1]).into());
            }
        }
        Ok(())
    }

    /// Fails unless one certainly happened before the other.
    pub fn is_certainly_before(
        &self,
        first: (&str, &str),
        second: (&str, &str),
    ) -> Result<(), Failed> {
        let (before, after) = (self.instant_of(first)?, self.instant_of(second)?);
        match (before.not_after, after.not_before) {
            (Some(end), Some(start)) if end <= start => Ok(()),
            _ => Err(format!("{first:?} {before:?} may be after {second:?} {after:?}").into()),
        }
    }

    fn instant_of(&self, (container, event): (&str, &str)) -> Result<Between, Failed> {
        self.instant(container, event)
    }
}

impl Between {
    fn read(line: &Value) -> Between {
        let at = |key: &str| line[key].as_str().and_then(|text| text.parse().ok());
        Between {
            not_before: at("notBefore"),
            not_after: at("notAfter"),
            estimate: at("estimate"),
        }
    }
}

/// Fails with a sentence and what it is about.
pub fn expect(holds: bool, sentence: &str, about: &impl std::fmt::Debug) -> Result<(), Failed> {
    match holds {
        true => Ok(()),
        false => Err(format!("{sentence}: {about:#?}").into()),
    }
}
