//! Calls by name: what they are about is numbered, so that the library and the model can both be asked.

use std::time::Duration;

/// What a file handle or batch handle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    Null,
    /// A value that was never a handle.
    Never,
    /// The handle that the library gave out as the n-th.
    Given(usize),
}

/// What a pointer leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pointer {
    Null,
    /// Memory of the host.
    Host,
    /// So many bytes into one of the allocations.
    Device(usize, usize),
}

/// What is registered as a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    /// A handle type that is not a descriptor.
    Type(u32),
    NoHandle,
    NoDescription,
}

/// A transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub write: bool,
    pub file: Name,
    pub base: Pointer,
    pub size: usize,
    pub file_offset: i64,
    pub buffer_offset: i64,
}

/// A transfer that is submitted to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submission {
    pub transfer: Transfer,
    /// The pointer that is NULL, in the order of the parameters.
    pub null: Option<usize>,
    /// What the values become after the submission, before the stream gets there.
    pub late: Option<(usize, i64, i64)>,
}

/// A transfer that is part of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub transfer: Transfer,
    pub mode: u32,
    /// In place of the one of the transfer.
    pub opcode: Option<u32>,
    pub cookie: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    Open,
    Close,
    /// Opens or closes the descriptor of the slot that comes and goes.
    Toggle,
    RegisterFile(usize, Kind),
    DeregisterFile(Name),
    RegisterBuffer(Pointer, usize),
    DeregisterBuffer(Pointer),
    Move(Transfer),
    RegisterStream(usize, u32),
    DeregisterStream(usize),
    /// Submits to a stream that is held, makes other calls, and lets the stream go.
    Submit {
        stream: usize,
        submissions: Vec<Submission>,
        meanwhile: Vec<Call>,
    },
    SetUp {
        capacity: u32,
        nowhere: bool,
    },
    SubmitBatch {
        batch: Name,
        count: u32,
        entries: Option<Vec<Entry>>,
    },
    Status {
        batch: Name,
        least: u32,
        room: u32,
        wait: Wait,
    },
    Cancel(Name),
    Destroy(Name),
    /// A function that no release implements, by number.
    Stub(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Forever,
    Short(Duration),
    Invalid,
}

/// What the library said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Nothing,
    Status(u32, u32),
    /// A number, and `errno` where that is −1.
    Moved(isize, i32),
    /// Of each submission the status, the result right after it, and in the end; and what was said meanwhile.
    Submitted(Vec<(u32, u32)>, Vec<isize>, Vec<isize>, Vec<Answer>),
    /// The status, the number written, and the events: cookie, status, result.
    Events((u32, u32), u32, Vec<(usize, u32, isize)>),
}
