//! Arguments to texts: files, folders and standard input.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its path; `-` for standard input.
    pub path: PathBuf,
    /// The user named it, rather than a folder above it.
    pub is_named: bool,
}

/// Why a file gives no text.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A path that is not there.
    #[error("the path {0:?} does not exist")]
    Missing(String),
    /// The system's own reason.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// More than a span can hold.
    #[error("larger than 4 GiB")]
    TooLarge,
    /// A byte order mark of UTF-16.
    #[error("UTF-16 text: kubectl reads UTF-8 (iconv -f UTF-16 -t UTF-8 converts it)")]
    Utf16,
    /// Bytes that are no text.
    #[error("binary data, not text")]
    Binary,
    /// A byte that is not UTF-8.
    #[error("byte {byte:#04x} is not UTF-8")]
    NotUtf8 {
        /// The byte.
        byte: u8,
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
    },
}

/// The files that the arguments mean, in the order of the arguments and sorted within folders.
pub fn inputs(paths: &[PathBuf], recursive: bool) -> Result<Vec<Input>, LoadError> {
    let mut found = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            found.push(Input {
                path: path.clone(),
                is_named: true,
            });
            continue;
        }
        match fs::metadata(path) {
            Ok(kind) if kind.is_dir() => found.extend(folder(path, recursive)?),
            Ok(_) => found.push(Input {
                path: path.clone(),
                is_named: true,
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(LoadError::Missing(path.display().to_string()));
            }
            Err(error) => return Err(LoadError::Io(error)),
        }
    }
    Ok(found)
}

/// YAML and JSON files of a folder, by the endings that kubectl takes.
fn folder(path: &Path, recursive: bool) -> Result<Vec<Input>, LoadError> {
    let depth = if recursive { usize::MAX } else { 1 };
    let mut found = Vec::new();
    for entry in WalkDir::new(path)
        .max_depth(depth)
        .follow_links(true)
        .sort_by_file_name()
    {
        // A folder below that may not be read, or a loop of links, hides nothing else.
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_file() && has_manifest_ending(entry.path()) {
            found.push(Input {
                path: entry.into_path(),
                is_named: false,
            });
        }
    }
    Ok(found)
}

/// Whether a file's ending is one that kubectl takes for a manifest's.
pub fn has_manifest_ending(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending == "yaml" || ending == "yml" || ending == "json")
}

/// More bytes than nearly every manifest has. Room for so many is there before a file is read, so that
/// nobody asks the system for its size; what is left of it is where the file's tree grows.
const USUAL_BYTES: usize = 60 * 1024;

/// Reads one input as text.
pub fn read(input: &Input) -> Result<String, LoadError> {
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    if input.path.as_os_str() == "-" {
        io::stdin().lock().read_to_end(&mut bytes)?;
    } else {
        // A file alone would look up its size first.
        let file = fs::File::open(&input.path)?;
        file.take(u64::MAX).read_to_end(&mut bytes)?;
    }
    bytes.shrink_to_fit();
    decode(bytes)
}

/// Bytes as text, or what else they are.
pub fn decode(bytes: Vec<u8>) -> Result<String, LoadError> {
    if bytes.len() as u64 >= super::source::Source::MAX_BYTES {
        return Err(LoadError::TooLarge);
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(LoadError::Utf16);
    }
    if bytes[..bytes.len().min(8192)].contains(&0) {
        return Err(LoadError::Binary);
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let before = &error.as_bytes()[..at];
        let line_start = before
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        LoadError::NotUtf8 {
            byte: error.as_bytes()[at],
            line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
            column: at - line_start + 1,
        }
    })
}
