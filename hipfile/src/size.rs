//! How long a file is, and when it is on the storage device.

use std::fs::File;
use std::io;

use crate::error::Result;
use crate::file::FileHandle;
use crate::io::Way;
use crate::system;

/// # Size and durability
///
/// What [`std::fs::File`] does, with errors that name the file. The library has no part in it.
impl FileHandle {
    /// The size of the file in bytes; 0 for what has none, such as devices.
    ///
    /// # Errors
    ///
    /// The system's.
    #[allow(
        clippy::len_without_is_empty,
        reason = "as for files of std, the size is a question to the system"
    )]
    pub fn len(&self) -> Result<u64> {
        self.of_file("read size of", File::metadata).map(|metadata| metadata.len())
    }

    /// Makes the file that long, in bytes: what is after is cut off, what is new reads as zeros.
    ///
    /// The fast path writes whole blocks only, so a file whose size is none is written a little longer and cut here.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::DeviceBuffer;
    /// use hipfile::{Driver, OpenOptions};
    ///
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-set-len-{}", std::process::id()));
    /// let file = OpenOptions::new().write(true).create(true).open(&Driver::open()?, &path)?;
    /// file.write_all_at(DeviceBuffer::zeroed(12_288)?.slice(..)?, 0)?;
    /// file.set_len(10_007)?;
    /// file.sync_all()?; // data, size and times are on the device
    /// assert_eq!(file.len()?, 10_007);
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if the file is not open for writing or `len` passes
    /// `i64::MAX`; otherwise the system's.
    pub fn set_len(&self, len: u64) -> Result<()> {
        let operation = "set size of";
        self.admits(Way::Write).map_err(|cause| self.error(operation, cause))?;
        self.of_file(operation, |file| file.set_len(len))
    }

    /// Waits until all that was written, by whichever path, is on the storage device, and what it takes to read it back.
    ///
    /// Other metadata, such as times, may follow later. Transfers that are still under way are not waited for.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use hipfile::alloc::DeviceBuffer;
    /// # use hipfile::{Driver, OpenOptions};
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-sync-data-{}", std::process::id()));
    /// let file = OpenOptions::new().write(true).create(true).open(&Driver::open()?, &path)?;
    /// file.write_all_at(DeviceBuffer::from_host(b"to be kept")?.slice(..)?, 0)?;
    /// file.sync_data()?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The system's. After one, what was written since the last success may be lost, whatever the next call says.
    #[doc(alias = "fdatasync")]
    pub fn sync_data(&self) -> Result<()> {
        self.of_file("sync", File::sync_data)
    }

    /// Waits as [`sync_data`](Self::sync_data) does, for all metadata of the file too.
    ///
    /// The name of a new file is kept by its folder, which has to be synced as well: see
    /// [`OpenOptions::replace`](crate::OpenOptions::replace).
    ///
    /// # Errors
    ///
    /// As for [`sync_data`](Self::sync_data).
    #[doc(alias = "fsync")]
    pub fn sync_all(&self) -> Result<()> {
        self.of_file("sync", File::sync_all)
    }

    /// What a call of std answers about this file.
    pub(crate) fn of_file<T>(
        &self,
        operation: &'static str,
        call: impl FnOnce(&File) -> io::Result<T>,
    ) -> Result<T> {
        self.file()
            .and_then(|file| call(file).map_err(|error| system::cause(&error)))
            .map_err(|cause| self.error(operation, cause))
    }
}
