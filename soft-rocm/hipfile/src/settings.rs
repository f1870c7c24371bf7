//! What a program sets at run time, where the extensions for it are on: parameters and properties.
//!
//! Values live with the driver. Parameters are set while it is closed and hold while it is open; the setters of
//! properties change the same values while it is open; a close forgets both. Two of them change what transfers do:
//! whether the fast path and the fallback are allowed. The others are kept and reported.

use std::ffi::{CStr, CString};

use hipfile_sys::{
    self as sys, hipFileBoolConfigParameter_t, hipFileSizeTConfigParameter_t, hipFileStringConfigParameter_t,
};

use crate::batch;
use crate::config::{self, Config};
use crate::failure::Failure;
use crate::transfer::max_size;

/// Sizes that memory is reserved in are multiples of a page.
const PAGE_KIB: usize = 4;

/// More than any number of KiB that a limit could be about: no limit.
const NO_LIMIT_KIB: usize = usize::MAX / 1024;

/// The longest text, without its end.
const LONGEST_TEXT: usize = 4095;

/// What is set; `None` where nothing is.
#[derive(Debug)]
pub(crate) struct Settings {
    sizes: [Option<usize>; 12],
    flags: [Option<bool>; 12],
    texts: [Option<CString>; 3],
}

impl Settings {
    pub(crate) const fn new() -> Self {
        Self { sizes: [None; 12], flags: [None; 12], texts: [const { None }; 3] }
    }

    /// The value of a size.
    ///
    /// # Errors
    ///
    /// 5022 if there is no such parameter, as for all of these.
    pub(crate) fn size(&self, parameter: hipFileSizeTConfigParameter_t) -> Result<usize, Failure> {
        let set = self.sizes.get(parameter.0 as usize).ok_or(Failure::INVALID_VALUE)?;
        Ok(set.unwrap_or_else(|| default_size(parameter)))
    }

    /// Sets a size.
    ///
    /// # Errors
    ///
    /// 5022 if there is no such parameter or it can't have that value.
    pub(crate) fn set_size(
        &mut self,
        parameter: hipFileSizeTConfigParameter_t,
        value: usize,
    ) -> Result<(), Failure> {
        let place = self.sizes.get_mut(parameter.0 as usize).ok_or(Failure::INVALID_VALUE)?;
        if !accepts(parameter, value) {
            return Err(Failure::INVALID_VALUE);
        }
        *place = Some(value);
        Ok(())
    }

    /// The value of a flag.
    pub(crate) fn flag(&self, parameter: hipFileBoolConfigParameter_t) -> Result<bool, Failure> {
        let set = self.flags.get(parameter.0 as usize).ok_or(Failure::INVALID_VALUE)?;
        Ok(set.unwrap_or_else(|| default_flag(parameter)))
    }

    /// What was set about forcing and allowing compat mode.
    pub(crate) fn compat_mode(&self) -> (Option<bool>, Option<bool>) {
        let set = |hipFileBoolConfigParameter_t(index)| self.flags.get(index as usize).copied().flatten();
        (set(sys::hipFileParamForceCompatMode), set(sys::hipFileParamPropertiesAllowCompatMode))
    }

    /// Sets a flag.
    pub(crate) fn set_flag(
        &mut self,
        parameter: hipFileBoolConfigParameter_t,
        value: bool,
    ) -> Result<(), Failure> {
        *self.flags.get_mut(parameter.0 as usize).ok_or(Failure::INVALID_VALUE)? = Some(value);
        Ok(())
    }

    /// The value of a text, empty where none is set.
    pub(crate) fn text(&self, parameter: hipFileStringConfigParameter_t) -> Result<&CStr, Failure> {
        let set = self.texts.get(parameter.0 as usize).ok_or(Failure::INVALID_VALUE)?;
        Ok(set.as_deref().unwrap_or_default())
    }

    /// Sets a text.
    ///
    /// # Errors
    ///
    /// 5022 if there is no such parameter or the text is longer than 4095 bytes.
    pub(crate) fn set_text(
        &mut self,
        parameter: hipFileStringConfigParameter_t,
        value: &CStr,
    ) -> Result<(), Failure> {
        let place = self.texts.get_mut(parameter.0 as usize).ok_or(Failure::INVALID_VALUE)?;
        if value.count_bytes() > LONGEST_TEXT {
            return Err(Failure::INVALID_VALUE);
        }
        *place = Some(value.to_owned());
        Ok(())
    }
}

/// What the library does if nobody says otherwise. Where it has nothing of the kind the value is 0.
fn default_size(parameter: hipFileSizeTConfigParameter_t) -> usize {
    match parameter {
        sys::hipFileParamProfileStats => config::stats_level() as usize,
        sys::hipFileParamExecutionMaxIOQueueDepth | sys::hipFileParamPropertiesIOBatchsize => batch::MOST,
        sys::hipFileParamExecutionMaxRequestParallelism => 1,
        sys::hipFileParamPropertiesMaxDirectIOSizeKB => max_size() / 1024,
        sys::hipFileParamPropertiesMaxDevicePinnedMemSizeKB => NO_LIMIT_KIB,
        _ => 0,
    }
}

