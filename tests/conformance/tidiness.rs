//! HF-HIP-43 to HF-HIP-45: what the software HIP finds fault with on request, and that libhipfile gives it no reason.

use hipfile_tests::engine::{self, Slot, Stream};

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::{self, Memory};
use crate::raw::{self, Moved, OK, e};

const SIZE: usize = 64 * PAGE;
/// Exit status of a process with leaks.
const LEAKED: i32 = 23;
/// Exit status of a process that was to be aborted.
const STOPPED: i32 = 34;
static SOURCE: [u8; 16] = [1; 16];

pub fn cases() -> Vec<Case> {
    vec![
        strict(case("HF-HIP-44 the fallback leaves nothing behind", transfers).fallback()),
        strict(case("HF-HIP-44 the fallback through a buffer leaves nothing behind", transfers).bounced()),
        strict(case("HF-HIP-44 the fast path leaves nothing behind", transfers).fast()),
        strict(case("HF-HIP-44 pinned memory of streams is freed with them", streams).bounced()),
        strict(case("HF-HIP-44 refused calls leave nothing behind and are no illegal use", refused)),
        strict(case("HF-HIP-44 a program that forgets memory fails", || {
            let _ = std::mem::ManuallyDrop::new(Memory::new(SIZE).registered());
        }))
        .ends_with(LEAKED),
        stops(case("HF-HIP-43 a copy to freed memory stops the process", || {
            hip::memcpy(stale(), SOURCE.as_ptr() as usize, SOURCE.len(), hip::TO_DEVICE);
        })),
        stops(case("HF-HIP-43 a fallback read into freed memory stops the process", read_stale).fallback()),
        stops(case("HF-HIP-43 a fast read into freed memory stops the process", read_stale).fast()),
        case("HF-HIP-45 what is not aligned to 4 KiB is refused as by AMD's driver", || {
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            let read = |offset| raw::read(handle, memory.at, PAGE, 0, offset);
            assert_eq!(read(PAGE as i64), Moved::Number(PAGE as isize));
            // −5030 where the file system asks for as much, so that the fast path does not take it.
            let answer = read(512);
            assert!([Moved::Os(libc::EINVAL), Moved::Number(-5030)].contains(&answer), "{answer:?}");
        })
        .needs(Need::OurHip)
        .fast()
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false")
        .env("SOFT_ROCM_KFD_ALIGN", "1"),
    ]
}

/// Illegal use stops the process of the case, and a leak makes it fail.
fn strict(case: Case) -> Case {
    case.needs(Need::OurHip).env("SOFT_ROCM_STRICT", "abort").env("SOFT_ROCM_LEAKS", "fail")
}

/// The case ends when the process is to be aborted.
fn stops(case: Case) -> Case {
    strict(case).ends_with(STOPPED)
}

/// The address of memory that was registered and freed, in a process that ends with its own status when it is aborted.
fn stale() -> usize {
    extern "C" fn stopped(_: i32) {
        // SAFETY: requires nothing; ends the process.
        unsafe { libc::_exit(STOPPED) };
    }
    // SAFETY: requires a handler that may run at any time; holds because it ends the process.
    unsafe { libc::signal(libc::SIGABRT, stopped as *const () as usize) };
    let memory = Memory::new(SIZE).registered();
    let at = memory.at;
    memory.free();
    at
}

fn read_stale() {
    let file = File::of(&pattern(SIZE, 1));
    raw::read(file.registered(), stale(), SIZE, 0, 0);
}

fn transfers() {
    let file = File::of(&pattern(SIZE, 1));
    let handle = file.registered();
    let (registered, plain) = (Memory::filled(SIZE, 1).registered(), Memory::filled(SIZE, 2));
    for memory in [&registered, &plain] {
        assert_eq!(raw::read(handle, memory.at, SIZE, 0, 0), Moved::Number(SIZE as isize));
        assert_eq!(raw::write(handle, memory.at, SIZE / 2, 0, 0), Moved::Number(SIZE as isize / 2));
    }
    assert_eq!(raw::buffer_deregister(registered.at), OK);
    raw::deregister(handle);
}

fn streams() {
    let Some(stream) = Stream::new() else { return };
    let file = File::of(&pattern(SIZE, 1));
    let handle = file.registered();
    let memory = Memory::new(SIZE).registered();
    for registered in [true, false] {
        if registered {
            assert_eq!(engine::stream_register(stream.raw(), 0), OK);
        }
        let mut slot = Slot::new(SIZE, 0, 0);
        assert_eq!(engine::submit(false, handle, memory.at, &mut slot, None, stream.raw()), OK);
        stream.synchronize();
        assert_eq!(slot.bytes, SIZE as isize);
        if registered {
            assert_eq!(engine::stream_deregister(stream.raw()), OK);
        }
    }
    assert!(memory.bytes() == pattern(SIZE, 1));
    assert_eq!(raw::buffer_deregister(memory.at), OK);
    raw::deregister(handle);
}

fn refused() {
    let file = File::of(&pattern(SIZE, 1));
    let handle = file.registered();
    let memory = Memory::new(SIZE).registered();
    let freed = Memory::new(SIZE);
    let stale = freed.at;
    freed.free();
    assert_eq!(raw::buffer_register(memory.at + PAGE, SIZE), e(5014));
    assert_ne!(raw::buffer_register(stale, SIZE), OK);
    assert_eq!(raw::read(handle, memory.at, SIZE, 0, 1), Moved::Number(-5022));
    assert_eq!(raw::read(handle, stale, SIZE, 0, 0), Moved::Number(-5013));
    let mut range = (0, 0);
    assert_ne!(hip::address_range(&mut range.0, &mut range.1, stale), 0);
    assert_eq!(raw::buffer_deregister(memory.at), OK);
    raw::deregister(handle);
}
