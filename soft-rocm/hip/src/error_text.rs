//! Names and texts of error codes.

use std::ffi::CStr;

use crate::bindings::{self as b, hipError_t};

/// Name and text; those of `hipErrorUnknown` for a code that has none.
pub(crate) fn describe(code: hipError_t) -> (&'static CStr, &'static CStr) {
    TABLE
        .iter()
        .find(|(known, ..)| *known == code)
        .map_or((c"hipErrorUnknown", c"unknown error"), |(_, name, text)| (*name, *text))
}

#[rustfmt::skip]
const TABLE: &[(hipError_t, &CStr, &CStr)] = &[
    (b::hipSuccess, c"hipSuccess", c"no error"),
    (b::hipErrorInvalidValue, c"hipErrorInvalidValue", c"invalid argument"),
    (b::hipErrorOutOfMemory, c"hipErrorOutOfMemory", c"out of memory"),
    (b::hipErrorNotInitialized, c"hipErrorNotInitialized", c"initialization error"),
    (b::hipErrorDeinitialized, c"hipErrorDeinitialized", c"driver shutting down"),
    (b::hipErrorProfilerDisabled, c"hipErrorProfilerDisabled", c"profiler disabled"),
    (b::hipErrorProfilerNotInitialized, c"hipErrorProfilerNotInitialized", c"profiler not initialized"),
    (b::hipErrorProfilerAlreadyStarted, c"hipErrorProfilerAlreadyStarted", c"profiler already started"),
    (b::hipErrorProfilerAlreadyStopped, c"hipErrorProfilerAlreadyStopped", c"profiler already stopped"),
    (b::hipErrorInvalidConfiguration, c"hipErrorInvalidConfiguration", c"invalid configuration argument"),
    (b::hipErrorInvalidPitchValue, c"hipErrorInvalidPitchValue", c"invalid pitch argument"),
    (b::hipErrorInvalidSymbol, c"hipErrorInvalidSymbol", c"invalid device symbol"),
    (b::hipErrorInvalidDevicePointer, c"hipErrorInvalidDevicePointer", c"invalid device pointer"),
    (b::hipErrorInvalidMemcpyDirection, c"hipErrorInvalidMemcpyDirection", c"invalid copy direction for memcpy"),
    (b::hipErrorInsufficientDriver, c"hipErrorInsufficientDriver", c"driver version is insufficient for runtime version"),
    (b::hipErrorMissingConfiguration, c"hipErrorMissingConfiguration", c"missing launch configuration"),
    (b::hipErrorPriorLaunchFailure, c"hipErrorPriorLaunchFailure", c"prior kernel launch failed"),
    (b::hipErrorInvalidDeviceFunction, c"hipErrorInvalidDeviceFunction", c"invalid device function"),
    (b::hipErrorNoDevice, c"hipErrorNoDevice", c"no ROCm-capable device is detected"),
    (b::hipErrorInvalidDevice, c"hipErrorInvalidDevice", c"invalid device ordinal"),
    (b::hipErrorInvalidImage, c"hipErrorInvalidImage", c"device kernel image is invalid"),
    (b::hipErrorInvalidContext, c"hipErrorInvalidContext", c"invalid device context"),
    (b::hipErrorContextAlreadyCurrent, c"hipErrorContextAlreadyCurrent", c"context is already current"),
    (b::hipErrorMapFailed, c"hipErrorMapFailed", c"mapping of buffer object failed"),
    (b::hipErrorUnmapFailed, c"hipErrorUnmapFailed", c"unmapping of buffer object failed"),
    (b::hipErrorArrayIsMapped, c"hipErrorArrayIsMapped", c"array is mapped"),
    (b::hipErrorAlreadyMapped, c"hipErrorAlreadyMapped", c"resource already mapped"),
    (b::hipErrorNoBinaryForGpu, c"hipErrorNoBinaryForGpu", c"no kernel image is available for execution on the device"),
    (b::hipErrorAlreadyAcquired, c"hipErrorAlreadyAcquired", c"resource already acquired"),
    (b::hipErrorNotMapped, c"hipErrorNotMapped", c"resource not mapped"),
    (b::hipErrorNotMappedAsArray, c"hipErrorNotMappedAsArray", c"resource not mapped as array"),
    (b::hipErrorNotMappedAsPointer, c"hipErrorNotMappedAsPointer", c"resource not mapped as pointer"),
    (b::hipErrorECCNotCorrectable, c"hipErrorECCNotCorrectable", c"uncorrectable ECC error encountered"),
    (b::hipErrorUnsupportedLimit, c"hipErrorUnsupportedLimit", c"limit is not supported on device"),
    (b::hipErrorContextAlreadyInUse, c"hipErrorContextAlreadyInUse", c"context is in use by another thread"),
    (b::hipErrorPeerAccessUnsupported, c"hipErrorPeerAccessUnsupported", c"peer access is not supported between these two devices"),
    (b::hipErrorInvalidKernelFile, c"hipErrorInvalidKernelFile", c"invalid kernel file"),
    (b::hipErrorInvalidGraphicsContext, c"hipErrorInvalidGraphicsContext", c"invalid graphics context"),
    (b::hipErrorInvalidSource, c"hipErrorInvalidSource", c"device kernel source is invalid"),
    (b::hipErrorFileNotFound, c"hipErrorFileNotFound", c"file not found"),
    (b::hipErrorSharedObjectSymbolNotFound, c"hipErrorSharedObjectSymbolNotFound", c"shared object symbol not found"),
    (b::hipErrorSharedObjectInitFailed, c"hipErrorSharedObjectInitFailed", c"shared object initialization failed"),
    (b::hipErrorOperatingSystem, c"hipErrorOperatingSystem", c"operating system call failed or not supported"),
    (b::hipErrorInvalidHandle, c"hipErrorInvalidHandle", c"invalid resource handle"),
    (b::hipErrorIllegalState, c"hipErrorIllegalState", c"operation not allowed in the present state"),
    (b::hipErrorNotFound, c"hipErrorNotFound", c"named symbol not found"),
    (b::hipErrorNotReady, c"hipErrorNotReady", c"device not ready"),
    (b::hipErrorIllegalAddress, c"hipErrorIllegalAddress", c"an illegal memory access was encountered"),
    (b::hipErrorLaunchOutOfResources, c"hipErrorLaunchOutOfResources", c"too many resources requested for launch"),
    (b::hipErrorLaunchTimeOut, c"hipErrorLaunchTimeOut", c"the launch timed out and was terminated"),
    (b::hipErrorPeerAccessAlreadyEnabled, c"hipErrorPeerAccessAlreadyEnabled", c"peer access is already enabled"),
    (b::hipErrorPeerAccessNotEnabled, c"hipErrorPeerAccessNotEnabled", c"peer access has not been enabled"),
    (b::hipErrorSetOnActiveProcess, c"hipErrorSetOnActiveProcess", c"cannot set while device is active in this process"),
    (b::hipErrorContextIsDestroyed, c"hipErrorContextIsDestroyed", c"context is destroyed"),
    (b::hipErrorAssert, c"hipErrorAssert", c"device-side assert triggered"),
    (b::hipErrorHostMemoryAlreadyRegistered, c"hipErrorHostMemoryAlreadyRegistered", c"host memory is already registered"),
    (b::hipErrorHostMemoryNotRegistered, c"hipErrorHostMemoryNotRegistered", c"host memory is not registered"),
    (b::hipErrorLaunchFailure, c"hipErrorLaunchFailure", c"unspecified launch failure"),
    (b::hipErrorCooperativeLaunchTooLarge, c"hipErrorCooperativeLaunchTooLarge", c"too many blocks in cooperative launch"),
    (b::hipErrorNotPermitted, c"hipErrorNotPermitted", c"operation not permitted"),
    (b::hipErrorNotSupported, c"hipErrorNotSupported", c"operation not supported"),
    (b::hipErrorStreamCaptureUnsupported, c"hipErrorStreamCaptureUnsupported", c"operation not permitted while a stream is captured"),
    (b::hipErrorStreamCaptureInvalidated, c"hipErrorStreamCaptureInvalidated", c"stream capture is invalidated by an earlier error"),
    (b::hipErrorStreamCaptureMerge, c"hipErrorStreamCaptureMerge", c"operation would merge two stream captures"),
    (b::hipErrorStreamCaptureUnmatched, c"hipErrorStreamCaptureUnmatched", c"capture was not initiated in this stream"),
    (b::hipErrorStreamCaptureUnjoined, c"hipErrorStreamCaptureUnjoined", c"a forked stream was not joined to its capture"),
    (b::hipErrorStreamCaptureIsolation, c"hipErrorStreamCaptureIsolation", c"operation would make a dependency across a capture boundary"),
    (b::hipErrorStreamCaptureImplicit, c"hipErrorStreamCaptureImplicit", c"operation would depend on the NULL stream during a capture"),
    (b::hipErrorCapturedEvent, c"hipErrorCapturedEvent", c"operation not permitted on an event of a capture"),
    (b::hipErrorStreamCaptureWrongThread, c"hipErrorStreamCaptureWrongThread", c"capture was started by another thread"),
    (b::hipErrorGraphExecUpdateFailure, c"hipErrorGraphExecUpdateFailure", c"the graph update was not performed"),
    (b::hipErrorInvalidChannelDescriptor, c"hipErrorInvalidChannelDescriptor", c"invalid channel descriptor"),
    (b::hipErrorInvalidTexture, c"hipErrorInvalidTexture", c"invalid texture"),
    (b::hipErrorUnknown, c"hipErrorUnknown", c"unknown error"),
    (b::hipErrorRuntimeMemory, c"hipErrorRuntimeMemory", c"runtime memory call failed"),
    (b::hipErrorRuntimeOther, c"hipErrorRuntimeOther", c"runtime call other than memory failed"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn codes_have_the_name_they_have_in_the_header() {
        assert_eq!(describe(b::hipErrorNotFound), (c"hipErrorNotFound", c"named symbol not found"));
        assert_eq!(describe(b::hipErrorMemoryAllocation), (c"hipErrorOutOfMemory", c"out of memory"));
    }

    #[test]
    fn every_code_of_the_header_is_in_the_table_once() {
        let declared: BTreeSet<u32> = include_str!("bindings.rs")
            .lines()
            .filter_map(|line| {
                line.split_once(": hipError_t = hipError_t(")?.1.strip_suffix(");")?.parse().ok()
            })
            .collect();
        let listed: Vec<u32> = TABLE.iter().map(|(code, ..)| code.0).collect();
        assert!(listed.len() > 70);
        assert_eq!(listed, declared.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn names_and_texts_are_told_apart() {
        let names: BTreeSet<_> = TABLE.iter().map(|(_, name, _)| name).collect();
        let texts: BTreeSet<_> = TABLE.iter().map(|(.., text)| text).collect();
        assert_eq!((names.len(), texts.len()), (TABLE.len(), TABLE.len()));
    }

    #[test]
    fn other_codes_are_unknown() {
        for code in [-1i32 as u32, 913, 1054, 5000] {
            assert_eq!(describe(hipError_t(code)), (c"hipErrorUnknown", c"unknown error"));
        }
    }
}
