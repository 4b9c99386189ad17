//! What holds for a run: the flags, before the configuration, before what is built in.

use super::input::Gathered;
use super::paths;
use super::rules::unknown;
use crate::catalog::Catalog;
use crate::cli::ConfigArgs;
use crate::config::{self, Config, ConfigError, FILE, Level, Levels};
use crate::error::Failure;
use crate::finding::Severity;
use crate::manifest::Source;
use crate::manifest::load::{self, Input};
use crate::pod::KubeVersion;
use crate::render::TargetSource;
use crate::rules::{self, RULES, Rule};
use crate::run::Run;
use std::borrow::Cow;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The least severity that fails a run when nobody says otherwise.
pub const FAIL_ON: Option<Severity> = Some(Severity::Warning);

/// The configuration, and what it makes of the catalogue.
pub struct Settings {
    /// What the file says.
    pub config: Config,
    /// The sidecars that are known in this run.
    pub catalog: Cow<'static, Catalog>,
    /// The folder that the paths of the file count from.
    folder: PathBuf,
}

impl Settings {
    /// Reads the file that the flags name, else the one that is found.
    pub fn read(args: &ConfigArgs) -> Result<Settings, Failure> {
        let path = match &args.config {
            Some(path) => Some(path.clone()),
            None if args.no_config => None,
            None => env::current_dir().ok().and_then(|folder| find(&folder)),
        };
        let Some(path) = path else {
            return Ok(Settings {
                config: Config::default(),
                catalog: Cow::Borrowed(Catalog::built_in()),
                folder: PathBuf::new(),
            });
        };
        let config = read(&path)?;
        let catalog = match config.entries.is_empty() {
            true => Cow::Borrowed(Catalog::built_in()),
            false => Cow::Owned(Catalog::built_in().extended(config.catalog.clone())),
        };
        Ok(Settings {
            config,
            catalog,
            folder: paths::folder_of(&path),
        })
    }

    /// The paths of a run's files as the configuration writes them; none when it names no files.
    pub fn paths(&self, run: &Run) -> Vec<String> {
        if self.config.ignores.is_empty() {
            return Vec::new();
        }
        let names = run
            .files
            .iter()
            .map(|file| paths::below(&self.folder, file.source.name()));
        names.collect()
    }

    /// The version to judge by when no flag names one. What a kubelet says counts more than what is
    /// settled for manifests.
    pub fn version(&self, gathered: &Gathered) -> (KubeVersion, TargetSource) {
        match (gathered.source, self.config.version) {
            (TargetSource::Default, Some(settled)) => (settled.value, TargetSource::Config),
            (source, _) => (gathered.version, source),
        }
    }

    /// The least severity that fails a run when no flag says it.
    pub fn fail_on(&self) -> Option<Severity> {
        let settled = self.config.fail_on.map(|settled| settled.value);
        settled.unwrap_or(FAIL_ON)
    }

    /// How much each rule counts by the file, `--only` and `--ignore`.
    pub fn levels(&self, only: &[String], ignore: &[String]) -> Result<Levels, Failure> {
        let only = known(only)?;
        let mut levels = self.config.levels();
        for rule in RULES.iter().filter(|_| !only.is_empty()) {
            let is_meant = only.iter().any(|one| one.id == rule.id);
            match (is_meant, levels.get(rule.id)) {
                (false, _) => levels.set(rule.id, Level::Off),
                (true, Some(Level::Off)) => levels.unset(rule.id),
                (true, Some(Level::At(_)) | None) => {}
            }
        }
        for rule in known(ignore)? {
            levels.set(rule.id, Level::Off);
        }
        Ok(levels)
    }
}

/// The file of the folder, or of the nearest one above; the root of a repository is the last.
fn find(folder: &Path) -> Option<PathBuf> {
    let mut found = PathBuf::from(FILE);
    for above in folder.ancestors() {
        if above.join(FILE).is_file() {
            return Some(found);
        }
        if above.join(".git").exists() {
            return None;
        }
        found = Path::new("..").join(found);
    }
    None
}

fn read(path: &Path) -> Result<Config, Failure> {
    let name = path.display().to_string();
    let input = Input {
        path: path.to_owned(),
        is_named: true,
    };
    let text = load::read(&input).map_err(|error| match path.exists() {
        true => Failure::new(format!("{name}: {error}")),
        false => Failure::new(format!("the path {name:?} does not exist"))
            .hint("kubectl startorder config init writes one"),
    })?;
    let source = Arc::new(Source::new(name, text));
    let ids: Vec<&'static str> = RULES.iter().map(|rule| rule.id).collect();
    config::read(&source, &ids).map_err(|errors| told(&source, &errors))
}

/// All that is wrong, each with its place.
fn told(source: &Source, errors: &[ConfigError]) -> Failure {
    let failures = errors.iter().map(|error| {
        let at = source.position(error.at.start);
        let place = format!("{}:{}:{}", source.name(), at.line, at.column);
        let failure = Failure::new(format!("{place}: {error}"));
        match &error.hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    });
    failures
        .reduce(Failure::and)
        .unwrap_or_else(|| Failure::new(format!("{}: not read", source.name())))
}

fn known(ids: &[String]) -> Result<Vec<&'static Rule>, Failure> {
    let rules = ids.iter().map(|id| id.trim());
    rules
        .map(|id| rules::find(id).ok_or_else(|| unknown(id)))
        .collect()
}