/// Whether a size can have a value.
fn accepts(parameter: hipFileSizeTConfigParameter_t, value: usize) -> bool {
    let whole_pages = value % PAGE_KIB == 0 && value <= NO_LIMIT_KIB;
    match parameter {
        sys::hipFileParamProfileStats => value <= 3,
        sys::hipFileParamPropertiesIOBatchsize => (1..=batch::MOST).contains(&value),
        sys::hipFileParamPropertiesMaxDirectIOSizeKB => {
            whole_pages && (1..=max_size() / 1024).contains(&value)
        }
        sys::hipFileParamPropertiesMaxDeviceCacheSizeKB
        | sys::hipFileParamPropertiesPerBufferCacheSizeKB
        | sys::hipFileParamPropertiesMaxDevicePinnedMemSizeKB
        | sys::hipFileParamPollthresholdSizeKB => whole_pages,
        _ => u32::try_from(value).is_ok(),
    }
}

fn default_flag(parameter: hipFileBoolConfigParameter_t) -> bool {
    let environment = Config::of_environment();
    match parameter {
        sys::hipFileParamPropertiesAllowCompatMode => environment.fallback,
        sys::hipFileParamForceCompatMode => !environment.fast_path,
        sys::hipFileParamPropertiesAllowSystemMemory => environment.behaviour.extensions.host_memory,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_and_others_are_what_they_were() {
        let mut settings = Settings::new();
        for number in 0..12 {
            let (size, flag) = (hipFileSizeTConfigParameter_t(number), hipFileBoolConfigParameter_t(number));
            let value = if number == 0 { 2 } else { 100 };
            settings.set_size(size, value).unwrap();
            assert_eq!(settings.size(size), Ok(value));
            for value in [true, false] {
                settings.set_flag(flag, value).unwrap();
                assert_eq!(settings.flag(flag), Ok(value));
            }
        }
        for number in 0..3 {
            let text = hipFileStringConfigParameter_t(number);
            assert_eq!(settings.text(text), Ok(c""));
            settings.set_text(text, c"DEBUG").unwrap();
            assert_eq!(settings.text(text), Ok(c"DEBUG"));
        }
        let long = CString::new(vec![b'x'; LONGEST_TEXT + 1]).unwrap();
        assert_eq!(settings.set_text(sys::hipFileParamLogDir, &long), Err(Failure::INVALID_VALUE));
        assert_eq!(settings.text(sys::hipFileParamLogDir), Ok(c"DEBUG"));
    }

    #[test]
    fn there_are_no_other_parameters() {
        let mut settings = Settings::new();
        for number in [12, u32::MAX] {
            let (size, flag) = (hipFileSizeTConfigParameter_t(number), hipFileBoolConfigParameter_t(number));
            assert_eq!(settings.size(size), Err(Failure::INVALID_VALUE));
            assert_eq!(settings.set_size(size, 0), Err(Failure::INVALID_VALUE));
            assert_eq!(settings.flag(flag), Err(Failure::INVALID_VALUE));
            assert_eq!(settings.set_flag(flag, true), Err(Failure::INVALID_VALUE));
        }
        assert_eq!(settings.text(hipFileStringConfigParameter_t(3)), Err(Failure::INVALID_VALUE));
        assert_eq!(settings.set_text(hipFileStringConfigParameter_t(3), c""), Err(Failure::INVALID_VALUE));
    }

    #[test]
    fn sizes_that_make_no_sense() {
        let mut settings = Settings::new();
        for (parameter, refused, accepted) in [
            (sys::hipFileParamProfileStats, 4, 3),
            (sys::hipFileParamPropertiesIOBatchsize, 129, 128),
            (sys::hipFileParamPropertiesIOBatchsize, 0, 1),
            (sys::hipFileParamPropertiesMaxDirectIOSizeKB, 0, 4),
            (sys::hipFileParamPropertiesMaxDirectIOSizeKB, 1 << 21, max_size() / 1024),
            (sys::hipFileParamPropertiesMaxDeviceCacheSizeKB, 6, 0),
            (sys::hipFileParamPropertiesMaxDevicePinnedMemSizeKB, usize::MAX - 3, 1 << 20),
            (sys::hipFileParamPropertiesBatchIOTimeoutMs, 1 << 32, (1 << 32) - 1),
        ] {
            assert_eq!(settings.set_size(parameter, refused), Err(Failure::INVALID_VALUE), "{parameter:?}");
            assert_eq!(settings.set_size(parameter, accepted), Ok(()), "{parameter:?}");
            assert_eq!(settings.size(parameter), Ok(accepted));
        }
    }
}
