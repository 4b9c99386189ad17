//! The inputs of a run, read: texts, documents, and the objects that start order depends on.
//!
//! Files are read in parallel, and so are the documents of a large file. Nothing here prints.

mod index;

pub use index::ConfigValue;

use crate::manifest::Document;
use crate::manifest::load::{self, Input, LoadError};
use crate::manifest::parse::{self, ParseError};
use crate::manifest::source::Source;
use crate::pod::Workload;
use crate::pod::workload::{Object, Service, read};
use index::Index;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// A document that holds objects of interest.
#[derive(Debug)]
pub struct DocumentRead {
    /// The tree.
    pub document: Document,
    /// Its objects.
    pub objects: Vec<Object>,
}

impl DocumentRead {
    /// Its workloads.
    pub fn workloads(&self) -> impl Iterator<Item = &Workload> {
        self.objects.iter().filter_map(Object::workload)
    }
}

/// A key given twice in a Kubernetes object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyTwice {
    /// The key.
    pub key: String,
    /// Line and column of the later one, which counts.
    pub again: (usize, usize),
    /// Line of the earlier one.
    pub first_line: usize,
}

/// What became of one file.
#[derive(Debug)]
pub struct FileRead {
    /// The text; empty when it could not be read.
    pub source: Arc<Source>,
    /// The user named it.
    pub is_named: bool,
    /// It is read for what it says about the others, and not judged itself.
    pub is_beside: bool,
    /// Why it gave no text.
    pub failure: Option<LoadError>,
    /// Documents that could not be parsed.
    pub errors: Vec<ParseError>,
    /// It is a template, no manifest: nothing of it is judged.
    pub is_template: bool,
    /// Documents, empty ones included.
    pub document_count: usize,
    /// It holds at least one Kubernetes object.
    pub is_kubernetes: bool,
    /// Keys given twice.
    pub keys_twice: Vec<KeyTwice>,
    /// The documents with objects of interest.
    pub documents: Vec<DocumentRead>,
}

/// All inputs of a run.
#[derive(Debug, Default)]
pub struct Run {
    /// In the order of the arguments.
    pub files: Vec<FileRead>,
    /// Where objects without a namespace land; empty for `default`.
    pub namespace: String,
    index: OnceLock<Index>,
}

/// Files beyond this size are parsed document by document, in parallel.
const LARGE: usize = 256 * 1024;

impl Run {
    /// Reads all inputs; `stdin_name` is what messages call standard input.
    pub fn read(inputs: &[Input], stdin_name: &str) -> Run {
        Run {
            files: inputs
                .par_iter()
                .map(|input| read_file(input, stdin_name))
                .collect(),
            ..Run::default()
        }
    }

    /// A run over texts that are there already.
    pub fn of_texts(texts: impl IntoIterator<Item = (String, String)>) -> Run {
        let files = texts
            .into_iter()
            .map(|(name, text)| read_text(Arc::new(Source::new(name, text)), true));
        Run {
            files: files.collect(),
            ..Run::default()
        }
    }

    /// Every workload that is judged, with the places of its file and document in this run.
    pub fn workloads(&self) -> impl Iterator<Item = (usize, &DocumentRead, &Workload)> {
        let documents = self.documents();
        documents.flat_map(|(source, read)| {
            read.workloads()
                .map(move |workload| (source, read, workload))
        })
    }

    /// Every workload that stands beside those that are judged: pods and what made them.
    pub fn beside(&self) -> impl Iterator<Item = (usize, &DocumentRead, &Workload)> {
        let files = self.files.iter().enumerate();
        let beside = files.filter(|(_, file)| file.is_beside);
        beside.flat_map(|(source, file)| {
            file.documents.iter().flat_map(move |read| {
                read.workloads()
                    .map(move |workload| (source, read, workload))
            })
        })
    }

    /// Puts other workloads in the place of some, which are given back; the keys are their places in
    /// [`Run::workloads`].
    pub fn exchange(&mut self, others: &mut BTreeMap<usize, Workload>) {
        let files = self.files.iter_mut().filter(|file| !file.is_beside);
        let documents = files.flat_map(|file| &mut file.documents);
        let objects = documents.flat_map(|read| &mut read.objects);
        let workloads = objects.filter_map(Object::workload_mut);
        for (number, workload) in workloads.enumerate() {
            if let Some(other) = others.get_mut(&number) {
                std::mem::swap(workload, other);
            }
        }
        self.index = OnceLock::new();
    }

