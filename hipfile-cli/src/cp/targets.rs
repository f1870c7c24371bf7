//! Which file becomes which.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::system;
use crate::failure::Failure;

/// Where copies go.
#[derive(Debug)]
pub struct Targets {
    destination: PathBuf,
    folder: bool,
    /// What was admitted, by the names that links lead to.
    taken: HashSet<PathBuf>,
}

impl Targets {
    /// By the conventions of `cp`: into the destination if it is a folder, which it has to be for several sources.
    pub fn new(destination: &Path, sources: usize) -> Result<Self, Failure> {
        let folder = fs::metadata(destination).is_ok_and(|found| found.is_dir());
        let shown = destination.display();
        if !folder && sources > 1 {
            let failure = Failure::new(format!("{shown} is no folder, and there are {sources} sources"));
            return Err(failure.advice("name a folder that exists last"));
        }
        if !folder && destination.as_os_str().as_bytes().ends_with(b"/") {
            let failure = Failure::new(format!("{shown} is no folder"));
            return Err(failure.advice("make it first, or leave out the slash"));
        }
        Ok(Self { destination: destination.to_owned(), folder, taken: HashSet::new() })
    }

    /// The name that the copy of a source has.
    pub fn of(&self, source: &Path) -> PathBuf {
        match source.file_name() {
            Some(name) if self.folder => self.destination.join(name),
            // A source without a name, as `..`, is refused for being a folder.
            _ => self.destination.clone(),
        }
    }

    /// Refuses what is no file, and copies that would destroy something: the source, another copy, what is protected.
    pub fn admit(&mut self, source: &Path, destination: &Path) -> Result<(), Failure> {
        let shown = source.display();
        // What can't be asked about can't be opened either, which says why.
        let Ok(from) = fs::metadata(source) else { return Ok(()) };
        if from.is_dir() {
            return Err(Failure::new(format!("{shown} is a folder")).advice("name the files in it"));
        }
        if !from.is_file() {
            return Err(
                Failure::new(format!("{shown} is no regular file")).advice("the system's cp copies others")
            );
        }
        if !self.taken.insert(place(destination)) {
            let failure =
                Failure::new(format!("{shown} would replace another copy, {}", destination.display()));
            return Err(failure.advice("copy it into another folder"));
        }
        let Ok(to) = fs::metadata(destination) else {
            // What leads nowhere can't be replaced, and what it is to lead to is not guessed.
            return match fs::symlink_metadata(destination) {
                Ok(found) if found.is_symlink() => {
                    let failure =
                        Failure::new(format!("{} is a link that leads nowhere", destination.display()));
                    Err(failure.advice("remove it first"))
                }
                Ok(_) => Ok(()),
                Err(_) => in_folder(destination),
            };
        };
        if same(&from, &to) {
            return Err(Failure::new(format!("{shown} and {} are the same file", destination.display())));
        }
        if to.is_dir() {
            let failure = Failure::new(format!("{} is a folder", destination.display()));
            return Err(failure.advice("give the copy another name"));
        }
        if to.is_file() && system::is_write_protected(destination) {
            let failure = Failure::new(format!("{} is write-protected", destination.display()));
            return Err(failure.advice("remove it first, or change its mode"));
        }
        Ok(())
    }
}

/// The one name of a file that is there or is to be there, whatever links lead to it.
fn place(path: &Path) -> PathBuf {
    let folder =
        path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let new = || Some(fs::canonicalize(folder?).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(new).unwrap_or_else(|| path.to_owned())
}

/// Refuses a name in a folder that is not there.
fn in_folder(destination: &Path) -> Result<(), Failure> {
    let folder = destination.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.map(|folder| (folder, fs::metadata(folder))) {
        Some((folder, Err(error))) if error.kind() == io::ErrorKind::NotFound => {
            Err(Failure::new(format!("there is no folder {}", folder.display())).advice("make it first"))
        }
        // Whatever else is wrong shows when the copy is made there.
        _ => Ok(()),
    }
}

fn same(a: &Metadata, b: &Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}
