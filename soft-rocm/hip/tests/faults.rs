//! Scripted faults and delays of the exported functions and of the system calls below them.
#![allow(
    non_upper_case_globals,
    clippy::unwrap_used,
    reason = "names of the C header; a panic is a failed test"
)]

mod support;

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use soft_rocm_hip::header::*;
use support::{device_memory, in_process, passes_in_process, streams};

/// Sets a plan and answers what was wrong with it.
fn set(spec: &str) -> Option<String> {
    let spec = CString::new(spec).unwrap();
    let mut error: [c_char; 200] = [1; 200];
    // SAFETY: requires a C string and that many writable bytes; holds.
    let code = unsafe { softrocm_hip_set_faults(spec.as_ptr(), error.as_mut_ptr(), error.len()) };
    // SAFETY: requires a C string; holds, the library ended it.
    let text = unsafe { CStr::from_ptr(error.as_ptr()) }.to_str().unwrap().to_owned();
    assert_eq!(code == 0, text.is_empty());
    (code != 0).then_some(text)
}

fn malloc() -> (hipError_t, *mut c_void) {
    let mut pointer = ptr::null_mut();
    // SAFETY: requires a writable place; holds, it is a local.
    (unsafe { hipMalloc(&mut pointer, 4096) }, pointer)
}

#[test]
fn the_environment_plans_which_call_fails() {
    let plan = [("SOFT_ROCM_FAULTS", "hipMalloc:hip=2@2;hipFileRead:hipfile=5030")];
    passes_in_process("the_environment_plans_which_call_fails", &plan, || {
        let codes: Vec<_> = (0..3).map(|_| malloc().0).collect();
        assert_eq!(codes, [hipSuccess, hipErrorOutOfMemory, hipSuccess]);
        assert_eq!(hipGetLastError(), hipErrorOutOfMemory);
    });
}

#[test]
fn a_plan_that_is_not_accepted_is_reported_once_and_nothing_works() {
    let name = "a_plan_that_is_not_accepted_is_reported_once_and_nothing_works";
    let output = in_process(name, &[("SOFT_ROCM_FAULTS", "hipMaloc:hip=2")], || {
        assert_eq!(malloc().0, hipErrorNotInitialized);
        assert_eq!([hipInit(0), hipSetDevice(0), hipDeviceSynchronize()], [hipErrorNotInitialized; 3]);
        let device = ptr::without_provenance(4096);
        assert!(softrocm_host_address(device, 1).is_null());
        assert_eq!(set(""), None);
        assert_eq!(malloc().0, hipSuccess, "a plan that was set replaces it");
    });
    let Some(output) = output else { return };
    assert!(output.status.success(), "{output:?}");
    let expected = "soft-rocm: SOFT_ROCM_FAULTS: entry 1, `hipMaloc:hip=2`: `hipMaloc` is no known point; \
                    did you mean hipMalloc?\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
}

#[test]
fn a_plan_can_be_replaced() {
    passes_in_process("a_plan_can_be_replaced", &[], || {
        assert_eq!(malloc().0, hipSuccess);
        assert_eq!(set("hipMalloc:hip=hipErrorInvalidValue@2+"), None);
        assert_eq!(
            [malloc().0, malloc().0, malloc().0],
            [hipSuccess, hipErrorInvalidValue, hipErrorInvalidValue]
        );
        let wrong = set("hipMalloc:hip=1;pread:hip=1").unwrap();
        assert_eq!(
            wrong,
            "entry 2, `pread:hip=1`: pread can't be given `hip`: expected errno, short, delay or pause"
        );
        assert_eq!(malloc().0, hipErrorInvalidValue, "the plan has stayed");
        assert_eq!(set("hipMalloc:hip=1@2"), None);
        assert_eq!([malloc().0, malloc().0], [hipSuccess, hipErrorInvalidValue], "counted from 0");
        assert_eq!(set("hipMalloc:hip=1@size=8K+"), None);
        assert_eq!(malloc().0, hipSuccess);
        // SAFETY: requires that the error has no place; holds.
        assert_eq!(unsafe { softrocm_hip_set_faults(ptr::null(), ptr::null_mut(), 0) }, 0);
        assert_eq!(malloc().0, hipSuccess);
    });
}

