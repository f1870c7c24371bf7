//! HF-ASYNC: what operations hold and when they let go, which of them overlap, and what happens when the world ends
//! while some are outstanding.

use std::time::{Duration, Instant};

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::{self, Memory};
use crate::queue::{BOTH, Direction, FIXED, Operation, Stream, on_streams};
use crate::raw::{self, OK, e};

use Direction::{Read, Write};
use hipfile_tests::shim::{self, Action};

const SIZE: usize = 16 * PAGE;

hip::functions! {
    malloc_async(out: &mut usize, size: usize, stream: usize) = "hipMallocAsync";
    free_async(at: usize, stream: usize) = "hipFreeAsync";
}

pub fn cases() -> Vec<Case> {
    [holding(), overlapping(), endings(), memory()].into_iter().flatten().map(on_streams).collect()
}

/// Waits until the result of an operation is no longer 0.
fn wait_for(operation: &Operation) -> isize {
    let started = Instant::now();
    while operation.bytes() == 0 {
        assert!(started.elapsed() < Duration::from_secs(20), "no result");
        std::hint::spin_loop();
    }
    operation.bytes()
}

fn holding() -> Vec<Case> {
    vec![
        case("HF-ASYNC-50 once the result is there, file and buffer are free", || {
            let file = File::of(&pattern(SIZE, 1));
            let memory = Memory::filled(SIZE, 0);
            for flags in [0, FIXED] {
                let stream = Stream::with_flags(flags);
                for turn in 0..500 {
                    let handle = file.registered();
                    assert_eq!(raw::buffer_register(memory.at, SIZE), OK);
                    let operation = Operation::new(handle, memory.at, 1 + turn, 0, 0).put(Read, &stream);
                    assert_eq!(wait_for(&operation), 1 + turn as isize);
                    assert_eq!(raw::buffer_deregister(memory.at), OK);
                    raw::deregister(handle);
                }
            }
        })
        .needs(Need::Ours),
        case("HF-ASYNC-51 memory freed before the stream comes to it is an error and no more", || {
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            let stream = Stream::new();
            let gate = stream.hold();
            let operations: Vec<_> = BOTH
                .into_iter()
                .map(|direction| {
                    // Freed in the order of another stream: hipFree would wait for this one.
                    let (other, mut at) = (Stream::new(), 0);
                    assert_eq!(malloc_async(&mut at, SIZE, other.at), 0);
                    other.wait();
                    let operation = Operation::new(handle, at, PAGE, 0, 0).put(direction, &stream);
                    assert_eq!(free_async(at, other.at), 0);
                    other.wait();
                    operation
                })
                .collect();
            gate.open();
            stream.wait();
            assert!(operations.iter().all(|operation| operation.bytes() == -5030), "{operations:?}");
        })
        .needs(Need::Ours)
        .fallback(),
        case("HF-ASYNC-52 a descriptor closed before the stream comes to it is an error and no more", || {
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            let stream = Stream::new();
            let gate = stream.hold();
            let operation = Operation::new(handle, memory.at, PAGE, 0, 0).put(Read, &stream);
            file.close();
            gate.open();
            stream.wait();
            assert_eq!(operation.bytes(), -1);
        })
        .fallback(),
    ]
}

/// A stream on which one read is held in its system call, and another read behind it.
struct Held {
    first: Operation,
    second: Operation,
    stream: Stream,
    handle: usize,
    _file: File,
    memory: Memory,
}

impl Held {
    fn new(flags: u32, second_at: usize) -> Self {
        let file = File::of(&pattern(SIZE, 2));
        let handle = file.registered();
        let memory = Memory::filled(SIZE, 0).registered();
        let stream = Stream::with_flags(flags);
        // The first operation after a registration is always alone.
        assert_eq!(Operation::new(handle, memory.at, 1, 0, 0).result(Read, &stream), 1);
        shim::always("pread", Action::Hold);
        let read = |at: usize| Operation::new(handle, memory.at, PAGE, 0, at as i64).put(Read, &stream);
        let (first, second) = (read(0), read(second_at));
        shim::wait_until_held("pread");
        Self { first, second, stream, handle, _file: file, memory }
    }

