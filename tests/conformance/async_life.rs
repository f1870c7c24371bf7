//! HF-ASYNC and HF-STREAM: failures of operations under way, and what goes away while they are.

use std::path::Path;

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, open, pattern};
use crate::file_register::reuse;
use crate::hip::{self, Memory};
use crate::queue::{self, BOTH, Direction, FIXED, Operation, Stream, on_streams};
use crate::raw::{self, OK, e};

use Direction::{Read, Write};
use hipfile_tests::shim::{self, Action};
use std::os::fd::AsRawFd;

const SIZE: usize = 16 * PAGE;

pub fn cases() -> Vec<Case> {
    [failures(), leaving(), streams(), numbers()].into_iter().flatten().map(on_streams).collect()
}

fn failures() -> Vec<Case> {
    vec![
        case("HF-ASYNC-15 a system error on the fallback is -1, and the caller's errno stays", || {
            let reader = File::opened(&pattern(SIZE, 1), libc::O_RDONLY);
            let writer = File::opened(&pattern(SIZE, 1), libc::O_WRONLY);
            let memory = Memory::new(SIZE).registered();
            for flags in [0, FIXED] {
                let stream = Stream::with_flags(flags);
                for (file, direction) in [(&reader, Write), (&writer, Read)] {
                    let handle = file.registered();
                    raw::set_errno(libc::EDOM);
                    let operation = Operation::new(handle, memory.at, 100, 0, 0);
                    assert_eq!(operation.result(direction, &stream), -1);
                    assert_eq!(raw::errno(), libc::EDOM);
                    raw::deregister(handle);
                }
            }
        })
        .fallback(),
        case("HF-ASYNC-15 HF-ASYNC-19 any failure on the fast path is -5030, ENODEV too", || {
            let file = File::of(&pattern(SIZE, 2));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            let stream = Stream::with_flags(FIXED);
            let functions = [("hipAmdFileRead", Read), ("hipAmdFileWrite", Write)];
            let actions = [libc::ENODEV, libc::EREMOTEIO, libc::EIO, libc::EINTR]
                .map(|errno| Action::Status(i64::from(errno)))
                .into_iter()
                .chain([1, 999].map(Action::Error));
            for action in actions {
                for (function, direction) in functions {
                    shim::always(function, action);
                    let operation = Operation::new(handle, memory.at, PAGE, 0, 0);
                    assert_eq!(operation.result(direction, &stream), -5030, "{action:?}");
                    assert_eq!(shim::calls(function), 1);
                    shim::release(function);
                }
            }
        })
        .fast()
        .shim()
        .since(0, 5),
        case("HF-ASYNC-41 EINTR and short counts are continued", || {
            let file = File::of(&pattern(SIZE, 3));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0).registered();
            let stream = Stream::new();
            for (name, direction) in [("pread", Read), ("pwrite", Write)] {
                shim::rule(name, Action::Error(i64::from(libc::EINTR)), 2, 2);
                shim::always(name, Action::Short(1000));
                assert_eq!(Operation::new(handle, memory.at, 9_999, 5, 7).result(direction, &stream), 9_999);
                assert!(shim::calls(name) >= 12);
                shim::release(name);
            }
            assert_eq!(memory.get(7..10_006), pattern(SIZE, 3)[5..10_004]);
            assert!(file.bytes() == pattern(SIZE, 3));
        })
        .fallback()
        .shim(),
        case("HF-ASYNC-42 an error in the middle is -1 and loses the count", || {
            assert_eq!(error_in_the_middle(Read), -1);
            assert_eq!(error_in_the_middle(Write), -1);
        })
        .fallback()
        .amds()
        .shim(),
        case("HF-ASYNC-43 an error in the middle gives the count so far", || {
            assert_eq!(error_in_the_middle(Read), 4096);
            assert_eq!(error_in_the_middle(Write), 4096);
        })
        .fallback()
        .needs(Need::Ours)
        .shim(),
        case("HF-ASYNC-18 writes on the fallback are not synced", || {
            let file = File::empty();
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            let stream = Stream::new();
            shim::always("fdatasync", Action::Short(0));
            assert_eq!(Operation::new(handle, memory.at, SIZE, 0, 0).result(Write, &stream), SIZE as isize);
            assert_eq!(Operation::new(handle, memory.at, 100, 3, 0).result(Write, &stream), 100);
            assert_eq!((shim::calls("fdatasync"), file.size()), (0, SIZE as u64));
            // What cannot be synced can be written to.
            let null = open(Path::new("/dev/null"), libc::O_RDWR);
            let null = Operation::new(raw::registered(null.as_raw_fd()), memory.at, 100, 0, 0);
            assert_eq!(null.result(Write, &stream), 100);
        })
        .fallback()
        .shim(),
    ]
}

