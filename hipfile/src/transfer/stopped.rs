//! How a transfer ends before its end.

use std::error;
use std::fmt;
use std::io;
use std::time::Duration;

use super::report::{Report, Tally};
use crate::error::Error;

/// Why a transfer did not come to its end, and what it did until then.
///
/// The error is about the part that failed, with the part's own offset and length; its
/// [`bytes_done`](crate::Error::bytes_done) are those of the part that moved before the failure. Of several failures it is
/// the one at the lowest position.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::transfer::{Options, Stopped};
/// use hipfile::{Driver, ErrorKind, OpenOptions};
///
/// # let path = std::env::temp_dir().join(format!("hipfile-doc-stopped-{}", std::process::id()));
/// # std::fs::write(&path, vec![7; 1000])?;
/// let file = OpenOptions::new().read(true).open(&Driver::open()?, &path)?;
/// let mut memory = DeviceBuffer::new(4096)?;
/// let stopped: Stopped = Options::new().read_file_into(&file, memory.slice_mut(..)?, 0).unwrap_err();
/// assert_eq!(stopped.report().bytes, 1000);
/// let (error, report) = stopped.into_parts();
/// assert_eq!((error.kind(), error.bytes_done()), (ErrorKind::UnexpectedEof, 1000));
/// assert_eq!((report.contiguous(), report.asked), (1000, 4096));
/// # let stopped = Options::new().read_file_into(&file, memory.slice_mut(..)?, 0).unwrap_err();
/// assert!(stopped.into_error().to_string().ends_with("at offset 0, 4096 bytes, 1000 done: the file ended early"));
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Stopped(Box<(Error, Report)>);

impl Stopped {
    pub(super) fn new(error: Error, report: Report) -> Self {
        Self(Box::new((error, report)))
    }

    /// A transfer of `asked` bytes of which none moved.
    pub(super) fn before(error: Error, asked: u64) -> Self {
        Self::new(error, Tally::default().report(asked, 0, Duration::ZERO))
    }

    /// What went wrong.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.0.0
    }

    /// What was done before.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.0.1
    }

    /// What went wrong, without the report.
    #[must_use]
    pub fn into_error(self) -> Error {
        self.0.0
    }

    /// Both.
    #[must_use]
    pub fn into_parts(self) -> (Error, Report) {
        *self.0
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error().fmt(f)
    }
}

impl error::Error for Stopped {}

impl From<Stopped> for Error {
    /// Drops the report.
    fn from(stopped: Stopped) -> Self {
        stopped.into_error()
    }
}

impl From<Stopped> for io::Error {
    /// Drops the report.
    fn from(stopped: Stopped) -> Self {
        stopped.into_error().into()
    }
}
