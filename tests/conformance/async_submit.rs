//! HF-ASYNC: what a submission refuses, in which order, and what it leaves behind then.

use crate::case::{Case, Need, case};
use crate::file::{File, MAX_RW, PAGE, pattern};
use crate::hip::{self, Memory};
use crate::queue::{BOTH, Direction, FIXED, Operation, Stream, UNTOUCHED, on_streams};
use crate::raw::{self, OK, e};
use crate::witness::{FALLBACK_READ, FALLBACK_WRITE, paths_of};

use Direction::{Read, Write};
use hipfile_tests::shim::{self, Action};

const SIZE: usize = 16 * PAGE;
/// A value that is no stream.
const NO_STREAM: usize = 0x5a5a_5a50;

pub fn cases() -> Vec<Case> {
    [queries(), paths(), enqueuing()].into_iter().flatten().map(on_streams).collect()
}

/// The values of a good operation, and of some that fit no buffer; also with size 0.
const VALUES: [(usize, i64, i64); 5] =
    [(PAGE, 0, 0), (0, 0, 0), (SIZE + 1, 0, 0), (0, -1, 0), (PAGE, 0, SIZE as i64)];

/// A stream that is none.
fn no_stream() -> std::mem::ManuallyDrop<Stream> {
    std::mem::ManuallyDrop::new(Stream { at: NO_STREAM })
}

fn refused(handle: usize, base: usize, stream: &Stream, expected: raw::Answer) {
    for (size, file_offset, buffer_offset) in VALUES {
        for direction in BOTH {
            let operation = Operation::new(handle, base, size, file_offset, buffer_offset);
            assert_eq!(operation.submit(direction, stream), expected, "{direction:?} {size}");
            assert_eq!(operation.bytes(), UNTOUCHED);
        }
    }
}

fn queries() -> Vec<Case> {
    vec![
        case("HF-ASYNC-22 HF-ASYNC-07 a failing query of an unregistered buffer is E(5011,h)", || {
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            let stream = Stream::new();
            for function in ["hipPointerGetAttributes", "hipMemGetAddressRange"] {
                for code in [1, 3, 500, 999] {
                    shim::always(function, Action::Error(code));
                    refused(handle, memory.at, &stream, (5011, code as u32));
                    shim::release(function);
                }
            }
        })
        .shim(),
        case("HF-ASYNC-23 HF-ASYNC-07 a failing query of an unregistered stream is E(5011,h)", || {
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            let (stream, known) = (Stream::new(), Stream::with_flags(0));
            for code in [1, 3, 400, 999] {
                shim::always("hipStreamGetDevice", Action::Error(code));
                refused(handle, memory.at, &stream, (5011, code as u32));
                let registered = Operation::new(handle, memory.at, PAGE, 0, 0);
                assert_eq!(registered.result(Read, &known), PAGE as isize, "asked at registration alone");
                shim::release("hipStreamGetDevice");
            }
        })
        .needs(Need::Hip("hipStreamGetDevice"))
        .shim(),
        case("HF-ASYNC-23 a stream that HIP does not know is E(5011,h)", || {
            let file = File::of(&pattern(SIZE, 1));
            let memory = Memory::new(SIZE);
            let operation = Operation::new(file.registered(), memory.at, PAGE, 0, 0);
            let (code, hip) = operation.submit(Read, &no_stream());
            assert_eq!((code, hip != 0, operation.bytes()), (5011, true, UNTOUCHED));
        })
        .needs(Need::Hip("hipStreamGetDevice")),
        case("HF-ASYNC-24 handle, buffer, stream, range: the first that applies, also for size 0", || {
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            let host = vec![0_u8; SIZE];
            // Everything is wrong, then one thing less each time.
            refused(0, host.as_ptr() as usize, &no_stream(), e(5027));
            refused(handle, host.as_ptr() as usize, &no_stream(), e(5030));
            shim::always("hipPointerGetAttributes", Action::Error(999));
            refused(handle, memory.at, &no_stream(), (5011, 999));
            shim::release("hipPointerGetAttributes");
            shim::always("hipStreamGetDevice", Action::Error(400));
            refused(handle, memory.at, &no_stream(), (5011, 400));
            shim::release("hipStreamGetDevice");
            let stream = Stream::new();
            for (size, file_offset, buffer_offset) in &VALUES[2..] {
                let operation = Operation::new(handle, memory.at, *size, *file_offset, *buffer_offset);
                assert_eq!(operation.submit(Read, &stream), e(5022));
            }
        })
        .needs(Need::Hip("hipStreamGetDevice"))
        .shim(),
        case("HF-ASYNC-05 HF-ASYNC-07 a stream of another GPU than the buffer's is E(5022)", || {
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            assert_eq!(hip::set_device(1), 0);
            let (stream, known) = (Stream::new(), Stream::with_flags(FIXED));
            assert_eq!(hip::set_device(0), 0);
            let memory = Memory::new(SIZE);
            for stream in [&stream, &known] {
                refused(handle, memory.at, stream, e(5022));
            }
            assert_eq!(hip::set_device(1), 0);
            let memory = Memory::new(SIZE);
            assert_eq!(hip::set_device(0), 0);
            for stream in [&stream, &known] {
                assert_eq!(Operation::new(handle, memory.at, PAGE, 0, 0).result(Read, stream), PAGE as isize);
            }
        })
        .needs(Need::SecondDevice)
        .needs(Need::Hip("hipStreamGetDevice"))
        .env("SOFT_ROCM_DEVICE_COUNT", "2"),
        case("HF-DRV-31 after the submission that opened the driver the same one succeeds", || {
            let file = File::of(&pattern(SIZE, 1));
            let memory = Memory::new(SIZE);
            let stream = Stream::new();
            let stale = file.registered();
            while raw::count() > 0 {
                assert_eq!(raw::driver_close(), OK);
            }
            let operation = |handle| Operation::new(handle, memory.at, PAGE, 0, 0);
            assert_eq!(operation(stale).submit(Read, &stream), e(5022));
            assert_eq!(operation(stale).submit(Read, &stream), e(5027), "the close dropped the handle");
            assert_eq!(operation(file.registered()).result(Read, &stream), PAGE as isize);
            assert_eq!(raw::count(), 1);
        }),
    ]
}

