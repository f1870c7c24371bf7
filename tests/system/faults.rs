//! What goes wrong below the library, put there by the shim.

use std::sync::Arc;
use std::{fs, thread};

use hipfile::alloc::{self, Device, DeviceBuffer, DeviceMemory, DeviceMemoryMut};
use hipfile::{Driver, ErrorKind, FileHandle, OpError};
use hipfile_tests::isolate::isolated;
use hipfile_tests::library;
use hipfile_tests::shim::{self, Action};

use crate::common::{Scratch, filled, open, pattern, software_devices};

/// Runs `body` in a process with the shim, and with these variables.
fn with_shim(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    match shim::environment() {
        Ok(mut environment) => {
            environment.extend(variables.iter().map(|(name, value)| (*name, value.into())));
            isolated(test, &environment, body);
        }
        Err(reason) => println!("skipped: {reason}"),
    }
}

const FALLBACK: [(&str, &str); 1] = [("HIPFILE_FORCE_COMPAT_MODE", "true")];
const FAST: [(&str, &str); 1] = [("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true")];

/// Makes these the only rules of `name`: what to do to how many calls, in turn; 0 stands for all that follow.
fn script(name: &str, rules: &[(Action, u64)]) {
    shim::release(name);
    let mut first = 1;
    for (action, count) in rules {
        shim::rule(name, *action, first, *count);
        first += count;
    }
}

struct Setup {
    driver: Driver,
    file: FileHandle,
    content: Vec<u8>,
    scratch: Scratch,
}

fn setup(len: usize) -> Setup {
    let scratch = Scratch::new();
    let content = pattern(len, 12);
    let driver = Driver::open().unwrap();
    let file = open(&driver, &scratch.file("data", &content));
    Setup { driver, file, content, scratch }
}

/// Whether an aligned read goes through HIP's file functions here; says so if not.
fn takes_fast_path(setup: &Setup) -> bool {
    let before = shim::calls("hipAmdFileRead");
    let mut memory = filled(4096, 0);
    setup.file.read_at(memory.slice_mut(..).unwrap(), 0).unwrap();
    let fast = shim::calls("hipAmdFileRead") > before;
    if !fast {
        println!("skipped: no fast path here");
    }
    fast
}

/// SND-14, HF-FAST-03, HF-FAST-13: short counts are continued and interruptions tried again by the exact forms, and
/// reported by the others.
#[test]
fn exact_forms_finish_what_is_short_or_interrupted() {
    with_shim("faults::exact_forms_finish_what_is_short_or_interrupted", &FAST, || {
        let setup = setup(65_536);
        if !takes_fast_path(&setup) {
            return;
        }
        let mut memory = setup.driver.register(filled(65_536, 0)).unwrap();
        script("hipAmdFileRead", &[(Action::Short(4096), 1)]);
        assert_eq!(setup.file.read_at(memory.slice_mut(..).unwrap(), 0).unwrap(), 4096);
        let interrupted = Action::Status(i64::from(libc::EINTR));
        script("hipAmdFileRead", &[(interrupted, 1)]);
        let error = setup.file.read_at(memory.slice_mut(..).unwrap(), 0).unwrap_err();
        assert_eq!((error.kind(), error.os_error()), (ErrorKind::Interrupted, Some(libc::EINTR)));

        script("hipAmdFileRead", &[(Action::Short(8192), 3), (interrupted, 2)]);
        setup.file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
        assert!(memory.memory().to_vec().unwrap() == setup.content);
        assert_eq!(shim::calls("hipAmdFileRead"), 6, "three short, two interrupted, one for the rest");
        let [_, size, offset] = shim::last("hipAmdFileRead");
        assert_eq!((size, offset), (65_536 - 3 * 8192, 3 * 8192));

        script("hipAmdFileWrite", &[(Action::Short(4096), 2), (interrupted, 1)]);
        let path = setup.scratch.file("copy", b"");
        open(&setup.driver, &path).write_all_at(memory.slice(..).unwrap(), 0).unwrap();
        assert!(fs::read(&path).unwrap() == setup.content);
        assert_eq!(shim::calls("hipAmdFileWrite"), 4);
    });
}

