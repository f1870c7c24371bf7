//! Parameters, which a program sets before the driver is opened.

mod value;

use std::ffi::OsString;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use hipfile_sys::Api;

use crate::error::{Cause, Error, Result, Subject};
use crate::ffi;
use crate::op_error::OpError;
use crate::quantity::Unit;

pub use value::ParameterValue;

/// A parameter of libhipfile whose value is a `T`: `u64`, `bool`, [`Duration`] or [`OsString`].
///
/// Parameters are the library's, not a driver's: they are set while no driver is open in the process, hold from the next
/// open on, and are what they were by default after the last close. No release of AMD's library implements them;
/// [`supports`](crate::supports) asks. There, variables decide what these would: `HIPFILE_FORCE_COMPAT_MODE`,
/// `HIPFILE_ALLOW_COMPAT_MODE`, `HIPFILE_STATS_LEVEL`.
///
/// ```
/// use hipfile::{Driver, Feature, Parameter};
///
/// # fn main() -> hipfile::Result<()> {
/// if hipfile::supports(Feature::Parameters)? {
///     Parameter::ALLOW_COMPAT_MODE.set(false)?; // the fast path or nothing
///     Parameter::MAX_DIRECT_IO.set(16 << 20)?;
/// }
/// let driver = Driver::open()?;
/// # Ok(())
/// # }
/// ```
#[doc(alias = "hipFileSizeTConfigParameter_t")]
#[doc(alias = "hipFileBoolConfigParameter_t")]
#[doc(alias = "hipFileStringConfigParameter_t")]
pub struct Parameter<T> {
    /// What C calls it.
    name: &'static str,
    number: u32,
    /// What the library counts in, if the value is a number.
    unit: Unit,
    value: PhantomData<fn() -> T>,
}

impl<T: ParameterValue> Parameter<T> {
    /// The value that holds, or is to hold once the driver is open. hipFile 0.2.
    ///
    /// ```
    /// # use hipfile::{ErrorKind, Parameter};
    /// match Parameter::MAX_BATCH_LEN.get() {
    ///     Ok(transfers) => println!("up to {transfers} transfers in a batch"),
    ///     Err(error) => assert_eq!(error.kind(), ErrorKind::Unsupported),
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) from AMD's library,
    /// [`ErrorKind::NotLoaded`](crate::ErrorKind::NotLoaded), [`ErrorKind::Forked`](crate::ErrorKind::Forked).
    #[doc(alias = "hipFileGetParameterSizeT")]
    #[doc(alias = "hipFileGetParameterBool")]
    #[doc(alias = "hipFileGetParameterString")]
    pub fn get(self) -> Result<T> {
        T::get(self)
    }

    /// Sets the value, while no driver is open in this process. hipFile 0.2.
    ///
    /// ```
    /// # use hipfile::{ErrorKind, Parameter};
    /// match Parameter::LOG_LEVEL.set("DEBUG".into()) {
    ///     Ok(()) => assert_eq!(Parameter::LOG_LEVEL.get().unwrap(), "DEBUG"),
    ///     Err(error) => assert_eq!(error.kind(), ErrorKind::Unsupported),
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy) while a driver is open, by whomever;
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if the value is no whole number of what the library
    /// counts in, or not one that it takes; otherwise as for [`get`](Self::get).
    #[doc(alias = "hipFileSetParameterSizeT")]
    #[doc(alias = "hipFileSetParameterBool")]
    #[doc(alias = "hipFileSetParameterString")]
    pub fn set(self, value: T) -> Result<()> {
        value.set(self)
    }

    /// Asks the library for the value.
    fn ask<R>(self, get: impl FnOnce(&Api, u32) -> std::result::Result<R, Cause>) -> Result<R> {
        let get = || get(ffi::api()?, self.number);
        get().map_err(|cause| Error::new("read parameter", cause).on(Subject::Parameter(self.name)))
    }

    /// Tells the library `value`.
    fn tell(self, value: &T, set: impl FnOnce(&Api, u32) -> std::result::Result<(), Cause>) -> Result<()> {
        let set = || {
            set(ffi::api()?, self.number).map_err(|cause| match cause {
                Cause::Op(code @ OpError::InvalidValue) => {
                    Cause::RefusedValue { value: format!("{value:?}"), code }
                }
                other => other,
            })
        };
        set().map_err(|cause| Error::new("set parameter", cause).on(Subject::Parameter(self.name)))
    }
}

