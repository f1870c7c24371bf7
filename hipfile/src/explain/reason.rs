//! Why a transfer does not take the fast path.

use std::fmt;

/// A rule of the library that keeps a transfer off the fast path. Its text says what is so, [`advice`](Self::advice) what
/// to do about it.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::{Driver, OpenOptions, Reason};
///
/// let file = OpenOptions::new().read(true).open(&Driver::open()?, "/dev/zero")?;
/// let memory = DeviceBuffer::with_alignment(4096, 4096)?;
/// let reasons = file.explain(memory.slice(..)?, 0)?.reasons;
/// assert_eq!(reasons, [Reason::NoDirectIo, Reason::FileType]);
/// assert_eq!(reasons[0].to_string(), "the file can't be opened with O_DIRECT");
/// assert_eq!(reasons[0].advice(), "keep the data on a file system with direct I/O");
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The fast path is switched off by `HIPFILE_FORCE_COMPAT_MODE=true`.
    SwitchedOff,
    /// HIP lacks `hipAmdFileRead` and `hipAmdFileWrite`.
    NoFileFunctions,
    /// The file has no direct I/O: it can't be opened with `O_DIRECT`, or its file system asks for no alignment.
    NoDirectIo,
    /// The file is neither a regular file nor a block device.
    FileType,
    /// A regular file on a file system other than ext4 and xfs.
    FileSystem {
        /// The file system by the mount table; `None` if its device is not there.
        name: Option<String>,
    },
    /// A regular file on ext4 with a journal of another mode than `ordered`.
    Journal {
        /// The `data=` option of the mount.
        mode: String,
    },
    /// The offset in the file.
    Offset {
        /// In bytes.
        offset: u64,
        /// What it has to be a multiple of, in bytes.
        alignment: u64,
    },
    /// The length of the transfer.
    Length {
        /// In bytes.
        len: u64,
        /// What it has to be a multiple of, in bytes.
        alignment: u64,
    },
    /// The address on the device.
    Address {
        /// The address.
        address: u64,
        /// What it has to be a multiple of, in bytes.
        alignment: u64,
    },
}

impl Reason {
    /// What to change.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::SwitchedOff => "start the program without the variable",
            Self::NoFileFunctions => "install ROCm 7.2 or later",
            Self::NoDirectIo => "keep the data on a file system with direct I/O",
            Self::FileType => "keep the data in a regular file or on a block device",
            Self::FileSystem { .. } => {
                "move the file to ext4 or xfs, or start the program with HIPFILE_UNSUPPORTED_FILE_SYSTEMS=true if its file system is known to support it"
            }
            Self::Journal { .. } => "mount the file system with data=ordered",
            Self::Offset { .. } => "begin at a multiple: an earlier one, and skip the bytes before",
            Self::Length { .. } => "transfer a multiple, and the rest by a call of its own",
            Self::Address { .. } => "use DeviceBuffer::with_alignment, and slices that begin at multiples",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SwitchedOff => f.write_str("HIPFILE_FORCE_COMPAT_MODE=true switches the fast path off"),
            Self::NoFileFunctions => f.write_str("HIP has no hipAmdFileRead and hipAmdFileWrite"),
            Self::NoDirectIo => f.write_str("the file can't be opened with O_DIRECT"),
            Self::FileType => f.write_str("the file is neither a regular file nor a block device"),
            Self::FileSystem { name: Some(name) } => write!(f, "the file is on {name}, not on ext4 or xfs"),
            Self::FileSystem { name: None } => {
                f.write_str("the file is on a device that is not in the mount table")
            }
            Self::Journal { mode } => write!(f, "the file is on ext4 with data={mode}"),
            Self::Offset { offset, alignment } => write!(f, "offset {offset} is no multiple of {alignment}"),
            Self::Length { len, alignment } => write!(f, "length {len} is no multiple of {alignment}"),
            Self::Address { address, alignment } => {
                write!(f, "device address {address:#x} is no multiple of {alignment}")
            }
        }
    }
}
