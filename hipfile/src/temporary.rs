//! A file that is to take the place of another.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Cause;
use crate::system;

/// The name that a new file has until it is published, removed when dropped before that.
#[derive(Debug)]
pub(crate) struct Temporary {
    name: PathBuf,
    target: PathBuf,
    /// Kept open, so that it can be synced.
    folder: File,
    /// The process that made it: to a forked child it is the parent's.
    maker: u32,
    published: bool,
}

impl Temporary {
    /// Creates a new file beside the one that `path` names, or will name, with the permissions of that one.
    ///
    /// Nothing here depends on the working directory later.
    pub fn create(path: &Path, options: &fs::OpenOptions) -> Result<(Self, File), Cause> {
        let (target, permissions) = resolve(path)?;
        let folder_name = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let file_name = target.file_name().ok_or_else(|| {
            Cause::InvalidArgument("the path does not end in the name of a file".to_owned())
        })?;
        let folder_name = fs::canonicalize(folder_name).map_err(|error| system::cause(&error))?;
        let folder = File::open(&folder_name).map_err(|error| system::cause(&error))?;

        let mut options = options.clone();
        options.write(true).create_new(true);
        if let Some(permissions) = &permissions {
            // Never more than what was there, not even for the moment until the exact bits are set.
            options.mode(permissions.mode());
        }
        let (name, file) = open_new(&folder_name, &options)?;
        let temporary = Self {
            name,
            target: folder_name.join(file_name),
            folder,
            maker: process::id(),
            published: false,
        };
        if let Some(permissions) = permissions {
            file.set_permissions(permissions).map_err(|error| system::cause(&error))?;
        }
        Ok((temporary, file))
    }

    /// Gives the file its final name, in the place of what has that name now.
    pub fn publish(&mut self) -> Result<(), Cause> {
        if !self.published {
            fs::rename(&self.name, &self.target).map_err(|error| system::cause(&error))?;
            self.published = true;
        }
        Ok(())
    }

    /// Waits until the name is on the storage device.
    pub fn sync_folder(&self) -> Result<(), Cause> {
        match self.folder.sync_all().map_err(|error| system::cause(&error)) {
            // File systems that keep names safe otherwise, or not at all.
            Err(Cause::Os(libc::EINVAL)) => Ok(()),
            answer => answer,
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.published && self.maker == process::id() {
            // There is nobody to tell.
            let _ = fs::remove_file(&self.name);
        }
    }
}

/// The file that `path` leads to, through symbolic links, and its permissions if it is there.
fn resolve(path: &Path) -> Result<(PathBuf, Option<Permissions>), Cause> {
    let follow = |path: &Path| -> std::io::Result<_> {
        let metadata = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((path.to_owned(), None)),
            found => found?,
        };
        if !metadata.is_symlink() {
            return Ok((path.to_owned(), Some(metadata)));
        }
        let target = fs::canonicalize(path)?;
        let metadata = fs::symlink_metadata(&target)?;
        Ok((target, Some(metadata)))
    };
    match follow(path).map_err(|error| system::cause(&error))? {
        (target, None) => Ok((target, None)),
        // Not those bits that give rights to who runs the file: its owner may be another now.
        (target, Some(found)) if found.is_file() => {
            Ok((target, Some(Permissions::from_mode(found.permissions().mode() & 0o777))))
        }
        _ => Err(Cause::NotRegular),
    }
}

/// A new file of a name that nothing has.
fn open_new(folder: &Path, options: &fs::OpenOptions) -> Result<(PathBuf, File), Cause> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        // Short, since the name of the file itself may be as long as names can be.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = folder.join(format!(".hipfile-{}-{number}.tmp", process::id()));
        match options.open(&name) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (name, file)).map_err(|error| system::cause(&error)),
        }
    }
}
