//! How long something took, and how much of the processors.

use std::time::{Duration, Instant};

use crate::usage::Usage;

/// Time by the wall and by the processors: of all threads, the libraries' among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub wall: Duration,
    pub cpu: Duration,
}

impl Span {
    /// With what came after it.
    #[must_use]
    pub fn with(self, next: Self) -> Self {
        Self { wall: self.wall.saturating_add(next.wall), cpu: self.cpu.saturating_add(next.cpu) }
    }

    /// Without what a part of it took.
    #[must_use]
    pub fn without(self, part: Self) -> Self {
        Self { wall: self.wall.saturating_sub(part.wall), cpu: self.cpu.saturating_sub(part.cpu) }
    }
}

/// Since when something is measured.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    began: Instant,
    usage: Usage,
}

impl Clock {
    pub fn start() -> Self {
        Self { began: Instant::now(), usage: Usage::now() }
    }

    /// From the start until now.
    pub fn span(self) -> Span {
        Span { wall: self.began.elapsed(), cpu: Usage::now().since(self.usage).total() }
    }
}
