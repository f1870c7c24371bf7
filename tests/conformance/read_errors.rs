//! HF-READ and HF-ERR: what transfers refuse, and which refusal comes first.

use crate::case::{Case, case};
use crate::file::{File, PAGE};
use crate::hip::{self, Memory};
use crate::raw::{self, Moved, OK};

use hipfile_tests::shim::{self, Action};

const SIZE: usize = 64 * 1024;
const INVALID: Moved = Moved::Number(-5022);

pub fn cases() -> Vec<Case> {
    let mut cases = closed_and_unknown();
    cases.extend(memory());
    cases.extend(ranges());
    cases
}

/// A transfer in either direction: handle, base, size, file offset, buffer offset.
type Transfer = fn(usize, usize, usize, i64, i64) -> Moved;
const BOTH: [Transfer; 2] = [raw::read, raw::write];

/// Arguments with every kind of fault in them, which an earlier check must hide.
const FAULTY: [(usize, i64, i64); 6] =
    [(0, 0, 0), (4096, 0, 0), (4096, -1, 0), (4096, 0, -1), (usize::MAX, i64::MAX, i64::MIN), (0, -1, -1)];

fn open_file() -> (File, usize) {
    assert_eq!(raw::driver_open(), OK);
    let file = File::of(&[1; SIZE]);
    let handle = file.registered();
    (file, handle)
}

fn closed_and_unknown() -> Vec<Case> {
    vec![
        case("HF-READ-01 HF-READ-02 at count 0 every transfer is -1/EINVAL", || {
            let file = File::of(&[1; 100]);
            let memory = Memory::new(SIZE).registered();
            let handle = file.registered();
            assert_eq!(raw::driver_close(), OK);
            for transfer in BOTH {
                for fh in [handle, 0, 1] {
                    for base in [memory.at, 0, FAULTY.as_ptr() as usize] {
                        for (size, file_offset, buffer_offset) in FAULTY {
                            let moved = transfer(fh, base, size, file_offset, buffer_offset);
                            assert_eq!(moved, Moved::Os(libc::EINVAL));
                        }
                    }
                }
            }
        }),
        case("HF-READ-03 HF-READ-04 HF-READ-06 an unknown handle is -5027, whatever else is wrong", || {
            let (_file, handle) = open_file();
            let memory = Memory::new(SIZE);
            let host = [0_u8; 16];
            for transfer in BOTH {
                for unknown in raw::unknown_handles(handle) {
                    for base in [memory.at, 0, host.as_ptr() as usize] {
                        for (size, file_offset, buffer_offset) in FAULTY {
                            let moved = transfer(unknown, base, size, file_offset, buffer_offset);
                            assert_eq!(moved, Moved::Number(-5027));
                        }
                    }
                }
            }
        }),
        case("HF-READ-05 HF-READ-13 a NULL buffer is -5022, whatever size and offsets", || {
            let (_file, handle) = open_file();
            for transfer in BOTH {
                for (size, file_offset, buffer_offset) in FAULTY {
                    assert_eq!(transfer(handle, 0, size, file_offset, buffer_offset), INVALID);
                }
            }
        }),
    ]
}

fn memory() -> Vec<Case> {
    vec![
        case("HF-READ-07 HF-READ-13 ordinary host memory is -5013, whatever size and offsets", || {
            let (_file, handle) = open_file();
            let host = vec![0_u8; SIZE];
            for transfer in BOTH {
                for (size, file_offset, buffer_offset) in FAULTY {
                    let moved = transfer(handle, host.as_ptr() as usize, size, file_offset, buffer_offset);
                    assert_eq!(moved, Moved::Number(-5013));
                }
            }
        }),
        case("HF-READ-08 pinned host memory is -5013", || {
            let (_file, handle) = open_file();
            let mut pinned = 0;
            assert_eq!(hip::host_malloc(&mut pinned, SIZE, 0), 0);
            for transfer in BOTH {
                assert_eq!(transfer(handle, pinned, 4096, 0, 0), Moved::Number(-5013));
            }
            assert_eq!(hip::host_free(pinned), 0);
        }),
        case("HF-READ-09 HF-READ-13 HF-ERR-02 a HIP query error h is -h, also with bad offsets", || {
            let (_file, handle) = open_file();
            let memory = Memory::new(SIZE);
            for transfer in BOTH {
                for code in [3, 101, 500, 999] {
                    for function in ["hipPointerGetAttributes", "hipMemGetAddressRange"] {
                        shim::always(function, Action::Error(code));
                        for (size, file_offset, buffer_offset) in FAULTY {
                            let moved = transfer(handle, memory.at, size, file_offset, buffer_offset);
                            assert_eq!(moved, Moved::Number(-(code as isize)), "{function}");
                        }
                        shim::release(function);
                    }
                }
            }
        })
        .shim(),
        case("HF-READ-09 the type query comes before the type, the type before the range query", || {
            let (_file, handle) = open_file();
            let host = [0_u8; 16];
            shim::always("hipMemGetAddressRange", Action::Error(999));
            assert_eq!(raw::read(handle, host.as_ptr() as usize, 1, 0, 0), Moved::Number(-5013));
            shim::always("hipPointerGetAttributes", Action::Error(101));
            assert_eq!(raw::read(handle, host.as_ptr() as usize, 1, 0, 0), Moved::Number(-101));
        })
        .shim(),
        case("HF-ERR-03 hipErrorInvalidValue is -1 with errno as it was", || {
            let (_file, handle) = open_file();
            let memory = Memory::new(SIZE);
            for function in ["hipPointerGetAttributes", "hipMemGetAddressRange"] {
                shim::always(function, Action::Error(1));
                for before in [0, libc::EDOM] {
                    raw::set_errno(before);
                    assert_eq!(raw::read_raw(handle, memory.at, 4096, 0, 0), -1);
                    assert_eq!(raw::errno(), before);
                    assert_eq!(raw::write_raw(handle, memory.at, 4096, 0, 0), -1);
                    assert_eq!(raw::errno(), before);
                }
                shim::release(function);
            }
        })
        .shim(),
        case("HF-READ-20 a registration is found by its base alone", || {
            let (_file, handle) = open_file();
            let memory = Memory::new(SIZE).registered();
            shim::always("hipPointerGetAttributes", Action::Error(999));
            assert_eq!(
                raw::read(handle, memory.at, 100, 0, 4096),
                Moved::Number(100),
                "no query for the base"
            );
            assert_eq!(
                raw::read(handle, memory.at + 4096, 100, 0, 0),
                Moved::Number(-999),
                "one for the inside"
            );
            shim::release("hipPointerGetAttributes");
            assert_eq!(raw::read(handle, memory.at + 4096, 100, 0, 0), Moved::Number(100));
        })
        .fallback()
        .shim(),
    ]
}

