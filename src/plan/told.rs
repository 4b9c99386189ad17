//! What the ConfigMaps and Secrets of the run tell a container, through variables and files.

use super::config::{self, Fact, Meaning, MountedFile};
use super::given::Given;
use super::settings::{self, Setting};
use crate::finding::Elsewhere;
use std::collections::BTreeSet;

/// What is told from outside the workload's own document.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Variables, and keys of files.
    pub(super) settings: Vec<Setting>,
    /// The lines of scripts that the container runs.
    pub(super) script: Vec<Setting>,
    /// Where it listens.
    pub(super) listens: Vec<Setting>,
    /// To whom it passes requests on.
    pub(super) forwards: Vec<Setting>,
    /// A file tells everybody to whom it passes requests on.
    pub(super) is_complete: bool,
}

impl Told {
    /// Reads the variables and files of a container, `scripts` among them as what it runs.
    pub(super) fn read(given: &Given<'_>, scripts: &BTreeSet<String>) -> Told {
        let mut told = Told::default();
        if given.template.containers.len() < 2 {
            // Nobody is there whom it could need; its scripts may still wait for other pods.
            told.script = lines(given, scripts);
            return told;
        }
        for borrowed in &given.variables.borrowed {
            let (list, index) = borrowed.list;
            let mut setting = settings::of_borrowed(given.container, borrowed);
            setting.is_loose |= is_shared(given, list, index);
            told.settings.push(setting);
        }
        for file in given.files() {
            if scripts.contains(&file.path) || is_run(file, given) {
                told.script.extend(lines_of(file, given));
            } else if let Some(read) = config::read(file, given.container, given.template) {
                let listens = |fact: &Fact| fact.meaning == Meaning::Listens;
                told.is_complete |= read.is_structured && read.facts.iter().any(listens);
                let is_loose = !read.is_of_app || file.place.is_secret;
                for fact in &read.facts {
                    told.add_fact(fact, setting(file, given, fact, is_loose));
                }
            }
        }
        told
    }

    fn add_fact(&mut self, fact: &Fact, setting: Setting) {
        match fact.meaning {
            Meaning::Setting => self.settings.push(setting),
            Meaning::Listens => self.listens.push(setting),
            Meaning::Forwards => self.forwards.push(setting),
        }
    }
}

/// The lines of the scripts at these paths.
pub(super) fn lines(given: &Given<'_>, scripts: &BTreeSet<String>) -> Vec<Setting> {
    if scripts.is_empty() {
        return Vec::new();
    }
    let files = given.files().iter();
    let files = files.filter(|file| scripts.contains(&file.path));
    files.flat_map(|file| lines_of(file, given)).collect()
}

/// The lines of a script, comments left out.
fn lines_of(file: &MountedFile<'_>, given: &Given<'_>) -> Vec<Setting> {
    // Other languages are not read, only looked through.
    let is_loose = file.place.is_secret || is_program(file);
    let is_comment = |text: &str| text.starts_with('#') || text.starts_with("//");
    let lines = file.text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, text)| !text.is_empty() && !is_comment(text));
    let lines = lines.map(|(line, text)| {
        let fact = Fact {
            line,
            name: String::new(),
            value: text.to_owned(),
            meaning: Meaning::Setting,
        };
        setting(file, given, &fact, is_loose)
    });
    lines.collect()
}

/// Whether the variables of another container come from the same map, so that each of them may be
/// meant for the other one.
fn is_shared(given: &Given<'_>, list: &str, index: usize) -> bool {
    let Some(map) = given
        .container
        .env_from
        .get(index)
        .filter(|_| list == "envFrom")
    else {
        return false;
    };
    let mut others = given.template.containers.iter();
    others.any(|other| {
        let mut maps = other.env_from.iter();
        other.at != given.container.at
            && maps.any(|one| one.name == map.name && one.secret == map.secret)
    })
}

fn setting(file: &MountedFile<'_>, given: &Given<'_>, fact: &Fact, is_loose: bool) -> Setting {
    Setting {
        name: fact.name.clone(),
        value: fact.value.clone(),
        at: given.container.at.key("volumeMounts").index(file.mount),
        file: Some(file.name().to_owned()),
        is_loose,
        elsewhere: Some(Elsewhere {
            line: fact.line,
            ..file.place.clone()
        }),
    }
}

/// Whether a program of another language is handed to its interpreter: `python /scripts/run.py`.
fn is_run(file: &MountedFile<'_>, given: &Given<'_>) -> bool {
    let mut words = given.container.words();
    is_program(file) && words.any(|word| word == file.path)
}

fn is_program(file: &MountedFile<'_>) -> bool {
    matches!(file.ending(), "py" | "js" | "mjs" | "rb" | "pl" | "php")
}
