//! `test`, `[` and `[[`.

use super::rehearsal::Rehearsal;
use super::trace::{Arg, Request};
use super::value::{Knowledge, Value};

/// How deep parentheses and negations may be nested.
const MAX_DEPTH: usize = 32;

/// Answers that mean that what was asked is not there yet.
const NEGATIVE: [&str; 18] = [
    "",
    "000",
    "0",
    "1",
    "false",
    "null",
    "no",
    "not",
    "error",
    "refused",
    "starting",
    "pending",
    "initializ",
    "unavailable",
    "loading",
    "unhealthy",
    "nxdomain",
    "503",
];

/// Whether a text that a check may print says that it failed.
pub(super) fn is_negative(text: &str) -> bool {
    let text = text
        .trim_matches(['"', '\'', '*', ' '])
        .to_ascii_lowercase();
    NEGATIVE.iter().any(|negative| {
        text == *negative
            || (negative.len() > 3 && negative.parse::<u16>().is_err() && text.contains(negative))
    })
}

/// A test that is being evaluated.
struct Reader<'t> {
    words: &'t [Arg],
    at: usize,
    depth: usize,
}

/// Whether the words of a test (without the brackets) hold; none when nobody knows.
pub(super) fn holds(rehearsal: &mut Rehearsal<'_>, words: &[Arg]) -> Option<bool> {
    let mut reader = Reader {
        words,
        at: 0,
        depth: 0,
    };
    if words.is_empty() {
        return Some(false);
    }
    let result = reader.either(rehearsal);
    if reader.at < words.len() {
        return None;
    }
    result
}

impl<'t> Reader<'t> {
    fn peek(&self) -> &'t str {
        self.text(0)
    }

    fn text(&self, ahead: usize) -> &'t str {
        self.words
            .get(self.at + ahead)
            .map_or("", |word| word.value.text.as_str())
    }

    fn either(&mut self, rehearsal: &mut Rehearsal<'_>) -> Option<bool> {
        let mut left = self.both(rehearsal);
        while ["-o", "||"].contains(&self.peek()) {
            self.at += 1;
            let right = self.both(rehearsal);
            left = match (left, right) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                (None, _) | (_, None) => None,
            };
        }
        left
    }

    fn both(&mut self, rehearsal: &mut Rehearsal<'_>) -> Option<bool> {
        let mut left = self.negation(rehearsal);
        while ["-a", "&&"].contains(&self.peek()) {
            self.at += 1;
            let right = self.negation(rehearsal);
            left = match (left, right) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                (None, _) | (_, None) => None,
            };
        }
        left
    }

    fn negation(&mut self, rehearsal: &mut Rehearsal<'_>) -> Option<bool> {
        if self.depth >= MAX_DEPTH {
            self.at = self.words.len();
            return None;
        }
        self.depth += 1;
        let result = if self.peek() == "!" && self.at + 1 < self.words.len() {
            self.at += 1;
            self.negation(rehearsal).map(|holds| !holds)
        } else if self.peek() == "(" && !is_comparison(self.text(1)) {
            self.at += 1;
            let inner = self.either(rehearsal);
            self.at += usize::from(self.peek() == ")");
            inner
        } else {
            self.primary(rehearsal)
        };
        self.depth -= 1;
        result
    }

    fn primary(&mut self, rehearsal: &mut Rehearsal<'_>) -> Option<bool> {
        let words = self.words.get(self.at..).unwrap_or_default();
        if let [left, operator, right, ..] = words
            && is_comparison(&operator.value.text)
        {
            self.at += 3;
            return compare(rehearsal, &left.value, &operator.value.text, &right.value);
        }
        if let [operator, operand, ..] = words
            && let Some(letter) = operator.value.text.strip_prefix('-')
            && letter.len() == 1
        {
            self.at += 2;
            return unary(rehearsal, letter, operand);
        }
        self.at += usize::from(!words.is_empty());
        is_filled(&words.first()?.value)
    }
}

fn is_comparison(text: &str) -> bool {
    const OPERATORS: [&str; 14] = [
        "=", "==", "!=", "=~", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot",
    ];
    OPERATORS.contains(&text)
}

fn is_filled(value: &Value) -> Option<bool> {
    match value.knowledge {
        Knowledge::Known => Some(!value.text.is_empty()),
        Knowledge::Answer(good) => Some(good),
        // Something known beside the unknown part fills it all the same.
        Knowledge::Unknown => None,
    }
}

fn unary(rehearsal: &mut Rehearsal<'_>, letter: &str, operand: &Arg) -> Option<bool> {
    match letter {
        "n" => is_filled(&operand.value),
        "z" => is_filled(&operand.value).map(|filled| !filled),
        "e" | "f" | "d" | "s" | "S" | "p" | "r" | "w" | "x" | "h" | "L" | "b" | "c" => rehearsal
            .ask(&Request::FileTest { path: operand })
            .succeeds(),
        _ => None,
    }
}

fn compare(
    rehearsal: &mut Rehearsal<'_>,
    left: &Value,
    operator: &str,
    right: &Value,
) -> Option<bool> {
    match (left.knowledge, right.knowledge) {
        (Knowledge::Answer(good), _) => Some(judge(good, operator, &right.text)),
        (_, Knowledge::Answer(good)) => Some(judge(good, mirrored(operator), &left.text)),
        (Knowledge::Unknown, _) | (_, Knowledge::Unknown) => None,
        (Knowledge::Known, Knowledge::Known) => {
            if left.number().is_some() && right.number().is_some() {
                rehearsal.numbers_compared += 1;
            }
            compare_known(left, operator, right)
        }
    }
}

fn compare_known(left: &Value, operator: &str, right: &Value) -> Option<bool> {
    match operator {
        "=" | "==" => Some(fits(&left.text, &right.text)),
        "!=" => Some(!fits(&left.text, &right.text)),
        "<" => Some(left.text < right.text),
        ">" => Some(left.text > right.text),
        "-eq" => Some(left.number()? == right.number()?),
        "-ne" => Some(left.number()? != right.number()?),
        "-lt" => Some(left.number()? < right.number()?),
        "-le" => Some(left.number()? <= right.number()?),
        "-gt" => Some(left.number()? > right.number()?),
        "-ge" => Some(left.number()? >= right.number()?),
        _ => None,
    }
}

/// What a comparison of a check's answer means: scripts compare with what they hope for, unless the
/// other side is a word of failure.
fn judge(good: bool, operator: &str, other: &str) -> bool {
    let equal = good != is_negative(other);
    match operator {
        "!=" | "-ne" => !equal,
        "-lt" | "-le" | "<" => !good,
        "-gt" | "-ge" | ">" => good,
        _ => equal,
    }
}

fn mirrored(operator: &str) -> &str {
    match operator {
        "-lt" => "-gt",
        "-le" => "-ge",
        "-gt" => "-lt",
        "-ge" => "-le",
        other => other,
    }
}

/// Whether a text fits a pattern in which `*` stands for anything.
pub(super) fn fits(text: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for piece in pieces {
        if let Some(previous) = last.replace(piece) {
            let Some(found) = rest.find(previous) else {
                return false;
            };
            rest = &rest[found + previous.len()..];
        }
    }
    match last {
        Some(last) => rest.ends_with(last),
        None => rest.is_empty(),
    }
}
