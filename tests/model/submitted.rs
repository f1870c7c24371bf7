//! The contract of what is submitted: asynchronous transfers and batches.

use crate::call::{Entry, Name, Pointer, Submission, Transfer, Wait};
use crate::model::{Batch, Model};

/// A submission that was accepted and has not run.
pub struct Queued {
    slot: usize,
    transfer: Transfer,
    /// What the buffer's length was; a close of the driver does not change it.
    length: usize,
    late: Option<(usize, i64, i64)>,
    flags: u32,
}

impl Model {
    /// The code of a submission to a stream, and what is queued. Size 0 is done at once.
    pub fn submit(&mut self, stream: usize, submission: &Submission) -> (u32, Option<Queued>) {
        let transfer = submission.transfer;
        if self.use_count == 0 {
            self.use_count = 1;
            return (5022, None);
        }
        if submission.null.is_some() || transfer.base == Pointer::Null {
            return (5022, None);
        }
        let Some(slot) = self.named(transfer.file) else { return (5027, None) };
        if transfer.base == Pointer::Host {
            return (5030, None);
        }
        if transfer.file_offset < 0 || !self.in_range(transfer.base, transfer.buffer_offset, transfer.size) {
            return (5022, None);
        }
        if transfer.size == 0 {
            return (0, None);
        }
        self.held_files.push(transfer.file);
        self.held_buffers.extend(self.buffers.get(&transfer.base).map(|(_, registration)| *registration));
        let queued = Queued {
            slot,
            transfer,
            length: self.length(transfer.base),
            late: submission.late,
            flags: self.streams[stream].unwrap_or(0),
        };
        (0, Some(queued))
    }

    /// The stream gets to an operation: its result.
    pub fn arrive(&mut self, queued: &Queued) -> isize {
        let mut transfer = queued.transfer;
        if let Some((size, file_offset, buffer_offset)) = queued.late {
            let late = |flag| queued.flags & flag == 0;
            if late(1) {
                transfer.buffer_offset = buffer_offset;
            }
            if late(2) {
                transfer.file_offset = file_offset;
            }
            if late(4) {
                transfer.size = size;
            }
        }
        let fits = usize::try_from(transfer.buffer_offset)
            .is_ok_and(|offset| offset < queued.length && transfer.size <= queued.length - offset);
        if !fits || transfer.file_offset < 0 || transfer.size > queued.transfer.size {
            return -5022;
        }
        // The loop over the file ends before its first system call.
        if transfer.size == 0 {
            return 0;
        }
        match self.run(queued.slot, &transfer) {
            Ok(moved) => moved as isize,
            Err(_) => -1,
        }
    }

    /// Nothing is in flight any more.
    pub fn let_go(&mut self) {
        self.held_files.clear();
        self.held_buffers.clear();
    }

    pub fn set_up(&mut self, capacity: u32, nowhere: bool) -> u32 {
        if nowhere || !(1..=128).contains(&capacity) {
            return 5022;
        }
        self.batches.push((self.made, Batch { capacity, ..Batch::default() }));
        self.made += 1;
        0
    }

    pub fn submit_batch(&mut self, name: Name, count: u32, entries: Option<&[Entry]>) -> u32 {
        let (Some(entries), 1..) = (entries, count) else { return 5022 };
        let Some(batch) = self.batch(name) else { return 5022 };
        let free = batch.capacity as usize - batch.outstanding.len();
        let entries = &entries[..count as usize];
        let refused = entries.iter().map(|entry| self.check(entry)).find(|code| *code != 0);
        if let Some(code) = refused {
            return code;
        }
        if entries.len() > free {
            return 5037;
        }
        if let Some(batch) = self.batch(name) {
            batch.outstanding.extend_from_slice(entries);
        }
        0
    }

    fn check(&self, entry: &Entry) -> u32 {
        let transfer = &entry.transfer;
        if self.use_count == 0 {
            return 5001;
        }
        if self.named(transfer.file).is_none() {
            return 5027;
        }
        match transfer.base {
            Pointer::Null => return 5022,
            Pointer::Host => return 5013,
            Pointer::Device(..) => {}
        }
        let fields = self.in_range(transfer.base, transfer.buffer_offset, transfer.size)
            && transfer.file_offset >= 0
            && entry.opcode.is_none_or(|opcode| opcode <= 1)
            && entry.mode == 1;
        if fields { 0 } else { 5022 }
    }

    /// Whether `hipFileBatchIOGetStatus` takes these arguments.
    pub fn status(&mut self, name: Name, least: u32, room: u32, wait: Wait) -> u32 {
        let Some(batch) = self.batch(name) else { return 5022 };
        let refused = room == 0 || least > room || wait == Wait::Invalid || least > batch.capacity;
        if refused { 5022 } else { 0 }
    }

    /// Takes the events that were delivered, or says which can't be.
    pub fn deliver(
        &mut self,
        name: Name,
        (least, room, wait): (u32, u32, Wait),
        events: &[(usize, u32, isize)],
    ) -> Result<(), String> {
        let outstanding = self.batch(name).map_or(0, |batch| batch.outstanding.len());
        let least = if wait == Wait::Forever { (least as usize).min(outstanding) } else { 0 };
        if !(least..=outstanding.min(room as usize)).contains(&events.len()) {
            return Err(format!("{} events of {outstanding}, wanted {least}, room for {room}", events.len()));
        }
        for event in events {
            let (cookie, status, ret) = *event;
            let batch = self.batch(name).ok_or("no batch")?;
            let at = batch.outstanding.iter().position(|entry| entry.cookie == cookie);
            let entry = batch.outstanding.remove(at.ok_or_else(|| format!("no operation {event:?}"))?);
            if (status, ret) == (8, 0) && batch.canceled {
                continue;
            }
            let slot = self.named(entry.transfer.file).ok_or("the file is gone")?;
            let expected = match self.run(slot, &entry.transfer) {
                Ok(moved) => (16, moved as isize),
                Err(errno) => (64, -(errno as isize)),
            };
            if (status, ret) != expected {
                return Err(format!("{event:?}, expected {expected:?} of {entry:?}"));
            }
        }
        if let Some(batch) = self.batch(name) {
            batch.canceled &= !batch.outstanding.is_empty();
        }
        Ok(())
    }

    pub fn cancel(&mut self, name: Name) -> u32 {
        match self.batch(name) {
            Some(batch) => {
                batch.canceled = !batch.outstanding.is_empty();
                0
            }
            None => 5022,
        }
    }

    /// Whether there was one.
    pub fn destroy(&mut self, name: Name) -> bool {
        let before = self.batches.len();
        self.batches.retain(|(batch, _)| Name::Given(*batch) != name);
        self.batches.len() < before
    }

    /// Whether operations of a batch may still be running.
    pub fn unsettled(&self) -> bool {
        self.batches.iter().any(|(_, batch)| !batch.outstanding.is_empty())
    }
}
