//! Errors, versions, devices and functions by name, through the exported functions.
#![allow(
    non_upper_case_globals,
    clippy::multiple_unsafe_ops_per_block,
    clippy::unwrap_used,
    reason = "names of the C header; one reason for a list of calls; a panic is a failed test"
)]

mod support;

use std::ffi::{CStr, c_void};
use std::ptr;

use soft_rocm_hip::header::*;
use support::{device_memory, passes_in_process};

#[test]
fn codes_have_a_name_and_a_text() {
    let words = |code| {
        // SAFETY: requires a C string; holds, both functions answer one for every code.
        [hipGetErrorName(code), hipGetErrorString(code)].map(|text| unsafe { CStr::from_ptr(text) })
    };
    assert_eq!(words(hipSuccess), [c"hipSuccess", c"no error"]);
    assert_eq!(words(hipErrorNoDevice), [c"hipErrorNoDevice", c"no ROCm-capable device is detected"]);
    assert_eq!(words(hipError_t(4242)), [c"hipErrorUnknown", c"unknown error"]);
}

#[test]
fn a_failure_stays_the_threads_last_error_until_it_is_asked_for() {
    assert_eq!(hipGetLastError(), hipSuccess);
    assert_eq!(hipSetDevice(99), hipErrorInvalidDevice);
    assert_eq!(hipSetDevice(0), hipSuccess);
    assert_eq!(std::thread::spawn(|| hipPeekAtLastError()).join().unwrap(), hipSuccess);
    assert_eq!([hipPeekAtLastError(), hipGetLastError()], [hipErrorInvalidDevice; 2]);
    assert_eq!([hipPeekAtLastError(), hipGetLastError()], [hipSuccess; 2]);
}

#[test]
fn both_versions_are_the_headers_or_fit_the_older_name_of_the_library() {
    let expected = if env!("SOFT_ROCM_HIP_SOVERSION") == "6" { 60_400_000 } else { HIP_VERSION as i32 };
    let mut version = 0;
    // SAFETY: requires NULL or a writable place; holds.
    assert_eq!(unsafe { hipRuntimeGetVersion(&mut version) }, hipSuccess);
    assert_eq!(version, expected);
    version = 0;
    // SAFETY: as above.
    assert_eq!(unsafe { hipDriverGetVersion(&mut version) }, hipSuccess);
    assert_eq!(version, expected);
    // SAFETY: as above.
    assert_eq!(unsafe { hipRuntimeGetVersion(ptr::null_mut()) }, hipErrorInvalidValue);
    // SAFETY: as above.
    assert_eq!(unsafe { hipDriverGetVersion(ptr::null_mut()) }, hipErrorInvalidValue);
}

#[test]
fn initialising_takes_no_flags() {
    assert_eq!([hipInit(0), hipInit(1)], [hipSuccess, hipErrorInvalidValue]);
}

#[test]
fn there_is_nothing_to_wait_for_and_no_stream_but_the_default_one() {
    assert_eq!([hipDeviceSynchronize(), hipStreamSynchronize(ptr::null_mut())], [hipSuccess; 2]);
    let stream = ptr::without_provenance_mut(0x1000);
    assert_eq!(hipStreamSynchronize(stream), hipErrorInvalidHandle);
}

fn find(name: &CStr, flags: u64) -> (hipError_t, *mut c_void, hipDriverProcAddressQueryResult) {
    let mut function = ptr::dangling_mut();
    let mut status = HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    // SAFETY: requires a C string and writable places; holds.
    let code =
        unsafe { hipGetProcAddress(name.as_ptr(), &mut function, HIP_VERSION as i32, flags, &mut status) };
    (code, function, status)
}

