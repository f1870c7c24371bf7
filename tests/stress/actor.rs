//! One of the threads.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::Duration;

use hipfile_tests::engine::{self, Entry, Slot, Stream, UNWRITTEN, Wait};
use hipfile_tests::raw::{self, Answer, Moved, OK, e};

use crate::stage::{RANGE, SHARED, Stage, byte};

/// A thread, its own things and what it holds of the shared ones.
pub struct Actor<'s> {
    stage: &'s Stage,
    number: usize,
    random: u64,
    own: File,
    /// Handles that were given out at some time to some file; most are stale.
    handles: Vec<usize>,
    stream: Option<Stream>,
    batch: usize,
    /// How many transfers moved everything, of each kind.
    pub moved: Moves,
}

/// Counts of transfers.
#[derive(Debug, Default, Clone, Copy)]
pub struct Moves {
    pub read: usize,
    pub written: usize,
    pub asynchronous: usize,
    pub batched: usize,
}

/// Fails unless the answer is one of those.
fn among(what: &str, answer: Answer, possible: &[Answer]) {
    assert!(possible.contains(&answer), "{what} gave {answer:?}, possible are {possible:?}");
}

impl<'s> Actor<'s> {
    pub fn new(stage: &'s Stage, number: usize) -> Self {
        let random = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number as u64 + 1);
        Self {
            stage,
            number,
            random,
            own: stage.open(),
            handles: vec![0],
            stream: Stream::new(),
            batch: 0,
            moved: Moves::default(),
        }
    }

    /// A number below `limit`, by xorshift.
    fn below(&mut self, limit: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % limit as u64) as usize
    }

    fn handle(&mut self) -> usize {
        let which = self.below(self.handles.len());
        self.handles[which]
    }

    /// Makes a call.
    pub fn act(&mut self) {
        match self.below(16) {
            0 => among("DriverOpen", raw::driver_open(), &[OK]),
            1 => among("DriverClose", raw::driver_close(), &[OK, e(5001)]),
            2 | 3 => self.register_file(),
            4 => {
                let handle = self.handle();
                raw::deregister(handle);
            }
            5 | 6 => {
                let length = if self.below(4) == 0 { RANGE / 2 } else { RANGE };
                let range = self.some_range();
                among("BufRegister", raw::buffer_register(range, length), &[OK, e(5023)]);
            }
            7 => {
                let range = self.some_range();
                among("BufDeregister", raw::buffer_deregister(range), &[OK, e(5006), e(5024), e(5030)]);
            }
            8..=10 => self.read(),
            11 => self.write(),
            12 | 13 => self.submit(),
            14 => self.register_stream(),
            _ => self.batch(),
        }
    }

    /// Gives back what outlives the thread.
    pub fn leave(&mut self) {
        engine::batch_destroy(self.batch);
        if let Some(stream) = &self.stream {
            among("StreamDeregister", engine::stream_deregister(stream.raw()), &[OK, e(5022)]);
        }
        // The registration goes with the driver; until then the library may use the descriptor.
        self.stage.close();
    }

    /// The own range, or one that another thread also registers.
    fn some_range(&mut self) -> usize {
        let thread = if self.below(2) == 0 { self.number } else { self.below(self.stage.threads) };
        self.stage.range(thread)
    }

    fn register_file(&mut self) {
        let fd = match self.below(2) {
            0 => self.own.as_raw_fd(),
            _ => {
                let which = self.below(SHARED);
                self.stage.shared(which)
            }
        };
        let (answer, handle) = raw::register(fd);
        among("HandleRegister", answer, &[OK, e(5028)]);
        if answer == OK {
            let place = self.below(4);
            self.handles.resize(4, 0);
            self.handles[place] = handle;
        }
    }

    /// Where in the file and in the own range a transfer starts, so that the bytes say whether they are right.
    fn request(&mut self) -> (usize, i64, i64) {
        let size = self.below(RANGE / 2);
        let start = self.below(RANGE - size);
        (size, (self.number * RANGE + start) as i64, start as i64)
    }

    /// Reads into the own range and looks at it.
    fn read(&mut self) {
        let (size, file_offset, buffer_offset) = self.request();
        let handle = self.handle();
        let range = self.stage.range(self.number);
        let moved = raw::read(handle, range, size, file_offset, buffer_offset);
        self.moved.read += self.check(moved, size, buffer_offset);
    }

    /// Whether everything moved, as 0 or 1; fails if what moved is wrong.
    fn check(&self, moved: Moved, size: usize, buffer_offset: i64) -> usize {
        match moved {
            Moved::Number(moved) if moved == size as isize => {
                let there = &self.stage.contents(self.number)[buffer_offset as usize..][..size];
                let first = self.number * RANGE + buffer_offset as usize;
                assert!(there.iter().enumerate().all(|(i, found)| *found == byte(first + i)), "other bytes");
                1
            }
            // Half the range may be registered; the handle may be stale; the driver may be closed.
            Moved::Number(-5022 | -5027) | Moved::Os(libc::EINVAL) => 0,
            other => panic!("a transfer of {size} bytes gave {other:?}"),
        }
    }

    /// Writes what is already in the file.
    fn write(&mut self) {
        let (size, file_offset, buffer_offset) = self.request();
        let handle = self.handle();
        let range = self.stage.range(self.number);
        if let Moved::Number(moved) = raw::read(handle, range, size, file_offset, buffer_offset) {
            if moved == size as isize {
                let moved = raw::write(handle, range, size, file_offset, buffer_offset);
                self.moved.written += self.check(moved, size, buffer_offset);
            }
        }
    }

    /// Reads asynchronously, a few times, and waits.
    fn submit(&mut self) {
        let Some(stream) = self.stream.as_ref().map(Stream::raw) else { return };
        let mut slots = Vec::new();
        for _ in 0..=self.below(4) {
            let (size, file_offset, buffer_offset) = self.request();
            let mut slot = Slot::new(size, file_offset, buffer_offset);
            let handle = self.handle();
            let range = self.stage.range(self.number);
            let answer = engine::submit(false, handle, range, &mut slot, None, stream);
            among("ReadAsync", answer, &[OK, e(5022), e(5027)]);
            slots.push((slot, answer));
        }
        engine::synchronize(stream);
        for (slot, answer) in slots {
            if answer == OK {
                assert_eq!(slot.bytes, slot.size as isize, "an asynchronous read");
                self.moved.asynchronous +=
                    self.check(Moved::Number(slot.bytes), slot.size, slot.buffer_offset);
            } else {
                assert_eq!(slot.bytes, UNWRITTEN, "a refused read");
            }
        }
    }

    fn register_stream(&mut self) {
        let Some(stream) = self.stream.as_ref().map(Stream::raw) else { return };
        let flags = self.below(16) as u32;
        if self.below(2) == 0 {
            among("StreamRegister", engine::stream_register(stream, flags), &[OK, e(5022)]);
        } else {
            among("StreamDeregister", engine::stream_deregister(stream), &[OK, e(5022)]);
        }
    }

    /// Submits a batch of reads into the own range, perhaps cancels it, and waits for it or destroys it.
    fn batch(&mut self) {
        if self.batch == 0 || self.below(8) == 0 {
            engine::batch_destroy(self.batch);
            let (answer, batch) = engine::batch_set_up(16);
            among("BatchIOSetUp", answer, &[OK]);
            self.batch = batch;
        }
        let count = 1 + self.below(16);
        let handle = self.handle();
        let base = self.stage.range(self.number);
        // Side by side, since operations of a batch may not overlap.
        let each = RANGE / 2 / 16;
        let entry = |i: usize| Entry {
            write: false,
            handle,
            base,
            size: each,
            file_offset: (self.number * RANGE + i * each) as i64,
            buffer_offset: (i * each) as i64,
            mode: 1,
            opcode: None,
            cookie: i,
        };
        let entries: Vec<_> = (0..count).map(entry).collect();
        let answer = engine::batch_submit(self.batch, count as u32, Some(&entries));
        among("BatchIOSubmit", answer, &[OK, e(5001), e(5022), e(5027)]);
        if answer != OK {
            // Perhaps a close of the driver took it.
            engine::batch_destroy(self.batch);
            self.batch = 0;
            return;
        }
        if self.below(3) == 0 {
            among("BatchIOCancel", engine::batch_cancel(self.batch), &[OK, e(5022)]);
        }
        let wait = if self.below(2) == 0 { Wait::Forever } else { Wait::For(Duration::from_secs(60)) };
        let (answer, delivered, events) = engine::batch_status(self.batch, count as u32, 16, wait);
        among("BatchIOGetStatus", answer, &[OK, e(5022)]);
        if answer != OK || delivered < count as u32 {
            // A close of the driver took it; destroying waits for what still runs.
            engine::batch_destroy(self.batch);
            self.batch = 0;
            return;
        }
        for event in events {
            match (event.status, event.ret) {
                (16, ret) if ret == each as isize => {
                    let offset = (event.cookie * each) as i64;
                    self.moved.batched += self.check(Moved::Number(ret), each, offset);
                }
                (8, 0) => {}
                other => panic!("an event of a batch: {other:?}"),
            }
        }
    }
}