#[test]
fn codes_of_the_last_error_can_be_planned_too() {
    passes_in_process("codes_of_the_last_error_can_be_planned_too", &[], || {
        assert_eq!(
            set("hipGetLastError:hip=999@1;hipPeekAtLastError:hip=998@1;hipGetErrorName:delay=1us"),
            None
        );
        assert_eq!([hipPeekAtLastError().0, hipGetLastError().0], [998, 999]);
        assert_eq!([hipPeekAtLastError(), hipGetLastError()], [hipSuccess; 2]);
        assert!(!hipGetErrorName(hipSuccess).is_null());
    });
}

#[test]
fn delays_and_pauses_hold_a_call() {
    passes_in_process("delays_and_pauses_hold_a_call", &[], || {
        assert_eq!(set("hipDeviceSynchronize:delay=30ms"), None);
        let started = Instant::now();
        assert_eq!(hipDeviceSynchronize(), hipSuccess);
        assert!(started.elapsed() >= Duration::from_millis(30));

        assert_eq!(set("hipInit:pause:hip=3"), None);
        let paused = std::thread::spawn(|| hipInit(0));
        while softrocm_hip_held_calls() == 0 {
            std::thread::yield_now();
        }
        assert!(!paused.is_finished());
        assert_eq!(set(""), None);
        assert_eq!(paused.join().unwrap(), hipErrorNotInitialized);
        assert_eq!(softrocm_hip_held_calls(), 0);
    });
}

#[test]
fn entries_count_calls() {
    passes_in_process("entries_count_calls", &[], || {
        assert_eq!(set("hipDeviceSynchronize:delay=0us; hipInit:hip=3@2; hipInit:delay=0us"), None);
        (0..3).for_each(|_| assert_eq!(hipDeviceSynchronize(), hipSuccess));
        assert_eq!([hipInit(0), hipInit(0)], [hipSuccess, hipErrorNotInitialized]);
        assert_eq!([0, 1, 2, 3, 4].map(|entry| softrocm_hip_counted_calls(entry)), [0, 3, 2, 2, 0]);
        assert_eq!(set("hipInit:delay=0us"), None);
        assert_eq!(softrocm_hip_counted_calls(1), 0, "a new plan counts from 0");
        assert_eq!(set(""), None);
        assert_eq!(softrocm_hip_counted_calls(1), 0);
    });
}

#[test]
fn what_is_on_a_stream_can_be_delayed_and_held() {
    passes_in_process("what_is_on_a_stream_can_be_delayed_and_held", &[], || {
        let stream = streams::stream(hipStreamNonBlocking);
        let done = AtomicUsize::new(0);
        let launch = || {
            streams::launch(stream, || {
                done.fetch_add(1, Ordering::Relaxed);
            })
        };
        assert_eq!(set("stream:pause@2-3;stream:delay=20ms@1"), None);
        let started = Instant::now();
        (0..4).for_each(|_| launch());
        for before in [1, 2] {
            while softrocm_hip_held_calls() == 0 {
                std::thread::yield_now();
            }
            assert_eq!(done.load(Ordering::Relaxed), before);
            assert_eq!(hipStreamQuery(stream), hipErrorNotReady);
            if before == 1 {
                streams::resume(stream);
                while done.load(Ordering::Relaxed) == 1 {
                    std::thread::yield_now();
                }
            }
        }
        assert_eq!(set(""), None);
        assert_eq!(hipStreamSynchronize(stream), hipSuccess);
        assert_eq!(done.load(Ordering::Relaxed), 4);
        assert!(started.elapsed() >= Duration::from_millis(20));
    });
}

/// Result, bytes and status of a read of 8192 bytes from a file of as many.
#[cfg(feature = "ais")]
fn read_file() -> (hipError_t, u64, i32) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), [7; 8192]).unwrap();
    let device = device_memory(8192);
    let handle = hipAmdFileHandle_t { fd: std::os::fd::AsRawFd::as_raw_fd(file.as_file()) };
    let (mut copied, mut status) = (1, 1);
    // SAFETY: requires writable places; holds, they are locals.
    let code = unsafe { hipAmdFileRead(handle, device, 8192, 0, &mut copied, &mut status) };
    assert_eq!(hipFree(device), hipSuccess);
    (code, copied, status)
}

