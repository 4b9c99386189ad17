//! What a plain scalar means to kubectl: the words and numbers of YAML 1.1.
//!
//! kubectl reads YAML through a library that follows YAML 1.1, so `yes` is a boolean, `0777` an
//! octal number, and the key `010` becomes `"8"`.

use serde_json::Value;
use std::borrow::Cow;

/// A scalar's meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar<'a> {
    /// `null`, `~`, or nothing at all.
    Null,
    /// `true`, `yes`, `on`, `y` and their opposites.
    Bool(bool),
    /// A whole number in any of YAML 1.1's notations.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Everything else.
    String(&'a str),
}

impl Scalar<'_> {
    /// The scalar as JSON; numbers that JSON cannot hold (`.inf`) become null.
    pub fn to_json(self) -> Value {
        match self {
            Scalar::Null => Value::Null,
            Scalar::Bool(flag) => Value::Bool(flag),
            Scalar::Int(number) => Value::from(number),
            Scalar::Float(number) => Value::from(number),
            Scalar::String(text) => Value::from(text),
        }
    }
}

/// Resolves the text of a plain scalar.
pub fn resolve(text: &str) -> Scalar<'_> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Scalar::Bool(true);
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Scalar::Bool(false);
        }
        _ => {}
    }
    let looks_numeric =
        text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.'));
    if looks_numeric && let Some(number) = number(text) {
        return number;
    }
    Scalar::String(text)
}

fn number(text: &str) -> Option<Scalar<'static>> {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Some(Scalar::Float(f64::INFINITY));
        }
        "-.inf" | "-.Inf" | "-.INF" => return Some(Scalar::Float(f64::NEG_INFINITY)),
        ".nan" | ".NaN" | ".NAN" => return Some(Scalar::Float(f64::NAN)),
        _ => {}
    }
    // Most of what begins like a number is a flag, a time or an address.
    let may_be =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'+' | b'-');
    if !text.bytes().all(may_be) || text.starts_with("--") {
        return None;
    }
    let plain = match text.contains('_') {
        true => Cow::Owned(text.replace('_', "")),
        false => Cow::Borrowed(text),
    };
    if let Some(number) = int(&plain) {
        return Some(Scalar::Int(number));
    }
    if is_float(&plain) {
        return plain.parse().ok().map(Scalar::Float);
    }
    None
}

/// A whole number with an optional sign: decimal, `0x`, `0b`, `0o`, or octal after a plain `0`.
fn int(plain: &str) -> Option<i64> {
    let (negative, digits) = match plain.as_bytes().first()? {
        b'-' => (true, &plain[1..]),
        b'+' => (false, &plain[1..]),
        _ => (false, plain),
    };
    let (radix, body) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if body.is_empty() || !body.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let magnitude = i128::from_str_radix(body, radix).ok()?;
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

/// Digits with at most one point and an optional exponent.
fn is_float(plain: &str) -> bool {
    let unsigned = plain.strip_prefix(['-', '+']).unwrap_or(plain);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let whole = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && all_digits(fraction),
        Some((whole, fraction)) => all_digits(whole) && all_digits(fraction),
        None => !mantissa.is_empty() && all_digits(mantissa),
    };
    let exponent_is_right = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    whole && exponent_is_right
}

/// The JSON key that a plain or quoted key becomes: kubectl resolves keys like values.
pub fn key(text: &str) -> String {
    match resolve(text) {
        Scalar::Bool(flag) => flag.to_string(),
        Scalar::Int(number) => number.to_string(),
        Scalar::Null | Scalar::Float(_) | Scalar::String(_) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_mean_what_kubectl_reads() {
        for (text, want) in [
            ("yes", Scalar::Bool(true)),
            ("oN", Scalar::String("oN")),
            ("Off", Scalar::Bool(false)),
            ("0777", Scalar::Int(511)),
            ("0o17", Scalar::Int(15)),
            ("0x1F", Scalar::Int(31)),
            ("1__0", Scalar::Int(10)),
            ("-0b11", Scalar::Int(-3)),
            ("08", Scalar::Float(8.0)),
            ("1e3", Scalar::Float(1000.0)),
            (".5", Scalar::Float(0.5)),
            (".", Scalar::String(".")),
            ("1.2.3", Scalar::String("1.2.3")),
            ("12:30", Scalar::String("12:30")),
            ("-", Scalar::String("-")),
            ("~", Scalar::Null),
            ("9223372036854775808", Scalar::Float(9.223372036854776e18)),
        ] {
            assert_eq!(resolve(text), want, "{text}");
        }
        assert_eq!(key("010"), "8");
        assert_eq!(key("yes"), "true");
    }
}