    /// Lets both go on, which must give both results.
    fn release(self) {
        assert_eq!((self.first.bytes(), self.second.bytes()), (0, 0));
        shim::release("pread");
        self.stream.wait();
        assert_eq!((self.first.bytes(), self.second.bytes()), (PAGE as isize, PAGE as isize));
        raw::deregister(self.handle);
        assert_eq!(raw::buffer_deregister(self.memory.at), OK);
    }
}

fn overlapping() -> Vec<Case> {
    let cases = vec![
        case("HF-ASYNC-53 reads of fixed values into different places overlap", || {
            let held = Held::new(FIXED, PAGE);
            shim::wait_until_held_times("pread", 2);
            held.release();
        })
        .needs(Need::Ours),
        case("HF-ASYNC-54 reads into one place, or with a value that is not fixed, do not", || {
            for (flags, second_at) in [(FIXED, 0), (FIXED, PAGE - 1), (0, PAGE), (FIXED - 1, PAGE), (3, PAGE)]
            {
                let held = Held::new(flags, second_at);
                // Long enough for the second read to come, if it did.
                std::thread::sleep(Duration::from_millis(50));
                assert_eq!(shim::calls("pread"), 1, "{flags:#x} at {second_at}");
                held.release();
            }
        }),
        case("HF-ASYNC-55 what else is on the stream waits for reads that overlap", || {
            let held = Held::new(FIXED, PAGE);
            shim::wait_until_held_times("pread", 2);
            let copy = File::empty();
            let write = Operation::new(copy.registered(), held.memory.at, 2 * PAGE, 0, 0);
            let write = write.put(Write, &held.stream);
            let gate = held.stream.hold();
            assert_eq!((write.bytes(), copy.size()), (0, 0));
            gate.open();
            held.release();
            assert_eq!(write.bytes(), 2 * PAGE as isize);
            assert!(copy.bytes() == pattern(SIZE, 2)[..PAGE].repeat(2));
        })
        .needs(Need::Ours),
    ];
    cases.into_iter().map(|case| case.fallback().shim()).collect()
}

fn endings() -> Vec<Case> {
    vec![
        case("HF-ASYNC-56 ten thousand operations on one stream", || {
            let file = File::of(&pattern(SIZE, 3));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0).registered();
            for flags in [0, FIXED] {
                let stream = Stream::with_flags(flags);
                let gate = stream.hold();
                let read = |turn: usize| {
                    let at = (turn % 16 * PAGE) as i64;
                    Operation::new(handle, memory.at, PAGE, at, at).put(Read, &stream)
                };
                let operations: Vec<_> = (0..10_000).map(read).collect();
                gate.open();
                stream.wait();
                assert!(operations.iter().all(|operation| operation.bytes() == PAGE as isize));
                assert!(memory.bytes() == pattern(SIZE, 3));
            }
            assert_eq!(raw::buffer_deregister(memory.at), OK);
        }),
        case("HF-ASYNC-57 a forked child is refused, and its parent's operations are not disturbed", || {
            let file = File::of(&pattern(SIZE, 6));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0).registered();
            let stream = Stream::with_flags(FIXED);
            let gate = stream.hold();
            let read = Operation::new(handle, memory.at, PAGE, 0, 0).put(Read, &stream);
            // SAFETY: requires that the child is careful; holds because it makes one call and leaves.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let refused = BOTH.map(|direction| read.submit(direction, &stream)) == [e(5030); 2];
                // SAFETY: requires nothing.
                unsafe { libc::_exit(if refused { 0 } else { 1 }) };
            }
            let mut status = -1;
            // SAFETY: requires room for a status; holds because it is ours.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            assert_eq!(status, 0);
            gate.open();
            stream.wait();
            assert_eq!(read.bytes(), PAGE as isize);
        })
        .needs(Need::Ours),
    ]
}

fn memory() -> Vec<Case> {
    let cases = [case("HF-STREAM-12 where the host reaches device memory none is needed", || {
        let stream = Stream::with_flags(0);
        let file = File::of(&pattern(SIZE, 8));
        let memory = Memory::filled(SIZE, 0).registered();
        let read = Operation::new(file.registered(), memory.at, SIZE, 0, 0);
        assert_eq!(read.result(Read, &stream), SIZE as isize);
        assert!(memory.bytes() == pattern(SIZE, 8));
    })
    .env("SOFT_ROCM_FAULTS", "hipHostMalloc:hip=2")];
    cases.into_iter().map(|case| case.since(0, 5).needs(Need::Ours)).collect()
}
