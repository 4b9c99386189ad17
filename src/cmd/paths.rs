//! Paths as a file of ours writes them.

use std::env;
use std::path::{Component, Path, PathBuf};

/// A file's path from a folder on, with `/`; as it is when it lies elsewhere.
pub fn below(folder: &Path, name: &str) -> String {
    let here = env::current_dir().unwrap_or_default();
    let (folder, file) = (plain(&here.join(folder)), plain(&here.join(name)));
    let below = file.strip_prefix(&folder).unwrap_or(Path::new(name));
    let parts = below.components();
    let parts = parts.map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

/// The folder that a file lies in.
pub fn folder_of(file: &Path) -> PathBuf {
    file.parent().map_or(PathBuf::new(), Path::to_path_buf)
}

/// A path without `.` and `..`, as far as it can be told without the disk.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}
