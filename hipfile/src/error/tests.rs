//! Text, kind and codes of every error.

use super::*;
use crate::cause::memory_kind;
use crate::io::Way;
use crate::late::Refusal;
use crate::version::Version;

fn text(cause: Cause) -> String {
    Error::new("read", cause).to_string()
}

#[test]
fn an_error_is_one_word() {
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    assert_eq!(size_of::<std::result::Result<(), Failed<[u8; 100]>>>(), size_of::<usize>());
}

#[test]
fn context_comes_before_the_cause() {
    let error = Error::new("write", Cause::Os(libc::EFBIG))
        .on(Subject::Path(Path::new("out.bin").into()))
        .at(4096, 3 << 20)
        .after(1 << 20);
    assert_eq!(
        error.to_string(),
        "write out.bin at offset 4096, 3145728 bytes, 1048576 done: file too large (27 EFBIG)"
    );
    // What a program that returns the error from main prints.
    let debug = format!("{error:?}");
    assert!(debug.starts_with("Error { kind: Os, message: \"write out.bin at offset 4096, "), "{debug}");
    assert_eq!((error.path(), error.fd()), (Some(Path::new("out.bin")), None));
    assert_eq!((error.offset(), error.requested(), error.bytes_done()), (Some(4096), Some(3 << 20), 1 << 20));
    assert_eq!((error.operation(), error.kind()), ("write", ErrorKind::Os));

    let error =
        Error::new("register file", Cause::Op(OpError::HandleAlreadyRegistered)).on(Subject::Descriptor(7));
    assert_eq!(
        error.to_string(),
        "register file descriptor 7: file descriptor is already registered (5028 hipFileHandleAlreadyRegistered)"
    );
    assert_eq!((error.path(), error.fd(), error.offset()), (None, Some(7), None));
}

