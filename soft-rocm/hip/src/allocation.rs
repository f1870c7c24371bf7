//! What the runtime knows about a piece of memory.

use std::fmt;

/// What kind of memory an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Device memory: the only kind that host code can't touch.
    Device,
    /// Managed memory.
    Managed {
        /// The flags it was asked for with.
        flags: u32,
    },
    /// Memory of 8 bytes that streams wait for and write to.
    Signal,
    /// Pinned host memory.
    Pinned {
        /// The flags it was asked for with.
        flags: u32,
    },
    /// Host memory that belongs to the program.
    Registered {
        /// The flags it was registered with.
        flags: u32,
    },
}

impl Kind {
    /// Whether hipFree frees it.
    pub(crate) fn is_freed_as_device(self) -> bool {
        matches!(self, Kind::Device | Kind::Managed { .. } | Kind::Signal)
    }

    /// Whether hipHostFree frees it.
    pub(crate) fn is_pinned(self) -> bool {
        matches!(self, Kind::Pinned { .. })
    }

    /// Whether hipHostUnregister ends it.
    pub(crate) fn is_registered(self) -> bool {
        matches!(self, Kind::Registered { .. })
    }

    /// The function that ends it.
    pub(crate) fn ended_by(self) -> &'static str {
        match self {
            Kind::Device | Kind::Managed { .. } | Kind::Signal => "hipFree",
            Kind::Pinned { .. } => "hipHostFree",
            Kind::Registered { .. } => "hipHostUnregister",
        }
    }

    /// The flags it was made with.
    pub(crate) fn flags(self) -> u32 {
        match self {
            Kind::Device | Kind::Signal => 0,
            Kind::Managed { flags } | Kind::Pinned { flags } | Kind::Registered { flags } => flags,
        }
    }
}

/// A live allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allocation {
    /// Its first address.
    pub(crate) base: usize,
    /// Its length in bytes, as asked for.
    pub(crate) len: usize,
    /// The device that was current.
    pub(crate) device: u32,
    /// What it is.
    pub(crate) kind: Kind,
}

impl Allocation {
    /// Holds no byte.
    pub(crate) const NONE: Allocation = Allocation { base: 0, len: 0, device: 0, kind: Kind::Device };

    /// Whether the range lies inside; an empty range may start at the end.
    #[inline]
    pub(crate) fn holds(&self, address: usize, len: usize) -> bool {
        address
            .checked_sub(self.base)
            .and_then(|skipped| self.len.checked_sub(skipped))
            .is_some_and(|rest| len <= rest)
    }
}

impl fmt::Display for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Device => "device memory",
            Kind::Managed { .. } => "managed memory",
            Kind::Signal => "signal memory",
            Kind::Pinned { .. } => "pinned host memory",
            Kind::Registered { .. } => "registered host memory",
        };
        write!(f, "{kind} {:#x} + {} of device {}", self.base, self.len, self.device)
    }
}
