//! Devices that are GPUs of NVIDIA's, by a driver of the tests' own: no GPU is needed, and none is used.
#![allow(
    non_upper_case_globals,
    clippy::multiple_unsafe_ops_per_block,
    clippy::unwrap_used,
    reason = "names of the C header; one reason for a list of calls; a panic is a failed test"
)]

mod support;

use std::ffi::c_void;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;
use std::ptr;
use std::sync::OnceLock;

use soft_rocm_hip::header::*;
use support::{at, device_bytes, device_memory, host_bytes, in_process, pattern, pinned_memory, reports};

/// Chunks pass through host memory of this size.
const STAGE: usize = 4 << 20;

/// The folder of a driver, built with some options.
fn driver(options: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/fake_cuda.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-shared", "-fPIC", "-o"]);
    compiler.arg(folder.path().join("libcuda.so.1")).arg(source).args(options);
    assert!(compiler.status().unwrap().success());
    folder
}

/// Runs `body` in a process with GPUs.
fn output_with_gpus(
    test: &str,
    variables: &[(&str, &str)],
    body: impl FnOnce(),
) -> Option<std::process::Output> {
    static DRIVER: OnceLock<tempfile::TempDir> = OnceLock::new();
    with_driver(|| DRIVER.get_or_init(|| driver(&[])).path(), test, variables, body)
}

fn with_driver<'a>(
    folder: impl FnOnce() -> &'a Path,
    test: &str,
    variables: &[(&str, &str)],
    body: impl FnOnce(),
) -> Option<std::process::Output> {
    let is_child = std::env::var_os("LD_LIBRARY_PATH")
        .is_some_and(|path| Path::new(&path).join("libcuda.so.1").exists());
    // The child needs no folder: its own is the driver's already.
    let folder = if is_child { Path::new("") } else { folder() };
    let mut all = vec![("SOFT_ROCM_DEVICE", "cuda"), ("LD_LIBRARY_PATH", folder.to_str().unwrap())];
    all.extend_from_slice(variables);
    in_process(test, &all, body)
}