/// SND-14: partial progress is never lost, whatever ends the transfer.
#[test]
fn errors_after_progress_say_how_much_moved() {
    with_shim("faults::errors_after_progress_say_how_much_moved", &FAST, || {
        let setup = setup(65_536);
        if !takes_fast_path(&setup) {
            return;
        }
        let mut memory = filled(65_536, 0);
        let first_short_then = |name: &str, action| script(name, &[(Action::Short(8192), 1), (action, 0)]);
        first_short_then("hipAmdFileRead", Action::Status(i64::from(libc::EIO)));
        let error = setup.file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap_err();
        assert_eq!((error.os_error(), error.bytes_done()), (Some(libc::EIO), 8192));
        assert_eq!((error.offset(), error.requested()), (Some(0), Some(65_536)));
        assert!(memory.to_vec().unwrap()[..8192] == setup.content[..8192]);

        first_short_then("hipAmdFileRead", Action::Pretend(0));
        let error = setup.file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap_err();
        assert_eq!((error.kind(), error.bytes_done()), (ErrorKind::UnexpectedEof, 8192));

        first_short_then("hipAmdFileRead", Action::Error(2));
        let error = setup.file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap_err();
        assert_eq!((error.kind(), error.bytes_done()), (ErrorKind::OutOfMemory, 8192));
        assert_eq!(error.hip_error().map(|code| code.code()), Some(2));
        assert_eq!((error.op_error(), error.os_error()), (None, None));
        let text = error.to_string();
        assert!(text.contains(", 8192 done: HIP call failed: hipErrorOutOfMemory (2)"), "{text}");

        first_short_then("hipAmdFileWrite", Action::Pretend(0));
        let error = setup.file.write_all_at(memory.slice(..).unwrap(), 0).unwrap_err();
        assert_eq!((error.kind(), error.bytes_done()), (ErrorKind::WriteZero, 8192));
        assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::WriteZero);
    });
}

/// SND-14, HF-PATH-11: a request is cut before its own odd size can decide the path, so that all but its end is fit
/// for the fast path. Nothing moves here, and the memory is never touched.
#[test]
fn long_requests_are_cut_where_direct_io_can_go_on() {
    with_shim("faults::long_requests_are_cut_where_direct_io_can_go_on", &FAST, || {
        let setup = setup(8192);
        if !takes_fast_path(&setup) {
            return;
        }
        let mut memory = match DeviceBuffer::with_alignment((3 << 30) + 1, 4096) {
            Ok(memory) => memory,
            Err(error) => {
                println!("skipped: {error}");
                return;
            }
        };
        script("hipAmdFileRead", &[(Action::Pretend(-1), 0)]);
        let n = setup.file.read_at(memory.slice_mut(..).unwrap(), 0).unwrap();
        assert_eq!((n, shim::calls("hipAmdFileRead")), (0x7fff_f000, 1));
        let whole_pages = memory.slice_mut(..3 << 30).unwrap();
        setup.file.read_exact_at(whole_pages, 8192).unwrap();
        assert_eq!(shim::calls("hipAmdFileRead"), 3);
        let [_, size, offset] = shim::last("hipAmdFileRead");
        assert_eq!((size, offset), ((3 << 30) - 0x7fff_f000, 8192 + 0x7fff_f000));
    });
}

