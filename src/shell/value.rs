//! What is known of a text that a script works with.

/// A text, and how far it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The text; what is not known of it stands there as it is written in the script.
    pub text: String,
    /// How far it is known.
    pub knowledge: Knowledge,
}

/// How far a text is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// It is exactly this.
    Known,
    /// Nobody knows it, or not all of it.
    Unknown,
    /// Something a check printed: true when it found what it looked for.
    Answer(bool),
}

/// The longest value that is kept; a longer one is not known.
const MAX_LENGTH: usize = 8192;

impl Value {
    /// A text that is known.
    pub fn known(text: impl Into<String>) -> Value {
        Value {
            text: text.into(),
            knowledge: Knowledge::Known,
        }
    }

    /// A text that is not known, by the words that stand for it.
    pub fn unknown(text: impl Into<String>) -> Value {
        Value {
            text: text.into(),
            knowledge: Knowledge::Unknown,
        }
    }

    /// What a check printed.
    pub fn answer(is_good: bool) -> Value {
        Value {
            text: String::new(),
            knowledge: Knowledge::Answer(is_good),
        }
    }

    /// The text, when it is known.
    pub fn as_known(&self) -> Option<&str> {
        (self.knowledge == Knowledge::Known).then_some(self.text.as_str())
    }

    /// The whole number that it is.
    pub(super) fn number(&self) -> Option<i64> {
        self.as_known()?.trim().parse().ok()
    }

    /// Puts another value behind this one.
    pub(super) fn push(&mut self, next: &Value) {
        self.knowledge = match (self.knowledge, next.knowledge) {
            (Knowledge::Answer(good), _) | (_, Knowledge::Answer(good)) => Knowledge::Answer(good),
            (Knowledge::Unknown, _) | (_, Knowledge::Unknown) => Knowledge::Unknown,
            (Knowledge::Known, Knowledge::Known) => Knowledge::Known,
        };
        if self.text.len() + next.text.len() > MAX_LENGTH {
            self.knowledge = match self.knowledge {
                Knowledge::Known => Knowledge::Unknown,
                other => other,
            };
            return;
        }
        self.text.push_str(&next.text);
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// With this exit code.
    Known(u8),
    /// Nobody knows.
    Unknown,
}

impl Status {
    /// Exit code 0.
    pub const OK: Status = Status::Known(0);
    /// Exit code 1.
    pub const FAILED: Status = Status::Known(1);

    /// The status of a condition.
    pub fn of(holds: Option<bool>) -> Status {
        match holds {
            Some(true) => Status::OK,
            Some(false) => Status::FAILED,
            None => Status::Unknown,
        }
    }

    /// Whether it is a success.
    pub fn succeeds(self) -> Option<bool> {
        match self {
            Status::Known(code) => Some(code == 0),
            Status::Unknown => None,
        }
    }
}
