//! The contract as a pure machine: registrations, the use count, and what files and device memory hold.

use std::collections::HashMap;

use crate::call::{Kind, Name, Pointer, Transfer};

/// Bytes of each allocation.
pub const ALLOCATION: usize = 16 << 10;
pub const ALLOCATIONS: usize = 2;

pub const EBADF: i32 = libc::EBADF;
pub const EINVAL: i32 = libc::EINVAL;

/// What a descriptor can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A regular file of that number, by these rights.
    Regular {
        file: usize,
        read: bool,
        write: bool,
    },
    Pipe,
    Directory,
    /// Neither can be opened a second time.
    Socket,
    Closed,
}

const fn regular(file: usize, read: bool, write: bool) -> Slot {
    Slot::Regular { file, read, write }
}

/// The descriptors, by number of the slot.
pub const SLOTS: [Slot; 9] = [
    regular(0, true, true),
    regular(1, true, true),
    regular(1, true, false),
    regular(0, false, true),
    Slot::Pipe,
    Slot::Directory,
    Slot::Socket,
    Slot::Closed,
    regular(0, true, true),
];

/// The slot whose descriptor comes and goes.
pub const TOGGLED: usize = 8;

/// Files that the regular slots lead to.
pub const FILES: usize = 2;

pub struct Model {
    pub use_count: i64,
    /// How many handles were given out.
    pub given: usize,
    /// Those that still are handles, and the slot of each.
    pub handles: Vec<(usize, usize)>,
    /// The length of each registration, and its number.
    pub buffers: HashMap<Pointer, (usize, usize)>,
    pub registrations: usize,
    pub streams: [Option<u32>; 2],
    /// How many batches were made.
    pub made: usize,
    /// Those that still are.
    pub batches: Vec<(usize, Batch)>,
    pub toggled_open: bool,
    pub files: [Vec<u8>; FILES],
    pub memory: [Vec<u8>; ALLOCATIONS],
    /// What operations that have not ended hold: handles, and numbers of registrations.
    pub held_files: Vec<Name>,
    pub held_buffers: Vec<usize>,
}

/// A batch that was not destroyed.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub capacity: u32,
    /// Operations whose event was not delivered.
    pub outstanding: Vec<crate::call::Entry>,
    pub canceled: bool,
}

/// An error number of hipFile's as the transfers return it.
fn negated(code: u32) -> (isize, i32) {
    (-(code as isize), 0)
}

fn os(errno: i32) -> (isize, i32) {
    (-1, errno)
}

impl Model {
    pub fn new(files: [Vec<u8>; FILES], memory: [Vec<u8>; ALLOCATIONS]) -> Self {
        Self {
            use_count: 0,
            given: 0,
            handles: Vec::new(),
            buffers: HashMap::new(),
            registrations: 0,
            streams: [None; 2],
            made: 0,
            batches: Vec::new(),
            toggled_open: true,
            files,
            memory,
            held_files: Vec::new(),
            held_buffers: Vec::new(),
        }
    }

    pub fn slot(&self, slot: usize) -> Slot {
        if slot == TOGGLED && !self.toggled_open { Slot::Closed } else { SLOTS[slot] }
    }

    /// The slot that a handle names.
    pub fn named(&self, file: Name) -> Option<usize> {
        let Name::Given(number) = file else { return None };
        self.handles.iter().find(|(handle, _)| *handle == number).map(|(_, slot)| *slot)
    }

    /// The batch that a handle names.
    pub fn batch(&mut self, batch: Name) -> Option<&mut Batch> {
        let Name::Given(number) = batch else { return None };
        self.batches.iter_mut().find(|(batch, _)| *batch == number).map(|(_, batch)| batch)
    }

    pub fn close(&mut self) -> u32 {
        if self.use_count == 0 {
            return 5001;
        }
        self.use_count -= 1;
        if self.use_count == 0 {
            self.handles.clear();
            self.buffers.clear();
            self.batches.clear();
        }
        0
    }

    /// The code; on success there is one handle more.
    pub fn register_file(&mut self, slot: usize, kind: Kind) -> u32 {
        match kind {
            Kind::NoHandle | Kind::NoDescription => return 5022,
            Kind::Type(_) => return 5008,
            Kind::File => {}
        }
        if matches!(self.slot(slot), Slot::Closed | Slot::Socket) {
            return 5030;
        }
        if self.handles.iter().any(|(_, registered)| *registered == slot) {
            return 5028;
        }
        self.handles.push((self.given, slot));
        self.given += 1;
        self.use_count = self.use_count.max(1);
        0
    }