/// What an operation gives whose second system call fails, after 4096 bytes.
fn error_in_the_middle(direction: Direction) -> isize {
    let name = if direction == Read { "pread" } else { "pwrite" };
    let file = File::of(&pattern(SIZE, 4));
    let handle = file.registered();
    let memory = Memory::filled(SIZE, 0).registered();
    shim::rule(name, Action::Error(i64::from(libc::EIO)), 2, 0);
    shim::rule(name, Action::Short(4096), 1, 1);
    let result = Operation::new(handle, memory.at, SIZE, 0, 0).result(direction, &Stream::new());
    shim::release(name);
    raw::deregister(handle);
    assert_eq!(raw::buffer_deregister(memory.at), OK);
    result
}

fn leaving() -> Vec<Case> {
    vec![
        case("HF-ASYNC-16 file and buffer are held until the operation ended", || {
            let file = File::of(&pattern(SIZE, 5));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0).registered();
            for flags in [0, FIXED] {
                let stream = Stream::with_flags(flags);
                for direction in BOTH {
                    let gate = stream.hold();
                    let operation = Operation::new(handle, memory.at, SIZE, 0, 0).put(direction, &stream);
                    assert_eq!(raw::buffer_deregister(memory.at), e(5030));
                    raw::deregister(handle);
                    assert_eq!(raw::register(file.number()).0, e(5028), "deregistering was ignored");
                    gate.open();
                    stream.wait();
                    assert_eq!(operation.bytes(), SIZE as isize);
                }
            }
            assert!(memory.bytes() == pattern(SIZE, 5));
            assert_eq!(raw::buffer_deregister(memory.at), OK);
            raw::deregister(handle);
            assert_eq!(raw::register(file.number()).0, OK);
        }),
        case("HF-ASYNC-44 an operation ends normally when the driver is closed before its turn", || {
            let file = File::of(&pattern(SIZE, 6));
            let memory = Memory::filled(SIZE, 0).registered();
            let handle = file.registered();
            let stream = Stream::with_flags(FIXED);
            let gate = stream.hold();
            let read = Operation::new(handle, memory.at, SIZE, 0, 0).put(Read, &stream);
            let write = Operation::new(handle, memory.at, 100, SIZE as i64, 5).put(Write, &stream);
            while raw::count() > 0 {
                assert_eq!(raw::driver_close(), OK);
            }
            gate.open();
            stream.wait();
            assert_eq!((read.bytes(), write.bytes()), (SIZE as isize, 100));
            assert!(memory.bytes() == pattern(SIZE, 6));
            assert_eq!(file.bytes()[SIZE..], pattern(SIZE, 6)[5..105]);
            assert_eq!(raw::driver_open(), OK);
            assert_eq!((raw::register(file.number()).0, raw::buffer_register(memory.at, SIZE)), (OK, OK));
        }),
        case("HF-ASYNC-45 a process that exits with operations waiting keeps its status", || {
            let file = File::of(&pattern(SIZE, 7));
            let memory = Memory::new(SIZE).registered();
            let stream = Stream::with_flags(FIXED);
            let gate = stream.hold();
            Operation::new(file.registered(), memory.at, SIZE, 0, 0).put(Read, &stream);
            std::mem::forget((gate, stream, memory, file));
            std::process::exit(7);
        })
        .ends_with(7),
    ]
}

