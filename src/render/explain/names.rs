//! What containers are called in sentences and in the column of names.

use crate::manifest::path::Segment;
use crate::pod::{Container, PodTemplate, Role};
use crate::render::Glyphs;
use crate::render::wrap;

/// The most columns of a name in the column of names.
const LONGEST: usize = 20;

/// A container's name; its place in the list when it has none.
pub fn name(template: &PodTemplate, container: usize) -> String {
    template
        .containers
        .get(container)
        .map_or_else(String::new, own_name)
}

fn own_name(container: &Container) -> String {
    if !container.name.is_empty() {
        return wrap::on_one_line(&container.name);
    }
    match container.at.last() {
        Some(Segment::Index(index)) => format!("{}[{index}]", container.role.list()),
        Some(Segment::Key(_)) | None => container.role.list().to_owned(),
    }
}

/// A name for the column of names: a long one is cut in the middle.
pub fn short(name: &str, glyphs: &Glyphs) -> String {
    if wrap::width(name) <= LONGEST {
        return name.to_owned();
    }
    let kept = LONGEST - wrap::width(glyphs.ellipsis);
    let head = fitting(name.chars(), kept.div_ceil(2));
    let tail = fitting(name.chars().rev(), kept / 2);
    format!(
        "{head}{}{}",
        glyphs.ellipsis,
        tail.chars().rev().collect::<String>()
    )
}

/// As many characters as fit into these columns.
fn fitting(characters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    let fits = |character: &char| {
        used += wrap::char_width(*character);
        used <= columns
    };
    characters.take_while(fits).collect()
}

/// Several words as people list them: `a, b and c`.
pub fn list(words: &[String]) -> String {
    joined(words, "and")
}

/// One of several, none of which is meant alone: `a, b or c`.
pub fn any_of(words: &[String]) -> String {
    joined(words, "or")
}

fn joined(words: &[String], conjunction: &str) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [all @ .., last] => format!("{} {conjunction} {last}", all.join(", ")),
    }
}

/// The word beside a step.
pub fn role_word(role: Role) -> &'static str {
    match role {
        Role::Init => "init",
        Role::Sidecar => "native",
        Role::App => "app",
        Role::Ephemeral => "ephemeral",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Style;

    #[test]
    fn long_names_are_cut_in_the_middle() {
        let style = |ascii| Style {
            color: false,
            ascii,
        };
        let cut = |name: &str, ascii| short(name, style(ascii).glyphs());
        assert_eq!(cut("twenty-columns-exact", false), "twenty-columns-exact");
        assert_eq!(
            cut("postgres-connection-proxy", false),
            "postgres-c…ion-proxy"
        );
        assert_eq!(
            cut("postgres-connection-proxy", true),
            "postgres-...on-proxy"
        );
    }
}
