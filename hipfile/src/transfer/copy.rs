//! From file to file.

use hip_alloc::DeviceBuffer;

use super::options::Options;
use super::piece::{End, Lanes, Piece, UNIT};
use super::report::Report;
use super::stopped::Stopped;
use crate::error::{Cause, Error};
use crate::file::FileHandle;
use crate::memory::Named;

impl Options<'_> {
    /// Copies `len` bytes from one file and offset to another, through memory of the current device: a chunk for each thread.
    /// hipFile 0.2.
    ///
    /// Copies within one file are fine as long as the two ranges have no byte in common.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::transfer::Options;
    /// use hipfile::{Driver, OpenOptions};
    ///
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-copy-{}", std::process::id()));
    /// # std::fs::write(&path, b"from here to there")?;
    /// let driver = Driver::open()?;
    /// let from = OpenOptions::new().read(true).open(&driver, &path)?;
    /// # let path = path.with_extension("to");
    /// let to = OpenOptions::new().write(true).create(true).open(&driver, &path)?;
    /// let report = Options::new().copy_file((&from, 5), (&to, 0), 4)?;
    /// assert_eq!(report.bytes, 4);
    /// assert_eq!(std::fs::read(&path)?, b"here");
    /// # std::fs::remove_file(&path)?;
    /// # std::fs::remove_file(path.with_extension(""))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory), [`ErrorKind::NoDevice`](crate::ErrorKind::NoDevice) if
    /// there is no memory for it; otherwise as for [`read_file_into`](Self::read_file_into) and
    /// [`write_file_from`](Self::write_file_from), about the file that failed. What is counted is in the second file.
    #[doc(alias = "hipFileRead")]
    #[doc(alias = "hipFileWrite")]
    pub fn copy_file(
        self,
        from: (&FileHandle, u64),
        to: (&FileHandle, u64),
        len: u64,
    ) -> Result<Report, Stopped> {
        let [from, to] = [from, to].map(|(file, offset)| End { file, offset });
        let failed = |error| Stopped::before(error, len);
        let count = usize::try_from(len).map_err(|_| failed(Error::new("copy", Cause::OffsetTooLarge)))?;
        // A chunk is never longer than what there is to copy.
        let most = count.checked_next_multiple_of(UNIT).unwrap_or(usize::MAX).max(UNIT);
        let chunk = self.settings.chunk().min(most);
        let room = self.settings.threads_for(len).saturating_mul(chunk);
        let mut memory = DeviceBuffer::with_alignment(room, UNIT).map_err(|error| failed(error.into()))?;
        let span = memory.as_mut_slice().span();
        let report = self.run(&[Piece::copy(from, to, count, Lanes { span, chunk })]);
        // Kept, and used by nobody else, until here.
        drop(memory);
        report
    }
}
