//! Putting files in place: a process that has the old file open keeps it, a file that would not change is not touched.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::Result;

/// Writes `bytes` to `path` with the permissions `mode`, unless that is what the file holds.
pub fn file(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    replace(path, |temporary| {
        fs::write(temporary, bytes)?;
        fs::set_permissions(temporary, fs::Permissions::from_mode(mode))
    })
}

/// Makes `path` a symbolic link to `target`, unless it is one.
pub fn link(path: &Path, target: &str) -> Result<()> {
    if fs::read_link(path).is_ok_and(|old| old == Path::new(target)) {
        return Ok(());
    }
    replace(path, |temporary| symlink(target, temporary))
}

/// Copies the files below `from` to the same places below `to`.
pub fn tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).map_err(|error| format!("cannot create {}: {error}", to.display()))?;
    let entries = fs::read_dir(from).map_err(|error| format!("cannot read {}: {error}", from.display()))?;
    for entry in entries {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            tree(&entry.path(), &target)?;
        } else {
            file(&target, &fs::read(entry.path())?, 0o644)?;
        }
    }
    Ok(())
}

/// An empty file whose modification time is the epoch. A build script that watches it runs again when the file is
/// missing, and never because the file is newer than the last run.
pub fn stamp(path: &Path) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    replace(path, |temporary| fs::File::create(temporary)?.set_modified(SystemTime::UNIX_EPOCH))
}

/// Has `write` make a file beside `path`, then moves it there in one step.
fn replace(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    let temporary = path.with_file_name(name);
    let made =
        create_parent(path).and_then(|()| write(&temporary)).and_then(|()| fs::rename(&temporary, path));
    made.map_err(|error| {
        // The file may not exist; the error worth reporting is the first one.
        let _ = fs::remove_file(&temporary);
        format!("cannot install {}: {error}", path.display()).into()
    })
}

fn create_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// The first of `names` that exists in `dir`.
pub fn first_existing(dir: &Path, names: &[&str]) -> Option<PathBuf> {
    names.iter().map(|name| dir.join(name)).find(|path| path.exists())
}
