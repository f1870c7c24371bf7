//! HF-BUF: registration of device memory.

use crate::case::{Case, Need, case};
use crate::file::File;
use crate::hip::{self, Memory};
use crate::raw::{self, Moved, OK, e};

use hipfile_tests::shim::{self, Action};

const SIZE: usize = 64 * 1024;

pub fn cases() -> Vec<Case> {
    let mut cases = accepted();
    cases.extend(refused());
    cases.extend(leaving());
    cases
}

fn accepted() -> Vec<Case> {
    vec![
        case("HF-BUF-01 a whole allocation registers", || {
            let memory = Memory::new(SIZE);
            assert_eq!(raw::buffer_register(memory.at, SIZE), OK);
        }),
        case("HF-BUF-12 HF-BUF-13 interior pointers and overlapping registrations register", || {
            let memory = Memory::new(SIZE);
            for (offset, length) in [(0, SIZE), (1, SIZE - 1), (4096, 4096), (SIZE - 1, 1)] {
                assert_eq!(raw::buffer_register(memory.at + offset, length), OK, "{offset}+{length}");
            }
        }),
        case("HF-BUF-14 any flags are accepted", || {
            let memory = Memory::new(SIZE);
            for (index, flags) in [0, 1, 2, 3, -1, i32::MIN, i32::MAX].into_iter().enumerate() {
                assert_eq!(raw::buffer_register_with(memory.at + index, 1, flags), OK, "flags {flags}");
            }
        }),
        case("HF-BUF-15 HF-BUF-16 length 0 registers and serves no transfer", || {
            let memory = Memory::new(SIZE);
            let file = File::of(&[1; 8192]);
            let handle = file.registered();
            assert_eq!(raw::buffer_register(memory.at, 0), OK);
            for size in [0, 1, 4096] {
                assert_eq!(raw::read(handle, memory.at, size, 0, 0), Moved::Number(-5022), "size {size}");
                assert_eq!(raw::write(handle, memory.at, size, 0, 0), Moved::Number(-5022), "size {size}");
            }
        }),
        case("HF-BUF-25 any thread registers, whichever device is current", || {
            let memory = Memory::new(SIZE);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    assert_eq!(hip::set_device(1), 0);
                    assert_eq!(raw::buffer_register(memory.at, SIZE), OK);
                    assert_eq!(hip::current_device(), 1);
                });
            });
            assert_eq!(raw::buffer_register(memory.at, SIZE), e(5023));
            std::thread::scope(|scope| {
                scope.spawn(|| assert_eq!(raw::buffer_deregister(memory.at), OK));
            });
        })
        .needs(Need::SecondDevice)
        .env("SOFT_ROCM_DEVICE_COUNT", "2"),
    ]
}