#[test]
fn functions_are_found_by_their_name() {
    let found = (hipSuccess, hipMemcpy as *mut c_void, HIP_GET_PROC_ADDRESS_SUCCESS);
    assert_eq!(find(c"hipMemcpy", 0), found);
    let missing = (hipErrorInvalidValue, ptr::null_mut(), HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    assert_eq!(find(c"hipNoSuchFunction", 0), missing);
    assert_eq!(find(c"hipMemcpy", 1).0, hipErrorInvalidValue);
    let expected = if cfg!(feature = "ais") { hipSuccess } else { hipErrorInvalidValue };
    assert_eq!([find(c"hipAmdFileRead", 0).0, find(c"hipAmdFileWrite", 0).0], [expected; 2]);
}

#[test]
fn looking_up_a_function_needs_a_name_and_a_place_but_no_status() {
    let mut function = ptr::null_mut();
    let name = c"hipFree".as_ptr();
    // SAFETY: requires NULL, a C string or a writable place; holds.
    let codes = unsafe {
        [
            hipGetProcAddress(name, &mut function, 0, 0, ptr::null_mut()),
            hipGetProcAddress(name, ptr::null_mut(), 0, 0, ptr::null_mut()),
            hipGetProcAddress(ptr::null(), &mut function, 0, 0, ptr::null_mut()),
        ]
    };
    assert_eq!(codes, [hipSuccess, hipErrorInvalidValue, hipErrorInvalidValue]);
}

fn count() -> (hipError_t, i32) {
    let mut count = -1;
    // SAFETY: requires a writable place; holds, it is a local.
    (unsafe { hipGetDeviceCount(&mut count) }, count)
}

fn current() -> (hipError_t, i32) {
    let mut device = -1;
    // SAFETY: requires a writable place; holds, it is a local.
    (unsafe { hipGetDevice(&mut device) }, device)
}

fn info() -> (usize, usize) {
    let (mut free, mut total) = (0, 0);
    // SAFETY: requires writable places; holds, they are locals.
    assert_eq!(unsafe { hipMemGetInfo(&mut free, &mut total) }, hipSuccess);
    (free, total)
}

#[test]
fn there_is_one_device_with_16_gib_unless_told_otherwise() {
    passes_in_process("there_is_one_device_with_16_gib_unless_told_otherwise", &[], || {
        assert_eq!(count(), (hipSuccess, 1));
        assert_eq!(current(), (hipSuccess, 0));
        assert_eq!([hipSetDevice(1), hipSetDevice(-1)], [hipErrorInvalidDevice; 2]);
        assert_eq!(info(), (16 << 30, 16 << 30));
    });
}

#[test]
fn allocations_belong_to_the_threads_current_device() {
    let variables = [("SOFT_ROCM_DEVICE_COUNT", "3"), ("SOFT_ROCM_DEVICE_MEM", "1M")];
    passes_in_process("allocations_belong_to_the_threads_current_device", &variables, || {
        assert_eq!(count(), (hipSuccess, 3));
        assert_eq!(hipSetDevice(2), hipSuccess);
        let device = device_memory(1 << 20);
        assert_eq!(info(), (0, 1 << 20));
        std::thread::spawn(|| {
            assert_eq!(current(), (hipSuccess, 0));
            assert_eq!(info(), (1 << 20, 1 << 20));
        })
        .join()
        .unwrap();
        assert_eq!(hipSetDevice(3), hipErrorInvalidDevice);
        assert_eq!(current(), (hipSuccess, 2));
        assert_eq!(hipSetDevice(0), hipSuccess);
        let mut found = hipPointerAttribute_t::default();
        // SAFETY: requires a writable place; holds, it is a local.
        assert_eq!(unsafe { hipPointerGetAttributes(&mut found, device) }, hipSuccess);
        assert_eq!(found.device, 2);
        // Freed from another device, it goes back to its own.
        assert_eq!(hipFree(device), hipSuccess);
        assert_eq!(hipSetDevice(2), hipSuccess);
        assert_eq!(info(), (1 << 20, 1 << 20));
    });
}

#[test]
fn without_devices_every_call_that_needs_one_says_so() {
    let none = [("SOFT_ROCM_DEVICE_COUNT", "0")];
    passes_in_process("without_devices_every_call_that_needs_one_says_so", &none, || {
        assert_eq!(count(), (hipErrorNoDevice, 0));
        let (mut place, mut size, mut found) = (ptr::null_mut(), 0, hipPointerAttribute_t::default());
        let null = ptr::null_mut();
        // SAFETY: requires writable places; holds, they are locals.
        let codes = unsafe {
            [
                hipInit(0),
                hipSetDevice(0),
                current().0,
                hipDeviceSynchronize(),
                hipDeviceReset(),
                hipSetDeviceFlags(0),
                hipStreamSynchronize(ptr::null_mut()),
                hipMallocManaged(&mut place, 1, hipMemAttachGlobal),
                hipExtMallocWithFlags(&mut place, 1, hipDeviceMallocDefault),
                hipHostRegister((&raw mut size).cast(), 1, 0),
                hipHostUnregister((&raw mut size).cast()),
                hipHostGetFlags(&mut 0, (&raw mut size).cast()),
                hipMemPtrGetInfo(null, &mut 0),
                hipMalloc(&mut place, 1),
                hipFree(null),
                hipHostMalloc(&mut place, 1, 0),
                hipHostFree(null),
                hipMemcpy(null, null, 0, hipMemcpyDefault),
                hipMemset(null, 0, 0),
                hipMemGetInfo(&mut size, &mut 0),
                hipPointerGetAttributes(&mut found, (&raw const size).cast()),
                hipMemGetAddressRange(&mut place, &mut 0, null),
            ]
        };
        assert_eq!(codes, [hipErrorInvalidDevice; 22]);
        assert!(softrocm_host_address(null, 0).is_null());
        let mut version = 0;
        // SAFETY: requires a writable place; holds, it is a local.
        assert_eq!(unsafe { hipRuntimeGetVersion(&mut version) }, hipSuccess);
        assert_eq!(find(c"hipFree", 0).0, hipSuccess);
    });
}
