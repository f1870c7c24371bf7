//! Memory that is not freed when the process ends.
#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

mod support;

use std::ptr;

use soft_rocm_hip::header::*;
use support::{device_memory, in_process, pinned_memory, registered_memory, reports};

/// Which case a process runs.
const CASE: &str = "HIP_TEST_CASE";

/// Leaves one allocation of each kind and frees others.
fn leave_five() {
    let mut managed = ptr::null_mut();
    // SAFETY: requires a writable place; holds, it is a local.
    assert_eq!(unsafe { hipMallocManaged(&mut managed, 20, hipMemAttachGlobal) }, hipSuccess);
    let mut signal = ptr::null_mut();
    // SAFETY: as above.
    assert_eq!(unsafe { hipExtMallocWithFlags(&mut signal, 8, hipMallocSignalMemory) }, hipSuccess);
    let _ = (device_memory(10), pinned_memory(30, 0), registered_memory());
    assert_eq!(hipFree(device_memory(1000)), hipSuccess);
    assert_eq!(hipHostFree(pinned_memory(1000, 0)), hipSuccess);
    assert_eq!(hipHostUnregister(registered_memory()), hipSuccess);
}

const FIVE: [&str; 6] = [
    "5 allocations not freed, 132 bytes in all",
    "  device memory @ + 10 of device 0",
    "  managed memory @ + 20 of device 0",
    "  pinned host memory @ + 30 of device 0",
    "  registered host memory @ + 64 of device 0",
    "  signal memory @ + 8 of device 0",
];

fn sorted(report: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = report.lines().collect();
    // The first is the sum, the others are in the order of their addresses.
    if let Some(list) = lines.get_mut(1..) {
        list.sort_unstable();
    }
    lines
}

/// HF-HIP-44
#[test]
fn what_was_not_freed_is_listed_at_exit_on_request() {
    let name = "what_was_not_freed_is_listed_at_exit_on_request";
    for (setting, status, expected) in
        [("1", Some(0), FIVE.to_vec()), ("fail", Some(23), FIVE.to_vec()), ("0", Some(0), vec![])]
    {
        let output = in_process(name, &[("SOFT_ROCM_LEAKS", setting)], || {
            leave_five();
            // SAFETY: requires a C string; holds.
            unsafe { libc::puts(c"in the buffer of C".as_ptr()) };
        });
        let Some(output) = output else { return };
        assert_eq!(output.status.code(), status, "{output:?}");
        assert_eq!(sorted(&reports(&output)), expected);
        // What was buffered when the process ended is not lost.
        assert!(String::from_utf8_lossy(&output.stdout).contains("in the buffer of C"));
    }
}

#[test]
fn a_process_that_freed_everything_is_silent_and_succeeds() {
    let name = "a_process_that_freed_everything_is_silent_and_succeeds";
    for work in ["free", "nothing"] {
        let output = in_process(name, &[("SOFT_ROCM_LEAKS", "fail"), (CASE, work)], || {
            if std::env::var(CASE).unwrap() == "free" {
                assert_eq!(hipFree(device_memory(1000)), hipSuccess);
            }
        });
        let Some(output) = output else { return };
        assert_eq!((output.status.code(), reports(&output).as_str()), (Some(0), ""));
    }
}

#[test]
fn a_long_list_is_cut() {
    let output = in_process("a_long_list_is_cut", &[("SOFT_ROCM_LEAKS", "1")], || {
        for _ in 0..103 {
            device_memory(1);
        }
    });
    let Some(output) = output else { return };
    let report = reports(&output);
    assert_eq!(report.lines().count(), 102, "{report}");
    assert_eq!(report.lines().next_back(), Some("  and 3 more"));
}

#[test]
fn a_forked_child_has_no_leaks_of_its_own() {
    let output = in_process("a_forked_child_has_no_leaks_of_its_own", &[("SOFT_ROCM_LEAKS", "fail")], || {
        device_memory(10);
        // SAFETY: requires that the child makes no call that needs another thread; holds for exit here.
        match unsafe { libc::fork() } {
            // SAFETY: requires nothing.
            0 => unsafe { libc::exit(5) },
            child => {
                let mut status = 0;
                // SAFETY: requires a writable place; holds, it is a local.
                assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
                assert_eq!((libc::WIFEXITED(status), libc::WEXITSTATUS(status)), (true, 5));
            }
        }
    });
    let Some(output) = output else { return };
    assert_eq!(output.status.code(), Some(23), "{output:?}");
    assert_eq!(reports(&output).lines().count(), 2);
}

#[test]
fn a_process_that_ends_in_the_middle_of_everything_ends_cleanly() {
    let name = "a_process_that_ends_in_the_middle_of_everything_ends_cleanly";
    for _ in 0..10 {
        let output = in_process(name, &[("SOFT_ROCM_LEAKS", "1")], || {
            leave_five();
            let (started, all) = std::sync::mpsc::channel();
            for _ in 0..3 {
                let started = started.clone();
                std::thread::spawn(move || {
                    loop {
                        let (device, pinned) = (device_memory(4096), pinned_memory(4096, 0));
                        // Nobody listens once every thread has been heard.
                        let _ = started.send(());
                        assert_eq!([hipFree(device), hipHostFree(pinned)], [hipSuccess; 2]);
                    }
                });
            }
            assert_eq!(all.iter().take(10).count(), 10);
            std::process::exit(7);
        });
        let Some(output) = output else { return };
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        assert!(reports(&output).contains(" allocations not freed, "), "{output:?}");
    }
}

#[test]
fn what_a_program_frees_on_its_way_out_is_no_leak() {
    use std::sync::atomic::{AtomicPtr, Ordering};
    static LATE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
    extern "C" fn free_late() {
        assert_eq!(hipFree(LATE.load(Ordering::Relaxed).cast()), hipSuccess);
    }
    let name = "what_a_program_frees_on_its_way_out_is_no_leak";
    let output = in_process(name, &[("SOFT_ROCM_LEAKS", "fail")], || {
        // Before the first use of the library, as a C++ program does for what it makes before main.
        // SAFETY: requires a function that may run at the end of the process; holds.
        assert_eq!(unsafe { libc::atexit(free_late) }, 0);
        LATE.store(device_memory(10).cast(), Ordering::Relaxed);
    });
    let Some(output) = output else { return };
    assert_eq!((output.status.code(), reports(&output).as_str()), (Some(0), ""));
}
