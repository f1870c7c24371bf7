//! What devices are called, and what programs set on them: flags, and which may use the memory of which.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::bindings::{
    hipDeviceLmemResizeToMax, hipDeviceMapHost, hipDeviceScheduleBlockingSync, hipDeviceScheduleMask,
    hipError_t, hipErrorInvalidValue, hipErrorPeerAccessAlreadyEnabled, hipErrorPeerAccessNotEnabled,
};

/// The settings of one device.
#[derive(Debug, Default)]
pub(crate) struct Device {
    name: String,
    flags: AtomicU32,
    /// A bit for each device whose memory this one may use.
    peers: AtomicU64,
}

impl Device {
    /// Nothing is set.
    pub(crate) fn new(name: String) -> Device {
        Device { name, ..Device::default() }
    }

    /// What it is called.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Sets the flags.
    pub(crate) fn set_flags(&self, flags: u32) -> Result<(), hipError_t> {
        let schedule = flags & hipDeviceScheduleMask;
        let known = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
        // One bit at most: the values are 0, 1, 2 and 4.
        if flags & !known != 0 || schedule > hipDeviceScheduleBlockingSync || schedule.count_ones() > 1 {
            return Err(hipErrorInvalidValue);
        }
        self.flags.store(flags, Ordering::Relaxed);
        Ok(())
    }

    /// The flags.
    pub(crate) fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed)
    }

    /// Allows the use of another device's memory.
    pub(crate) fn enable_peer(&self, peer: u32) -> Result<(), hipError_t> {
        let before = self.peers.fetch_or(1 << peer, Ordering::Relaxed);
        if before & (1 << peer) == 0 { Ok(()) } else { Err(hipErrorPeerAccessAlreadyEnabled) }
    }

    /// Ends that.
    pub(crate) fn disable_peer(&self, peer: u32) -> Result<(), hipError_t> {
        let before = self.peers.fetch_and(!(1 << peer), Ordering::Relaxed);
        if before & (1 << peer) == 0 { Err(hipErrorPeerAccessNotEnabled) } else { Ok(()) }
    }

    /// Takes all of it back.
    pub(crate) fn reset(&self) {
        self.flags.store(0, Ordering::Relaxed);
        self.peers.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_one_way_of_waiting_and_two_bits() {
        let device = Device::default();
        for flags in [0, 1, 2, 4, 8, 16, 8 | 16 | 4] {
            assert_eq!((device.set_flags(flags), device.flags()), (Ok(()), flags));
        }
        for wrong in [3, 5, 6, 7, 32, u32::MAX] {
            assert_eq!((device.set_flags(wrong), device.flags()), (Err(hipErrorInvalidValue), 28));
        }
        device.reset();
        assert_eq!(device.flags(), 0);
    }

    #[test]
    fn access_is_enabled_once_for_each_peer() {
        let device = Device::default();
        for peer in [0, 63] {
            assert_eq!(device.disable_peer(peer), Err(hipErrorPeerAccessNotEnabled));
            assert_eq!(device.enable_peer(peer), Ok(()));
            assert_eq!(device.enable_peer(peer), Err(hipErrorPeerAccessAlreadyEnabled));
        }
        assert_eq!(device.disable_peer(0), Ok(()));
        assert_eq!(device.enable_peer(63), Err(hipErrorPeerAccessAlreadyEnabled));
        device.reset();
        assert_eq!(device.disable_peer(63), Err(hipErrorPeerAccessNotEnabled));
    }
}
