//! Settings, under the driver's lock because it depends on the use count who may change them.

use std::sync::atomic::{AtomicU8, Ordering};

use super::Driver;
use crate::failure::Failure;
use crate::settings::Settings;

/// Whether the settings force and allow compat mode, readable without the lock. It is written under the lock.
#[derive(Debug)]
pub(super) struct Paths(AtomicU8);

impl Paths {
    pub(super) const fn new() -> Self {
        Self(AtomicU8::new(0))
    }

    /// Takes over what the settings say now.
    pub(super) fn follow(&self, settings: &Settings) {
        let (force, allow) = settings.compat_mode();
        let bits = |set: Option<bool>| set.map_or(0, |on| 2 + u8::from(on));
        self.0.store(bits(force) << 2 | bits(allow), Ordering::Relaxed);
    }

    fn get(&self) -> (Option<bool>, Option<bool>) {
        let bits = self.0.load(Ordering::Relaxed);
        let set = |bits: u8| (bits & 2 != 0).then_some(bits & 1 != 0);
        (set(bits >> 2), set(bits))
    }
}

impl Driver {
    /// Whether settings force and allow compat mode.
    pub(crate) fn compat_mode(&self) -> (Option<bool>, Option<bool>) {
        self.paths.get()
    }

    /// Reads settings, whether the driver is open or closed.
    pub(crate) fn setting<T>(&self, read: impl FnOnce(&Settings) -> T) -> T {
        read(&self.read().settings)
    }

    /// Works on settings while the driver is closed.
    ///
    /// # Errors
    ///
    /// 5026 if it is open.
    pub(crate) fn when_closed<T>(&self, work: impl FnOnce(&mut Settings) -> T) -> Result<T, Failure> {
        let mut tables = self.write();
        if tables.use_count != 0 {
            return Err(Failure::ALREADY_OPEN);
        }
        let result = work(&mut tables.settings);
        self.paths.follow(&tables.settings);
        Ok(result)
    }

    /// Works on settings while the driver is open.
    ///
    /// # Errors
    ///
    /// 5001 if it is closed.
    pub(crate) fn when_open<T>(&self, work: impl FnOnce(&mut Settings) -> T) -> Result<T, Failure> {
        let mut tables = self.write();
        if tables.use_count == 0 { Err(Failure::NOT_INITIALIZED) } else { Ok(work(&mut tables.settings)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hipfile_sys::{self as sys, hipFileParamPropertiesUsePollMode as POLL};

    #[test]
    fn settings_are_staged_while_closed_and_forgotten_at_the_close() {
        let driver = Driver::new();
        let poll = |driver: &Driver| driver.setting(|settings| settings.flag(POLL));
        assert_eq!(driver.when_open(|_| ()), Err(Failure::NOT_INITIALIZED));
        driver.when_closed(|settings| settings.set_flag(POLL, true)).unwrap().unwrap();
        assert_eq!(poll(&driver), Ok(true), "staged");
        driver.open();
        driver.open();
        assert_eq!(poll(&driver), Ok(true), "applied");
        assert_eq!(driver.when_closed(|_| ()), Err(Failure::ALREADY_OPEN));
        let limit = sys::hipFileParamPropertiesMaxDeviceCacheSizeKB;
        driver.when_open(|settings| settings.set_size(limit, 64)).unwrap().unwrap();
        driver.close().unwrap();
        assert_eq!((poll(&driver), driver.setting(|settings| settings.size(limit))), (Ok(true), Ok(64)));
        driver.close().unwrap();
        assert_eq!((poll(&driver), driver.setting(|settings| settings.size(limit))), (Ok(false), Ok(0)));
    }

    #[test]
    fn transfers_see_what_was_staged_until_the_close() {
        let driver = Driver::new();
        assert_eq!(driver.compat_mode(), (None, None));
        let stage = |parameter, value| {
            driver.when_closed(|settings| settings.set_flag(parameter, value)).unwrap().unwrap();
        };
        stage(sys::hipFileParamForceCompatMode, true);
        assert_eq!(driver.compat_mode(), (Some(true), None));
        stage(sys::hipFileParamPropertiesAllowCompatMode, false);
        stage(sys::hipFileParamForceCompatMode, false);
        assert_eq!(driver.compat_mode(), (Some(false), Some(false)));
        driver.open();
        assert_eq!(driver.compat_mode(), (Some(false), Some(false)));
        driver.close().unwrap();
        assert_eq!(driver.compat_mode(), (None, None));
    }
}
