//! Every error that the header documents, seen: the table below is compared with the header's comments.
#![allow(
    non_upper_case_globals,
    clippy::undocumented_unsafe_blocks,
    clippy::multiple_unsafe_ops_per_block,
    clippy::unwrap_used,
    reason = "names of the C header; places are locals or NULL, ranges are the process's own; a panic is a failed test"
)]

mod support;

use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use soft_rocm_hip::header::*;
use support::{at, device_memory, passes_in_process, pinned_memory, registered_memory};

/// What a row needs of the process it runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Devices {
    None,
    Two,
}
use Devices::{None, Two};

type Row = (&'static str, hipError_t, Devices, fn() -> hipError_t);

/// No such device.
const BEYOND: c_int = 2;

const VERSIONS: &[Row] = &[
    ("hipInit", hipErrorInvalidValue, Two, || hipInit(1)),
    ("hipInit", hipErrorInvalidDevice, None, || hipInit(0)),
    ("hipDriverGetVersion", hipErrorInvalidValue, Two, || unsafe { hipDriverGetVersion(null_mut()) }),
    ("hipRuntimeGetVersion", hipErrorInvalidValue, Two, || unsafe { hipRuntimeGetVersion(null_mut()) }),
    ("hipGetProcAddress", hipErrorInvalidValue, Two, || unsafe {
        hipGetProcAddress(c"hipNothing".as_ptr(), &mut null_mut(), 0, 0, null_mut())
    }),
];

const DEVICES: &[Row] = &[
    ("hipGetDeviceCount", hipErrorInvalidValue, Two, || unsafe { hipGetDeviceCount(null_mut()) }),
    ("hipGetDeviceCount", hipErrorNoDevice, None, || unsafe { hipGetDeviceCount(&mut 0) }),
    ("hipGetDevice", hipErrorInvalidValue, Two, || unsafe { hipGetDevice(null_mut()) }),
    ("hipGetDevice", hipErrorInvalidDevice, None, || unsafe { hipGetDevice(&mut 0) }),
    ("hipSetDevice", hipErrorInvalidDevice, Two, || hipSetDevice(BEYOND)),
    ("hipDeviceGet", hipErrorInvalidValue, Two, || unsafe { hipDeviceGet(null_mut(), 0) }),
    ("hipDeviceGet", hipErrorInvalidDevice, Two, || unsafe { hipDeviceGet(&mut 0, BEYOND) }),
    ("hipSetDeviceFlags", hipErrorInvalidValue, Two, || hipSetDeviceFlags(3)),
    ("hipSetDeviceFlags", hipErrorInvalidDevice, None, || hipSetDeviceFlags(0)),
    ("hipGetDeviceFlags", hipErrorInvalidValue, Two, || unsafe { hipGetDeviceFlags(null_mut()) }),
    ("hipGetDeviceFlags", hipErrorInvalidDevice, None, || unsafe { hipGetDeviceFlags(&mut 0) }),
    ("hipDeviceReset", hipErrorInvalidDevice, None, || hipDeviceReset()),
    ("hipDeviceReset", hipErrorNotPermitted, Two, || in_host_function(|| hipDeviceReset())),
    ("hipDeviceSynchronize", hipErrorInvalidDevice, None, || hipDeviceSynchronize()),
    ("hipDeviceSynchronize", hipErrorNotPermitted, Two, || in_host_function(|| hipDeviceSynchronize())),
    ("hipDeviceGetAttribute", hipErrorInvalidValue, Two, || attribute(hipDeviceAttribute_t(1), 0)),
    ("hipDeviceGetAttribute", hipErrorInvalidDevice, Two, || attribute(hipDeviceAttributeWarpSize, BEYOND)),
    ("hipGetDevicePropertiesR0600", hipErrorInvalidValue, Two, || unsafe {
        hipGetDevicePropertiesR0600(null_mut(), 0)
    }),
    ("hipGetDevicePropertiesR0600", hipErrorInvalidDevice, Two, || unsafe {
        hipGetDevicePropertiesR0600(MaybeUninit::uninit().as_mut_ptr(), BEYOND)
    }),
    ("hipDeviceGetName", hipErrorInvalidValue, Two, || unsafe {
        hipDeviceGetName([0; 9].as_mut_ptr(), 0, 0)
    }),
    ("hipDeviceGetName", hipErrorInvalidDevice, Two, || unsafe {
        hipDeviceGetName([0; 9].as_mut_ptr(), 9, BEYOND)
    }),
    ("hipDeviceGetUuid", hipErrorInvalidValue, Two, || unsafe { hipDeviceGetUuid(null_mut(), 0) }),
    ("hipDeviceGetUuid", hipErrorInvalidDevice, Two, || unsafe {
        hipDeviceGetUuid(MaybeUninit::uninit().as_mut_ptr(), BEYOND)
    }),
    ("hipDeviceGetPCIBusId", hipErrorInvalidValue, Two, || unsafe {
        hipDeviceGetPCIBusId([0; 20].as_mut_ptr(), 12, 0)
    }),
    ("hipDeviceGetPCIBusId", hipErrorInvalidDevice, Two, || unsafe {
        hipDeviceGetPCIBusId([0; 20].as_mut_ptr(), 20, BEYOND)
    }),
    ("hipDeviceGetByPCIBusId", hipErrorInvalidValue, Two, || unsafe {
        hipDeviceGetByPCIBusId(&mut 0, c"0000:03:00.0".as_ptr())
    }),
    ("hipDeviceTotalMem", hipErrorInvalidValue, Two, || unsafe { hipDeviceTotalMem(null_mut(), 0) }),
    ("hipDeviceTotalMem", hipErrorInvalidDevice, Two, || unsafe { hipDeviceTotalMem(&mut 0, BEYOND) }),
    ("hipDeviceComputeCapability", hipErrorInvalidValue, Two, || unsafe {
        hipDeviceComputeCapability(&mut 0, null_mut(), 0)
    }),
    ("hipDeviceComputeCapability", hipErrorInvalidDevice, Two, || unsafe {
        hipDeviceComputeCapability(&mut 0, &mut 0, BEYOND)
    }),
    ("hipDeviceCanAccessPeer", hipErrorInvalidValue, Two, || unsafe {
        hipDeviceCanAccessPeer(null_mut(), 0, 1)
    }),
    ("hipDeviceCanAccessPeer", hipErrorInvalidDevice, Two, || unsafe {
        hipDeviceCanAccessPeer(&mut 0, 0, BEYOND)
    }),
    ("hipDeviceEnablePeerAccess", hipErrorInvalidValue, Two, || hipDeviceEnablePeerAccess(1, 1)),
    ("hipDeviceEnablePeerAccess", hipErrorInvalidDevice, Two, || hipDeviceEnablePeerAccess(0, 0)),
    ("hipDeviceEnablePeerAccess", hipErrorPeerAccessAlreadyEnabled, Two, || {
        assert_eq!(hipDeviceEnablePeerAccess(1, 0), hipSuccess);
        hipDeviceEnablePeerAccess(1, 0)
    }),
    ("hipDeviceDisablePeerAccess", hipErrorInvalidDevice, Two, || hipDeviceDisablePeerAccess(BEYOND)),
    ("hipDeviceDisablePeerAccess", hipErrorPeerAccessNotEnabled, Two, || hipDeviceDisablePeerAccess(0)),
];

const MEMORY: &[Row] = &[
    ("hipMalloc", hipErrorInvalidValue, Two, || unsafe { hipMalloc(null_mut(), 1) }),
    ("hipMalloc", hipErrorOutOfMemory, Two, || unsafe { hipMalloc(&mut null_mut(), HUGE) }),
    ("hipExtMallocWithFlags", hipErrorInvalidValue, Two, || unsafe {
        hipExtMallocWithFlags(&mut null_mut(), 8, 9)
    }),
    ("hipExtMallocWithFlags", hipErrorOutOfMemory, Two, || unsafe {
        hipExtMallocWithFlags(&mut null_mut(), HUGE, hipDeviceMallocDefault)
    }),
    ("hipMallocManaged", hipErrorInvalidValue, Two, || unsafe {
        hipMallocManaged(&mut null_mut(), 0, hipMemAttachGlobal)
    }),
    ("hipMallocManaged", hipErrorOutOfMemory, Two, || unsafe {
        hipMallocManaged(&mut null_mut(), HUGE, hipMemAttachGlobal)
    }),
    ("hipFree", hipErrorInvalidValue, Two, || hipFree(at(device_memory(8), 1))),
    ("hipHostMalloc", hipErrorInvalidValue, Two, || unsafe { hipHostMalloc(&mut null_mut(), 8, 8) }),
    ("hipHostMalloc", hipErrorOutOfMemory, Two, || unsafe { hipHostMalloc(&mut null_mut(), HUGE, 0) }),
    ("hipHostFree", hipErrorInvalidValue, Two, || hipHostFree(at(pinned_memory(8, 0), 1))),
    ("hipHostRegister", hipErrorInvalidValue, Two, || hipHostRegister(device_memory(8), 8, 0)),
    ("hipHostRegister", hipErrorHostMemoryAlreadyRegistered, Two, || {
        hipHostRegister(at(registered_memory(), 8), 8, 0)
    }),
    ("hipHostUnregister", hipErrorInvalidValue, Two, || hipHostUnregister(null_mut())),
    ("hipHostUnregister", hipErrorHostMemoryNotRegistered, Two, || {
        hipHostUnregister(at(registered_memory(), 8))
    }),
    ("hipHostGetFlags", hipErrorInvalidValue, Two, || unsafe { hipHostGetFlags(&mut 0, device_memory(8)) }),
    ("hipHostGetDevicePointer", hipErrorInvalidValue, Two, || unsafe {
        hipHostGetDevicePointer(&mut null_mut(), device_memory(8), 0)
    }),
    ("hipMemGetInfo", hipErrorInvalidValue, Two, || unsafe { hipMemGetInfo(&mut 0, null_mut()) }),
    ("hipPointerGetAttributes", hipErrorInvalidValue, Two, || unsafe {
        hipPointerGetAttributes(&mut hipPointerAttribute_t::default(), null())
    }),
    ("hipMemGetAddressRange", hipErrorNotFound, Two, || unsafe {
        hipMemGetAddressRange(&mut null_mut(), &mut 0, at(device_memory(8), 8))
    }),
    ("hipMemPtrGetInfo", hipErrorInvalidValue, Two, || unsafe {
        hipMemPtrGetInfo(at(device_memory(8), 1), &mut 0)
    }),
    ("hipMemcpy", hipErrorInvalidValue, Two, || copy(9, hipMemcpyDeviceToDevice)),
    ("hipMemcpy", hipErrorInvalidMemcpyDirection, Two, || copy(8, hipMemcpyKind(5))),
    ("hipMemcpyHtoD", hipErrorInvalidValue, Two, || unsafe {
        hipMemcpyHtoD(device_memory(8), device_memory(8), 8)
    }),
    ("hipMemcpyDtoH", hipErrorInvalidValue, Two, || unsafe {
        hipMemcpyDtoH(device_memory(8), device_memory(8), 8)
    }),
    ("hipMemcpyDtoD", hipErrorInvalidValue, Two, || unsafe {
        hipMemcpyDtoD(device_memory(8), device_memory(8), 9)
    }),
    ("hipMemcpyPeer", hipErrorInvalidValue, Two, || copy_to_peer(1, 9)),
    ("hipMemcpyPeer", hipErrorInvalidDevice, Two, || copy_to_peer(BEYOND, 8)),
    ("hipMemset", hipErrorInvalidValue, Two, || unsafe { hipMemset(device_memory(8), 0, 9) }),
    ("hipMemsetD8", hipErrorInvalidValue, Two, || unsafe { hipMemsetD8(device_memory(8), 0, 9) }),
    ("hipMemsetD16", hipErrorInvalidValue, Two, || unsafe { hipMemsetD16(device_memory(8), 0, 5) }),
    ("hipMemsetD32", hipErrorInvalidValue, Two, || unsafe { hipMemsetD32(device_memory(8), 0, 3) }),
];

const KERNELS: &[Row] = &[
    ("hipModuleLoad", hipErrorInvalidValue, Two, || unsafe { hipModuleLoad(&mut null_mut(), null()) }),
    ("hipModuleLoad", hipErrorNoBinaryForGpu, Two, || unsafe {
        hipModuleLoad(&mut null_mut(), c"file".as_ptr())
    }),
    ("hipModuleLoadData", hipErrorInvalidValue, Two, || unsafe {
        hipModuleLoadData(&mut null_mut(), null())
    }),
    ("hipModuleLoadData", hipErrorNoBinaryForGpu, Two, || unsafe {
        hipModuleLoadData(&mut null_mut(), c"data".as_ptr().cast())
    }),
    ("hipModuleUnload", hipErrorInvalidHandle, Two, || hipModuleUnload(null_mut())),
    ("hipModuleGetFunction", hipErrorInvalidHandle, Two, || unsafe {
        hipModuleGetFunction(&mut null_mut(), null_mut(), c"kernel".as_ptr())
    }),
    ("__hipPopCallConfiguration", hipErrorMissingConfiguration, None, || unsafe {
        __hipPopCallConfiguration(null_mut(), null_mut(), null_mut(), null_mut())
    }),
];

#[cfg(feature = "ais")]
const FILES: &[Row] = &[
    ("hipAmdFileRead", hipErrorInvalidValue, Two, || read_file(null_mut())),
    ("hipAmdFileRead", hipErrorUnknown, Two, || read_file(&mut 0)),
    ("hipAmdFileWrite", hipErrorInvalidValue, Two, || write_file(null_mut())),
    ("hipAmdFileWrite", hipErrorUnknown, Two, || write_file(&mut 0)),
];
#[cfg(not(feature = "ais"))]
const FILES: &[Row] = &[];

/// More than any device or host has.
const HUGE: usize = 1 << 60;

fn attribute(which: hipDeviceAttribute_t, device: c_int) -> hipError_t {
    unsafe { hipDeviceGetAttribute(&mut 0, which, device) }
}

fn copy(size: usize, kind: hipMemcpyKind) -> hipError_t {
    unsafe { hipMemcpy(device_memory(8), device_memory(8), size, kind) }
}

fn copy_to_peer(peer: c_int, size: usize) -> hipError_t {
    unsafe { hipMemcpyPeer(device_memory(8), peer, device_memory(8), 0, size) }
}

#[cfg(feature = "ais")]
fn read_file(size_copied: *mut u64) -> hipError_t {
    let handle = hipAmdFileHandle_t { fd: -1 };
    unsafe { hipAmdFileRead(handle, device_memory(8), 8, 0, size_copied, &mut 0) }
}

#[cfg(feature = "ais")]
fn write_file(size_copied: *mut u64) -> hipError_t {
    let handle = hipAmdFileHandle_t { fd: -1 };
    unsafe { hipAmdFileWrite(handle, device_memory(8), 8, 0, size_copied, &mut 0) }
}

/// What a call answers that is made by the default stream.
fn in_host_function(call: fn() -> hipError_t) -> hipError_t {
    static ANSWER: AtomicU32 = AtomicU32::new(u32::MAX);
    unsafe extern "C" fn run(call: *mut c_void) {
        let call: *mut fn() -> hipError_t = call.cast();
        ANSWER.store(unsafe { (*call)() }.0, Ordering::SeqCst);
    }
    let mut call = call;
    assert_eq!(unsafe { hipLaunchHostFunc(null_mut(), Some(run), (&raw mut call).cast()) }, hipSuccess);
    assert_eq!(hipStreamSynchronize(null_mut()), hipSuccess);
    hipError_t(ANSWER.load(Ordering::SeqCst))
}

fn rows() -> impl Iterator<Item = &'static Row> {
    [VERSIONS, DEVICES, MEMORY, KERNELS, FILES].into_iter().flatten()
}

