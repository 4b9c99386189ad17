//! Texts of one key and value a line: `.properties`, `.env`, `.ini`, `.toml`, `key value`.

use super::{Fact, Meaning};

/// The lines with their keys; a section's name stands before its keys, with a dot.
pub(super) fn read(text: &str) -> Vec<Fact> {
    let mut section = String::new();
    let mut facts = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = without_comment(line);
        if let Some(name) = header(line) {
            name.clone_into(&mut section);
            continue;
        }
        let Some((key, value)) = key_and_value(line) else {
            continue;
        };
        let name = match section.is_empty() {
            true => key.to_owned(),
            false => format!("{section}.{key}"),
        };
        facts.push(Fact {
            line: number,
            name,
            value: value.to_owned(),
            meaning: Meaning::Setting,
        });
    }
    facts
}

/// The name of `[section]` or `[[table]]`.
pub(super) fn header(line: &str) -> Option<&str> {
    let inner = line.strip_prefix('[')?.strip_suffix(']')?;
    Some(inner.trim_matches(['[', ']', '"', ' ']))
}

/// A line without its comment and the space around it.
pub(super) fn without_comment(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with(['#', ';', '!']) || line.starts_with("//") {
        return "";
    }
    let ends = [" #", "\t#", " ;"];
    let end = ends.iter().filter_map(|end| line.find(end)).min();
    line[..end.unwrap_or(line.len())].trim_end()
}

/// `key=value`, `key: value` or `key value`, quotes left out.
pub(super) fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let belongs = |letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '[' | ']' | '*')
    };
    let end = line.find(|letter| !belongs(letter))?;
    let (key, rest) = line.split_at(end);
    let value = rest.trim_start();
    let value = value.strip_prefix(['=', ':']).unwrap_or(value).trim();
    let value = value.trim_matches(['"', '\'', ',']);
    (!key.is_empty() && !value.is_empty() && !value.starts_with("//")).then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_values_sections_and_comments() {
        let text = "a.url = \"http://localhost:80/x\" # why\n; old=1\n// b=2\n[db]\nhost: localhost\nport 5432\n\
                    http://localhost:1\nexport X='y'\n";
        let read: Vec<String> = read(text)
            .iter()
            .map(|fact| format!("{} {}={}", fact.line, fact.name, fact.value))
            .collect();
        let wanted = [
            "0 a.url=http://localhost:80/x",
            "4 db.host=localhost",
            "5 db.port=5432",
            "7 db.X=y",
        ];
        assert_eq!(read, wanted);
    }
}
