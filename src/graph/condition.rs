//! Whether a script comes to a wait at all: what stands behind a test that nobody can answer may be
//! skipped.

use crate::shell::parse;
use crate::shell::script::{Command, Form, List, Pipeline, Script, Word};

/// Whether every place in a script that holds these words depends on a test, or stands after a test
/// that may have ended the script.
pub(super) fn is_conditional(text: &str, words: &str) -> bool {
    let Some(piece) = words.split_whitespace().next() else {
        return false;
    };
    let mut search = Search {
        piece,
        was_left: false,
        places: 0,
        certain: 0,
    };
    search.script(&parse(text), Around::default());
    search.places > 0 && search.certain == 0
}

/// What is around a command.
#[derive(Clone, Copy, Default)]
struct Around {
    is_conditional: bool,
    is_in_loop: bool,
}

struct Search<'p> {
    piece: &'p str,
    was_left: bool,
    places: usize,
    certain: usize,
}

impl Search<'_> {
    fn script(&mut self, script: &Script, around: Around) {
        script.lists.iter().for_each(|list| self.list(list, around));
    }

    fn list(&mut self, list: &List, around: Around) {
        self.pipeline(&list.first, around);
        let is_test = list.first.commands.iter().all(is_test);
        for (_, pipeline) in &list.rest {
            let is_conditional = around.is_conditional || is_test;
            self.pipeline(
                pipeline,
                Around {
                    is_conditional,
                    ..around
                },
            );
            // In a loop it is the bound of the wait that leaves.
            self.was_left |= is_test && !around.is_in_loop && pipeline.leaves();
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, around: Around) {
        for command in &pipeline.commands {
            self.command(command, around);
        }
    }

    fn command(&mut self, command: &Command, around: Around) {
        let behind_test = Around {
            is_conditional: true,
            ..around
        };
        let in_loop = Around {
            is_in_loop: true,
            ..around
        };
        match &command.form {
            Form::Simple { words, .. } => self.words(words, around),
            Form::Group(script) | Form::Subshell(script) => self.script(script, around),
            Form::If {
                branches,
                otherwise,
            } => {
                for (number, (condition, then)) in branches.iter().enumerate() {
                    let first = if number == 0 { around } else { behind_test };
                    self.script(condition, first);
                    self.script(then, behind_test);
                    self.was_left |= !around.is_in_loop && then.leaves();
                }
                self.script(otherwise, behind_test);
                self.was_left |= !around.is_in_loop && otherwise.leaves();
            }
            Form::Loop {
                condition, body, ..
            } => {
                self.script(condition, in_loop);
                self.script(body, in_loop);
            }
            Form::For { words, body, .. } => {
                self.words(words.as_deref().unwrap_or_default(), around);
                self.script(body, in_loop);
            }
            Form::Count { body, .. } => self.script(body, in_loop),
            Form::Case { arms, .. } => {
                for (_, then) in arms {
                    self.script(then, behind_test);
                    self.was_left |= !around.is_in_loop && then.leaves();
                }
            }
            Form::Function { body, .. } => self.command(body, around),
            Form::Arithmetic(_) | Form::Opaque(_) => {}
        }
    }

    fn words(&mut self, words: &[Word], around: Around) {
        let holds = words.iter().any(|word| word.source.contains(self.piece));
        self.places += usize::from(holds);
        self.certain += usize::from(holds && !around.is_conditional && !self.was_left);
    }
}

/// `[ … ]`, `[[ … ]]`, `test …` or `(( … ))`.
fn is_test(command: &Command) -> bool {
    match &command.form {
        Form::Simple { words, .. } => {
            let name = words.first().and_then(Word::literal);
            name.is_some_and(|name| matches!(&*name, "[" | "[[" | "test"))
        }
        Form::Arithmetic(_) => true,
        Form::Group(_)
        | Form::Subshell(_)
        | Form::If { .. }
        | Form::Loop { .. }
        | Form::For { .. }
        | Form::Count { .. }
        | Form::Case { .. }
        | Form::Function { .. }
        | Form::Opaque(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_conditional;

    #[test]
    fn what_stands_behind_a_test_may_be_skipped() {
        for script in [
            "if [ $MODE = x ]; then until nc -z db 80; do sleep 1; done; fi",
            "case $MODE in x) until nc -z db 80; do sleep 1; done;; esac",
            "[ -n \"$MODE\" ] && until nc -z db 80; do sleep 1; done",
            "[ -z \"$MODE\" ] && exit 0; until nc -z db 80; do sleep 1; done",
            "if [ -z \"$MODE\" ]; then exit 0; fi\nuntil nc -z db 80; do sleep 1; done",
        ] {
            assert!(is_conditional(script, "db 80"), "{script}");
        }
        for script in [
            "until nc -z db 80; do sleep 1; done",
            "while true; do if nc -z db 80; then exit 0; fi; sleep 1; done",
            "n=0; until nc -z db 80; do n=$((n+1)); [ $n -gt 9 ] && exit 1; sleep 1; done",
            "for i in 1 2; do nc -z db 80 && exit 0; done; exit 1",
            "nslookup db && nc -z db 80",
        ] {
            assert!(!is_conditional(script, "db 80"), "{script}");
        }
    }
}