fn passes_with_gpus(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if let Some(output) = output_with_gpus(test, variables, body) {
        assert!(output.status.success(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
    }
}

fn copy(dst: *mut c_void, src: *const c_void, len: usize) -> hipError_t {
    // SAFETY: requires host sides that are long enough; holds for every call below.
    unsafe { hipMemcpy(dst, src, len, hipMemcpyDefault) }
}

#[test]
fn bytes_go_through_gpus_and_back() {
    passes_with_gpus("bytes_go_through_gpus_and_back", &[("FAKE_CUDA_DEVICES", "2")], || {
        let bytes = pattern(STAGE + 12_345);
        let first = device_bytes(&bytes);
        assert_eq!(hipSetDevice(1), hipSuccess);
        let second = device_memory(bytes.len() + 5);
        assert_eq!(copy(at(second, 5), first, bytes.len()), hipSuccess);
        assert_eq!(host_bytes(at(second, 5), bytes.len()), bytes);
        // SAFETY: requires that nobody uses the range; holds.
        assert_eq!(unsafe { hipMemset(at(second, 6), 7, 3) }, hipSuccess);
        // SAFETY: as above.
        assert_eq!(unsafe { hipMemsetD32Async(at(second, 12), 0x0102_0304, 2, ptr::null_mut()) }, hipSuccess);
        let mut expected = bytes[..20].to_vec();
        expected[1..4].fill(7);
        expected[7..15].copy_from_slice(&[4, 3, 2, 1, 4, 3, 2, 1]);
        assert_eq!(host_bytes(at(second, 5), 20), expected);
        assert_eq!(host_bytes(first, bytes.len()), bytes);
    });
}

#[test]
fn overlapping_ranges_are_moved() {
    passes_with_gpus("overlapping_ranges_are_moved", &[], || {
        let bytes = pattern(2 * STAGE + 100);
        for (from, to) in [(0, 100), (100, 0), (0, STAGE + 1), (STAGE + 1, 0)] {
            let device = device_bytes(&bytes);
            let len = bytes.len() - from.max(to);
            assert_eq!(copy(at(device, to), at(device, from), len), hipSuccess);
            let mut expected = bytes.clone();
            expected.copy_within(from..from + len, to);
            assert!(host_bytes(device, bytes.len()) == expected, "{from} {to}");
            assert_eq!(hipFree(device), hipSuccess);
        }
    });
}

#[test]
fn host_code_can_not_touch_it_and_has_no_way_around() {
    let test = "host_code_can_not_touch_it_and_has_no_way_around";
    let Some(output) = output_with_gpus(test, &[], || {
        let device = device_memory(100).cast::<u8>();
        assert!(softrocm_host_address(device.cast(), 100).is_null());
        // SAFETY: not sound, which is the point: the read has to fault.
        unsafe { device.read_volatile() };
    }) else {
        return;
    };
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{output:?}");
}

/// Reads or writes by the file functions; code, count and errno.
fn transfer(
    is_write: bool,
    file: &File,
    device: *mut c_void,
    len: usize,
    offset: i64,
) -> (hipError_t, u64, i32) {
    let (mut count, mut status) = (99, 99);
    let handle = hipAmdFileHandle_t { fd: file.as_raw_fd() };
    let function = if is_write { hipAmdFileWrite } else { hipAmdFileRead };
    // SAFETY: requires writable places; holds, they are locals.
    let code = unsafe { function(handle, device, len as u64, offset, &mut count, &mut status) };
    (code, count, status)
}

#[test]
fn files_are_read_and_written_in_chunks() {
    passes_with_gpus("files_are_read_and_written_in_chunks", &[], || {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = dir.path().join("file");
        let bytes = pattern(5 * STAGE + 777);
        std::fs::write(&path, &bytes).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        for (len, offset) in
            [(1, 0), (4096, 13), (STAGE, 0), (STAGE + 1, 1), (bytes.len(), 0), (3 * STAGE, 4097)]
        {
            let device = device_memory(len + 3);
            assert_eq!(
                transfer(false, &file, at(device, 3), len, offset as i64),
                (hipSuccess, len as u64, 0)
            );
            assert!(host_bytes(at(device, 3), len) == bytes[offset..offset + len], "{len} {offset}");
            let out = tempfile::tempfile_in(dir.path()).unwrap();
            assert_eq!(transfer(true, &out, at(device, 3), len, 5), (hipSuccess, len as u64, 0));
            let back = device_memory(len);
            assert_eq!(transfer(false, &out, back, len, 5), (hipSuccess, len as u64, 0));
            assert!(host_bytes(back, len) == bytes[offset..offset + len], "{len} {offset}");
            assert_eq!([hipFree(device), hipFree(back)], [hipSuccess; 2]);
        }
        // Up to the file's end.
        let device = device_memory(bytes.len());
        let rest = bytes.len() - STAGE;
        assert_eq!(transfer(false, &file, device, bytes.len(), STAGE as i64), (hipSuccess, rest as u64, 0));
        assert_eq!(transfer(false, &file, device, 10, bytes.len() as i64), (hipSuccess, 0, 0));
        let read_only = File::open(&path).unwrap();
        assert_eq!(transfer(true, &read_only, device, 10, 0), (hipErrorUnknown, 0, libc::EBADF));
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    });
}

#[test]
fn an_error_after_the_first_bytes_leaves_their_count() {
    passes_with_gpus("an_error_after_the_first_bytes_leaves_their_count", &[], || {
        let file = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        file.set_len(6 * STAGE as u64).unwrap();
        let device = device_memory(6 * STAGE);
        let plan = |text: &std::ffi::CStr| {
            // SAFETY: requires a C string and no place for a text; holds.
            assert_eq!(unsafe { softrocm_hip_set_faults(text.as_ptr(), ptr::null_mut(), 0) }, 0);
        };
        for (is_write, text) in [(false, c"pread:errno=EIO@4+"), (true, c"pwrite:errno=ENOSPC@4+")] {
            plan(text);
            let (code, count, status) = transfer(is_write, &file, device, 6 * STAGE, 0);
            plan(c"");
            assert_eq!((code, status), (hipSuccess, 0));
            // Three calls went well; which three is for the threads to find out.
            assert!(count % STAGE as u64 == 0 && count <= 3 * STAGE as u64, "{count}");
        }
        plan(c"pread:errno=EIO");
        assert_eq!(transfer(false, &file, device, 6 * STAGE, 0), (hipErrorUnknown, 0, libc::EIO));
        plan(c"");
    });
}

#[test]
fn what_libhipfile_asks_for_moves_bytes_or_says_no() {
    passes_with_gpus("what_libhipfile_asks_for_moves_bytes_or_says_no", &[], || {
        let file = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let bytes = pattern(10_000);
        let device = device_bytes(&bytes);
        let ask = |device: *mut c_void, len, is_write| {
            let mut moved = 0;
            // SAFETY: requires a writable place; holds, it is a local.
            let code =
                unsafe { softrocm_file_transfer(file.as_raw_fd(), 3, device, len, is_write, &mut moved) };
            (code, moved)
        };
        assert_eq!(ask(device, 10_000, 1), (0, 10_000));
        let other = device_memory(10_000);
        assert_eq!(ask(other, 10_000, 0), (0, 10_000));
        assert_eq!(host_bytes(other, 10_000), bytes);
        assert_eq!(ask(other, 10_001, 0), (-1, 0), "it leaves the allocation");
        assert_eq!(ask(pinned_memory(10, 0), 10, 0), (-1, 0), "host code reaches it");
        // SAFETY: requires a C string and no place for a text; holds.
        assert_eq!(unsafe { softrocm_hip_set_faults(c"hipMemcpy:hip=1@9".as_ptr(), ptr::null_mut(), 0) }, 0);
        assert_eq!(ask(other, 10_000, 0), (-1, 0), "nothing goes around a copy that is planned for");
    });
}

#[test]
fn streams_wait_for_values_in_its_memory() {
    passes_with_gpus("streams_wait_for_values_in_its_memory", &[], || {
        let device = device_bytes(&[0; 16]);
        let mut streams = [ptr::null_mut(); 2];
        // SAFETY: requires writable places, and values in device memory that lives; holds.
        unsafe {
            for stream in &mut streams {
                assert_eq!(hipStreamCreateWithFlags(stream, hipStreamNonBlocking), hipSuccess);
            }
            let [waiting, other] = streams;
            assert_eq!(
                hipStreamWaitValue64(waiting, device, 1 << 40, hipStreamWaitValueGte, u64::MAX),
                hipSuccess
            );
            assert_eq!(hipStreamWriteValue32(waiting, at(device, 8), 77, 0), hipSuccess);
            assert_eq!(hipStreamQuery(waiting), hipErrorNotReady);
            assert_eq!(hipStreamWriteValue64(other, device, 1 << 40, 0), hipSuccess);
            assert_eq!(hipStreamSynchronize(waiting), hipSuccess);
        }
        assert_eq!(host_bytes(at(device, 8), 8), [77, 0, 0, 0, 0, 0, 0, 0]);
    });
}

#[test]
fn memory_is_the_gpus_and_ends_where_it_ends() {
    let limit = [("FAKE_CUDA_MEMORY", "33554432"), ("FAKE_CUDA_REPORT", "1")];
    let output = output_with_gpus("memory_is_the_gpus_and_ends_where_it_ends", &limit, || {
        let info = || {
            let (mut free, mut total) = (0, 0);
            // SAFETY: requires writable places; holds, they are locals.
            assert_eq!(unsafe { hipMemGetInfo(&mut free, &mut total) }, hipSuccess);
            (free >> 20, total >> 20)
        };
        assert_eq!(info(), (32, 32));
        let first = device_memory((20 << 20) + 1);
        assert_eq!(info(), (10, 32));
        let mut none = ptr::dangling_mut();
        // SAFETY: requires a writable place; holds, it is a local.
        assert_eq!(unsafe { hipMalloc(&mut none, 11 << 20) }, hipErrorOutOfMemory);
        assert!(none.is_null());
        let second = device_memory(10 << 20);
        assert_eq!(info(), (0, 32));
        assert_eq!(copy(at(first, 20 << 20), [1u8].as_ptr().cast(), 2), hipErrorInvalidValue);
        assert_eq!([hipFree(first), hipFree(second)], [hipSuccess; 2]);
        assert_eq!(info(), (32, 32));
        assert_eq!(hipFree(device_memory(32 << 20)), hipSuccess);
    });
    let Some(output) = output else { return };
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("fake cuda: 0 granules mapped, 0 bytes used"), "{text}");
}

#[test]
fn less_memory_and_fewer_devices_can_be_asked_for() {
    let variables =
        [("FAKE_CUDA_DEVICES", "3"), ("SOFT_ROCM_DEVICE_COUNT", "2"), ("SOFT_ROCM_DEVICE_MEM", "7M")];
    passes_with_gpus("less_memory_and_fewer_devices_can_be_asked_for", &variables, || {
        let mut count = 0;
        // SAFETY: requires a writable place; holds, it is a local.
        assert_eq!((unsafe { hipGetDeviceCount(&mut count) }, count), (hipSuccess, 2));
        let mut name = [0; 64];
        // SAFETY: requires that many writable bytes; holds, they are a local's.
        assert_eq!(unsafe { hipDeviceGetName(name.as_mut_ptr(), 64, 1) }, hipSuccess);
        assert_eq!(&name.map(|char| char as u8)[..11], b"Fake GPU 1\0");
        let mut none = ptr::dangling_mut();
        // Whole pages of 2 MiB.
        // SAFETY: as above.
        assert_eq!(unsafe { hipMalloc(&mut none, (6 << 20) + 1) }, hipErrorOutOfMemory);
        assert_eq!(hipFree(device_memory(6 << 20)), hipSuccess);
    });
}

#[test]
fn host_memory_may_be_pinned_in_part() {
    passes_with_gpus("host_memory_may_be_pinned_in_part", &[], || {
        let bytes = pattern(3 << 20);
        let pinned = pinned_memory(bytes.len(), 0);
        // SAFETY: requires that many writable bytes; holds for the allocation.
        unsafe { pinned.cast::<u8>().copy_from(bytes.as_ptr(), bytes.len()) };
        let device = device_memory(bytes.len());
        assert_eq!(copy(device, pinned, bytes.len()), hipSuccess);
        assert_eq!(hipHostFree(pinned), hipSuccess);
        let mut own = vec![0u8; bytes.len()];
        let start = own.as_mut_ptr().cast::<c_void>();
        assert_eq!(hipHostRegister(at(start, 100), 200, 0), hipSuccess);
        assert_eq!(copy(start, device, bytes.len()), hipSuccess);
        assert!(own == bytes);
        assert_eq!(copy(device, own[150..].as_ptr().cast(), 1000), hipSuccess);
        assert_eq!(host_bytes(device, 1000), own[150..1150]);
        assert_eq!(hipHostUnregister(at(start, 100)), hipSuccess);
        assert_eq!(copy(device, own.as_ptr().cast(), own.len()), hipSuccess);
        assert!(host_bytes(device, own.len()) == bytes);
    });
}

#[test]
fn what_the_driver_refuses_at_the_start_is_reported() {
    let test = "what_the_driver_refuses_at_the_start_is_reported";
    for (variable, value, expected) in [
        ("FAKE_CUDA_FAIL", "cuInit:1", "cuInit of NVIDIA's driver answered 999"),
        ("FAKE_CUDA_FAIL", "cuDeviceGetCount:1", "cuDeviceGetCount of NVIDIA's driver answered 999"),
        ("FAKE_CUDA_FAIL", "cuDeviceTotalMem:1", "cuDeviceTotalMem of NVIDIA's driver answered 999"),
        ("FAKE_CUDA_FAIL", "cuDeviceGetName:1", "cuDeviceGetName of NVIDIA's driver answered 999"),
        (
            "FAKE_CUDA_FAIL",
            "cuDevicePrimaryCtxRetain:1",
            "cuDevicePrimaryCtxRetain of NVIDIA's driver answered 999",
        ),
        (
            "FAKE_CUDA_FAIL",
            "cuMemGetAllocationGranularity:1",
            "cuMemGetAllocationGranularity of NVIDIA's driver answered 999",
        ),
        ("FAKE_CUDA_FAIL", "cuMemAddressReserve:1", "cuMemAddressReserve of NVIDIA's driver answered 999"),
        ("SOFT_ROCM_DEVICE_COUNT", "2", "SOFT_ROCM_DEVICE_COUNT=2, but NVIDIA's driver has 1"),
    ] {
        let output = output_with_gpus(test, &[(variable, value)], || {
            assert_eq!([hipInit(0), hipSetDevice(0)], [hipErrorNotInitialized; 2]);
        });
        let Some(output) = output else { return };
        assert!(output.status.success(), "{output:?}");
        assert_eq!(reports(&output), format!("SOFT_ROCM_DEVICE=cuda: {expected}"));
    }
}

#[test]
fn a_driver_that_is_missing_or_old_is_reported() {
    let test = "a_driver_that_is_missing_or_old_is_reported";
    let body = || assert_eq!(hipInit(0), hipErrorNotInitialized);
    let old = driver(&["-DcuMemUnmap=cuMemUnmapLater"]);
    let Some(output) = with_driver(|| old.path(), test, &[], body) else { return };
    assert!(output.status.success(), "{output:?}");
    assert_eq!(reports(&output), "SOFT_ROCM_DEVICE=cuda: NVIDIA's driver is too old: it has no cuMemUnmap");
    std::fs::write(old.path().join("libcuda.so.1"), "no library").unwrap();
    let output = with_driver(|| old.path(), test, &[], body).unwrap();
    assert!(output.status.success(), "{output:?}");
    let expected = "SOFT_ROCM_DEVICE=cuda: NVIDIA's driver could not be loaded: ";
    assert!(reports(&output).starts_with(expected), "{output:?}");
}

#[test]
fn what_the_driver_refuses_later_is_an_error_and_nothing_is_lost() {
    let test = "what_the_driver_refuses_later_is_an_error_and_nothing_is_lost";
    for plan in ["cuMemCreate:1", "cuMemMap:1", "cuMemSetAccess:1"] {
        let output = output_with_gpus(test, &[("FAKE_CUDA_FAIL", plan), ("FAKE_CUDA_REPORT", "1")], || {
            for _ in 0..100 {
                let mut none = ptr::dangling_mut();
                // SAFETY: requires a writable place; holds, it is a local.
                assert_eq!(unsafe { hipMalloc(&mut none, 40 << 20) }, hipErrorUnknown);
                assert!(none.is_null());
            }
        });
        let Some(output) = output else { return };
        assert!(output.status.success(), "{plan}: {output:?}");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("fake cuda: 0 granules mapped, 0 bytes used"), "{plan}: {text}");
    }
}

#[test]
fn copies_and_transfers_that_the_driver_refuses_fail() {
    let test = "copies_and_transfers_that_the_driver_refuses_fail";
    for plan in ["cuMemcpyAsync:1", "cuStreamSynchronize:1", "cuCtxPushCurrent:1"] {
        let output = output_with_gpus(test, &[("FAKE_CUDA_FAIL", plan)], || {
            let device = device_memory(3 * STAGE);
            assert_eq!(copy(device, [1u8].as_ptr().cast(), 1), hipErrorUnknown);
            let file = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            file.set_len(3 * STAGE as u64).unwrap();
            for is_write in [false, true] {
                let result = transfer(is_write, &file, device, 3 * STAGE, 0);
                assert_eq!(result, (hipErrorUnknown, 0, libc::EIO), "{is_write}");
            }
        });
        let Some(output) = output else { return };
        assert!(output.status.success(), "{plan}: {output:?}");
    }
}
