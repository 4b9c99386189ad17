//! What the terminal and the environment say about printing; looked at once, here.

use crate::cli::{ColorChoice, StyleArgs};
use crate::render::Style;
use std::env;
use std::io::{self, IsTerminal};

/// Colour and characters for standard output.
pub fn style(args: &StyleArgs) -> Style {
    Style {
        color: has_color(args.color),
        ascii: args.ascii || is_dumb() || !is_utf8(),
    }
}

/// Columns to print: `COLUMNS`, else the terminal's, else 80.
pub fn width() -> usize {
    let named = env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.trim().parse().ok());
    named
        .filter(|columns| *columns > 0)
        .or_else(terminal_width)
        .unwrap_or(80)
}

fn terminal_width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size().filter(|_| io::stdout().is_terminal())?;
    Some(usize::from(width.0))
}

/// Rows of the terminal; none where there is no end to them.
pub fn rows() -> Option<usize> {
    let (_, height) = terminal_size::terminal_size().filter(|_| io::stdout().is_terminal())?;
    Some(usize::from(height.0))
}

/// `NO_COLOR` and `CLICOLOR=0` say no, `CLICOLOR_FORCE` says yes, else a terminal decides.
fn has_color(choice: ColorChoice) -> bool {
    let is_set =
        |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) => {
            false
        }
        ColorChoice::Auto if is_set("CLICOLOR_FORCE") => true,
        ColorChoice::Auto if env::var_os("CLICOLOR").is_some_and(|value| value == "0") => false,
        ColorChoice::Auto => io::stdout().is_terminal() && !is_dumb(),
    }
}

fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The locale, if one is named, is one of UTF-8.
fn is_utf8() -> bool {
    let named = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
    named.is_none_or(|locale| {
        let locale = locale.to_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}
