//! What direct I/O asks of a request.

/// What the fast path asks of a request on a file. Other requests work too, through host memory.
///
/// ```
/// use hipfile::{Alignment, Driver, FileHandle};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open()?;
/// let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
/// let alignment: Option<Alignment> = file.alignment()?;
/// if let Some(alignment) = alignment {
///     assert!(alignment.admits(0, 2 * alignment.offset));
///     assert!(!alignment.admits(1, alignment.offset));
/// }
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Alignment {
    /// Device addresses are a multiple of this, in bytes.
    pub memory: u64,
    /// File offsets and sizes are a multiple of this, in bytes.
    pub offset: u64,
}

impl Alignment {
    /// What the library assumes where the system does not say.
    pub(crate) const ASSUMED: Self = Self { memory: 4096, offset: 4096 };

    /// Whether `len` bytes at `offset` of the file meet it.
    #[must_use]
    pub fn admits(&self, offset: u64, len: u64) -> bool {
        offset.checked_rem(self.offset) == Some(0) && len.checked_rem(self.offset) == Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_count() {
        let page = Alignment::ASSUMED;
        assert!(page.admits(0, 0) && page.admits(8192, 4096));
        assert!(!page.admits(8192, 4095) && !page.admits(1, 4096));
        assert!(!Alignment { memory: 0, offset: 0 }.admits(0, 0));
    }
}
