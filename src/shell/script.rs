//! The tree of a script.

use std::borrow::Cow;
use std::sync::Arc;

/// Commands in the order in which they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The lists, each ended by `;`, `&` or a new line.
    pub lists: Vec<List>,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// The first pipeline.
    pub first: Pipeline,
    /// The others, with what joins each to those before.
    pub rest: Vec<(Connector, Pipeline)>,
    /// Ended by `&`: the script does not wait for it.
    pub is_background: bool,
}

/// What joins two pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connector {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands joined by `|`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// `!` stands before it.
    pub is_negated: bool,
    /// The commands, at least one.
    pub commands: Vec<Command>,
}

/// One command with its redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What it does.
    pub form: Form,
    /// Where its input and output go.
    pub redirections: Vec<Redirection>,
    /// Where it begins in the text, in bytes.
    pub at: usize,
}

/// The kinds of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Assignments and words.
    Simple {
        /// `NAME=value` before the first word.
        assignments: Vec<Assignment>,
        /// The command's name and its arguments.
        words: Vec<Word>,
    },
    /// `{ …; }`
    Group(Script),
    /// `( … )`
    Subshell(Script),
    /// `if`
    If {
        /// Conditions and what follows when they hold, in order.
        branches: Vec<(Script, Script)>,
        /// `else`; empty when there is none.
        otherwise: Script,
    },
    /// `while` and `until`
    Loop {
        /// `until`: goes on while the condition fails.
        is_until: bool,
        /// The condition.
        condition: Script,
        /// The body.
        body: Script,
    },
    /// `for NAME in …`
    For {
        /// The variable.
        variable: String,
        /// The words; none means the script's own arguments.
        words: Option<Vec<Word>>,
        /// The body.
        body: Script,
    },
    /// `for ((a; b; c))`
    Count {
        /// Evaluated once.
        start: String,
        /// Evaluated before each round.
        condition: String,
        /// Evaluated after each round.
        step: String,
        /// The body.
        body: Script,
    },
    /// `case`
    Case {
        /// What is compared.
        subject: Word,
        /// Patterns and what follows when one of them fits.
        arms: Vec<(Vec<Word>, Script)>,
    },
    /// `NAME() …`
    Function {
        /// Its name.
        name: String,
        /// What it does when it is called.
        body: Arc<Command>,
    },
    /// `((…))`
    Arithmetic(String),
    /// Text that could not be read.
    Opaque(String),
}

/// `NAME=value`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// `+=`
    pub appends: bool,
    /// The value.
    pub value: Word,
}

/// Where input comes from or output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// The file descriptor, if one is written; `&>` counts as none.
    pub descriptor: Option<u32>,
    /// How.
    pub kind: RedirectionKind,
    /// The file, the descriptor, or the text of a here-document.
    pub target: Word,
}

/// The kinds of redirections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectionKind {
    /// `<`
    Read,
    /// `>` and `>|`
    Write,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `>&` and `<&` with a descriptor or `-`
    Duplicate,
    /// `&>` and `>&FILE`: both outputs
    Both,
    /// `<<` and `<<<`
    Text,
}

/// One word as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Its parts.
    pub parts: Vec<Part>,
    /// Its text in the script, quotes and all.
    pub source: Arc<str>,
    /// Where it begins in the text, in bytes.
    pub at: usize,
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Plain text, quotes removed.
    Literal {
        /// The text.
        text: String,
        /// It stood in quotes, so it is never split or matched.
        is_quoted: bool,
    },
    /// `$NAME` and `${NAME…}`
    Variable {
        /// The name, or one of the special ones (`?`, `1`, `@`, …).
        name: String,
        /// `:-`, `%%` and the like with the word that follows.
        operator: Option<(Operator, Word)>,
        /// Its text in the script.
        source: String,
        /// In double quotes: never split.
        is_quoted: bool,
    },
    /// `$(…)` and `` `…` ``
    Command {
        /// The commands.
        script: Arc<Script>,
        /// Its text in the script.
        source: String,
        /// In double quotes: never split.
        is_quoted: bool,
    },
    /// `$((…))`
    Arithmetic(String),
    /// An expansion that is not understood, by its text.
    Opaque(String),
}

/// What `${NAME…}` does with the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `:-` and `-`
    Default,
    /// `:=` and `=`
    Assign,
    /// `:+` and `+`
    Alternative,
    /// `:?` and `?`
    Require,
    /// `#` and `##`; true for the longest match.
    CutStart(bool),
    /// `%` and `%%`; true for the longest match.
    CutEnd(bool),
}

impl Word {
    /// The word when it has no expansions.
    pub fn literal(&self) -> Option<Cow<'_, str>> {
        if let [Part::Literal { text, .. }] = self.parts.as_slice() {
            return Some(Cow::Borrowed(text));
        }
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Literal { text: piece, .. } => text.push_str(piece),
                Part::Variable { .. }
                | Part::Command { .. }
                | Part::Arithmetic(_)
                | Part::Opaque(_) => return None,
            }
        }
        Some(Cow::Owned(text))
    }
}

impl Script {
    /// Whether a `break`, `continue`, `exit`, `return` or `kill` stands anywhere in it.
    pub fn leaves(&self) -> bool {
        self.lists.iter().any(List::leaves)
    }
}

impl List {
    fn leaves(&self) -> bool {
        self.first.leaves() || self.rest.iter().any(|(_, pipeline)| pipeline.leaves())
    }
}

impl Pipeline {
    /// Whether it can leave the loop or the script around it.
    pub fn leaves(&self) -> bool {
        self.commands.iter().any(Command::leaves)
    }
}

impl Command {
    fn leaves(&self) -> bool {
        match &self.form {
            Form::Simple { words, .. } => {
                const LEAVING: [&str; 5] = ["break", "continue", "exit", "return", "kill"];
                let name = words.first().and_then(Word::literal);
                name.is_some_and(|name| LEAVING.contains(&&*name))
            }
            Form::Group(script) | Form::Subshell(script) => script.leaves(),
            Form::If {
                branches,
                otherwise,
            } => branches.iter().any(|(_, then)| then.leaves()) || otherwise.leaves(),
            Form::Case { arms, .. } => arms.iter().any(|(_, then)| then.leaves()),
            Form::Loop { .. }
            | Form::For { .. }
            | Form::Count { .. }
            | Form::Function { .. }
            | Form::Arithmetic(_)
            | Form::Opaque(_) => false,
        }
    }
}