#[test]
fn every_cause_has_its_text_kind_and_codes() {
    let v = |minor| Version { major: 0, minor, patch: 0 };
    let table: Vec<(Cause, ErrorKind, Option<i64>, &str)> = vec![
        (Cause::Os(libc::EBADF), ErrorKind::Os, Some(9), "bad file descriptor (9 EBADF)"),
        (Cause::Os(libc::EINTR), ErrorKind::Interrupted, Some(4), "interrupted system call (4 EINTR)"),
        (Cause::Os(libc::EACCES), ErrorKind::PermissionDenied, Some(13), "permission denied (13 EACCES)"),
        (Cause::Os(libc::EADV), ErrorKind::Os, Some(68), "advertise error (errno 68)"),
        (
            Cause::Op(OpError::InternalError),
            ErrorKind::Internal,
            Some(5030),
            "internal error of the library (5030 hipFileInternalError)",
        ),
        (
            Cause::Op(OpError::from_code(5999)),
            ErrorKind::Unknown,
            Some(5999),
            "unknown hipFile error (5999 unknown)",
        ),
        (
            Cause::LostErrno,
            ErrorKind::Os,
            Some(-1),
            "a system call failed, and on a stream the library does not tell how (-1)",
        ),
        // HIP is not in use in these tests, so its codes have no names.
        (Cause::Hip(2.into()), ErrorKind::OutOfMemory, Some(2), "HIP call failed: HIP error 2"),
        (Cause::HipCall(999.into()), ErrorKind::Hip, Some(5011), "HIP call failed: HIP error 999"),
        (Cause::HipCall(101.into()), ErrorKind::NoDevice, Some(5011), "HIP call failed: HIP error 101"),
        (
            Cause::UnknownReturn(i64::MIN),
            ErrorKind::Unknown,
            Some(i64::MIN),
            "the library answered -9223372036854775808, which means nothing known",
        ),
        (
            Cause::Overlong { returned: 9, requested: 8 },
            ErrorKind::LibraryFault,
            Some(9),
            "the library reports 9 bytes where 8 were asked for",
        ),
        (Cause::NotLoaded("no libhipfile".into()), ErrorKind::NotLoaded, None, "no libhipfile"),
        (
            Cause::AlreadyLoaded,
            ErrorKind::Busy,
            None,
            "the library is in use already; load it before anything else",
        ),
        (
            Cause::Forked,
            ErrorKind::Forked,
            None,
            "this process was forked after the GPU libraries were in use; run a new program for GPU work",
        ),
        (Cause::NotOpenFor(Way::Read), ErrorKind::InvalidInput, None, "the file is not open for reading"),
        (Cause::NotOpenFor(Way::Write), ErrorKind::InvalidInput, None, "the file is not open for writing"),
        (
            Cause::Append,
            ErrorKind::InvalidInput,
            None,
            "the file is open with O_APPEND, where Linux writes at the end whatever the offset; open it without",
        ),
        (
            Cause::OffsetTooLarge,
            ErrorKind::InvalidInput,
            None,
            "a file ends at 9223372036854775807 (i64::MAX) at the latest, so offset plus length is too large",
        ),
        (
            Cause::EmptyMemory,
            ErrorKind::InvalidInput,
            None,
            "memory of 0 bytes can't be registered, at least 1 is needed",
        ),
        (
            Cause::EmptyPieces,
            ErrorKind::InvalidInput,
            None,
            "pieces of 0 bytes never add up to memory, at least 1 is needed",
        ),
        (Cause::InvalidArgument("no such thing".into()), ErrorKind::InvalidInput, None, "no such thing"),
        (
            Cause::RegisteredHere,
            ErrorKind::AlreadyRegistered,
            Some(5023),
            "device pointer is already registered (5023 hipFileMemoryAlreadyRegistered) by this process",
        ),
        (
            Cause::InFlight,
            ErrorKind::Busy,
            Some(5030),
            "transfers on the memory are in flight (5030 hipFileInternalError)",
        ),
        (
            Cause::Shared,
            ErrorKind::Busy,
            None,
            "clones, files, registrations, streams or batches still use the driver",
        ),
        (Cause::StreamRegistered, ErrorKind::AlreadyRegistered, None, "the stream is already registered"),
        (
            Cause::Late(Refusal::NotRegistered),
            ErrorKind::InvalidInput,
            None,
            "late values need a registered stream",
        ),
        (
            Cause::Late(Refusal::InBatch),
            ErrorKind::InvalidInput,
            None,
            "late values need a registered stream, and a batch has no stream",
        ),
        (
            Cause::Late(Refusal::AllFixed),
            ErrorKind::InvalidInput,
            None,
            "late values, all of which the stream is registered to fix at submission",
        ),
        (
            Cause::Late(Refusal::Fixed("length")),
            ErrorKind::InvalidInput,
            None,
            "a late length, which the stream is registered to fix at submission",
        ),
        (
            Cause::Late(Refusal::Longer { len: 9, submitted: 8 }),
            ErrorKind::InvalidInput,
            None,
            "late values of 9 bytes, where 8 were submitted and no more are allowed",
        ),
        (
            Cause::Late(Refusal::Outside { offset: 5, len: 4, region: 8 }),
            ErrorKind::InvalidInput,
            None,
            "late values of 4 bytes at offset 5 of a region of 8",
        ),
        (
            Cause::Late(Refusal::Panicked),
            ErrorKind::InvalidInput,
            None,
            "the closure for late values panicked",
        ),
        (Cause::FileShared, ErrorKind::Busy, None, "clones or transfers still use the file"),
        (
            Cause::Policy("with HIPFILE_FORCE_COMPAT_MODE=true"),
            ErrorKind::Unsupported,
            None,
            "the environment does not make the policy true; start the program with HIPFILE_FORCE_COMPAT_MODE=true",
        ),
        (Cause::NotRegular, ErrorKind::UnsupportedFile, None, "only a regular file can be replaced"),
        (Cause::StreamShared, ErrorKind::Busy, None, "clones or operations still use the stream"),
        (
            Cause::OtherDevice { memory: 0, stream: 1 },
            ErrorKind::InvalidInput,
            None,
            "the memory is on device 0 and the stream on device 1",
        ),
        (
            Cause::Unsupported { feature: "statistics", since: v(5), found: v(2) },
            ErrorKind::Unsupported,
            None,
            "libhipfile 0.2.0 is in use, which has no statistics; 0.5.0 and newer have",
        ),
        (
            Cause::Unimplemented("parameters"),
            ErrorKind::Unsupported,
            Some(5030),
            "the library in use has no parameters, as no release of AMD's has (5030 hipFileInternalError)",
        ),
        (
            Cause::RefusedValue { value: "7 bytes".into(), code: OpError::DriverUnsupportedLimit },
            ErrorKind::InvalidInput,
            Some(5003),
            "the library does not take 7 bytes: GPU IO driver property value is unsupported (5003 hipFileDriverUnsupportedLimit)",
        ),
        (Cause::UnexpectedEof, ErrorKind::UnexpectedEof, None, "the file ended early"),
        (Cause::WriteZero, ErrorKind::WriteZero, None, "the file took no more bytes"),
        (Cause::Cancelled, ErrorKind::Cancelled, None, "cancelled before it began"),
        (Cause::Stopped, ErrorKind::Cancelled, None, "cancelled"),
        (Cause::DeadlinePassed, ErrorKind::TimedOut, None, "the deadline passed"),
        (
            Cause::BatchFull { submitted: 3, outstanding: 126, capacity: 128 },
            ErrorKind::Busy,
            Some(5037),
            "126 of 128 transfers are outstanding, which leaves no room for 3 more (5037 hipFileBatchFull)",
        ),
        (
            Cause::UnknownBatch,
            ErrorKind::NotRegistered,
            Some(5022),
            "the library does not know the batch any more: other code destroyed it or closed the driver (5022 hipFileInvalidValue)",
        ),
        (
            Cause::UnknownState(32),
            ErrorKind::Unknown,
            Some(32),
            "the library ended the transfer in state 32, which means nothing known",
        ),
        (Cause::Fault("what it did".into()), ErrorKind::LibraryFault, None, "what it did"),
    ];
    for (cause, kind, code, expected) in table {
        assert_eq!((cause.kind(), cause.raw_code()), (kind, code), "{expected}");
        assert_eq!(text(cause), format!("read: {expected}"));
    }
}