    /// What became of it.
    pub fn deregister_file(&mut self, file: Name) -> &'static str {
        let Some(slot) = self.named(file) else { return "ignored" };
        if self.held_files.contains(&file) {
            return "in use";
        }
        self.handles.retain(|(_, registered)| *registered != slot);
        "removed"
    }

    pub fn register_buffer(&mut self, pointer: Pointer, length: usize) -> u32 {
        self.use_count = self.use_count.max(1);
        if self.buffers.contains_key(&pointer) {
            return 5023;
        }
        match pointer {
            Pointer::Null => 5022,
            Pointer::Host => 5013,
            Pointer::Device(_, start) if length > ALLOCATION - start => 5014,
            Pointer::Device(..) => {
                self.buffers.insert(pointer, (length, self.registrations));
                self.registrations += 1;
                0
            }
        }
    }

    pub fn deregister_buffer(&mut self, pointer: Pointer) -> u32 {
        if self.use_count == 0 {
            5006
        } else {
            match self.buffers.get(&pointer) {
                None => 5024,
                Some((_, registration)) if self.held_buffers.contains(registration) => 5030,
                Some(_) => {
                    self.buffers.remove(&pointer);
                    0
                }
            }
        }
    }

    pub fn register_stream(&mut self, stream: usize, flags: u32) -> u32 {
        if self.streams[stream].is_some() || flags & !0xf != 0 {
            return 5022;
        }
        self.streams[stream] = Some(flags);
        0
    }

    pub fn deregister_stream(&mut self, stream: usize) -> u32 {
        if self.streams[stream].take().is_some() { 0 } else { 5022 }
    }

    /// How long the buffer of a pointer is: as registered, or to the end of its allocation.
    pub fn length(&self, base: Pointer) -> usize {
        match (self.buffers.get(&base), base) {
            (Some((length, _)), _) => *length,
            (None, Pointer::Device(_, start)) => ALLOCATION - start,
            (None, _) => 0,
        }
    }

    /// Whether so many bytes at that offset of the buffer can be moved.
    pub fn in_range(&self, base: Pointer, offset: i64, size: usize) -> bool {
        let length = self.length(base);
        usize::try_from(offset).is_ok_and(|offset| offset < length && size <= length - offset)
    }

    /// What a synchronous transfer returns, and `errno`; done if it works.
    pub fn transfer(&mut self, transfer: &Transfer) -> (isize, i32) {
        if self.use_count == 0 {
            return os(EINVAL);
        }
        let Some(slot) = self.named(transfer.file) else { return negated(5027) };
        match transfer.base {
            Pointer::Null => return negated(5022),
            Pointer::Host => return negated(5013),
            Pointer::Device(..) => {}
        }
        if transfer.file_offset < 0 || transfer.buffer_offset < 0 {
            return os(EINVAL);
        }
        if !self.in_range(transfer.base, transfer.buffer_offset, transfer.size) {
            return negated(5022);
        }
        match self.run(slot, transfer) {
            Ok(moved) => (moved as isize, 0),
            Err(errno) => os(errno),
        }
    }

    /// Moves the bytes, or says with what `errno` the system refuses.
    pub fn run(&mut self, slot: usize, transfer: &Transfer) -> Result<usize, i32> {
        let (file, read, write) = match self.slot(slot) {
            Slot::Regular { file, read, write } => (file, read, write),
            Slot::Pipe => return Err(libc::ESPIPE),
            Slot::Directory => return Err(if transfer.write { EBADF } else { libc::EISDIR }),
            Slot::Closed | Slot::Socket => return Err(EBADF),
        };
        if !(if transfer.write { write } else { read }) {
            return Err(EBADF);
        }
        let Pointer::Device(allocation, start) = transfer.base else { return Err(EINVAL) };
        let (memory, file) = (&mut self.memory[allocation], &mut self.files[file]);
        let start = start + transfer.buffer_offset as usize;
        let offset = transfer.file_offset as usize;
        if transfer.write {
            let end = offset + transfer.size;
            if transfer.size > 0 && file.len() < end {
                file.resize(end, 0);
            }
            if transfer.size > 0 {
                file[offset..end].copy_from_slice(&memory[start..start + transfer.size]);
            }
            return Ok(transfer.size);
        }
        let moved = transfer.size.min(file.len().saturating_sub(offset));
        if moved > 0 {
            memory[start..start + moved].copy_from_slice(&file[offset..offset + moved]);
        }
        Ok(moved)
    }
}
