//! What a script only says: comments, and texts for whoever reads its output.

/// The script without its comments and without what it prints. What goes into a file or another
/// command stays.
pub(super) fn left_out(script: &str) -> String {
    let mut kept = String::with_capacity(script.len());
    for line in script.lines() {
        for (text, end) in parts(line) {
            if !is_talk(text) || end == Some('|') {
                kept.push_str(text);
            }
            kept.extend(end);
        }
        kept.push('\n');
    }
    kept
}

/// The simple commands of a line with the sign behind each, up to a comment.
fn parts(line: &str) -> Vec<(&str, Option<char>)> {
    let mut parts = Vec::new();
    let mut quote = None;
    let mut start = 0;
    let mut previous = ' ';
    for (at, letter) in line.char_indices() {
        match quote {
            Some(open) if letter == open && previous != '\\' => quote = None,
            Some(_) => {}
            None => match letter {
                '"' | '\'' if previous != '\\' => quote = Some(letter),
                '#' if previous.is_whitespace() => {
                    parts.push((&line[start..at], None));
                    return parts;
                }
                '>' if previous == '&' => {}
                ';' | '|' | '&' if previous != '>' => {
                    parts.push((&line[start..at], Some(letter)));
                    start = at + letter.len_utf8();
                }
                _ => {}
            },
        }
        previous = letter;
    }
    parts.push((&line[start..], None));
    parts
}

/// Whether a command only prints a text.
fn is_talk(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    let runs_another = command.contains("$(") || command.contains('`');
    let fills_a_file = command.replace(">&2", "").contains('>');
    matches!(first, "echo" | "printf" | "log" | "info" | "warn") && !runs_another && !fills_a_file
}

#[cfg(test)]
mod tests {
    use super::left_out;

    #[test]
    fn comments_and_prints_go_and_the_rest_stays() {
        let script = "# dials localhost:1\necho \"see localhost:2\" >&2; curl localhost:3 # and 4\n\
                      echo x | nc localhost 5\necho host=localhost:6 > /etc/app.conf\n";
        let expected = "\n; curl localhost:3 \necho x | nc localhost 5\necho host=localhost:6 > /etc/app.conf\n";
        assert_eq!(left_out(script), expected);
    }
}