#[test]
fn both_codes_of_a_failed_hip_call_are_kept() {
    let error = Error::new("register memory", Cause::HipCall(3.into()));
    assert_eq!(error.op_error(), Some(OpError::HipDriverError));
    assert_eq!(error.hip_error(), Some(HipError::from(3)));
    let error = Error::new("read", Cause::Hip(3.into()));
    assert_eq!((error.op_error(), error.hip_error()), (None, Some(HipError::from(3))));
}

#[test]
fn errors_of_hip_alloc_say_their_operation_once() {
    let refused = hip_alloc::resolve_range("Registered::slice", 8..17, 16).unwrap_err();
    let error = Error::from(refused.clone());
    assert_eq!(error.to_string(), "Registered::slice: bytes 8..17 are not within 0..16");
    assert_eq!((error.kind(), error.operation()), (ErrorKind::OutOfRange, "Registered::slice"));
    let error = Error::new("read", Cause::Memory(refused)).at(0, 9);
    assert_eq!(
        error.to_string(),
        "read at offset 0, 9 bytes: Registered::slice: bytes 8..17 are not within 0..16"
    );
}

/// Every kind, and what `std` calls it.
const KINDS: [(ErrorKind, io::ErrorKind); 24] = [
    (ErrorKind::NotLoaded, io::ErrorKind::Other),
    (ErrorKind::NotInitialized, io::ErrorKind::Other),
    (ErrorKind::InvalidInput, io::ErrorKind::InvalidInput),
    (ErrorKind::OutOfRange, io::ErrorKind::InvalidInput),
    (ErrorKind::UnsupportedMemory, io::ErrorKind::InvalidInput),
    (ErrorKind::UnsupportedFile, io::ErrorKind::Unsupported),
    (ErrorKind::Unsupported, io::ErrorKind::Unsupported),
    (ErrorKind::AlreadyRegistered, io::ErrorKind::AlreadyExists),
    (ErrorKind::NotRegistered, io::ErrorKind::Other),
    (ErrorKind::Busy, io::ErrorKind::ResourceBusy),
    (ErrorKind::PermissionDenied, io::ErrorKind::PermissionDenied),
    (ErrorKind::NoDevice, io::ErrorKind::Other),
    (ErrorKind::OutOfMemory, io::ErrorKind::OutOfMemory),
    (ErrorKind::Interrupted, io::ErrorKind::Interrupted),
    (ErrorKind::UnexpectedEof, io::ErrorKind::UnexpectedEof),
    (ErrorKind::WriteZero, io::ErrorKind::WriteZero),
    (ErrorKind::Cancelled, io::ErrorKind::Other),
    (ErrorKind::TimedOut, io::ErrorKind::TimedOut),
    (ErrorKind::Os, io::ErrorKind::Other),
    (ErrorKind::Hip, io::ErrorKind::Other),
    (ErrorKind::Internal, io::ErrorKind::Other),
    (ErrorKind::Forked, io::ErrorKind::Other),
    (ErrorKind::LibraryFault, io::ErrorKind::Other),
    (ErrorKind::Unknown, io::ErrorKind::Other),
];

