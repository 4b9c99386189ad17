//! A `Caddyfile`: site addresses, `reverse_proxy` and `php_fastcgi`.

use super::lines::without_comment;
use super::{Fact, Meaning};

/// Where it listens, and where it passes requests on.
pub(super) fn read(text: &str) -> Vec<Fact> {
    let mut depth = 0_usize;
    let mut facts = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = without_comment(line);
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["reverse_proxy" | "php_fastcgi", addresses @ ..] => {
                let forwards =
                    |address: &&str| Fact::new(number, words[0], address, Meaning::Forwards);
                facts.extend(addresses.iter().map(forwards));
            }
            [site, .., "{"] if depth == 0 => {
                let address = site.trim_end_matches(',');
                facts.push(Fact::new(number, "site", address, Meaning::Listens));
            }
            _ => {}
        }
        depth += line.matches('{').count();
        depth = depth.saturating_sub(line.matches('}').count());
    }
    facts
}
