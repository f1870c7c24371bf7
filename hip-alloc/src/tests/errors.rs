//! What errors say, and their kinds.

use super::fake;
use crate::calls::Failure;
use crate::error::{Cause, Error};
use crate::{Device, DeviceBuffer, ErrorKind, HipError};

#[test]
fn an_error_is_one_pointer_wide_and_can_go_anywhere() {
    fn goes_anywhere<T: Send + Sync + Clone + std::error::Error + 'static>() {}
    goes_anywhere::<Error>();
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<crate::Result<()>>(), size_of::<usize>());
}

#[test]
fn out_of_memory_says_how_much_there_is() {
    fake::install();
    let error = DeviceBuffer::new(1 << 40).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    assert_eq!(error.hip_error(), Some(HipError::OUT_OF_MEMORY));
    assert_eq!(error.operation(), "DeviceBuffer::new");
    assert_eq!(
        error.to_string(),
        "DeviceBuffer::new: hipMalloc of 1099511627776 bytes on device 0 failed: \
         hipErrorOutOfMemory (2): out of memory; 1000 of 4000 bytes are free"
    );
    // What a program that returns the error from main prints.
    let debug = format!("{error:?}");
    assert!(
        debug.starts_with("Error { kind: OutOfMemory, message: \"DeviceBuffer::new: hipMalloc of 1"),
        "{debug}"
    );
}

#[test]
fn hip_codes_keep_their_number_and_get_a_kind() {
    fake::install();
    for (code, kind) in [
        (1, ErrorKind::InvalidInput),
        (2, ErrorKind::OutOfMemory),
        (100, ErrorKind::NoDevice),
        (101, ErrorKind::NoDevice),
        (719, ErrorKind::Hip),
        (1055, ErrorKind::Hip),
        (2000, ErrorKind::Hip),
        (u32::MAX, ErrorKind::Hip),
    ] {
        fake::fail("hipMemGetInfo", 1, code);
        let error = Device::current().unwrap().memory_info().unwrap_err();
        assert_eq!(error.kind(), kind);
        assert_eq!(error.hip_error().map(u32::from), Some(code));
    }
}

#[test]
fn hip_errors_show_name_code_and_text() {
    fake::install();
    for (code, text) in [
        (2, "hipErrorOutOfMemory (2): out of memory"),
        // A HIP whose text is only the name again.
        (17, "hipErrorInvalidDevicePointer (17)"),
        (2000, "hipErrorUnknown (2000): unknown error"),
        // A HIP that has neither.
        (3000, "HIP error 3000"),
    ] {
        assert_eq!(HipError::from(code).to_string(), text);
        assert_eq!(HipError::from(code).code(), code);
    }
    assert_eq!(HipError::OUT_OF_MEMORY.name(), Some("hipErrorOutOfMemory"));
    assert_eq!(HipError::OUT_OF_MEMORY.description(), Some("out of memory"));
}

#[test]
fn success_with_a_null_address_is_out_of_memory() {
    fake::install();
    fake::fail("hipMalloc", 1, 0);
    assert_eq!(DeviceBuffer::new(1).unwrap_err().kind(), ErrorKind::OutOfMemory);
}

#[test]
fn every_cause_has_a_kind_and_a_text() {
    fake::install();
    let failure = Failure { call: "hipSetDevice", error: HipError::INVALID_DEVICE };
    for (error, kind, text) in [
        (
            Error::hip("Device::make_current")(failure),
            ErrorKind::NoDevice,
            "Device::make_current: hipSetDevice failed: hipErrorInvalidDevice (101): invalid device ordinal",
        ),
        (
            Error::new("op", Cause::Length { len: usize::MAX }),
            ErrorKind::InvalidInput,
            "op: a length of 18446744073709551615 bytes is more than any memory can have, \
             9223372036854775807 bytes",
        ),
        (
            Error::new("op", Cause::Alignment { align: 3 }),
            ErrorKind::InvalidInput,
            "op: an alignment of 3 is not a power of two",
        ),
        (
            Error::new("op", Cause::Busy { base: 0x1000, len: 64 }),
            ErrorKind::Busy,
            "op: a library still holds the registration of 64 bytes at 0x1000; \
             try again when its operations have ended",
        ),
        (
            Error::new("op", Cause::LengthDiffers { base: 0x1000, len: 32, registered: 64 }),
            ErrorKind::AlreadyRegistered,
            "op: 32 bytes at 0x1000 can't share the registration of 64 bytes there; register the same length",
        ),
        (
            Error::new("load", Cause::InUse { path: "/x/libamdhip64.so".into() }),
            ErrorKind::Busy,
            "load: HIP is in use already, so /x/libamdhip64.so can no longer be chosen; load first",
        ),
        (
            Error::new("op", Cause::Forked),
            ErrorKind::Forked,
            "op: HIP cannot be used in a forked child; exec a new program instead",
        ),
        (Error::new("op", Cause::NotLoaded("tried x, y".to_owned())), ErrorKind::NotLoaded, "op: tried x, y"),
    ] {
        assert_eq!(error.kind(), kind);
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn a_table_in_use_stays() {
    fake::install();
    // SAFETY: requires that a library may be loaded; none is, since a table is in use.
    let error = unsafe { crate::load("/nonexistent/libamdhip64.so") }.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(crate::table::install(fake::functions()).is_err());
}

#[test]
fn a_function_that_hip_lacks_is_named() {
    let error = Error::new("late", Cause::Missing { call: "hipLaunchHostFunc" });
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.to_string(), "late: the HIP in use has no hipLaunchHostFunc");
}