fn refused() -> Vec<Case> {
    vec![
        case("HF-BUF-02 a base already registered is E(5023), with any length and flags", || {
            let memory = Memory::new(SIZE).registered();
            for (length, flags) in [(SIZE, 0), (1, 0), (0, 0), (SIZE + 1, 0), (usize::MAX, 7), (SIZE, -1)] {
                assert_eq!(raw::buffer_register_with(memory.at, length, flags), e(5023), "{length}");
            }
        }),
        case("HF-BUF-03 NULL is E(5022)", || {
            for length in [0, 1, SIZE, usize::MAX] {
                assert_eq!(raw::buffer_register(0, length), e(5022), "length {length}");
            }
        }),
        case("HF-BUF-04 a lookup that says hipErrorInvalidValue is E(5022)", || {
            let memory = Memory::new(SIZE);
            for function in ["hipPointerGetAttributes", "hipMemGetAddressRange"] {
                shim::once(function, Action::Error(1));
                assert_eq!(raw::buffer_register(memory.at, SIZE), e(5022), "{function}");
                assert_eq!(shim::calls(function), 1);
                shim::release(function);
            }
            shim::once("hipMemGetAddressRange", Action::Error(500));
            assert_eq!(raw::buffer_register(memory.at, SIZE), e(5022), "hipErrorNotFound");
            assert_eq!(raw::buffer_register(memory.at, SIZE), OK);
        })
        .shim(),
        case("HF-BUF-05 a lookup that fails with another error h is E(5011,h)", || {
            let memory = Memory::new(SIZE);
            for code in [3, 101, 700, 999] {
                shim::once("hipPointerGetAttributes", Action::Error(code));
                assert_eq!(raw::buffer_register(memory.at, SIZE), (5011, code as u32));
                shim::once("hipMemGetAddressRange", Action::Error(code));
                assert_eq!(raw::buffer_register(memory.at, SIZE), (5011, code as u32));
                shim::release("hipPointerGetAttributes");
                shim::release("hipMemGetAddressRange");
            }
            shim::once("hipPointerGetAttributes", Action::Error(500));
            assert_eq!(
                raw::buffer_register(memory.at, SIZE),
                (5011, 500),
                "5022 from the range lookup alone"
            );
        })
        .shim(),
        case("HF-BUF-06 ordinary host memory is E(5013)", || {
            let host = vec![0_u8; SIZE];
            assert_eq!(raw::buffer_register(host.as_ptr() as usize, SIZE), e(5013));
            assert_eq!(raw::buffer_register(0x10, 1), e(5013));
        }),
        case("HF-BUF-07 pinned host memory is E(5013)", || {
            let mut pinned = 0;
            assert_eq!(hip::host_malloc(&mut pinned, SIZE, 0), 0);
            assert_eq!(raw::buffer_register(pinned, SIZE), e(5013));
            assert_eq!(hip::host_free(pinned), 0);
        }),
        case("HF-BUF-08 a freed device pointer is refused", || {
            let memory = Memory::new(SIZE);
            let at = memory.at;
            memory.free();
            assert_ne!(raw::buffer_register(at, SIZE), OK);
        }),
        case("HF-BUF-09 HF-BUF-10 a range beyond the allocation is E(5014)", || {
            let memory = Memory::new(SIZE);
            assert_eq!(raw::buffer_register(memory.at, SIZE + 1), e(5014));
            assert_eq!(raw::buffer_register(memory.at + 4096, SIZE - 4095), e(5014));
            assert_eq!(raw::buffer_register(memory.at + SIZE - 1, 2), e(5014));
        }),
        case("HF-BUF-11 a length that wraps the address space is E(5014)", || {
            let memory = Memory::new(SIZE);
            for length in [usize::MAX, usize::MAX - memory.at + 1, usize::MAX - memory.at + 2] {
                assert_eq!(raw::buffer_register(memory.at, length), e(5014), "{length:#x}");
            }
        }),
        case("HF-BUF-23 a failed registration leaves no entry", || {
            let memory = Memory::new(SIZE);
            assert_eq!(raw::buffer_register(memory.at, SIZE + 1), e(5014));
            assert_eq!(raw::buffer_deregister(memory.at), e(5024));
            assert_eq!(raw::buffer_register(memory.at, SIZE), OK);
            let host = vec![0_u8; SIZE];
            assert_eq!(raw::buffer_register(host.as_ptr() as usize, SIZE), e(5013));
            assert_eq!(raw::buffer_deregister(host.as_ptr() as usize), e(5024));
        }),
        case("HF-BUF-26 already registered, NULL, lookup, type, range: the first that applies", || {
            let memory = Memory::new(SIZE).registered();
            // Registered and too long; NULL and too long; host memory and too long.
            assert_eq!(raw::buffer_register(memory.at, usize::MAX), e(5023));
            assert_eq!(raw::buffer_register(0, usize::MAX), e(5022));
            let host = [0_u8; 16];
            assert_eq!(raw::buffer_register(host.as_ptr() as usize, usize::MAX), e(5013));
            // Registered, so nobody asks HIP; not registered, so the failing lookup comes before the range.
            shim::always("hipPointerGetAttributes", Action::Error(999));
            assert_eq!(raw::buffer_register(memory.at, SIZE), e(5023));
            assert_eq!(raw::buffer_register(0, SIZE), e(5022));
            assert_eq!(shim::calls("hipPointerGetAttributes"), 0);
            assert_eq!(raw::buffer_register(memory.at + 1, usize::MAX), (5011, 999));
            // Host memory is refused before its range is asked for.
            shim::release("hipPointerGetAttributes");
            shim::always("hipMemGetAddressRange", Action::Error(999));
            assert_eq!(raw::buffer_register(host.as_ptr() as usize, 1), e(5013));
            assert_eq!(raw::buffer_register(memory.at + 1, 1), (5011, 999));
        })
        .shim(),
    ]
}

fn leaving() -> Vec<Case> {
    vec![
        case("HF-BUF-17 deregistering at count 0 is E(5006)", || {
            let memory = Memory::new(SIZE).registered();
            assert_eq!(raw::driver_close(), OK);
            assert_eq!(raw::buffer_deregister(memory.at), e(5006));
            assert_eq!(raw::buffer_deregister(0), e(5006));
        }),
        case("HF-BUF-18 HF-BUF-19 HF-BUF-20 only an exact base can be deregistered", || {
            let memory = Memory::new(SIZE).registered();
            for address in [0, memory.at + 1, memory.at + 4096, memory.at - 1, 0x1000] {
                assert_eq!(raw::buffer_deregister(address), e(5024), "{address:#x}");
            }
            assert_eq!(raw::buffer_register(memory.at, SIZE), e(5023));
        }),
        case("HF-BUF-21 a base deregisters once", || {
            let memory = Memory::new(SIZE).registered();
            assert_eq!(raw::buffer_deregister(memory.at), OK);
            assert_eq!(raw::buffer_deregister(memory.at), e(5024));
            assert_eq!(raw::buffer_register(memory.at, SIZE), OK);
        }),
        case("HF-BUF-22 deregistering while a transfer uses the registration is E(5030)", || {
            let memory = Memory::filled(SIZE, 0).registered();
            let file = File::of(&[9; 100]);
            let handle = file.registered();
            shim::always("pread", Action::Hold);
            std::thread::scope(|scope| {
                let reader = scope.spawn(|| raw::read(handle, memory.at, 100, 0, 0));
                shim::wait_until_held("pread");
                assert_eq!(raw::buffer_deregister(memory.at), e(5030));
                assert_eq!(raw::buffer_register(memory.at, SIZE), e(5023), "the registration stays");
                shim::release("pread");
                assert_eq!(reader.join().unwrap(), Moved::Number(100));
            });
            assert_eq!(memory.get(0..100), [9; 100]);
            assert_eq!(raw::buffer_deregister(memory.at), OK);
        })
        .fallback()
        .shim(),
        case("HF-BUF-24 a stale entry stays until it is removed", || {
            let memory = Memory::new(SIZE).registered();
            let at = memory.at;
            memory.free();
            let again = Memory::new(SIZE);
            if again.at != at {
                // HIP chose another address; the entry itself can still be shown.
                assert_eq!(raw::buffer_deregister(at), OK);
                return;
            }
            assert_eq!(raw::buffer_register(at, SIZE), e(5023));
            assert_eq!(raw::buffer_deregister(at), OK);
            assert_eq!(raw::buffer_register(at, SIZE), OK);
        }),
    ]
}