impl<T> Clone for Parameter<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Parameter<T> {}

impl<T> fmt::Debug for Parameter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Parameter").field(&format_args!("{}", self.name)).finish()
    }
}

/// One constant for each enumerator of C; `in` says what the library counts in, other than things.
macro_rules! parameters {
    (@unit) => { Unit::One };
    (@unit $unit:ident) => { Unit::$unit };
    ($value:ty: $($(#[$doc:meta])* $name:ident = $number:literal, $c:literal $(in $unit:ident)?;)*) => {
        impl Parameter<$value> {
            $(
                $(#[$doc])*
                #[doc(alias = $c)]
                pub const $name: Self = Self {
                    name: $c,
                    number: $number,
                    unit: parameters!(@unit $($unit)?),
                    value: PhantomData,
                };
            )*

            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$name),*];
        }
    };
}

parameters! { u64:
    /// How much is counted, 0 to 3; 0 is nothing.
    STATS_LEVEL = 0, "hipFileParamProfileStats";
    /// Depth of the queue of transfers.
    MAX_QUEUE_DEPTH = 1, "hipFileParamExecutionMaxIOQueueDepth";
    /// Number of threads that transfer.
    MAX_IO_THREADS = 2, "hipFileParamExecutionMaxIOThreads";
    /// The smallest transfer that is split, in bytes.
    MIN_SPLIT = 3, "hipFileParamExecutionMinIOThresholdSizeKB" in Kib;
    /// Parts that a transfer is split into.
    MAX_REQUEST_PARALLELISM = 4, "hipFileParamExecutionMaxRequestParallelism";
    /// The largest single direct transfer, in bytes.
    MAX_DIRECT_IO = 5, "hipFileParamPropertiesMaxDirectIOSizeKB" in Kib;
    /// Device memory for caching, in bytes.
    MAX_DEVICE_CACHE = 6, "hipFileParamPropertiesMaxDeviceCacheSizeKB" in Kib;
    /// The cache of one buffer, in bytes.
    PER_BUFFER_CACHE = 7, "hipFileParamPropertiesPerBufferCacheSizeKB" in Kib;
    /// Device memory that may be pinned, in bytes.
    MAX_PINNED_MEMORY = 8, "hipFileParamPropertiesMaxDevicePinnedMemSizeKB" in Kib;
    /// The largest number of transfers in a batch.
    MAX_BATCH_LEN = 9, "hipFileParamPropertiesIOBatchsize";
    /// The largest transfer, in bytes, whose completion is polled for.
    POLL_THRESHOLD = 10, "hipFileParamPollthresholdSizeKB" in Kib;
}

parameters! { Duration:
    /// The longest time that a batch may take.
    MAX_BATCH_TIME = 11, "hipFileParamPropertiesBatchIOTimeoutMs";
}

parameters! { bool:
    /// Whether completions of small transfers are polled for.
    POLL_MODE = 0, "hipFileParamPropertiesUsePollMode";
    /// Whether transfers may go through host memory.
    ALLOW_COMPAT_MODE = 1, "hipFileParamPropertiesAllowCompatMode";
    /// Whether all transfers go through host memory.
    FORCE_COMPAT_MODE = 2, "hipFileParamForceCompatMode";
    /// Whether arguments are checked thoroughly.
    AGGRESSIVE_CHECKS = 3, "hipFileParamFsMiscApiCheckAggressive";
    /// Whether several threads do one transfer.
    PARALLEL_IO = 4, "hipFileParamExecutionParallelIO";
    /// Whether calls are annotated for a profiler.
    PROFILER_RANGES = 5, "hipFileParamProfileNvtx";
    /// Whether host memory is taken.
    ALLOW_HOST_MEMORY = 6, "hipFileParamPropertiesAllowSystemMemory";
    /// Whether PCI peer-to-peer DMA is used.
    PCI_P2PDMA = 7, "hipFileParamUsePcip2pdma";
    /// Whether `io_uring` is preferred.
    PREFER_IO_URING = 8, "hipFileParamPreferIOUring";
    /// Whether files are always opened with `O_DIRECT`.
    FORCE_O_DIRECT = 9, "hipFileParamForceOdirectMode";
    /// Whether it is left unexamined where devices are in the machine.
    SKIP_TOPOLOGY_DETECTION = 10, "hipFileParamSkipTopologyDetection";
    /// Whether memory operations of streams are avoided.
    BYPASS_STREAM_MEMOPS = 11, "hipFileParamStreamMemopsBypass";
}

parameters! { OsString:
    /// The level of logging.
    LOG_LEVEL = 0, "hipFileParamLoggingLevel";
    /// The path of the log file.
    LOG_FILE = 1, "hipFileParamEnvLogfilePath";
    /// The folder of log files.
    LOG_DIR = 2, "hipFileParamLogDir";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name and number of each of C's enumerators.
    macro_rules! enumerators {
        ($($c:ident)*) => { [$((stringify!($c), hipfile_sys::$c.0)),*] };
    }

    #[test]
    fn each_enumerator_of_c_has_one_parameter() {
        fn all<T>(all: &[Parameter<T>]) -> Vec<(&'static str, u32)> {
            all.iter().map(|parameter| (parameter.name, parameter.number)).collect()
        }
        let sizes = enumerators! {
            hipFileParamProfileStats
            hipFileParamExecutionMaxIOQueueDepth
            hipFileParamExecutionMaxIOThreads
            hipFileParamExecutionMinIOThresholdSizeKB
            hipFileParamExecutionMaxRequestParallelism
            hipFileParamPropertiesMaxDirectIOSizeKB
            hipFileParamPropertiesMaxDeviceCacheSizeKB
            hipFileParamPropertiesPerBufferCacheSizeKB
            hipFileParamPropertiesMaxDevicePinnedMemSizeKB
            hipFileParamPropertiesIOBatchsize
            hipFileParamPollthresholdSizeKB
            hipFileParamPropertiesBatchIOTimeoutMs
        };
        assert_eq!([all(Parameter::<u64>::ALL), all(Parameter::<Duration>::ALL)].concat(), sizes);
        let flags = enumerators! {
            hipFileParamPropertiesUsePollMode
            hipFileParamPropertiesAllowCompatMode
            hipFileParamForceCompatMode
            hipFileParamFsMiscApiCheckAggressive
            hipFileParamExecutionParallelIO
            hipFileParamProfileNvtx
            hipFileParamPropertiesAllowSystemMemory
            hipFileParamUsePcip2pdma
            hipFileParamPreferIOUring
            hipFileParamForceOdirectMode
            hipFileParamSkipTopologyDetection
            hipFileParamStreamMemopsBypass
        };
        assert_eq!(all(Parameter::<bool>::ALL), flags);
        let texts = enumerators! {
            hipFileParamLoggingLevel
            hipFileParamEnvLogfilePath
            hipFileParamLogDir
        };
        assert_eq!(all(Parameter::<OsString>::ALL), texts);
    }

    #[test]
    fn what_c_has_in_kib_is_in_bytes() {
        for parameter in Parameter::<u64>::ALL {
            assert_eq!(parameter.unit == Unit::Kib, parameter.name.ends_with("KB"), "{parameter:?}");
        }
        assert_eq!(format!("{:?}", Parameter::LOG_DIR), "Parameter(hipFileParamLogDir)");
    }
}
