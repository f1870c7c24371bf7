//! A file that is to take the place of another.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
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
    /// Creates a new file beside the one that `path` names, or will name, with the owner, the group and the permissions of that
    /// one, as far as the system lets this process give them.
    ///
    /// Nothing here depends on the working directory later.
    pub fn create(path: &Path, options: &fs::OpenOptions) -> Result<(Self, File), Cause> {
        let (target, replaced) = resolve(path)?;
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
        if replaced.is_some() {
            // For nobody else until it belongs to whom it should.
            options.mode(0o600);
        }
        let (name, file) = open_new(&folder_name, &options)?;
        let temporary = Self {
            name,
            target: folder_name.join(file_name),
            folder,
            maker: process::id(),
            published: false,
        };
        if let Some(replaced) = replaced {
            inherit(&replaced, &file).map_err(|error| system::cause(&error))?;
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

fn inherit(replaced: &Metadata, file: &File) -> io::Result<()> {
    let (uid, gid) = (replaced.uid(), replaced.gid());
    let made = file.metadata()?;
    // Only some may give files away; more may choose among their groups. Why another can't does not matter.
    let belongs = (made.uid(), made.gid()) == (uid, gid)
        || fchown(file, Some(uid), Some(gid)).is_ok()
        || made.gid() == gid
        || fchown(file, None, Some(gid)).is_ok();
    file.set_permissions(Permissions::from_mode(rights(replaced.mode(), belongs)))
}

/// The permissions of a replacement, whether or not it belongs to the same group. A group that had none of its own gets no
/// more than everybody has. Bits that give rights to who runs the file go: its content is another, and its owner may be.
fn rights(mode: u32, same_group: bool) -> u32 {
    let group = if same_group { 0o070 } else { (mode & 0o007) << 3 };
    mode & (0o707 | group)
}

/// The file that `path` leads to, through symbolic links, and what is known of it if it is there.
fn resolve(path: &Path) -> Result<(PathBuf, Option<Metadata>), Cause> {
    let follow = |path: &Path| -> io::Result<_> {
        let metadata = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((path.to_owned(), None)),
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
        (target, Some(found)) if found.is_file() => Ok((target, Some(found))),
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
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (name, file)).map_err(|error| system::cause(&error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_group_gets_no_more_than_everybody() {
        assert_eq!(
            [0o640, 0o664, 0o606, 0o6755].map(|mode| rights(mode, true)),
            [0o640, 0o664, 0o606, 0o755]
        );
        assert_eq!(
            [0o640, 0o664, 0o606, 0o677].map(|mode| rights(mode, false)),
            [0o600, 0o644, 0o606, 0o677]
        );
    }
}