#[test]
fn every_kind_has_one_of_std() {
    for (place, (kind, expected)) in KINDS.into_iter().enumerate() {
        assert_eq!(kind as usize, place, "the table has every kind in order");
        assert_eq!(io::ErrorKind::from(kind), expected, "{kind:?}");
    }
}

#[test]
fn every_errno_keeps_the_kind_that_std_gives_it() {
    for errno in 1..=133 {
        let expected = io::Error::from_raw_os_error(errno).kind();
        for operation in ["open", "read"] {
            assert_eq!(io::Error::from(Error::new(operation, Cause::Os(errno))).kind(), expected, "{errno}");
        }
    }
}

#[test]
fn a_code_of_hip_has_one_kind_wherever_it_comes_from() {
    for code in 0..2000 {
        let kind = memory_kind(HipError::from(code).kind());
        for cause in [Cause::Hip(code.into()), Cause::HipCall(code.into())] {
            assert_eq!(cause.kind(), kind, "{code}");
        }
    }
}

#[test]
fn what_gives_a_value_back_reads_as_its_error_and_becomes_it() {
    let failed = || Failed::new(Error::new("close driver", Cause::Shared), vec![7]);
    assert_eq!(failed().to_string(), Error::new("close driver", Cause::Shared).to_string());
    assert_eq!(Error::from(failed()).kind(), ErrorKind::Busy);
    assert_eq!(io::Error::from(failed()).kind(), io::ErrorKind::ResourceBusy);
    assert_eq!(failed().into_inner(), [7]);
    assert!(format!("{:?}", failed()).starts_with("Failed { error: Error { kind: Busy"));

    let device = hip_alloc::Device::new(u32::MAX).unwrap_err();
    let failed = hip_alloc::Failed::new(device.clone(), ());
    assert_eq!(Error::from(failed).to_string(), device.to_string());
}

#[test]
fn io_errors_keep_kind_and_cause() {
    let io = io::Error::from(Error::new("write", Cause::Os(libc::ENOSPC)));
    assert_eq!(io.kind(), io::ErrorKind::StorageFull);
    assert_eq!(io.to_string(), "write: no space left on device (28 ENOSPC)");
    let inner = io.get_ref().and_then(|inner| inner.downcast_ref::<Error>()).unwrap();
    assert_eq!(inner.os_error(), Some(libc::ENOSPC));

    let io = io::Error::from(Error::new("read", Cause::UnexpectedEof));
    assert_eq!(io.kind(), io::ErrorKind::UnexpectedEof);
    let io = io::Error::from(Error::new("read", Cause::Op(OpError::InternalError)));
    assert_eq!(io.kind(), io::ErrorKind::Other);
}