fn ranges() -> Vec<Case> {
    vec![
        case("HF-READ-10 HF-READ-11 a negative offset is -1/EINVAL", || {
            let (_file, handle) = open_file();
            let memory = Memory::new(SIZE);
            for transfer in BOTH {
                for registered in [false, true] {
                    for (file_offset, buffer_offset) in
                        [(-1, 0), (0, -1), (-4096, 0), (i64::MIN, 0), (0, i64::MIN)]
                    {
                        for size in [0, 1, 4096, usize::MAX] {
                            let moved = transfer(handle, memory.at, size, file_offset, buffer_offset);
                            assert_eq!(moved, Moved::Os(libc::EINVAL), "{registered}");
                        }
                    }
                    let _ = raw::buffer_register(memory.at, SIZE);
                }
                assert_eq!(raw::buffer_deregister(memory.at), OK);
            }
        })
        .since(0, 4),
        case("HF-READ-14 HF-READ-15 a buffer offset at the end is -5022, for size 0 too", out_of_range),
        case("HF-READ-14 HF-READ-15 and on the fallback", out_of_range).fallback(),
        case("HF-READ-16 a range beyond the buffer is -5022 and touches nothing", || {
            let file = File::of(&[1; SIZE]);
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0xaa).registered();
            for (size, offset) in [(SIZE + 1, 0), (2, SIZE - 1), (SIZE, 4096), (usize::MAX, 1), (1, SIZE * 2)]
            {
                for transfer in BOTH {
                    assert_eq!(
                        transfer(handle, memory.at, size, 0, offset as i64),
                        INVALID,
                        "{size}@{offset}"
                    );
                }
            }
            assert_eq!(memory.bytes(), [0xaa; SIZE]);
            assert_eq!(file.bytes(), [1; SIZE]);
        }),
        case("HF-READ-17 the range is the registered length", || {
            let (_file, handle) = open_file();
            let memory = Memory::new(SIZE);
            assert_eq!(raw::buffer_register(memory.at, PAGE), OK);
            for transfer in BOTH {
                assert_eq!(transfer(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
                assert_eq!(transfer(handle, memory.at, PAGE + 1, 0, 0), INVALID);
                assert_eq!(transfer(handle, memory.at, 1, 0, PAGE as i64), INVALID);
            }
        }),
        case("HF-READ-18 HF-READ-19 an unregistered pointer reaches to the end of its allocation", || {
            let (_file, handle) = open_file();
            let memory = Memory::new(SIZE);
            for inside in [0, 1, PAGE, SIZE - 1] {
                let left = SIZE - inside;
                let base = memory.at + inside;
                for transfer in BOTH {
                    assert_eq!(transfer(handle, base, left, 0, 0), Moved::Number(left as isize), "{inside}");
                    assert_eq!(transfer(handle, base, left + 1, 0, 0), INVALID, "{inside}");
                    assert_eq!(transfer(handle, base, 1, 0, left as i64), INVALID, "{inside}");
                    assert_eq!(transfer(handle, base, 1, 0, left as i64 - 1), Moved::Number(1), "{inside}");
                }
            }
        }),
    ]
}

fn out_of_range() {
    let (_file, handle) = open_file();
    let memory = Memory::new(SIZE);
    for _registered in [false, true] {
        for transfer in BOTH {
            for offset in [SIZE, SIZE + 1, SIZE + 4096, i64::MAX as usize] {
                for size in [0, 1, 4096] {
                    assert_eq!(
                        transfer(handle, memory.at, size, 0, offset as i64),
                        INVALID,
                        "{size}@{offset}"
                    );
                }
            }
        }
        let _ = raw::buffer_register(memory.at, SIZE);
    }
}
