//! Values in memory that streams wait for and write.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::bindings::{
    hipError_t, hipErrorInvalidValue, hipStreamWaitValueAnd, hipStreamWaitValueEq, hipStreamWaitValueGte,
    hipStreamWaitValueNor,
};
use crate::memory::Memory;
use crate::place::Place;
use crate::runtime::{memory, streams};

/// Looks at the value before the first sleep.
const LOOKS: u32 = 100;
/// The shortest and the longest sleep between two looks.
const SLEEP: (Duration, Duration) = (Duration::from_micros(10), Duration::from_micros(250));

/// A value in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    address: *mut u8,
    width: Width,
}

/// Size of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// 4 bytes.
    Four,
    /// 8 bytes.
    Eight,
}

impl Width {
    fn bytes(self) -> usize {
        match self {
            Width::Four => 4,
            Width::Eight => 8,
        }
    }

    /// All bits of a value.
    fn all(self) -> u64 {
        match self {
            Width::Four => u32::MAX.into(),
            Width::Eight => u64::MAX,
        }
    }
}

impl Signal {
    /// The value at an address, which has to be aligned memory of the runtime.
    pub(crate) fn new(memory: &Memory, address: *mut u8, width: Width) -> Result<Signal, hipError_t> {
        let signal = Signal { address, width };
        signal.reach(memory)?;
        Ok(signal)
    }

    /// Where it is, as long as the memory lives.
    fn reach<'a>(&self, memory: &'a Memory) -> Result<Place<'a>, hipError_t> {
        if self.address.addr() % self.width.bytes() != 0 {
            return Err(hipErrorInvalidValue);
        }
        memory.reach(self.address, self.width.bytes())
    }

    /// Its bytes.
    pub(super) fn range(&self) -> (*const c_void, usize) {
        (self.address.cast_const().cast(), self.width.bytes())
    }

    fn load(&self, memory: &Memory) -> Result<u64, hipError_t> {
        let place = match self.reach(memory)? {
            Place::Host(place) => place,
            place => {
                let mut value = 0u64;
                let local = Place::Host((&raw mut value).cast());
                // SAFETY: requires a readable and a writable range; holds as it was found just now, and for the local.
                unsafe { local.copy_from(place, self.width.bytes()) }?;
                return Ok(value);
            }
        };
        Ok(match self.width {
            // SAFETY: requires aligned memory that lives and that others access as a whole; holds as it was found in a
            // live allocation just now, and by the header.
            Width::Four => unsafe { AtomicU32::from_ptr(place.cast()) }.load(Ordering::Acquire).into(),
            // SAFETY: as above.
            Width::Eight => unsafe { AtomicU64::from_ptr(place.cast()) }.load(Ordering::Acquire),
        })
    }

    /// Stores a value; what was done before is visible to who sees it.
    pub(crate) fn store(&self, memory: &Memory, value: u64) -> Result<(), hipError_t> {
        let place = match self.reach(memory)? {
            Place::Host(place) => place,
            place => {
                let mut value = value;
                // SAFETY: as for a load. The low bytes come first.
                return unsafe { place.copy_from(Place::Host((&raw mut value).cast()), self.width.bytes()) };
            }
        };
        if self.width == Width::Four {
            // SAFETY: as for a load.
            unsafe { AtomicU32::from_ptr(place.cast()) }.store(value as u32, Ordering::Release);
        } else {
            // SAFETY: as for a load.
            unsafe { AtomicU64::from_ptr(place.cast()) }.store(value, Ordering::Release);
        }
        Ok(())
    }
}

/// A condition on a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// The value.
    pub(crate) signal: Signal,
    /// What it is compared with.
    pub(crate) value: u64,
    /// The bits that are compared.
    pub(crate) mask: u64,
    /// How: one of hipStreamWaitValue….
    pub(crate) condition: u32,
}

impl Wait {
    /// Whether the condition is one there is.
    pub(crate) fn is_known(condition: u32) -> bool {
        [hipStreamWaitValueGte, hipStreamWaitValueEq, hipStreamWaitValueAnd, hipStreamWaitValueNor]
            .contains(&condition)
    }

    fn is_met(&self, found: u64) -> bool {
        let found = found & self.mask;
        match self.condition {
            hipStreamWaitValueGte => found >= self.value,
            hipStreamWaitValueEq => found == self.value,
            hipStreamWaitValueAnd => found & self.value != 0,
            _ => !(found | self.value & self.mask) & self.signal.width.all() != 0,
        }
    }

    /// Waits until the condition is met.
    pub(crate) fn run(&self) -> Result<(), hipError_t> {
        let mut sleep = SLEEP.0;
        for look in 0u32.. {
            if self.is_met(self.signal.load(memory()?)?) {
                break;
            }
            // The value may be written by work that lazy streams have not started.
            streams()?.release_all();
            if look < LOOKS {
                thread::yield_now();
            } else {
                thread::sleep(sleep);
                sleep = (sleep * 2).min(SLEEP.1);
            }
        }
        Ok(())
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    fn met(width: Width, condition: u32, found: u64, value: u64, mask: u64) -> bool {
        let signal = Signal { address: std::ptr::null_mut(), width };
        Wait { signal, value, mask, condition }.is_met(found)
    }

    #[test]
    fn conditions_are_those_of_the_header() {
        let four = |condition, found, value| met(Width::Four, condition, found, value, u64::MAX);
        let eight = |condition, found, value| met(Width::Eight, condition, found, value, u64::MAX);
        for met in [four, eight] {
            assert_eq!([4, 5, 6].map(|found| met(hipStreamWaitValueGte, found, 5)), [false, true, true]);
            assert_eq!([4, 5, 6].map(|found| met(hipStreamWaitValueEq, found, 5)), [false, true, false]);
            assert_eq!([2, 8, 5].map(|found| met(hipStreamWaitValueAnd, found, 5)), [false, false, true]);
        }
        let top = u64::from(u32::MAX);
        assert!(four(hipStreamWaitValueNor, top - 1, 0) && !four(hipStreamWaitValueNor, top - 1, 1));
        assert!(eight(hipStreamWaitValueNor, top, 0) && !eight(hipStreamWaitValueNor, u64::MAX, 0));
        // There is no sign.
        assert!(eight(hipStreamWaitValueGte, u64::MAX, 1));
    }

    #[test]
    fn masks_choose_the_bits_that_count() {
        let met = |condition, found, value, mask| met(Width::Four, condition, found, value, mask);
        assert!(met(hipStreamWaitValueEq, 0x15, 0x05, 0x0f) && !met(hipStreamWaitValueEq, 0x15, 0x15, 0x0f));
        assert!(
            !met(hipStreamWaitValueGte, 0x1f, 0x10, 0x0f) && met(hipStreamWaitValueGte, 0x1f, 0x0f, 0x0f)
        );
        assert!(
            !met(hipStreamWaitValueAnd, 0x10, 0xff, 0x0f) && met(hipStreamWaitValueAnd, 0x11, 0xff, 0x0f)
        );
    }

    #[test]
    fn only_four_conditions_are_known() {
        assert_eq!([0, 1, 2, 3, 4, u32::MAX].map(Wait::is_known), [true, true, true, true, false, false]);
    }
}
