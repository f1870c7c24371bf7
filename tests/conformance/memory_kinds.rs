//! Memory that is neither plain device nor plain host memory: what HIP calls it, and that hipFile refuses it.

use crate::case::{Case, case};
use crate::file::{PAGE, pattern};
use crate::hip::{self, Memory};
use crate::raw::{self, e};
use crate::runtime::attributes;

const SIZE: usize = 16 * PAGE;
const INVALID_VALUE: u32 = 1;
const ALREADY_REGISTERED: u32 = 712;
const NOT_REGISTERED: u32 = 713;
const ATTACH_GLOBAL: u32 = 1;
const SIGNAL: u32 = 2;

pub fn cases() -> Vec<Case> {
    vec![
        case("HF-BUF-27 HF-HIP-40 managed memory has type 3, is used by both sides and is E(5013)", || {
            let mut managed = 0;
            assert_eq!(hip::malloc_managed(&mut managed, SIZE, ATTACH_GLOBAL), 0);
            let found = attributes(managed + 100);
            assert_eq!((found.kind, found.is_managed), (3, 1));
            let memory = Memory::of(&pattern(SIZE, 1));
            assert_eq!(hip::memcpy(managed, memory.at, SIZE, hip::TO_HOST), 0);
            // SAFETY: requires that many readable bytes; holds because HIP has just allocated and filled them.
            let bytes = unsafe { std::slice::from_raw_parts(managed as *const u8, SIZE) };
            assert!(bytes == pattern(SIZE, 1));
            assert_eq!(raw::buffer_register(managed, SIZE), e(5013));
            assert_eq!(hip::free(managed), 0);
        }),
        case(
            "HF-BUF-28 HF-HIP-41 registered host memory has type 1 while it is registered and is E(5013)",
            || {
                let own = vec![7_u8; SIZE];
                let at = own.as_ptr() as usize;
                assert_eq!(hip::host_register(at, SIZE, 0), 0);
                assert_eq!(attributes(at + 100).kind, 1);
                assert_eq!(raw::buffer_register(at, SIZE), e(5013));
                assert_eq!(hip::host_register(at, SIZE, 0), ALREADY_REGISTERED);
                assert_eq!(hip::host_unregister(at), 0);
                assert_eq!(attributes(at + 100).kind, 0);
                assert_eq!(hip::host_unregister(at), NOT_REGISTERED);
            },
        ),
        case("HF-HIP-42 signal memory has 8 bytes that the host can write", || {
            let mut signal = 0;
            assert_eq!(hip::malloc_with_flags(&mut signal, 16, SIGNAL), INVALID_VALUE);
            assert_eq!(hip::malloc_with_flags(&mut signal, 8, SIGNAL), 0);
            // SAFETY: requires 8 writable bytes; holds because HIP has just allocated them.
            unsafe { (signal as *mut u64).write_volatile(5) };
            // SAFETY: requires 8 readable bytes; holds as above.
            assert_eq!(unsafe { (signal as *const u64).read_volatile() }, 5);
            assert_eq!(hip::free(signal), 0);
        }),
    ]
}
