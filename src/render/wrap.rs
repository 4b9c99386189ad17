//! Widths and line breaks of text for people.

use unicode_width::UnicodeWidthChar;

/// Holds two words together; printed as a space.
pub const GLUE: char = '\u{a0}';

/// The columns of a text on a terminal.
pub fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// The columns of a character; none for what combines with the one before.
pub fn char_width(character: char) -> usize {
    character.width().unwrap_or(0)
}

/// What is drawn for a character of somebody else's text: never a control character or one that
/// turns the direction of writing, since these could make a terminal show what is not there.
pub fn harmless(character: char) -> Option<char> {
    match character {
        '\u{feff}' => None,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some('?'),
        _ if character.is_control() => Some('?'),
        _ => Some(character),
    }
}

/// A text on one line: line breaks and tabs as spaces, nothing that moves the cursor.
pub fn on_one_line(text: &str) -> String {
    let drawn = text.chars().filter_map(|character| match character {
        '\n' | '\t' => Some(' '),
        '\r' => None,
        _ => harmless(character),
    });
    drawn.collect()
}

/// Breaks a text at spaces, so that its first line takes at most `first` columns and each other one
/// `rest`. A word that is longer than that stands out: paths and names stay whole.
pub fn wrap(text: &str, first: usize, rest: usize) -> Vec<String> {
    let text = on_one_line(text);
    let mut lines = vec![String::new()];
    let (mut used, mut room, mut gap) = (0, first, 0);
    for word in text.split(' ') {
        gap += 1;
        if word.is_empty() {
            continue;
        }
        let word_width = width(word);
        if used > 0 && used + gap + word_width > room {
            lines.push(String::new());
            (used, room) = (0, rest);
        }
        if let Some(line) = lines.last_mut() {
            let spaces = if used == 0 { 0 } else { gap };
            line.extend(std::iter::repeat_n(' ', spaces));
            line.extend(word.chars().map(|c| if c == GLUE { ' ' } else { c }));
            used += spaces + word_width;
        }
        gap = 0;
    }
    lines
}

/// Words that no line break may part.
pub fn glued(text: &str) -> String {
    text.replace(' ', &GLUE.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_double_spaces_stay() {
        assert_eq!(
            wrap("a.yaml:1:1  Pod/x is late", 17, 4),
            ["a.yaml:1:1  Pod/x", "is", "late"]
        );
        assert_eq!(wrap("one two\u{a0}three", 7, 9), ["one", "two three"]);
        assert_eq!(wrap("a-very-long-name x", 4, 4), ["a-very-long-name", "x"]);
        assert_eq!(wrap("", 4, 4), [""]);
    }

    #[test]
    fn wide_characters_count_twice_and_escapes_are_not_passed_on() {
        assert_eq!(wrap("日本 x", 5, 5), ["日本", "x"]);
        assert_eq!(on_one_line("a\u{1b}[31m\u{202e}\tb\r\n"), "a?[31m? b ");
    }
}
