//! What a script only says: comments, and texts for whoever reads its output.

/// The script without its comments and without what it prints. What goes into a file or another
/// command stays.
pub(super) fn left_out(script: &str) -> String {
    let mut kept = String::with_capacity(script.len());
    for line in script.lines() {
        each_part(line, |text, end| {
            if !is_talk(text) || end == Some('|') {
                kept.push_str(text);
            }
            kept.extend(end);
        });
        kept.push('\n');
    }
    kept
}

/// Hands out the simple commands of a line with the sign behind each, up to a comment.
fn each_part(line: &str, mut take: impl FnMut(&str, Option<char>)) {
    let mut quote = None;
    let mut start = 0;
    let mut previous = b' ';
    for (at, byte) in line.bytes().enumerate() {
        match quote {
            Some(open) if byte == open && previous != b'\\' => quote = None,
            Some(_) => {}
            None => match byte {
                b'"' | b'\'' if previous != b'\\' => quote = Some(byte),
                b'#' if previous.is_ascii_whitespace() => {
                    take(&line[start..at], None);
                    return;
                }
                b'>' if previous == b'&' => {}
                b';' | b'|' | b'&' if previous != b'>' => {
                    take(&line[start..at], Some(char::from(byte)));
                    start = at + 1;
                }
                _ => {}
            },
        }
        previous = byte;
    }
    take(&line[start..], None);
}

/// Whether a command only prints a text.
fn is_talk(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    let runs_another = || command.contains("$(") || command.contains('`');
    let fills_a_file = || command.replace(">&2", "").contains('>');
    matches!(first, "echo" | "printf" | "log" | "info" | "warn")
        && !runs_another()
        && !fills_a_file()
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
