//! Versions in image tags, and ranges of them: since when a fact holds, and until when.

use super::image::Image;
use std::cmp::Ordering;
use std::fmt;

/// A version with up to three numbers: `2`, `v1.82`, `2.8.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    numbers: [Option<u32>; 3],
}

impl Version {
    /// A version and nothing else; none for any other text.
    pub fn parse(text: &str) -> Option<Version> {
        let (version, rest) = Version::leading(text)?;
        rest.is_empty().then_some(version)
    }

    /// The version that a tag begins with: `v2.7.0-alpine`, `1.24-distroless`.
    fn of_tag(tag: &str) -> Option<Version> {
        let (version, rest) = Version::leading(tag)?;
        let is_whole = !rest.starts_with(|char: char| char.is_alphanumeric());
        is_whole.then_some(version)
    }

    fn leading(text: &str) -> Option<(Version, &str)> {
        let mut rest = text.strip_prefix('v').unwrap_or(text);
        let mut numbers = [None; 3];
        for (at, number) in numbers.iter_mut().enumerate() {
            let digits = match at {
                0 => rest,
                _ => rest.strip_prefix('.').unwrap_or_default(),
            };
            let end = digits
                .find(|char: char| !char.is_ascii_digit())
                .unwrap_or(digits.len());
            let Ok(value) = digits[..end].parse() else {
                break;
            };
            *number = Some(value);
            rest = &digits[end..];
        }
        numbers[0].map(|_| (Version { numbers }, rest))
    }

    /// Compares with a bound. The tag `2` moves with each release: what it leaves out is the newest
    /// there; what a bound leaves out is 0.
    fn against(self, bound: Version) -> Ordering {
        let own = self.numbers.map(|number| number.unwrap_or(u32::MAX));
        own.cmp(&bound.numbers.map(|number| number.unwrap_or(0)))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written: Vec<String> = self.numbers.iter().flatten().map(u32::to_string).collect();
        f.write_str(&written.join("."))
    }
}

/// The versions in which a fact holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The first of them.
    pub since: Option<Version>,
    /// The first one after them.
    pub until: Option<Version>,
}

impl Range {
    /// Whether it takes every version, and images without one as well.
    pub fn is_open(self) -> bool {
        self == Range::default()
    }

    /// Whether an image is of these versions. One that says none (`latest`, a digest) is taken for
    /// the newest.
    pub(super) fn holds(self, image: &Image<'_>) -> bool {
        let Some(version) = image.tag().and_then(Version::of_tag) else {
            return self.until.is_none();
        };
        let is_early = |since: Version| version.against(since) == Ordering::Less;
        let is_late = |until: Version| version.against(until) != Ordering::Less;
        !self.since.is_some_and(is_early) && !self.until.is_some_and(is_late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(since: Option<&str>, until: Option<&str>, image: &str) -> bool {
        let range = Range {
            since: since.and_then(Version::parse),
            until: until.and_then(Version::parse),
        };
        range.holds(&Image::parse(image))
    }

    #[test]
    fn a_tag_lies_in_a_range_by_its_numbers() {
        let before = |tag: &str| holds(None, Some("2.8.0"), &format!("x/proxy:{tag}"));
        assert!(before("2.7.0") && before("v2.7.9-alpine") && before("1.33.2"));
        assert!(before("2.7"));
        assert!(!before("2.8.0") && !before("2.10.1") && !before("3"));
        assert!(holds(Some("1.0"), None, "opa:1.0.0-rootless"));
        assert!(!holds(Some("1.0"), None, "opa:0.70.0"));
        assert!(!holds(Some("1.78"), Some("1.82"), "tailscale:v1.82.0"));
    }

    #[test]
    fn a_tag_without_all_numbers_moves_with_the_releases() {
        assert!(!holds(None, Some("2.8.0"), "proxy:2"));
        assert!(holds(None, Some("3.0"), "proxy:2"));
    }

    #[test]
    fn a_tag_without_a_version_is_the_newest() {
        for image in ["proxy", "proxy:latest", "proxy@sha256:00", "proxy:2c4d"] {
            assert!(!holds(None, Some("99"), image), "{image}");
            assert!(holds(Some("99"), None, image), "{image}");
        }
    }
}
