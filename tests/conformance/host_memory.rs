//! Pinned host memory as the buffer of a transfer: `SOFT_ROCM_EXTENSIONS=host-memory`.

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, pattern};
use crate::hip;
use crate::raw::{self, Moved, OK, e};

use hipfile_tests::shim::{self, Action};

const SIZE: usize = 100_000;

pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("HF-BUF-29 pinned host memory registers, its range is not looked up", || {
            let at = pinned(SIZE, 0);
            assert_eq!(raw::buffer_register(at, 16 * SIZE), OK);
            assert_eq!(raw::buffer_register(at, SIZE), e(5023));
            assert_eq!(raw::buffer_deregister(at), OK);
            assert_eq!(raw::buffer_register(at, usize::MAX), e(5014));
            let plain = [0_u8; 100];
            assert_eq!(raw::buffer_register(plain.as_ptr() as usize, 100), e(5013));
        }),
        case("HF-BUF-30 pinned host memory that is not registered is -5022", || {
            let at = pinned(SIZE, 0);
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            assert_eq!(raw::read(handle, at, 100, 0, 0), Moved::Number(-5022));
            assert_eq!(raw::write(handle, at, 100, 0, 0), Moved::Number(-5022));
            assert_eq!(raw::buffer_register(at, SIZE), OK);
            assert_eq!(
                raw::read(handle, at + 1, 100, 0, 0),
                Moved::Number(-5022),
                "no registration starts there"
            );
        }),
        case("HF-BUF-31 the bytes are read and written, the latter synced once", || {
            let at = pinned(SIZE, 0x66);
            assert_eq!(raw::buffer_register(at, SIZE), OK);
            let file = File::of(&pattern(SIZE, 2));
            let handle = file.registered();
            assert_eq!(raw::read(handle, at, 50_000, 60_000, 100), Moved::Number(40_000));
            assert_eq!(bytes(at, SIZE)[100..40_100], pattern(SIZE, 2)[60_000..]);
            assert!(
                bytes(at, 100).iter().chain(&bytes(at + 40_100, SIZE - 40_100)).all(|byte| *byte == 0x66)
            );
            shim::always("hipMemcpy", Action::Error(719));
            shim::always("fdatasync", Action::Short(0));
            shim::always("pwrite", Action::Short(3000));
            assert_eq!(raw::write(handle, at, 40_000, 5, 100), Moved::Number(40_000));
            assert_eq!((shim::calls("fdatasync"), shim::calls("hipMemcpy")), (1, 0));
            assert_eq!(file.bytes()[5..40_005], pattern(SIZE, 2)[60_000..]);
            assert_eq!(raw::read(handle, at, SIZE, 0, 1), Moved::Number(-5022));
        })
        .shim(),
        case("HF-BUF-31 compat mode has no say in it", || {
            let at = pinned(SIZE, 0);
            assert_eq!(raw::buffer_register(at, SIZE), OK);
            let file = File::of(&pattern(SIZE, 3));
            let handle = file.registered();
            for size in [100, PAGE] {
                assert_eq!(raw::read(handle, at, size, 0, 0), Moved::Number(size as isize));
            }
            assert_eq!(bytes(at, PAGE), pattern(SIZE, 3)[..PAGE]);
        })
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false"),
    ];
    cases.iter_mut().for_each(|case| case.needs.push(Need::Ours));
    cases.into_iter().map(|case| case.env("SOFT_ROCM_EXTENSIONS", "host-memory")).collect()
}

/// Pinned host memory full of a value, for the rest of the process.
fn pinned(size: usize, value: u8) -> usize {
    let mut at = 0;
    assert_eq!(hip::host_malloc(&mut at, size, 0), 0);
    // SAFETY: requires that many writable bytes; holds because HIP has just given them.
    unsafe { std::ptr::write_bytes(at as *mut u8, value, size) };
    at
}

fn bytes(at: usize, size: usize) -> Vec<u8> {
    // SAFETY: requires that many readable bytes; holds because cases ask for bytes of their pinned memory.
    unsafe { std::slice::from_raw_parts(at as *const u8, size) }.to_vec()
}