#[cfg(feature = "ais")]
#[test]
fn file_functions_have_a_status_a_count_and_a_code() {
    passes_in_process("file_functions_have_a_status_a_count_and_a_code", &[], || {
        for (plan, expected) in [
            ("", (hipSuccess, 8192, 0)),
            ("hipAmdFileRead:errno=ENODEV", (hipErrorUnknown, 0, libc::ENODEV)),
            ("hipAmdFileRead:hip=hipErrorInvalidDevice", (hipErrorInvalidDevice, 1, 1)),
            ("hipAmdFileRead:short=4K", (hipSuccess, 4096, 0)),
            ("hipAmdFileRead:short=16K", (hipSuccess, 8192, 0)),
            ("hipAmdFileRead:errno=EIO@path=/no/such", (hipSuccess, 8192, 0)),
            ("hipAmdFileRead:errno=EIO@size=8K,path=/", (hipErrorUnknown, 0, libc::EIO)),
            ("pread:errno=EIO", (hipErrorUnknown, 0, libc::EIO)),
            ("pread:short=100", (hipSuccess, 100, 0)),
            ("hipAmdFileWrite:errno=EIO;pwrite:errno=EIO", (hipSuccess, 8192, 0)),
        ] {
            assert_eq!(set(plan), None);
            assert_eq!(read_file(), expected, "{plan}");
        }
    });
}

#[test]
fn nothing_goes_around_a_copy_that_is_planned() {
    passes_in_process("nothing_goes_around_a_copy_that_is_planned", &[], || {
        let device = device_memory(4096);
        assert!(!softrocm_host_address(device, 4096).is_null());
        for (plan, reachable) in
            [("hipMemcpy:hip=1@9", false), ("hipMemset:hip=1", true), ("hipMalloc:hip=1", true), ("", true)]
        {
            assert_eq!(set(plan), None);
            assert_eq!(!softrocm_host_address(device, 4096).is_null(), reachable, "{plan}");
        }
    });
}

#[test]
fn a_start_without_descriptors_names_them() {
    let output = in_process("a_start_without_descriptors_names_them", &[], || {
        let next = std::os::fd::AsRawFd::as_raw_fd(&std::fs::File::open("/dev/null").unwrap());
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: requires a writable limit; holds, it is a local.
        assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) }, 0);
        let before = std::mem::replace(&mut limit.rlim_cur, next as libc::rlim_t);
        // SAFETY: requires a readable limit; holds, it is a local.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
        assert_eq!([hipInit(0), malloc().0], [hipErrorNotInitialized; 2]);
        limit.rlim_cur = before;
        // SAFETY: as above.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
    });
    let Some(output) = output else { return };
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.starts_with("soft-rocm: cannot map ") && text.contains("Too many open files"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn hostile_plans_are_refused_with_a_line() {
    passes_in_process("hostile_plans_are_refused_with_a_line", &[], || {
        let long = set(&"pread:errno=EIO;".repeat(1 << 16)).unwrap();
        assert_eq!(long, "1048576 bytes are too many: expected at most 65536");
        for spec in ["\x1b[2J", "pread:errno=99999999999999999999", ";;;:::@@@", "hipMalloc:hip=2@\n3"] {
            let said = set(spec);
            assert!(said.is_none_or(|said| !said.contains(['\n', '\x1b'])), "{spec:?}");
        }
        let bytes = c"pread:errno=\xff";
        let mut error = [0u8; 64];
        // SAFETY: requires a C string and that many writable bytes; holds.
        let code = unsafe { softrocm_hip_set_faults(bytes.as_ptr(), error.as_mut_ptr().cast(), 64) };
        assert_eq!(code, -1);
        assert!(error.starts_with(b"not UTF-8 from byte 12 on\0"));
        assert_eq!(malloc().0, hipSuccess);
    });
}

#[test]
fn a_start_that_fails_names_what_the_system_said() {
    for (call, said) in [
        ("memfd_create:errno=EMFILE", "Too many open files"),
        ("ftruncate:errno=ENOSPC", "No space left on device"),
        ("mmap:errno=ENOMEM@2", "Cannot allocate memory"),
    ] {
        let name = "a_start_that_fails_names_what_the_system_said";
        let output = in_process(name, &[("SOFT_ROCM_FAULTS", call)], || {
            assert_eq!([malloc().0, hipInit(0)], [hipErrorNotInitialized; 2]);
            let open = std::fs::read_dir("/proc/self/fd")
                .unwrap()
                .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
            assert!(!open.into_iter().any(|path| path.to_string_lossy().contains("soft-rocm")), "left open");
        });
        let Some(output) = output else { return };
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{text}");
        assert!(text.starts_with("soft-rocm: cannot map ") && text.contains(said), "{call}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}