fn streams() -> Vec<Case> {
    vec![
        case(
            "HF-STREAM-08 deregistering a stream with operations waiting is OK, and so is registering it again",
            || {
                let file = File::of(&pattern(SIZE, 8));
                let memory = Memory::filled(SIZE, 0).registered();
                let stream = Stream::with_flags(FIXED);
                let gate = stream.hold();
                let operation = Operation::new(file.registered(), memory.at, PAGE, 0, 0).put(Read, &stream);
                // Its flags are those of the submission.
                operation.change(SIZE, 0, PAGE as i64);
                assert_eq!((queue::deregister(stream.at), queue::register(stream.at, 0)), (OK, OK));
                gate.open();
                stream.wait();
                assert_eq!(operation.bytes(), PAGE as isize);
                assert!(memory.get(0..PAGE) == pattern(SIZE, 8)[..PAGE]);
                assert!(memory.get(PAGE..SIZE).iter().all(|byte| *byte == 0));
                assert_eq!(queue::deregister(stream.at), OK);
            },
        ),
        case("HF-STREAM-09 a destroyed stream stays registered, and nothing can be put on it", || {
            let file = File::of(&pattern(SIZE, 8));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            let stream = Stream::with_flags(FIXED);
            assert_eq!(hip::stream_destroy(stream.at), 0);
            assert_eq!(queue::register(stream.at, 0), e(5022), "registered still");
            for direction in BOTH {
                let (code, hip) = Operation::new(handle, memory.at, PAGE, 0, 0).submit(direction, &stream);
                assert_eq!((code, hip != 0), (5011, true));
            }
            assert_eq!(queue::deregister(stream.at), OK);
            assert_eq!(queue::deregister(stream.at), e(5022));
            std::mem::forget(stream);
        }),
        case("HF-STREAM-01 HF-STREAM-05 streams of HIP register with any flags of the mask", || {
            for flags in 0..=0xf {
                let stream = Stream::with_flags(flags);
                assert_eq!(queue::register(stream.at, flags), e(5022), "twice");
                assert_eq!((queue::deregister(stream.at), queue::deregister(stream.at)), (OK, e(5022)));
            }
            assert_eq!(raw::count(), 0);
        }),
        case("HF-STREAM-11 a stream's device is asked at registration; its failure is E(5011,h)", || {
            let stream = Stream::new();
            for code in [3, 400, 999] {
                shim::always("hipStreamGetDevice", Action::Error(code));
                assert_eq!(queue::register(stream.at, 0), (5011, code as u32));
                assert_eq!(queue::register(stream.at, 0x10), e(5022), "flags come first");
                shim::release("hipStreamGetDevice");
            }
            assert_eq!((queue::register(stream.at, 0), queue::deregister(stream.at)), (OK, OK));
        })
        .needs(Need::Hip("hipStreamGetDevice"))
        .shim(),
    ]
}

fn numbers() -> Vec<Case> {
    vec![
        case("HF-FILE-49 HF-ASYNC-15 a buffered fd closed and not reused: an operation gives -1", || {
            let file = File::of(&pattern(SIZE, 9));
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            let (_number, _folder) = file.close_keeping();
            let stream = Stream::new();
            for direction in BOTH {
                assert_eq!(Operation::new(handle, memory.at, 100, 0, 0).result(direction, &stream), -1);
            }
        })
        .fallback(),
        case("HF-FILE-48 a buffered number reused: an operation goes to the file it now names", || {
            let (file, other) = (File::of(&[1; PAGE]), File::of(&[2; PAGE]));
            let handle = file.registered();
            let memory = Memory::new(PAGE);
            reuse(file, other.fd.try_clone().unwrap());
            let operation = Operation::new(handle, memory.at, PAGE, 0, 0);
            assert_eq!(operation.result(Read, &Stream::new()), PAGE as isize);
            assert_eq!(memory.bytes(), [2; PAGE]);
        })
        .fallback(),
        case("HF-STATS-28 asynchronous operations are not counted", || {
            let file = File::of(&pattern(SIZE, 10));
            let handle = file.registered();
            for memory in [Memory::new(SIZE), Memory::new(SIZE).registered()] {
                for (size, stream) in [(PAGE, Stream::new()), (100, Stream::with_flags(FIXED))] {
                    for direction in BOTH {
                        let operation = Operation::new(handle, memory.at, size, 0, 0);
                        assert_eq!(operation.result(direction, &stream), size as isize);
                    }
                }
            }
            let stats = raw::stats1();
            assert_eq!((stats.read_ops.ok, stats.write_ops.ok, stats.read_ops.err), (0, 0, 0));
            assert_eq!((stats.read_bytes, stats.write_bytes), (0, 0));
        })
        .fast()
        .needs(Need::Stats),
    ]
}
