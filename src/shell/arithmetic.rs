//! The value of `$((…))`.

use super::cursor::is_name;
use std::collections::BTreeMap;

/// How deep an expression may be nested.
const MAX_DEPTH: usize = 32;

/// Binary operators, the loosest first.
const LEVELS: [&[&str]; 6] = [
    &["||"],
    &["&&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// The result of an expression and the variables that it sets.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The value; none when it is not known.
    pub(super) value: Option<i64>,
    /// Variables with their new values; none for one that is no longer known.
    pub(super) sets: BTreeMap<String, Option<i64>>,
}

/// Evaluates an expression; `get` knows the numbers that variables hold.
pub(super) fn evaluate(text: &str, get: &dyn Fn(&str) -> Option<i64>) -> Outcome {
    let mut reader = Reader {
        tokens: tokens(text),
        at: 0,
        depth: 0,
        get,
        sets: BTreeMap::new(),
    };
    let mut value = reader.expression();
    while reader.take(",") {
        value = reader.expression();
    }
    if reader.at < reader.tokens.len() {
        value = None;
    }
    Outcome {
        value,
        sets: reader.sets,
    }
}

fn tokens(text: &str) -> Vec<&str> {
    const LONG: [&str; 12] = [
        "||", "&&", "==", "!=", "<=", ">=", "++", "--", "+=", "-=", "*=", "/=",
    ];
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        let length = match LONG.iter().find(|long| rest.starts_with(**long)) {
            _ if word > 0 => word,
            Some(long) => long.len(),
            None => first.len_utf8(),
        };
        // `$` before a name adds nothing.
        if first != '$' {
            tokens.push(&rest[..length]);
        }
        rest = rest[length..].trim_start();
    }
    tokens
}

struct Reader<'a> {
    tokens: Vec<&'a str>,
    at: usize,
    depth: usize,
    get: &'a dyn Fn(&str) -> Option<i64>,
    sets: BTreeMap<String, Option<i64>>,
}

impl<'a> Reader<'a> {
    fn peek(&self, ahead: usize) -> &'a str {
        self.tokens
            .get(self.at + ahead)
            .copied()
            .unwrap_or_default()
    }

    fn take(&mut self, token: &str) -> bool {
        let there = self.peek(0) == token;
        self.at += usize::from(there);
        there
    }

    fn expression(&mut self) -> Option<i64> {
        if self.depth >= MAX_DEPTH {
            self.at = self.tokens.len();
            return None;
        }
        self.depth += 1;
        let value = if is_name(self.peek(0)) && is_assignment(self.peek(1)) {
            self.assignment()
        } else {
            self.ternary()
        };
        self.depth -= 1;
        value
    }

    fn assignment(&mut self) -> Option<i64> {
        let (name, operator) = (self.peek(0), self.peek(1));
        self.at += 2;
        let right = self.expression();
        let value = match operator.strip_suffix('=') {
            Some("") | None => right,
            Some(operator) => apply(operator, self.get(name), right),
        };
        self.sets.insert(name.to_owned(), value);
        value
    }

    fn ternary(&mut self) -> Option<i64> {
        let condition = self.binary(0);
        if !self.take("?") {
            return condition;
        }
        let yes = self.expression();
        self.take(":");
        let no = self.expression();
        if condition? != 0 { yes } else { no }
    }

    fn binary(&mut self, level: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1);
        while operators.contains(&self.peek(0)) {
            let operator = self.peek(0);
            self.at += 1;
            let right = self.binary(level + 1);
            left = apply(operator, left, right);
        }
        left
    }

    fn unary(&mut self) -> Option<i64> {
        if self.depth >= MAX_DEPTH {
            self.at = self.tokens.len();
            return None;
        }
        self.depth += 1;
        let value = match self.peek(0) {
            "!" => self.after().map(|value| i64::from(value == 0)),
            "-" => self.after().and_then(i64::checked_neg),
            "+" => self.after(),
            "++" => self.step_before(1),
            "--" => self.step_before(-1),
            "(" => {
                self.at += 1;
                let value = self.expression();
                self.take(")");
                value
            }
            _ => self.operand(),
        };
        self.depth -= 1;
        value
    }

    fn after(&mut self) -> Option<i64> {
        self.at += 1;
        self.unary()
    }

    fn step_before(&mut self, by: i64) -> Option<i64> {
        let name = self.peek(1);
        self.at += 2;
        self.step(name, by);
        self.get(name)
    }

    fn step(&mut self, name: &str, by: i64) {
        let value = self.get(name).and_then(|value| value.checked_add(by));
        self.sets.insert(name.to_owned(), value);
    }

    fn operand(&mut self) -> Option<i64> {
        let token = self.peek(0);
        self.at += usize::from(self.at < self.tokens.len());
        if !is_name(token) {
            return token.parse().ok();
        }
        let value = self.get(token);
        if self.take("++") {
            self.step(token, 1);
        } else if self.take("--") {
            self.step(token, -1);
        }
        value
    }

    fn get(&self, name: &str) -> Option<i64> {
        match self.sets.get(name) {
            Some(value) => *value,
            None => (self.get)(name),
        }
    }
}

fn is_assignment(token: &str) -> bool {
    ["=", "+=", "-=", "*=", "/="].contains(&token)
}

fn apply(operator: &str, left: Option<i64>, right: Option<i64>) -> Option<i64> {
    let (left, right) = (left?, right?);
    match operator {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        "==" => Some(i64::from(left == right)),
        "!=" => Some(i64::from(left != right)),
        "<" => Some(i64::from(left < right)),
        "<=" => Some(i64::from(left <= right)),
        ">" => Some(i64::from(left > right)),
        ">=" => Some(i64::from(left >= right)),
        "&&" => Some(i64::from(left != 0 && right != 0)),
        "||" => Some(i64::from(left != 0 || right != 0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_have_the_values_that_sh_gives_them() {
        let get = |name: &str| (name == "n").then_some(7);
        for (text, value) in [
            ("n+1", Some(8)),
            (" $n * (2 - 1) % 4", Some(3)),
            ("n >= 7 && !0", Some(1)),
            ("n++", Some(7)),
            ("++n", Some(8)),
            ("n += 3", Some(10)),
            ("x + 1", None),
            ("n / 0", None),
            ("n < 3 ? 1 : 2", Some(2)),
            ("n @", None),
            ("9223372036854775807 + 1", None),
        ] {
            assert_eq!(evaluate(text, &get).value, value, "{text}");
        }
        assert_eq!(evaluate("n++", &get).sets["n"], Some(8));
    }
}
