//! HF-HIP: what the software HIP alone promises.

use std::ffi::c_void;
use std::os::fd::AsRawFd;

use crate::case::{Case, Need, case};
use crate::file::pattern;
use crate::hip::{self, Memory};
use crate::runtime::attributes;

const SIZE: usize = 64 * 1024;
const OUT_OF_MEMORY: u32 = 2;

pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("HF-HIP-21 host code that touches a device address faults", || {
            let memory = Memory::filled(SIZE, 1);
            assert_eq!((host_reads(memory.at), host_writes(memory.at)), (false, false));
            assert_eq!(memory.bytes(), [1; SIZE]);
        }),
        case("HF-HIP-21 with SOFT_ROCM_STRICT=0 it may read", || {
            let memory = Memory::filled(SIZE, 1);
            assert_eq!((host_reads(memory.at), host_writes(memory.at)), (true, false));
            // SAFETY: requires a readable byte; holds because the kernel has just read it.
            assert_eq!(unsafe { std::ptr::read_volatile(memory.at as *const u8) }, 1);
        })
        .env("SOFT_ROCM_STRICT", "0"),
        case("HF-HIP-22 devices have memory of their own", || {
            assert_eq!(hip::device_count(), 4);
            for device in 0..4 {
                assert_eq!(hip::set_device(device), 0);
                let (mut free, mut total) = (0, 0);
                assert_eq!(hip::memory_info(&mut free, &mut total), 0);
                assert_eq!((free, total), (64 << 20, 64 << 20));
                let mut address = 0;
                assert_eq!(hip::malloc(&mut address, 65 << 20), OUT_OF_MEMORY);
                assert_eq!(hip::malloc(&mut address, 60 << 20), 0);
                assert_eq!(attributes(address).device, device);
            }
        })
        .env("SOFT_ROCM_DEVICE_COUNT", "4")
        .env("SOFT_ROCM_DEVICE_MEM", (64 << 20).to_string()),
        case("HF-HIP-23 freed memory is given out again, a late copy to it stays on the device", || {
            let memory = Memory::new(SIZE);
            let at = memory.at;
            memory.free();
            let again = Memory::new(SIZE);
            assert_eq!(again.at, at);
            again.free();
            let host = [1_u8; 16];
            assert_ne!(hip::memcpy(at, host.as_ptr() as usize, 16, hip::TO_DEVICE), 0);
        }),
        case("HF-HIP-24 softrocm_host_address gives an alias inside one live allocation", || {
            let memory = Memory::of(&pattern(SIZE, 6));
            let alias = host_address(memory.at + 100, SIZE - 100);
            assert_ne!(alias, 0);
            // SAFETY: requires that many bytes; holds because the alias was given for them.
            let bytes = unsafe { std::slice::from_raw_parts_mut(alias as *mut u8, SIZE - 100) };
            assert!(bytes == &pattern(SIZE, 6)[100..]);
            bytes[0] = 0xfe;
            assert_eq!(memory.get(100..101), [0xfe]);
            for (address, size) in
                [(memory.at, SIZE + 1), (memory.at + 1, SIZE), (0x1000, 1), (memory.at, usize::MAX)]
            {
                assert_eq!(host_address(address, size), 0, "{size}");
            }
            let at = memory.at;
            memory.free();
            assert_eq!(host_address(at, 1), 0);
        }),
    ];
    cases.iter_mut().for_each(|case| case.needs.push(Need::OurHip));
    cases
}

fn host_address(address: usize, size: usize) -> usize {
    let symbol = hip::symbol("softrocm_host_address").expect("the software HIP has it");
    // SAFETY: requires a function of that type; holds because the software HIP defines it so.
    let call: unsafe extern "C" fn(usize, usize) -> usize = unsafe { std::mem::transmute(symbol) };
    // SAFETY: requires nothing; an address that is none gives NULL.
    unsafe { call(address, size) }
}

/// Whether host code can read a byte: the kernel tries and says EFAULT where host code would fault.
fn host_reads(address: usize) -> bool {
    let sink = tempfile::tempfile().unwrap();
    // SAFETY: requires nothing; an address that cannot be read is an error.
    unsafe { libc::write(sink.as_raw_fd(), address as *const c_void, 1) == 1 }
}

/// Whether host code can write a byte.
fn host_writes(address: usize) -> bool {
    let zeros = std::fs::File::open("/dev/zero").unwrap();
    // SAFETY: requires memory nobody else looks at, or an error; holds because the case alone has the allocation.
    unsafe { libc::read(zeros.as_raw_fd(), address as *mut c_void, 1) == 1 }
}
