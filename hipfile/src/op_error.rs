//! libhipfile's own error codes.

use std::fmt;

macro_rules! op_errors {
    ($($variant:ident = $code:literal, $name:literal, $text:literal;)*) => {
        /// A code of libhipfile's own error space.
        ///
        /// The members are the enumerators of `hipFileOpError_t`. A code that a newer library may invent is kept in
        /// [`OpError::Unknown`], so no answer is ever lost.
        ///
        /// ```
        /// use hipfile::OpError;
        ///
        /// let error = OpError::from_code(5023);
        /// assert_eq!(error, OpError::MemoryAlreadyRegistered);
        /// assert_eq!(error.name(), "hipFileMemoryAlreadyRegistered");
        /// assert_eq!(error.to_string(), "device pointer is already registered (5023 hipFileMemoryAlreadyRegistered)");
        /// assert_eq!(OpError::from_code(5999).code(), 5999);
        /// ```
        #[doc(alias = "hipFileOpError_t")]
        #[non_exhaustive]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum OpError {
            $(
                #[doc = concat!("`", $name, "`, ", $code, ": ", $text, ".")]
                #[doc(alias = $name)]
                $variant,
            )*
            /// A code that this version of the crate has no name for.
            Unknown(UnknownCode),
        }

        impl OpError {
            /// Every member that has a name, in the order of the codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The member for a code of the C library. Total: what has no name becomes [`OpError::Unknown`].
            #[must_use]
            pub const fn from_code(code: u32) -> Self {
                match code {
                    $($code => Self::$variant,)*
                    _ => Self::Unknown(UnknownCode(code)),
                }
            }

            /// The code as the C library spells it, from 5001 upwards; 0 is success.
            #[must_use]
            pub const fn code(self) -> u32 {
                match self {
                    $(Self::$variant => $code,)*
                    Self::Unknown(UnknownCode(code)) => code,
                }
            }

            /// The enumerator in C.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Unknown(_) => "unknown",
                }
            }

            /// The meaning in a few words.
            #[doc(alias = "hipFileGetOpErrorString")]
            #[must_use]
            pub const fn description(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::Unknown(_) => "unknown hipFile error",
                }
            }
        }
    };
}

