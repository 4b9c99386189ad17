//! `nginx.conf` and what it includes: `listen`, `upstream`, and the `*_pass` directives.

use super::{Fact, Meaning};

/// Where it listens, and where it passes requests on.
pub(super) fn read(text: &str) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut blocks: Vec<String> = Vec::new();
    let mut words: Vec<(usize, String)> = Vec::new();
    for (line, word) in tokens(text) {
        match word.as_str() {
            ";" => {
                facts.extend(directive(&blocks, &words));
                words.clear();
            }
            "{" => {
                let name = words.first().map_or("", |(_, word)| word);
                blocks.push(name.to_owned());
                words.clear();
            }
            "}" => {
                blocks.pop();
                words.clear();
            }
            _ => words.push((line, word)),
        }
    }
    facts
}

fn directive(blocks: &[String], words: &[(usize, String)]) -> Option<Fact> {
    let [(_, name), (line, value), ..] = words else {
        return None;
    };
    let meaning = match name.as_str() {
        "listen" => Meaning::Listens,
        "server" if blocks.last().is_some_and(|block| block == "upstream") => Meaning::Forwards,
        _ if name.ends_with("_pass") => Meaning::Forwards,
        _ => return None,
    };
    Some(Fact::new(*line, name, value, meaning))
}

/// Words, `;`, `{` and `}` with their lines; comments are left out.
fn tokens(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut word = String::new();
        let mut quote: Option<char> = None;
        let mut letters = line.chars().peekable();
        while let Some(letter) = letters.next() {
            match (letter, quote) {
                (_, Some(open)) if letter == open => quote = None,
                (_, Some(_)) => word.push(letter),
                ('"' | '\'', None) => quote = Some(letter),
                ('#', None) if word.is_empty() => break,
                // `${NAME}` of a template belongs to its word.
                ('{', None) if word.ends_with('$') => {
                    word.push(letter);
                    word.extend(letters.by_ref().take_while(|letter| *letter != '}'));
                    word.push('}');
                }
                (';' | '{' | '}', None) => {
                    push(&mut found, number, &mut word);
                    found.push((number, letter.to_string()));
                }
                (_, None) if letter.is_whitespace() => push(&mut found, number, &mut word),
                (_, None) => word.push(letter),
            }
        }
        push(&mut found, number, &mut word);
    }
    found
}

fn push(found: &mut Vec<(usize, String)>, line: usize, word: &mut String) {
    if !word.is_empty() {
        found.push((line, std::mem::take(word)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_in_their_blocks() {
        let text = "upstream app { # all\n  server 127.0.0.1:8080;\n}\nserver {\n  listen 80;\n  # listen 81;\n  \
                    location / { proxy_pass http://app; }\n  server_name x;\n}\n";
        let read: Vec<(usize, String)> = read(text)
            .into_iter()
            .map(|fact| (fact.line, format!("{} {}", fact.name, fact.value)))
            .collect();
        let wanted = [
            (1, "server 127.0.0.1:8080".to_owned()),
            (4, "listen 80".to_owned()),
            (6, "proxy_pass http://app".to_owned()),
        ];
        assert_eq!(read, wanted);
    }
}