/// SND-05, SND-06, HF-ERR-03: the four meanings of a result, as they come from below.
#[test]
fn results_are_told_apart() {
    with_shim("faults::results_are_told_apart", &FAST, || {
        let setup = setup(8192);
        if !takes_fast_path(&setup) {
            return;
        }
        let mut memory = filled(8192, 0);
        let mut answer = |action: Action| {
            // SAFETY: requires nothing; the address is that of this thread's errno.
            let errno = unsafe { libc::__errno_location() };
            // SAFETY: requires a valid pointer; holds for errno. A stale value is there to be mistaken for the answer.
            unsafe { errno.write(libc::ENOTTY) };
            script("hipAmdFileRead", &[(action, 1)]);
            setup.file.read_at(memory.slice_mut(..).unwrap(), 0).unwrap_err()
        };
        // hipErrorInvalidValue is 1, so the library returns -1 and leaves errno alone.
        let error = answer(Action::Error(1));
        assert_eq!(error.hip_error().map(|code| code.code()), Some(1));
        assert_eq!((error.os_error(), error.raw_code()), (None, Some(1)));
        // Codes that no header of ours names.
        for code in [911, 1054, 1055, 2000] {
            let error = answer(Action::Error(code));
            assert_eq!((error.kind(), error.raw_code()), (ErrorKind::Hip, Some(code)));
        }
        let error = answer(Action::Status(i64::from(libc::EINVAL)));
        assert_eq!((error.os_error(), error.raw_code()), (Some(libc::EINVAL), Some(22)));
        // More bytes than asked for are not believed.
        let error = answer(Action::Pretend(8193));
        assert_eq!((error.kind(), error.raw_code()), (ErrorKind::LibraryFault, Some(8193)));
        let text = error.to_string();
        assert!(text.ends_with("the library reports 8193 bytes where 8192 were asked for"), "{text}");
    });
}

/// HF-FALL-02, HF-FALL-03: the same from below the fallback, which has a loop of its own.
#[test]
fn the_fallback_finishes_too() {
    with_shim("faults::the_fallback_finishes_too", &FALLBACK, || {
        let setup = setup(10_007);
        let mut memory = setup.driver.register(DeviceBuffer::zeroed(10_007).unwrap()).unwrap();
        let interrupted = Action::Error(i64::from(libc::EINTR));
        script("pread", &[(Action::Short(100), 4), (interrupted, 3)]);
        setup.file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
        assert!(memory.memory().to_vec().unwrap() == setup.content);
        assert!(shim::calls("pread") >= 8);

        script("pread", &[(Action::Short(100), 1), (Action::Error(i64::from(libc::EIO)), 0)]);
        let error = setup.file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap_err();
        assert_eq!(error.os_error(), Some(libc::EIO));
        assert_eq!(error.bytes_done(), if library::has_amds_defects() { 0 } else { 100 }, "HF-FALL-05");
    });
}

/// SND-03, SND-09, HF-BUF-22, HF-FILE-45: other code's transfer on our registration is still running. Nothing is freed under it,
/// whichever way the guard goes, and what is lost is counted.
#[test]
fn memory_that_the_library_still_uses_is_kept() {
    with_shim("faults::memory_that_the_library_still_uses_is_kept", &FALLBACK, || {
        let setup = setup(4096);
        let memory = driver_memory(&setup);
        let base = memory.as_ptr();
        let (handle, api) = (setup.file.as_raw().addr(), hipfile::sys::api::get().unwrap());
        let address = base.addr();
        shim::always("pread", Action::Hold);
        let transfer = thread::spawn(move || {
            let handle = std::ptr::without_provenance_mut(handle);
            let base = std::ptr::without_provenance_mut(address);
            // SAFETY: requires a registered file and device memory; holds because the test keeps the one and the crate the
            // other, which is what is tested.
            unsafe { (api.hipFileRead)(handle, base, 4096, 0, 0) }
        });
        shim::wait_until_held("pread");

        let (error, memory) = memory.deregister().unwrap_err().into_parts();
        assert_eq!((error.kind(), error.op_error()), (ErrorKind::Busy, Some(OpError::InternalError)));
        assert_eq!(
            error.to_string(),
            "deregister memory: transfers on the memory are in flight (5030 hipFileInternalError)"
        );
        let users = setup.driver.clone().close().unwrap_err();
        assert_eq!(users.error().kind(), ErrorKind::Busy);
        drop(memory);
        assert_eq!((alloc::leaked().allocations, alloc::leaked().bytes), (1, 4096));

        shim::release("pread");
        assert_eq!(transfer.join().unwrap(), 4096);
    });
}

fn driver_memory(setup: &Setup) -> hipfile::Registered<DeviceBuffer> {
    setup.driver.register(DeviceBuffer::zeroed(4096).unwrap()).unwrap()
}

/// Memory that keeps no note of its registrations.
struct Plain(Arc<DeviceBuffer>);