fn run_those_with(devices: Devices) {
    for (function, code, _, call) in rows().filter(|row| row.2 == devices) {
        assert_eq!(hipGetLastError(), hipSuccess);
        assert_eq!(call(), *code, "{function}");
        let last = hipGetLastError();
        // What a host function's thread answers is that thread's last error.
        assert!(last == *code || *code == hipErrorNotPermitted, "{function}: {last:?}");
    }
}

#[test]
fn every_row_is_answered_and_becomes_the_last_error() {
    let two = [("SOFT_ROCM_DEVICE_COUNT", "2")];
    passes_in_process("every_row_is_answered_and_becomes_the_last_error", &two, || run_those_with(Two));
}

#[test]
fn every_row_without_a_device_is_answered() {
    let none = [("SOFT_ROCM_DEVICE_COUNT", "0")];
    passes_in_process("every_row_without_a_device_is_answered", &none, || run_those_with(None));
}

/// The name of a code as the header spells it.
fn name(code: hipError_t) -> String {
    unsafe { std::ffi::CStr::from_ptr(hipGetErrorName(code)) }.to_str().unwrap().to_owned()
}

/// The words of a text that begin so.
fn words<'a>(text: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(|char: char| !char.is_ascii_alphanumeric()).filter(move |word| word.starts_with(start))
}