fn paths() -> Vec<Case> {
    vec![
        case("HF-ASYNC-25 where no path takes the values, a submission is E(5030)", || {
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            let stream = Stream::new();
            for (size, file_offset, buffer_offset) in
                [(PAGE - 1, 0, 0), (PAGE, 1, 0), (PAGE, 0, 1), (SIZE + 1, 0, 0)]
            {
                let operation = Operation::new(handle, memory.at, size, file_offset, buffer_offset);
                assert_eq!(operation.submit(Read, &stream), e(5030), "{size}");
                assert_eq!(operation.bytes(), UNTOUCHED);
            }
        })
        .fast()
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false")
        .since(0, 5),
        case("HF-ASYNC-26 up to 0.4 the fallback serves, whatever the compat variables say", fallback_alone)
            .fast()
            .env("HIPFILE_ALLOW_COMPAT_MODE", "false"),
        case("HF-ASYNC-26 up to 0.4 the fallback serves what is eligible for the fast path", fallback_alone)
            .fast(),
    ]
    .into_iter()
    .map(|case| if case.ids().any(|id| id == "HF-ASYNC-26") { case.shim().until(0, 4) } else { case })
    .collect()
}

fn fallback_alone() {
    let file = File::of(&pattern(SIZE, 2));
    let handle = file.registered();
    let memory = Memory::new(SIZE);
    let stream = Stream::new();
    for (size, offset) in [(PAGE, 0), (100, 7)] {
        let operation = Operation::new(handle, memory.at, size, offset, offset);
        let read = paths_of(|| assert_eq!(operation.result(Read, &stream), size as isize));
        let write = paths_of(|| assert_eq!(operation.result(Write, &stream), size as isize));
        assert_eq!((read, write), (FALLBACK_READ, FALLBACK_WRITE));
    }
    assert!(file.bytes() == pattern(SIZE, 2));
}

