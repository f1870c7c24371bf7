//! Devices that are NVIDIA's GPUs: files straight into their memory and out of it.
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
use std::os::unix::fs::FileExt;
use std::ptr;

use soft_rocm_hip::header::*;
use support::gpus::{STAGE, copy, output_with_gpus, passes_with_gpus};
use support::{at, device_bytes, device_memory, host_bytes, pattern, pinned_memory};

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
        let content = pattern(6 * STAGE);
        let file = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let device = device_memory(6 * STAGE);
        let plan = |text: &std::ffi::CStr| {
            // SAFETY: requires a C string and no place for a text; holds.
            assert_eq!(unsafe { softrocm_hip_set_faults(text.as_ptr(), ptr::null_mut(), 0) }, 0);
        };
        for (is_write, text) in [(false, c"pread:errno=EIO@4+"), (true, c"pwrite:errno=ENOSPC@4+")] {
            let (in_file, on_device) =
                if is_write { (&vec![0; 6 * STAGE], &content) } else { (&content, &vec![0; 6 * STAGE]) };
            file.write_all_at(in_file, 0).unwrap();
            assert_eq!(copy(device, on_device.as_ptr().cast(), on_device.len()), hipSuccess);
            plan(text);
            let (code, count, status) = transfer(is_write, &file, device, 6 * STAGE, 0);
            plan(c"");
            // Three calls went well; which three is for the threads to find out.
            let errno = if is_write { libc::ENOSPC } else { libc::EIO };
            let expected = if count == 0 { (hipErrorUnknown, errno) } else { (hipSuccess, 0) };
            assert_eq!((code, status), expected);
            let count = count as usize;
            assert!(count % STAGE == 0 && count <= 3 * STAGE, "{count}");
            let mut moved = vec![0; count];
            if is_write {
                file.read_exact_at(&mut moved, 0).unwrap();
            } else {
                moved = host_bytes(device, count);
            }
            assert!(moved == content[..count], "{is_write} {count}");
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

#[test]
fn what_is_appended_comes_in_order() {
    passes_with_gpus("what_is_appended_comes_in_order", &[], || {
        let content = pattern(7 * STAGE + 3);
        let device = device_bytes(&content);
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, b"before").unwrap();
        let file = File::options().append(true).open(&path).unwrap();
        assert_eq!(transfer(true, &file, device, content.len(), 0), (hipSuccess, content.len() as u64, 0));
        let written = std::fs::read(&path).unwrap();
        assert!(written[..6] == *b"before" && written[6..] == content);
    });
}

#[test]
fn memory_goes_once_no_transfer_uses_it() {
    passes_with_gpus("memory_goes_once_no_transfer_uses_it", &[], || {
        let file = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        file.set_len(3 * STAGE as u64).unwrap();
        let device = device_memory(3 * STAGE);
        let plan = |text: &std::ffi::CStr| {
            // SAFETY: requires a C string and no place for a text; holds.
            assert_eq!(unsafe { softrocm_hip_set_faults(text.as_ptr(), ptr::null_mut(), 0) }, 0);
        };
        plan(c"pread:pause@1");
        let address = device.addr();
        let reading = std::thread::spawn(move || {
            transfer(false, &file, ptr::without_provenance_mut(address), 3 * STAGE, 0)
        });
        while softrocm_hip_held_calls() == 0 {
            std::thread::yield_now();
        }
        let freeing = std::thread::spawn(move || hipFree(ptr::without_provenance_mut(address)));
        // It is no allocation any more, and still there.
        let (mut base, mut len) = (ptr::null_mut(), 0);
        // SAFETY: requires writable places; holds, they are locals.
        while unsafe { hipMemGetAddressRange(&mut base, &mut len, device) } == hipSuccess {
            std::thread::yield_now();
        }
        plan(c"");
        assert_eq!(reading.join().unwrap(), (hipSuccess, 3 * STAGE as u64, 0));
        assert_eq!(freeing.join().unwrap(), hipSuccess);
    });
}
