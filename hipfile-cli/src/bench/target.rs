//! The files measured: found, made, kept safe from harm, and removed if they were made in a folder.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::{Path, PathBuf};

use super::measure::interrupted;
use super::pattern::{self, STRIDE};
use super::space;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::size::in_bytes;

/// A file to measure with. One in a folder of bench's choice is removed when this is dropped.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    /// The length of its data from the offset asked for.
    pub size: u64,
    temporary: bool,
}

/// What is asked of it.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub offset: u64,
    /// None: all that is there.
    pub size: Option<u64>,
    pub writes: bool,
    pub force: bool,
    pub seed: u64,
    /// Whether blocks of the file have to be there before they are written: writing to a mapping can't tell that there are none.
    pub reserve: bool,
}

impl Target {
    /// The file at a path that the user named; made if it is missing.
    pub fn named(path: &Path, wanted: Wanted, output: &Output) -> Result<Self, Failure> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if fs::symlink_metadata(path).is_ok() {
                    let failure = Failure::new(format!("{} is a link that leads nowhere", path.display()));
                    return Err(failure.advice("name a file"));
                }
                return Self::make(path, wanted, false, output);
            }
            Err(error) => return Err(failed("look at", path, &error)),
        };
        let kind = metadata.file_type();
        if kind.is_dir() {
            let failure = Failure::new(format!("{} is a folder", path.display()));
            return Err(failure.advice("name a file with -f, or use -D to have files made in it"));
        }
        if !kind.is_file() && !kind.is_block_device() {
            return Err(Failure::new(format!("{} is neither a file nor a block device", path.display())));
        }
        let file = OpenOptions::new()
            .read(true)
            .write(wanted.writes)
            .open(path)
            .map_err(|error| failed("open", path, &error))?;
        let end = io::Seek::seek(&mut &file, io::SeekFrom::End(0))
            .map_err(|error| failed("look at", path, &error))?;
        let there = end.saturating_sub(wanted.offset);
        let size = wanted.size.unwrap_or(there);
        if wanted.writes {
            let ours = kind.is_file() && is_ours(&file, end).map_err(|error| failed("read", path, &error))?;
            if !ours && !wanted.force {
                let failure = Failure::new(format!("{} has data that bench did not write", path.display()));
                return Err(failure.advice("name another file, or overwrite it with --force"));
            }
        }
        if size == 0 {
            let failure = Failure::new(format!(
                "{} has nothing to transfer from offset {}",
                path.display(),
                wanted.offset
            ));
            return Err(failure.advice("say with -s how many bytes to use"));
        }
        let target = Self { path: path.to_owned(), size, temporary: false };
        match (wanted.writes, size <= there) {
            (false, false) => Err(target.shorter(end, wanted)),
            (false, true) => Ok(target),
            (true, _) => {
                if kind.is_file() {
                    target.reserve(&file, wanted)?;
                }
                Ok(target)
            }
        }
    }

    /// New files in a folder.
    pub fn in_folder(
        folder: &Path,
        count: usize,
        wanted: Wanted,
        output: &Output,
    ) -> Result<Vec<Self>, Failure> {
        if !folder.is_dir() {
            let failure = Failure::new(format!("{} is no folder", folder.display()));
            return Err(failure.advice("name one that is there, or a file with -f"));
        }
        let name = |index| folder.join(format!("hipfile-bench-{}.{index}", std::process::id()));
        (0..count).map(|index| Self::make(&name(index), wanted, true, output)).collect()
    }

    fn make(path: &Path, wanted: Wanted, temporary: bool, output: &Output) -> Result<Self, Failure> {
        let Some(size) = wanted.size else {
            let failure = Failure::new(format!("{} does not exist", path.display()));
            return Err(failure.advice("say with -s how large a file to make"));
        };
        let create = OpenOptions::new().read(true).write(true).create_new(true).open(path);
        let file = create.map_err(|error| failed("make", path, &error))?;
        // From here on a failure removes what was made.
        let mut target = Self { path: path.to_owned(), size, temporary: true };
        target.reserve(&file, wanted)?;
        if !wanted.writes {
            output.note(format!("making {}", path.display()));
            target.lay_out(&file, wanted, output)?;
        }
        target.temporary = temporary;
        Ok(target)
    }

    /// Sees to room for the data.
    fn reserve(&self, file: &File, wanted: Wanted) -> Result<(), Failure> {
        let end = wanted.offset.checked_add(self.size).filter(|end| i64::try_from(*end).is_ok());
        let end = end.ok_or_else(|| Failure::new("-o and -s lead beyond the largest file"))?;
        let (room, used) = space::of(file).map_err(|error| failed("look at", &self.path, &error))?;
        if let Some(lacking) = self.size.checked_sub(room.saturating_add(used)).filter(|lacking| *lacking > 0)
        {
            let message =
                format!("no room for {}: its file system lacks {}", self.path.display(), in_bytes(lacking));
            return Err(Failure::new(message).advice("make -s smaller, or make room"));
        }
        if wanted.reserve {
            space::reserve(file, wanted.offset, self.size, end)
                .map_err(|error| failed("make room in", &self.path, &error))?;
        }
        Ok(())
    }

    /// Writes the pattern, to the disk.
    fn lay_out(&self, file: &File, wanted: Wanted, output: &Output) -> Result<(), Failure> {
        let failed = |error: io::Error| failed("write", &self.path, &error);
        let mut bytes = vec![0; 1 << 20];
        let progress =
            Progress::new(output.shows_progress(), self.size, format!("making {}", self.path.display()));
        let mut done = 0;
        while done < self.size {
            interrupted()?;
            let len = (self.size - done).min(1 << 20);
            let part = bytes.get_mut(..usize::try_from(len).unwrap_or(0)).unwrap_or_default();
            pattern::fill(part, wanted.seed, wanted.offset + done);
            file.write_all_at(part, wanted.offset + done).map_err(failed)?;
            done += len;
            progress.add(len);
        }
        file.sync_all().map_err(failed)
    }

    fn shorter(&self, end: u64, wanted: Wanted) -> Failure {
        let message = format!(
            "{} has {}, too few for {} from offset {}",
            self.path.display(),
            in_bytes(end),
            self.size,
            wanted.offset
        );
        Failure::new(message).advice("make -s smaller, or write it first: -I 1")
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if self.temporary {
            // There is nobody to tell; the name says whose it is.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// How many places of a file are looked at.
const SAMPLES: u64 = 64;

/// Whether all that a file has is what bench wrote, as far as samples show: marks, and zeros where nothing was written.
fn is_ours(file: &File, end: u64) -> io::Result<bool> {
    let strides = end / STRIDE;
    let samples = (0..SAMPLES).map(|sample| strides * sample / SAMPLES);
    // The last ones too: something may have been added.
    let places = samples.chain([strides.saturating_sub(1), strides]);
    let mut marks = false;
    for place in places {
        let mut bytes = [0; STRIDE as usize];
        let read = file.read_at(&mut bytes, place * STRIDE)?;
        let bytes = bytes.get(..read).unwrap_or_default();
        if pattern::is_marked(bytes) {
            marks = true;
        } else if bytes.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
    }
    Ok(marks || end == 0 || space::is_hole(file))
}

/// What could not be done with a file.
pub fn failed(doing: &str, path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::new(format!("cannot {doing} {}: {error}", path.display()));
    match error.kind() {
        io::ErrorKind::NotFound => failure.advice("is the name right?"),
        io::ErrorKind::PermissionDenied => failure.advice("ask for permission, or be another user"),
        io::ErrorKind::StorageFull => failure.advice("make room on the file system"),
        _ => failure,
    }
}
