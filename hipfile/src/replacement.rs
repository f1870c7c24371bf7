//! Files that are replaced whole or not at all.

use std::fmt;
use std::sync::Arc;

use crate::error::{Cause, Failed, Result};
use crate::file::FileHandle;
use crate::temporary::Temporary;
use crate::trace::{Trace, Work};

/// A new file that is still without its name: made by [`OpenOptions::replace`](crate::OpenOptions::replace), written through
/// [`file`](Self::file), and put in place by [`commit`](Self::commit).
///
/// Until then whoever opens the path finds what was there before, and after that all of what was written. Dropping it, in a
/// panic too, removes the new file and leaves the old one. Only a process that is killed leaves the new file behind, beside
/// the old one, as `.hipfile-…tmp`.
///
/// ```
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::{Driver, OpenOptions, Replacement};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = std::env::temp_dir().join(format!("hipfile-doc-replacement-{}", std::process::id()));
/// std::fs::write(&path, "last week's")?;
/// let results = DeviceBuffer::from_host(b"today's")?;
///
/// let new: Replacement = OpenOptions::new().replace(&Driver::open()?, &path)?;
/// new.file().write_all_at(results.slice(..)?, 0)?;
/// assert_eq!(std::fs::read(&path)?, b"last week's");
/// new.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"today's");
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[must_use = "dropped, it removes the new file"]
pub struct Replacement {
    // Dropped in this order: the file is deregistered and closed before its name goes.
    file: Arc<FileHandle>,
    temporary: Temporary,
}

impl Replacement {
    pub(crate) fn new(file: FileHandle, temporary: Temporary) -> Self {
        Self { file: Arc::new(file), temporary }
    }

    /// The new file, empty at first. Its [`path`](FileHandle::path), which errors name too, is the one that it will have.
    #[must_use]
    pub fn file(&self) -> &Arc<FileHandle> {
        &self.file
    }

    /// Puts the new file in the place of the old one and returns it: writes what it has to the storage device, gives it its
    /// name, and writes the folder.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use hipfile::{Driver, ErrorKind, OpenOptions};
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-commit-{}", std::process::id()));
    /// let new = OpenOptions::new().replace(&Driver::open()?, &path)?;
    /// new.file().write_host_all_at(b"new", 0)?;
    /// let for_a_thread = new.file().clone();
    /// let (error, new) = new.commit().unwrap_err().into_parts();
    /// assert_eq!(error.kind(), ErrorKind::Busy);
    /// drop(for_a_thread);
    /// let file = new.commit()?;
    /// assert_eq!(file.len()?, 3);
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The replacement comes back, to be dropped or tried again. [`ErrorKind::Busy`](crate::ErrorKind::Busy) while clones of
    /// the [`file`](Self::file), or transfers that own one, are left; otherwise the system's, where
    /// [`operation`](crate::Error::operation) tells how far it came: `sync` and `replace` say that the old file is there and
    /// untouched, `sync folder of` that the new one is, and may be gone after a loss of power.
    /// [`ErrorKind::Forked`](crate::ErrorKind::Forked) in a forked child.
    #[doc(alias = "rename")]
    pub fn commit(self) -> std::result::Result<FileHandle, Failed<Self>> {
        Trace::of(Work::Commit(self.file.path())).around(|| self.finish(), Failed::error)
    }

    fn finish(self) -> std::result::Result<FileHandle, Failed<Self>> {
        let Self { file, mut temporary } = self;
        match Arc::try_unwrap(file) {
            Ok(file) => match finish(&file, &mut temporary) {
                Ok(()) => Ok(file),
                Err(error) => Err(Failed::new(error, Self { file: Arc::new(file), temporary })),
            },
            Err(file) => {
                let error = file.error("replace", Cause::FileShared);
                Err(Failed::new(error, Self { file, temporary }))
            }
        }
    }
}

fn finish(file: &FileHandle, temporary: &mut Temporary) -> Result<()> {
    file.sync_all()?;
    temporary.publish().map_err(|cause| file.error("replace", cause))?;
    temporary.sync_folder().map_err(|cause| file.error("sync folder of", cause))
}

impl fmt::Debug for Replacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replacement").field("file", &self.file).finish_non_exhaustive()
    }
}
