//! The options of a command line.

use crate::shell::{Arg, duration};
use std::time::Duration;

/// Options and plain words of a command.
pub(super) struct Options<'a> {
    options: Vec<(&'a str, Option<Arg>)>,
    /// The words that are no options, with their places.
    pub(super) plain: Vec<(usize, &'a Arg)>,
    /// The place of the word behind `--`.
    pub(super) rest: Option<usize>,
}

/// Which options take a value of their own.
pub(super) struct Takes {
    /// Letters of short options, as in `-w 2` or `-w2`.
    pub(super) short: &'static str,
    /// Names of long options, without dashes; they may have one dash.
    pub(super) long: &'static [&'static str],
}

impl<'a> Options<'a> {
    /// Reads the words behind the command's name.
    pub(super) fn read(words: &'a [Arg], takes: &Takes) -> Options<'a> {
        let mut found = Options {
            options: Vec::new(),
            plain: Vec::new(),
            rest: None,
        };
        let mut at = 1;
        while let Some(word) = words.get(at) {
            at += 1;
            let text = word.value.text.as_str();
            if text == "--" {
                found.rest = (at < words.len()).then_some(at);
                break;
            }
            if !text.starts_with('-') || text == "-" {
                found.plain.push((at - 1, word));
                continue;
            }
            let takes_next = found.option(word, takes);
            if let Some(name) = takes_next {
                found.options.push((name, words.get(at).cloned()));
                at += 1;
            }
        }
        found
    }

    /// Reads one option; the name of the one whose value is the next word.
    fn option(&mut self, word: &'a Arg, takes: &Takes) -> Option<&'a str> {
        let text = word.value.text.as_str();
        let name = text.trim_start_matches('-');
        if let Some((name, value)) = name.split_once('=') {
            self.options.push((name, Some(part(word, value))));
            return None;
        }
        if takes.long.contains(&name) {
            return Some(name);
        }
        if text.starts_with("--") {
            self.options.push((name, None));
            return None;
        }
        for (index, letter) in name.char_indices() {
            let end = index + letter.len_utf8();
            if !takes.short.contains(letter) {
                self.options.push((&name[index..end], None));
                continue;
            }
            if end == name.len() {
                return Some(&name[index..end]);
            }
            self.options
                .push((&name[index..end], Some(part(word, &name[end..]))));
            break;
        }
        None
    }

    /// Whether one of these options is there.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(name))
    }

    /// The value of the last of these options.
    pub(super) fn value(&self, names: &[&str]) -> Option<&Arg> {
        let mut found = self.options.iter().rev();
        found.find_map(|(name, value)| value.as_ref().filter(|_| names.contains(name)))
    }

    /// The values of these options, in order.
    pub(super) fn values(&self, names: &[&str]) -> Vec<&Arg> {
        let found = self.options.iter();
        found
            .filter_map(|(name, value)| value.as_ref().filter(|_| names.contains(name)))
            .collect()
    }

    /// The time that one of these options sets.
    pub(super) fn time(&self, names: &[&str]) -> Option<Duration> {
        self.value(names)?.value.as_known().and_then(duration)
    }

    /// The number that one of these options sets.
    pub(super) fn number(&self, names: &[&str]) -> Option<u32> {
        self.value(names)?.value.as_known()?.parse().ok()
    }
}

/// A value that is part of a word.
fn part(word: &Arg, value: &str) -> Arg {
    let mut part = word.clone();
    part.source = match word.source.find(value) {
        Some(at) if !value.is_empty() => word.source[at..at + value.len()].into(),
        _ => word
            .source
            .split_once('=')
            .map_or(&*word.source, |(_, value)| value)
            .into(),
    };
    value.clone_into(&mut part.value.text);
    part.at = None;
    part
}
