//! The text of each error code.

use std::ffi::CStr;

use hipfile_sys::hipFileOpError_t;

/// The phrase for a code; a generic one for numbers that are no code.
pub(crate) fn text(code: hipFileOpError_t) -> &'static CStr {
    match code.0 {
        0 => c"hipFile success",
        5001 => c"GPU IO driver is not loaded",
        5002 => c"Invalid GPU IO driver property provided",
        5003 => c"GPU IO Driver property value is unsupported",
        5004 => c"hipFile version does not match GPU IO driver version",
        5005 => c"Unable to read the GPU IO driver version",
        5006 => c"GPU IO driver is closing and not accepting new requests",
        5007 => c"hipFile is not supported on the current platform",
        5008 => c"hipFile is not supported on the selected file",
        5009 => c"The selected GPU does not support hipFile",
        5010 => c"GPU IO driver error",
        5011 => c"GPU driver error: Inspect hip_drv_err for additional information",
        5012 => c"Invalid GPU pointer",
        5013 => c"Memory type backing pointer is incompatible with hipFile",
        5014 => c"Pointer range exceeds allocated memory region",
        5015 => c"GPU driver context mismatch",
        5016 => c"Accessing memory beyond pinned memory buffer",
        5017 => c"Accessing memory beyond mapped memory region",
        5018 => c"Unsupported file type",
        5019 => c"Unsupported file open flags",
        5020 => c"O_DIRECT flag not set",
        5022 => c"One or more arguments have an invalid value",
        5023 => c"Device pointer is already registered",
        5024 => c"Device pointer is not registered",
        5025 => c"Permission error on device or file access",
        5026 => c"GPU IO driver is already open",
        5027 => c"File handle for GPU IO is not registered",
        5028 => c"File handle for GPU IO is already registered",
        5029 => c"Selected device not found",
        5030 => c"Internal GPU IO library error",
        5031 => c"Unable to obtain a new file descriptor",
        5033 => c"GPU IO Driver initialization error",
        5034 => c"GPU IO config file prohibits GPU IO on specified file",
        5035 => c"Failed to submit request for batch operation",
        // The words are AMD's, the slip in them too.
        5036 => c"Failed to allocated pinned device memory",
        5037 => c"Batch operation queue is full",
        5038 => c"hipFile async IO is not supported",
        5039 => c"Internal flag to mark largest hipFile error code",
        _ => c"Unknown hipFile error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: &CStr = c"Unknown hipFile error";

    #[test]
    fn every_code_has_a_phrase_of_its_own() {
        let known: Vec<_> =
            (0..6000).map(|code| text(hipFileOpError_t(code))).filter(|t| *t != UNKNOWN).collect();
        let distinct: std::collections::HashSet<_> = known.iter().collect();
        assert_eq!(known.len(), 38);
        assert_eq!(distinct.len(), 38);
    }

    #[test]
    fn gaps_and_foreign_numbers_are_unknown() {
        for code in [1, 100, 5000, 5021, 5032, 5040, u32::MAX, -5022_i32 as u32] {
            assert_eq!(text(hipFileOpError_t(code)), UNKNOWN, "{code}");
        }
    }
}