// SAFETY: requires a stable description of memory that goes with the value and is written through `&mut` only; holds for
// the private buffer.
unsafe impl DeviceMemory for Plain {
    fn as_ptr(&self) -> *mut std::ffi::c_void {
        self.0.as_ptr()
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn device(&self) -> Device {
        self.0.device()
    }
}

// SAFETY: requires memory that the value has to itself; holds but for the test's look at the count.
unsafe impl DeviceMemoryMut for Plain {}

/// SND-09: the same for borrowed memory, which can be tried again, and for memory of other crates, which is never dropped.
#[test]
fn memory_that_the_library_still_uses_can_be_tried_again() {
    with_shim("faults::memory_that_the_library_still_uses_can_be_tried_again", &FALLBACK, || {
        let setup = setup(4096);
        let (handle, api) = (setup.file.as_raw().addr(), hipfile::sys::api::get().unwrap());
        let hold = |base: *mut std::ffi::c_void| {
            let address = base.addr();
            shim::always("pread", Action::Hold);
            let transfer = thread::spawn(move || {
                let handle = std::ptr::without_provenance_mut(handle);
                let base = std::ptr::without_provenance_mut(address);
                // SAFETY: requires a registered file and device memory; holds because the test keeps both.
                unsafe { (api.hipFileRead)(handle, base, 4096, 0, 0) }
            });
            shim::wait_until_held("pread");
            transfer
        };
        let go_on = |transfer: thread::JoinHandle<isize>| {
            shim::release("pread");
            assert_eq!(transfer.join().unwrap(), 4096);
        };

        let mut memory = DeviceBuffer::zeroed(4096).unwrap();
        let registered = setup.driver.register(&mut memory).unwrap();
        let transfer = hold(registered.as_ptr());
        drop(registered);
        let error = setup.driver.register(&mut memory).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Busy);
        let refused = memory.free().unwrap_err();
        assert_eq!(refused.error().kind(), alloc::ErrorKind::Busy);
        let mut memory = refused.into_inner();
        go_on(transfer);
        drop(setup.driver.register(&mut memory).unwrap());
        assert!(memory.to_vec().unwrap() == setup.content);
        memory.free().unwrap();
        assert_eq!(alloc::leaked(), alloc::Leaked::default());

        // Shared memory: no guard is left, so even another length at the same address may take its place.
        let shared = Arc::new(DeviceBuffer::zeroed(4096).unwrap());
        let registered = setup.driver.register(Arc::clone(&shared)).unwrap();
        let transfer = hold(registered.as_ptr());
        drop(registered);
        go_on(transfer);
        assert_eq!(setup.driver.register_range(Arc::clone(&shared), ..16).unwrap().len(), 16);

        let inner = Arc::new(DeviceBuffer::zeroed(4096).unwrap());
        let registered = setup.driver.register(Plain(Arc::clone(&inner))).unwrap();
        let transfer = hold(registered.as_ptr());
        drop(registered);
        assert_eq!(Arc::strong_count(&inner), 2, "the value was not dropped");
        assert_eq!((alloc::leaked().allocations, alloc::leaked().bytes), (1, 4096));
        go_on(transfer);
        assert!(inner.to_vec().unwrap() == setup.content);
    });
}

/// SND-09: what can't be answered is an error, and no Drop minds.
#[test]
fn failing_device_selection_reaches_the_caller() {
    if !software_devices() {
        return;
    }
    let two = [("SOFT_ROCM_DEVICE_COUNT", "2"), FALLBACK[0]];
    with_shim("faults::failing_device_selection_reaches_the_caller", &two, || {
        let setup = setup(4096);
        let guard = Device::new(1).unwrap().make_current().unwrap();
        let mut memory = setup.driver.register(DeviceBuffer::zeroed(4096).unwrap()).unwrap();
        drop(guard);
        shim::always("hipSetDevice", Action::Error(101));
        let error = setup.file.read_at(memory.slice_mut(..).unwrap(), 0).unwrap_err();
        assert_eq!((error.kind(), error.bytes_done()), (ErrorKind::NoDevice, 0));
        let text = error.to_string();
        assert!(
            text.contains(" at offset 0, 4096 bytes: Device::make_current: hipSetDevice failed: "),
            "{text}"
        );
        shim::release("hipSetDevice");
        setup.file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
        assert!(memory.memory().to_vec().unwrap() == setup.content);
    });
}
