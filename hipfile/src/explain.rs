//! Which path a transfer will take, and why.

mod environment;
mod explanation;
mod reason;
mod rules;
mod storage;

pub(crate) use environment::Environment;
pub use explanation::{Explanation, Predicted};
pub use reason::Reason;

use std::os::fd::AsFd;

use crate::alignment::Alignment;
use crate::error::{Cause, Result};
use crate::ffi;
use crate::file::FileHandle;
use crate::file_offset;
use crate::io::MAX_TRANSFER;
use crate::memory::WriteFrom;
use crate::span::Span;
use crate::system;
use rules::Facts;
use storage::Storage;

/// Where a file lies, as far as the fast path asks.
#[derive(Debug)]
pub(crate) struct Place {
    storage: Storage,
    /// What direct I/O asks for; none if there is no direct I/O.
    direct: Option<Alignment>,
}

impl FileHandle {
    /// Which path a transfer between `memory` and this file at `offset` will take, and every rule that keeps it off the
    /// fast one. Nothing is transferred. hipFile 0.2.
    ///
    /// Both directions have the same rules. What is explained is one call of the library, so at most the first 0x7ffff000
    /// bytes; of hipFile before 0.5 only blocking transfers, since those on streams always go through host memory.
    ///
    /// It is a prediction: the rules are those of AMD's releases, applied to what this process sees of the file, of HIP and
    /// of the environment as it was when a driver was first opened. A fast path that the kernel refuses (ENODEV, EREMOTEIO)
    /// becomes a fallback all the same. [`stats`](crate::stats) tells what was [`Observed`](crate::Observed).
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::DeviceBuffer;
    /// use hipfile::{Driver, OpenOptions, Predicted, Reason};
    ///
    /// let file = OpenOptions::new().read(true).open(&Driver::open()?, "/proc/self/exe")?;
    /// let mut memory = DeviceBuffer::with_alignment(8192, 4096)?;
    /// let explanation = file.explain(memory.slice(1..)?, 4096)?;
    /// assert_eq!(explanation.path, Predicted::Fallback);
    /// if let Some(direct) = file.alignment()? {
    ///     let odd = Reason::Length { len: 8191, alignment: direct.offset };
    ///     assert!(explanation.reasons.contains(&odd), "{explanation}");
    /// }
    /// file.read_at(memory.slice_mut(1..)?, 4096)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if `offset` plus the length of `memory` passes
    /// `i64::MAX`; what the system answers when it is asked about the file and its mount;
    /// [`ErrorKind::Forked`](crate::ErrorKind::Forked) in a forked child.
    pub fn explain(&self, memory: impl WriteFrom, offset: u64) -> Result<Explanation> {
        self.explained(memory.span(), offset)
    }

    pub(crate) fn explained(&self, span: Span, offset: u64) -> Result<Explanation> {
        self.facts_of(span, offset)
            .map(|facts| rules::predict(&facts))
            .map_err(|cause| self.error("explain", cause).at(offset, span.len))
    }

    fn facts_of(&self, span: Span, offset: u64) -> std::result::Result<Facts, Cause> {
        let api = self.driver().live()?;
        file_offset::checked(offset, span.len)?;
        let place = self.place()?;
        Ok(Facts {
            environment: Environment::in_force(),
            version: ffi::version(api)?,
            file_functions: hip_alloc::has_functions(&[c"hipAmdFileRead", c"hipAmdFileWrite"]),
            storage: place.storage.clone(),
            direct: place.direct,
            offset,
            len: span.len.min(MAX_TRANSFER) as u64,
            address: span.start().0.addr() as u64,
        })
    }

    /// Where the file lies. Asked once: the library, too, looks only when the file is registered.
    fn place(&self) -> std::result::Result<&Place, Cause> {
        if let Some(found) = self.place.get() {
            return Ok(found);
        }
        let storage = storage::of(self.as_fd())?;
        let direct = if self.opens_direct() { system::alignment(self.as_fd())? } else { None };
        Ok(self.place.get_or_init(|| Place { storage, direct }))
    }

    /// Whether the library has a descriptor with `O_DIRECT`: this one, or the one for which it opened the file again.
    fn opens_direct(&self) -> bool {
        let flags = self.flags();
        flags & libc::O_DIRECT != 0 || system::open_again(self.as_fd(), flags | libc::O_DIRECT).is_ok()
    }
}