    /// Every document with objects of interest that are judged, and which source it is from.
    pub fn documents(&self) -> impl Iterator<Item = (usize, &DocumentRead)> {
        let files = self.files.iter().enumerate();
        let judged = files.filter(|(_, file)| !file.is_beside);
        judged.flat_map(|(source, file)| file.documents.iter().map(move |read| (source, read)))
    }

    /// A document by its source and its number.
    pub fn document(&self, source: usize, index: usize) -> Option<&DocumentRead> {
        let documents = &self.files.get(source)?.documents;
        let at = documents.binary_search_by_key(&index, |read| read.document.index);
        at.ok().map(|at| &documents[at])
    }

    /// Every Service.
    pub fn services(&self) -> impl Iterator<Item = &Service> {
        let objects = self
            .files
            .iter()
            .flat_map(|file| &file.documents)
            .flat_map(|read| &read.objects);
        objects.filter_map(Object::service)
    }
}

fn read_file(input: &Input, stdin_name: &str) -> FileRead {
    let is_stdin = input.path.as_os_str() == "-";
    let name = if is_stdin {
        stdin_name.to_owned()
    } else {
        input.path.display().to_string()
    };
    match load::read(input) {
        Ok(text) => read_text(Arc::new(Source::new(name, text)), input.is_named),
        Err(failure) => {
            let mut file = empty(Arc::new(Source::new(name, "")), input.is_named);
            file.failure = Some(failure);
            file
        }
    }
}

fn empty(source: Arc<Source>, is_named: bool) -> FileRead {
    FileRead {
        source,
        is_named,
        is_beside: false,
        failure: None,
        errors: Vec::new(),
        is_template: false,
        document_count: 0,
        is_kubernetes: false,
        keys_twice: Vec::new(),
        documents: Vec::new(),
    }
}

/// Parses a text and keeps what start order depends on; all other trees are dropped at once.
fn read_text(source: Arc<Source>, is_named: bool) -> FileRead {
    let parts = parse::parts(source.text());
    let read =
        |part: &crate::manifest::Span| read_part(&source, parse::parse_part(&source, *part, 0));
    let read: Vec<PartRead> = match source.text().len() > LARGE && parts.len() > 1 {
        true => parts.par_iter().map(read).collect(),
        false => parts.iter().map(read).collect(),
    };
    let mut file = empty(source, is_named);
    let mut is_odd = false;
    for mut part in read {
        let first = file.document_count;
        part.errors
            .iter_mut()
            .for_each(|error| error.document += first);
        part.documents
            .iter_mut()
            .for_each(|read| read.document.index += first);
        file.document_count += part.document_count;
        file.is_kubernetes |= part.is_kubernetes;
        is_odd |= part.has_odd_key;
        file.errors.append(&mut part.errors);
        file.keys_twice.append(&mut part.keys_twice);
        file.documents.append(&mut part.documents);
    }
    is_odd |= !file.errors.is_empty();
    if is_odd && file.source.text().contains("{{") {
        file.is_template = true;
        file.errors.clear();
        file.documents.clear();
        file.keys_twice.clear();
    }
    file
}

struct PartRead {
    document_count: usize,
    errors: Vec<ParseError>,
    is_kubernetes: bool,
    /// `{{ … }}` without quotes is a mapping whose key is a mapping.
    has_odd_key: bool,
    keys_twice: Vec<KeyTwice>,
    documents: Vec<DocumentRead>,
}

fn read_part(source: &Source, part: parse::Part) -> PartRead {
    let mut out = PartRead {
        document_count: part.documents.len() + part.errors.len(),
        errors: part.errors,
        is_kubernetes: false,
        has_odd_key: part.documents.iter().any(Document::has_odd_key),
        keys_twice: Vec::new(),
        documents: Vec::new(),
    };
    for mut document in part.documents {
        let mut contents = read(&document);
        out.is_kubernetes |= contents.is_kubernetes;
        if contents.is_kubernetes {
            let twice = document.duplicates.iter().map(|twice| {
                let again = source.position(twice.again.start);
                KeyTwice {
                    key: source
                        .slice(twice.again)
                        .trim_matches(['"', '\''])
                        .to_owned(),
                    again: (again.line, again.column),
                    first_line: source.position(twice.first.start).line,
                }
            });
            out.keys_twice.extend(twice);
        }
        if !contents.objects.is_empty() {
            document.shrink();
            contents.objects.shrink_to_fit();
            out.documents.push(DocumentRead {
                document,
                objects: contents.objects,
            });
        }
    }
    out
}