/// Each function of the header with the errors its comment names; `as hipOther()` stands for those of the other one.
fn documented() -> BTreeSet<(String, String)> {
    let (mut all, mut comment) = (BTreeSet::<(String, String)>::new(), String::new());
    for line in include_str!("../src/bindings.rs").lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            comment.push_str(text);
        } else if let Some(function) = line.strip_prefix("pub fn ") {
            let function = function.split('(').next().unwrap().to_owned();
            let errors = comment.split_once("# Errors").map_or("", |(_, errors)| errors);
            let mut codes: Vec<String> = words(errors, "hipError").map(str::to_owned).collect();
            for other in
                errors.replace("As ", "as ").split("as ").skip(1).filter_map(|text| text.split_once("()"))
            {
                codes.extend(
                    all.iter().filter(|(function, _)| function == other.0).map(|(_, code)| code.clone()),
                );
            }
            all.extend(codes.into_iter().map(|code| (function.clone(), code)));
            comment.clear();
        } else if !line.starts_with("#[") {
            comment.clear();
        }
    }
    all
}

/// What works on streams has tests beside its own.
fn is_for_streams(function: &str) -> bool {
    ["Stream", "Event", "Async", "Launch", "MemPool"].iter().any(|word| function.contains(word))
}

#[test]
fn the_rows_are_the_headers_errors() {
    let mut expected = documented();
    assert!(expected.len() > 60, "{expected:?}");
    expected.retain(|(function, _)| !is_for_streams(function));
    expected.retain(|(function, _)| cfg!(feature = "ais") || !function.starts_with("hipAmdFile"));
    let seen: BTreeSet<_> =
        rows().map(|(function, code, ..)| ((*function).to_owned(), name(*code))).collect();
    assert_eq!(seen.symmetric_difference(&expected).collect::<Vec<_>>(), <Vec<&(String, String)>>::new());
    assert_eq!(seen.len(), rows().count());
}