op_errors! {
    Success = 0, "hipFileSuccess", "hipFile success";
    DriverNotInitialized = 5001, "hipFileDriverNotInitialized", "GPU IO driver is not loaded";
    DriverInvalidProps = 5002, "hipFileDriverInvalidProps", "invalid GPU IO driver property";
    DriverUnsupportedLimit = 5003, "hipFileDriverUnsupportedLimit", "GPU IO driver property value is unsupported";
    DriverVersionMismatch = 5004, "hipFileDriverVersionMismatch", "hipFile version does not match the GPU IO driver";
    DriverVersionReadError = 5005, "hipFileDriverVersionReadError", "unable to read the GPU IO driver version";
    DriverClosing = 5006, "hipFileDriverClosing", "GPU IO driver is closed or closing";
    PlatformNotSupported = 5007, "hipFilePlatformNotSupported", "hipFile is not supported on this platform";
    IoNotSupported = 5008, "hipFileIONotSupported", "hipFile is not supported on this kind of file";
    DeviceNotSupported = 5009, "hipFileDeviceNotSupported", "the GPU does not support hipFile";
    DriverError = 5010, "hipFileDriverError", "GPU IO driver error";
    HipDriverError = 5011, "hipFileHipDriverError", "HIP call failed";
    HipPointerInvalid = 5012, "hipFileHipPointerInvalid", "invalid GPU pointer";
    HipMemoryTypeInvalid = 5013, "hipFileHipMemoryTypeInvalid", "memory is not device memory";
    HipPointerRangeError = 5014, "hipFileHipPointerRangeError", "range goes past the end of the allocation";
    HipContextMismatch = 5015, "hipFileHipContextMismatch", "GPU driver context mismatch";
    InvalidMappingSize = 5016, "hipFileInvalidMappingSize", "access beyond the pinned memory";
    InvalidMappingRange = 5017, "hipFileInvalidMappingRange", "access beyond the mapped memory";
    InvalidFileType = 5018, "hipFileInvalidFileType", "unsupported file type";
    InvalidFileOpenFlag = 5019, "hipFileInvalidFileOpenFlag", "unsupported file open flags";
    DioNotSet = 5020, "hipFileDIONotSet", "O_DIRECT flag not set";
    InvalidValue = 5022, "hipFileInvalidValue", "an argument has an invalid value";
    MemoryAlreadyRegistered = 5023, "hipFileMemoryAlreadyRegistered", "device pointer is already registered";
    MemoryNotRegistered = 5024, "hipFileMemoryNotRegistered", "device pointer is not registered";
    PermissionDenied = 5025, "hipFilePermissionDenied", "permission denied on the device or file";
    DriverAlreadyOpen = 5026, "hipFileDriverAlreadyOpen", "GPU IO driver is already open";
    HandleNotRegistered = 5027, "hipFileHandleNotRegistered", "file handle is not registered";
    HandleAlreadyRegistered = 5028, "hipFileHandleAlreadyRegistered", "file descriptor is already registered";
    DeviceNotFound = 5029, "hipFileDeviceNotFound", "device not found";
    InternalError = 5030, "hipFileInternalError", "internal error of the library";
    GetNewFdFailed = 5031, "hipFileGetNewFDFailed", "unable to obtain a new file descriptor";
    DriverSetupError = 5033, "hipFileDriverSetupError", "GPU IO driver initialization failed";
    IoDisabled = 5034, "hipFileIODisabled", "GPU IO is disabled for this file";
    BatchSubmitFailed = 5035, "hipFileBatchSubmitFailed", "batch submission failed";
    GpuMemoryPinningFailed = 5036, "hipFileGPUMemoryPinningFailed", "pinning GPU memory failed";
    BatchFull = 5037, "hipFileBatchFull", "batch queue is full";
    AsyncNotSupported = 5038, "hipFileAsyncNotSupported", "asynchronous IO is not supported";
    IoMaxError = 5039, "hipFileIOMaxError", "end of the error codes";
}

/// A libhipfile code without a name in this version of the crate.
///
/// ```
/// use hipfile::{OpError, UnknownCode};
///
/// fn unknown(error: OpError) -> Option<UnknownCode> {
///     if let OpError::Unknown(code) = error { Some(code) } else { None }
/// }
/// assert_eq!(unknown(OpError::from_code(6001)).map(UnknownCode::get), Some(6001));
/// assert_eq!(unknown(OpError::InternalError), None);
/// ```
// Opaque, so that giving a code its name later does not change what existing matches mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UnknownCode(u32);

impl UnknownCode {
    /// The code as the library gave it.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} {})", self.description(), self.code(), self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn members_are_distinct_and_round_trip() {
        let mut codes: Vec<u32> = OpError::ALL.iter().map(|error| error.code()).collect();
        for &error in OpError::ALL {
            assert_eq!(OpError::from_code(error.code()), error);
            assert!(error.name().starts_with("hipFile"), "{error}");
        }
        codes.dedup();
        assert_eq!(codes.len(), 38);
        assert!(codes.is_sorted());
    }

    #[test]
    fn gaps_and_foreign_codes_stay_what_they_are() {
        for code in [1, 500, 4999, 5000, 5021, 5032, 5040, u32::MAX] {
            assert!(matches!(OpError::from_code(code), OpError::Unknown(unknown) if unknown.get() == code));
        }
    }

    #[test]
    fn text_has_meaning_number_and_name_on_one_line() {
        assert_eq!(
            OpError::InternalError.to_string(),
            "internal error of the library (5030 hipFileInternalError)"
        );
        assert_eq!(OpError::from_code(7000).to_string(), "unknown hipFile error (7000 unknown)");
        for error in OpError::ALL {
            let text = error.description();
            assert!(!text.ends_with('.') && !text.contains('\n'), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_code_is_lost(code: u32) {
            prop_assert_eq!(OpError::from_code(code).code(), code);
        }
    }
}