fn enqueuing() -> Vec<Case> {
    vec![
        case("HF-ASYNC-27 a failure of HIP while an operation is put on the stream is E(5011,h)", || {
            let file = File::of(&pattern(SIZE, 3));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            for flags in [0, FIXED] {
                let stream = Stream::with_flags(flags);
                for direction in BOTH {
                    for code in [1, 2, 400, 999] {
                        shim::always("hipLaunchHostFunc", Action::Error(code));
                        let operation = Operation::new(handle, memory.at, PAGE, 0, 0);
                        assert_eq!(operation.submit(direction, &stream), (5011, code as u32));
                        shim::release("hipLaunchHostFunc");
                        stream.wait();
                        assert_eq!(operation.bytes(), 0);
                    }
                }
            }
        })
        .shim(),
        case("HF-ASYNC-28 a submission that failed holds nothing", || {
            let file = File::of(&pattern(SIZE, 3));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            shim::always("hipLaunchHostFunc", Action::Error(999));
            for stream in [Stream::with_flags(FIXED), Stream::new()] {
                for direction in BOTH {
                    let operation = Operation::new(handle, memory.at, PAGE, 0, 0);
                    assert_eq!(operation.submit(direction, &stream), (5011, 999));
                }
            }
            assert_eq!(raw::buffer_deregister(memory.at), OK);
            raw::deregister(handle);
            assert_eq!(raw::register(file.number()).0, OK);
        })
        .needs(Need::Ours)
        .shim(),
        case("HF-ASYNC-17 a size above MAX_RW is cut, at submission and late", || {
            let file = File::empty();
            let handle = file.registered();
            let memory = Memory::new(3 << 30).registered();
            let stream = Stream::with_flags(0);
            for name in ["pread", "pwrite"] {
                shim::always(name, Action::Pretend(-1));
            }
            for direction in BOTH {
                let operation = Operation::new(handle, memory.at, 3 << 30, 1, 0);
                assert_eq!(operation.result(direction, &stream), MAX_RW as isize);
                let gate = stream.hold();
                let late = Operation::new(handle, memory.at, MAX_RW, 1, 0).put(direction, &stream);
                late.change(usize::MAX, 1, 0);
                gate.open();
                stream.wait();
                assert_eq!(late.bytes(), MAX_RW as isize);
            }
        })
        .fallback()
        .env("SOFT_ROCM_DEVICE_MEM", (8_u64 << 30).to_string())
        .since(0, 5)
        .shim(),
        case("HF-ASYNC-37 the range is checked with the size cut to MAX_RW, on the fast path too", || {
            let file = File::empty();
            let handle = file.registered();
            let memory = Memory::new(3 << 30).registered();
            let stream = Stream::with_flags(FIXED);
            for name in ["hipAmdFileRead", "hipAmdFileWrite"] {
                shim::always(name, Action::Pretend(-1));
            }
            for direction in BOTH {
                let operation = Operation::new(handle, memory.at, 4 << 30, 0, 0);
                assert_eq!(operation.result(direction, &stream), MAX_RW as isize);
            }
        })
        .fast()
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false")
        .env("SOFT_ROCM_DEVICE_MEM", (8_u64 << 30).to_string())
        .since(0, 5)
        .shim(),
        case("HF-STREAM-10 memory that HIP refuses to a registered stream is E(5011,h)", || {
            shim::always("hipHostMalloc", Action::Error(2));
            let stream = Stream::new();
            assert_eq!(crate::queue::register(stream.at, 0), (5011, 2));
            shim::release("hipHostMalloc");
            assert_eq!(crate::queue::register(stream.at, 0), OK, "nothing was registered");
        })
        .amds()
        .since(0, 5)
        .shim(),
        case("HF-ASYNC-38 memory that HIP refuses to an operation is E(5011,2), with 0 bytes", || {
            let file = File::of(&pattern(SIZE, 3));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            let stream = Stream::with_flags(FIXED);
            shim::always("hipHostMalloc", Action::Error(2));
            let operation = Operation::new(handle, memory.at, PAGE, 0, 0);
            assert_eq!(operation.submit(Read, &stream), (5011, 2));
            assert_eq!(operation.bytes(), 0);
            assert_eq!(raw::buffer_deregister(memory.at), OK);
        })
        .amds()
        .shim(),
    ]
}
