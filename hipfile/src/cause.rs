//! Why an operation failed: the inside of an `Error`.

use std::fmt;

use hip_alloc::HipError;

use crate::errno;
use crate::io::Way;
use crate::kind::ErrorKind;
use crate::late::Refusal;
use crate::op_error::OpError;
use crate::version::Version;

/// One variant for each thing that can go wrong, with what its text and the accessors of `Error` need.
#[derive(Debug)]
pub(crate) enum Cause {
    /// A system call's `errno`.
    Os(i32),
    /// A system call of the library failed on another thread, and its `errno` is lost.
    LostErrno,
    /// A HIP code that a transfer passed through.
    Hip(HipError),
    /// hipFile's "HIP call failed" with the HIP code beside it.
    HipCall(HipError),
    /// A hipFile code.
    Op(OpError),
    /// A return value outside every space that the contract names.
    UnknownReturn(i64),
    /// More bytes reported than asked for.
    Overlong { returned: usize, requested: usize },
    /// hip-alloc failed on our behalf.
    Memory(hip_alloc::Error),
    /// libhipfile could not be loaded: the loader's own account.
    NotLoaded(String),
    /// A table was to be set after the first use of the library.
    AlreadyLoaded,
    /// The process is the child of a fork.
    Forked,
    /// A transfer that the file is not open for.
    NotOpenFor(Way),
    /// A write at an offset of a file that takes none.
    Append,
    /// A file offset, or the end of the transfer, past `i64::MAX`.
    OffsetTooLarge,
    /// Memory of length zero where at least a byte is needed.
    EmptyMemory,
    /// Memory to be cut into pieces of length zero.
    EmptyPieces,
    /// An argument that nobody asks the system or the library about: what std says to a path or options, or we to a value.
    InvalidArgument(String),
    /// The library has an entry that belongs to a live registration of this process.
    RegisteredHere,
    /// The library knows the stream already.
    StreamRegistered,
    /// Deregistration refused because transfers are in flight.
    InFlight,
    /// The driver has other users.
    Shared,
    /// A file has other users.
    FileShared,
    /// Something that is no regular file is to be replaced by one.
    NotRegular,
    /// A registered stream has other users.
    StreamShared,
    /// A transfer on a stream of another device than its memory; both by ordinal.
    OtherDevice { memory: u32, stream: u32 },
    /// Late values that are not taken.
    Late(Refusal),
    /// The library only pretends to have a feature: it answers 5030, and has no other word for it.
    Unimplemented(&'static str),
    /// A value that the library does not take.
    RefusedValue { value: String, code: OpError },
    /// A policy that the environment does not make true: how to start the program instead.
    Policy(&'static str),
    /// The library in use lacks a feature.
    Unsupported { feature: &'static str, since: Version, found: Version },
    /// End of file before the buffer was full.
    UnexpectedEof,
    /// A write of nothing.
    WriteZero,
    /// A transfer that never began because it was cancelled.
    Cancelled,
    /// A transfer of many calls that its token stopped.
    Stopped,
    /// A transfer of many calls that its deadline stopped.
    DeadlinePassed,
    /// More transfers than a batch has room for.
    BatchFull { submitted: usize, outstanding: usize, capacity: usize },
    /// The library does not know a batch of ours.
    UnknownBatch,
    /// A state, of those that end a transfer, that the library is not known to give.
    UnknownState(u32),
    /// The library did what its contract rules out.
    Fault(String),
}

impl Cause {
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Os(libc::EINTR) => ErrorKind::Interrupted,
            Self::Os(libc::EACCES | libc::EPERM) => ErrorKind::PermissionDenied,
            Self::Os(libc::ENOMEM) => ErrorKind::OutOfMemory,
            Self::Os(_) | Self::LostErrno => ErrorKind::Os,
            Self::Hip(code) | Self::HipCall(code) => memory_kind(code.kind()),
            Self::Op(code) => op_kind(*code),
            Self::UnknownReturn(_) => ErrorKind::Unknown,
            Self::UnknownBatch => ErrorKind::NotRegistered,
            Self::UnknownState(_) => ErrorKind::Unknown,
            Self::Overlong { .. } | Self::Fault(_) => ErrorKind::LibraryFault,
            Self::Memory(error) => memory_kind(error.kind()),
            Self::NotLoaded(_) => ErrorKind::NotLoaded,
            Self::AlreadyLoaded
            | Self::InFlight
            | Self::Shared
            | Self::StreamShared
            | Self::FileShared
            | Self::BatchFull { .. } => ErrorKind::Busy,
            Self::Forked => ErrorKind::Forked,
            Self::NotOpenFor(_)
            | Self::Append
            | Self::OffsetTooLarge
            | Self::EmptyMemory
            | Self::EmptyPieces
            | Self::InvalidArgument(_)
            | Self::OtherDevice { .. }
            | Self::Late(_) => ErrorKind::InvalidInput,
            Self::RegisteredHere | Self::StreamRegistered => ErrorKind::AlreadyRegistered,
            Self::RefusedValue { code, .. } => op_kind(*code),
            Self::Unimplemented(_) | Self::Policy(_) | Self::Unsupported { .. } => ErrorKind::Unsupported,
            Self::UnexpectedEof => ErrorKind::UnexpectedEof,
            Self::NotRegular => ErrorKind::UnsupportedFile,
            Self::WriteZero => ErrorKind::WriteZero,
            Self::Cancelled | Self::Stopped => ErrorKind::Cancelled,
            Self::DeadlinePassed => ErrorKind::TimedOut,
        }
    }

    pub(crate) fn op_error(&self) -> Option<OpError> {
        match self {
            Self::Op(code) => Some(*code),
            Self::HipCall(_) => Some(OpError::HipDriverError),
            Self::RefusedValue { code, .. } => Some(*code),
            Self::InFlight | Self::Unimplemented(_) => Some(OpError::InternalError),
            Self::RegisteredHere => Some(OpError::MemoryAlreadyRegistered),
            Self::BatchFull { .. } => Some(OpError::BatchFull),
            Self::UnknownBatch => Some(OpError::InvalidValue),
            _ => None,
        }
    }

    pub(crate) fn hip_error(&self) -> Option<HipError> {
        match self {
            Self::Hip(code) | Self::HipCall(code) => Some(*code),
            Self::Memory(error) => error.hip_error(),
            _ => None,
        }
    }

    pub(crate) fn os_error(&self) -> Option<i32> {
        match self {
            Self::Os(errno) => Some(*errno),
            _ => None,
        }
    }

    pub(crate) fn raw_code(&self) -> Option<i64> {
        match self {
            Self::Os(errno) => Some(i64::from(*errno)),
            Self::LostErrno => Some(-1),
            Self::UnknownReturn(ret) => Some(*ret),
            Self::Overlong { returned, .. } => i64::try_from(*returned).ok(),
            Self::UnknownState(state) => Some(i64::from(*state)),
            _ => self
                .op_error()
                .map(OpError::code)
                .or_else(|| self.hip_error().map(HipError::code))
                .map(i64::from),
        }
    }
}

fn op_kind(code: OpError) -> ErrorKind {
    match code {
        OpError::DriverNotInitialized | OpError::DriverClosing => ErrorKind::NotInitialized,
        OpError::InvalidValue
        | OpError::DriverInvalidProps
        | OpError::DriverUnsupportedLimit
        | OpError::HipPointerInvalid => ErrorKind::InvalidInput,
        OpError::HipPointerRangeError | OpError::InvalidMappingSize | OpError::InvalidMappingRange => {
            ErrorKind::OutOfRange
        }
        OpError::HipMemoryTypeInvalid => ErrorKind::UnsupportedMemory,
        OpError::IoNotSupported
        | OpError::InvalidFileType
        | OpError::InvalidFileOpenFlag
        | OpError::DioNotSet => ErrorKind::UnsupportedFile,
        OpError::PlatformNotSupported
        | OpError::DeviceNotSupported
        | OpError::DriverVersionMismatch
        | OpError::AsyncNotSupported => ErrorKind::Unsupported,
        OpError::MemoryAlreadyRegistered | OpError::HandleAlreadyRegistered => ErrorKind::AlreadyRegistered,
        OpError::MemoryNotRegistered | OpError::HandleNotRegistered => ErrorKind::NotRegistered,
        OpError::PermissionDenied | OpError::IoDisabled => ErrorKind::PermissionDenied,
        OpError::GpuMemoryPinningFailed => ErrorKind::OutOfMemory,
        OpError::BatchFull | OpError::DriverAlreadyOpen => ErrorKind::Busy,
        OpError::DeviceNotFound => ErrorKind::NoDevice,
        OpError::HipDriverError | OpError::HipContextMismatch => ErrorKind::Hip,
        OpError::DriverVersionReadError
        | OpError::DriverError
        | OpError::InternalError
        | OpError::GetNewFdFailed
        | OpError::DriverSetupError
        | OpError::BatchSubmitFailed => ErrorKind::Internal,
        OpError::Success | OpError::IoMaxError | OpError::Unknown(_) => ErrorKind::Unknown,
    }
}

pub(crate) fn memory_kind(kind: hip_alloc::ErrorKind) -> ErrorKind {
    match kind {
        hip_alloc::ErrorKind::OutOfMemory => ErrorKind::OutOfMemory,
        hip_alloc::ErrorKind::OutOfRange => ErrorKind::OutOfRange,
        hip_alloc::ErrorKind::InvalidInput => ErrorKind::InvalidInput,
        hip_alloc::ErrorKind::Busy => ErrorKind::Busy,
        hip_alloc::ErrorKind::AlreadyRegistered => ErrorKind::AlreadyRegistered,
        hip_alloc::ErrorKind::Forked => ErrorKind::Forked,
        hip_alloc::ErrorKind::NotLoaded => ErrorKind::NotLoaded,
        hip_alloc::ErrorKind::NoDevice => ErrorKind::NoDevice,
        hip_alloc::ErrorKind::Unsupported => ErrorKind::Unsupported,
        hip_alloc::ErrorKind::NoThread => ErrorKind::Os,
        _ => ErrorKind::Hip,
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Os(errno) => match errno::name(*errno) {
                Some(name) => write!(f, "{} ({errno} {name})", errno::text(*errno)),
                None => write!(f, "{} (errno {errno})", errno::text(*errno)),
            },
            Self::LostErrno => {
                f.write_str("a system call failed, and on a stream the library does not tell how (-1)")
            }
            Self::Hip(code) | Self::HipCall(code) => write!(f, "HIP call failed: {code}"),
            Self::Op(code) => code.fmt(f),
            Self::UnknownReturn(ret) => write!(f, "the library answered {ret}, which means nothing known"),
            Self::Overlong { returned, requested } => {
                write!(f, "the library reports {returned} bytes where {requested} were asked for")
            }
            Self::Memory(error) => error.fmt(f),
            Self::NotLoaded(account) => f.write_str(account),
            Self::AlreadyLoaded => f.write_str("the library is in use already; load it before anything else"),
            Self::Forked => f.write_str(
                "this process was forked after the GPU libraries were in use; run a new program for GPU work",
            ),
            Self::NotOpenFor(Way::Read) => f.write_str("the file is not open for reading"),
            Self::NotOpenFor(Way::Write) => f.write_str("the file is not open for writing"),
            Self::Append => f.write_str(
                "the file is open with O_APPEND, where Linux writes at the end whatever the offset; open it without",
            ),
            Self::OffsetTooLarge => {
                write!(
                    f,
                    "a file ends at {} (i64::MAX) at the latest, so offset plus length is too large",
                    i64::MAX
                )
            }
            Self::EmptyMemory => f.write_str("memory of 0 bytes can't be registered, at least 1 is needed"),
            Self::EmptyPieces => {
                f.write_str("pieces of 0 bytes never add up to memory, at least 1 is needed")
            }
            Self::InvalidArgument(what) => f.write_str(what),
            Self::RegisteredHere => write!(f, "{} by this process", OpError::MemoryAlreadyRegistered),
            Self::StreamRegistered => f.write_str("the stream is already registered"),
            Self::InFlight => write!(
                f,
                "transfers on the memory are in flight ({} {})",
                OpError::InternalError.code(),
                OpError::InternalError.name()
            ),
            Self::Shared => {
                f.write_str("clones, files, registrations, streams or batches still use the driver")
            }
            Self::FileShared => f.write_str("clones or transfers still use the file"),
            Self::NotRegular => f.write_str("only a regular file can be replaced"),
            Self::StreamShared => f.write_str("clones or operations still use the stream"),
            Self::OtherDevice { memory, stream } => {
                write!(f, "the memory is on device {memory} and the stream on device {stream}")
            }
            Self::Late(refusal) => refusal.fmt(f),
            Self::Unimplemented(feature) => write!(
                f,
                "the library in use has no {feature}, as no release of AMD's has ({} {})",
                OpError::InternalError.code(),
                OpError::InternalError.name()
            ),
            Self::RefusedValue { value, code } => write!(f, "the library does not take {value}: {code}"),
            Self::Policy(how) => {
                write!(f, "the environment does not make the policy true; start the program {how}")
            }
            Self::Unsupported { feature, since, found } => {
                write!(f, "libhipfile {found} is in use, which has no {feature}; {since} and newer have")
            }
            Self::UnexpectedEof => f.write_str("the file ended early"),
            Self::WriteZero => f.write_str("the file took no more bytes"),
            Self::Cancelled => f.write_str("cancelled before it began"),
            Self::Stopped => f.write_str("cancelled"),
            Self::DeadlinePassed => f.write_str("the deadline passed"),
            Self::BatchFull { submitted, outstanding, capacity } => write!(
                f,
                "{outstanding} of {capacity} transfers are outstanding, which leaves no room for {submitted} more ({} {})",
                OpError::BatchFull.code(),
                OpError::BatchFull.name()
            ),
            Self::UnknownBatch => write!(
                f,
                "the library does not know the batch any more: other code destroyed it or closed the driver ({} {})",
                OpError::InvalidValue.code(),
                OpError::InvalidValue.name()
            ),
            Self::UnknownState(state) => {
                write!(f, "the library ended the transfer in state {state}, which means nothing known")
            }
            Self::Fault(account) => f.write_str(account),
        }
    }
}
