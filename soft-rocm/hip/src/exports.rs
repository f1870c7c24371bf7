//! The functions of the header: each is compared with its declaration, and can be looked up by its name.

use std::ffi::{CStr, c_void};

use crate::{api, bindings};

macro_rules! exports {
    ($($(#[$cfg:meta])* $name:ident($($argument:tt),*);)*) => {
        // One array of both compiles only if the signatures are the same.
        $($(#[$cfg])* const _: () = {
            let _: [unsafe extern "C" fn($($argument),*) -> _; 2] = [bindings::$name, api::$name];
        };)*

        /// All that the header declares; the functions are those of this library.
        pub mod header {
            pub use crate::api::{
                softrocm_file_transfer, softrocm_hip_counted_calls, softrocm_hip_held_calls, softrocm_hip_set_faults,
                softrocm_host_address, softrocm_launch_concurrent, softrocm_stream_pause,
                softrocm_stream_resume,
            };
            $($(#[$cfg])* pub use crate::api::$name;)*
            pub use crate::bindings::*;
        }

        /// Address of the function of that name.
        pub(crate) fn address(name: &CStr) -> Option<*mut c_void> {
            $($(#[$cfg])* if name.to_bytes() == stringify!($name).as_bytes() {
                return Some(api::$name as *mut c_void);
            })*
            None
        }
    };
}

exports! {
    __hipPopCallConfiguration(_, _, _, _);
    __hipPushCallConfiguration(_, _, _, _);
    __hipRegisterFatBinary(_);
    __hipRegisterFunction(_, _, _, _, _, _, _, _, _, _);
    __hipRegisterVar(_, _, _, _, _, _, _, _);
    __hipUnregisterFatBinary(_);
    hipDeviceCanAccessPeer(_, _, _);
    hipDeviceComputeCapability(_, _, _);
    hipDeviceDisablePeerAccess(_);
    hipDeviceEnablePeerAccess(_, _);
    hipDeviceGet(_, _);
    hipDeviceGetAttribute(_, _, _);
    hipDeviceGetByPCIBusId(_, _);
    hipDeviceGetName(_, _, _);
    hipDeviceGetPCIBusId(_, _, _);
    hipDeviceGetStreamPriorityRange(_, _);
    hipDeviceGetUuid(_, _);
    hipDeviceReset();
    hipDeviceSynchronize();
    hipDeviceTotalMem(_, _);
    hipDriverGetVersion(_);
    hipEventCreate(_);
    hipEventCreateWithFlags(_, _);
    hipEventDestroy(_);
    hipEventElapsedTime(_, _, _);
    hipEventQuery(_);
    hipEventRecord(_, _);
    hipEventSynchronize(_);
    hipExtLaunchKernel(_, _, _, _, _, _, _, _, _);
    hipExtMallocWithFlags(_, _, _);
    hipFree(_);
    hipFreeAsync(_, _);
    hipGetDevice(_);
    hipGetDeviceCount(_);
    hipGetDeviceFlags(_);
    hipGetDevicePropertiesR0600(_, _);
    hipGetErrorName(_);
    hipGetErrorString(_);
    hipGetLastError();
    hipGetProcAddress(_, _, _, _, _);
    hipHostFree(_);
    hipHostGetDevicePointer(_, _, _);
    hipHostGetFlags(_, _);
    hipHostMalloc(_, _, _);
    hipHostRegister(_, _, _);
    hipHostUnregister(_);
    hipInit(_);
    hipLaunchHostFunc(_, _, _);
    hipLaunchKernel(_, _, _, _, _, _);
    hipMalloc(_, _);
    hipMallocAsync(_, _, _);
    hipMallocManaged(_, _, _);
    hipMemGetAddressRange(_, _, _);
    hipMemGetInfo(_, _);
    hipMemPtrGetInfo(_, _);
    hipMemcpy(_, _, _, _);
    hipMemcpyAsync(_, _, _, _, _);
    hipMemcpyDtoD(_, _, _);
    hipMemcpyDtoDAsync(_, _, _, _);
    hipMemcpyDtoH(_, _, _);
    hipMemcpyDtoHAsync(_, _, _, _);
    hipMemcpyHtoD(_, _, _);
    hipMemcpyHtoDAsync(_, _, _, _);
    hipMemcpyPeer(_, _, _, _, _);
    hipMemcpyPeerAsync(_, _, _, _, _, _);
    hipMemcpyWithStream(_, _, _, _, _);
    hipMemset(_, _, _);
    hipMemsetAsync(_, _, _, _);
    hipMemsetD16(_, _, _);
    hipMemsetD16Async(_, _, _, _);
    hipMemsetD32(_, _, _);
    hipMemsetD32Async(_, _, _, _);
    hipMemsetD8(_, _, _);
    hipMemsetD8Async(_, _, _, _);
    hipModuleGetFunction(_, _, _);
    hipModuleLaunchKernel(_, _, _, _, _, _, _, _, _, _, _);
    hipModuleLoad(_, _);
    hipModuleLoadData(_, _);
    hipModuleUnload(_);
    hipPeekAtLastError();
    hipPointerGetAttributes(_, _);
    hipRuntimeGetVersion(_);
    hipSetDevice(_);
    hipSetDeviceFlags(_);
    hipStreamAddCallback(_, _, _, _);
    hipStreamCreate(_);
    hipStreamCreateWithFlags(_, _);
    hipStreamCreateWithPriority(_, _, _);
    hipStreamDestroy(_);
    hipStreamGetDevice(_, _);
    hipStreamGetFlags(_, _);
    hipStreamGetPriority(_, _);
    hipStreamQuery(_);
    hipStreamSynchronize(_);
    hipStreamWaitEvent(_, _, _);
    hipStreamWaitValue32(_, _, _, _, _);
    hipStreamWaitValue64(_, _, _, _, _);
    hipStreamWriteValue32(_, _, _, _);
    hipStreamWriteValue64(_, _, _, _);
    #[cfg(feature = "ais")]
    hipAmdFileRead(_, _, _, _, _, _);
    #[cfg(feature = "ais")]
    hipAmdFileWrite(_, _, _, _, _, _);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    #[test]
    fn every_function_of_the_header_is_exported() {
        let declared: Vec<&str> = include_str!("bindings.rs")
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("pub fn ")?.split('(').next())
            .collect();
        assert!(declared.len() > 20, "{declared:?}");
        for name in declared {
            let expected = cfg!(feature = "ais") || !name.starts_with("hipAmdFile");
            assert_eq!(address(&CString::new(name).unwrap()).is_some(), expected, "{name}");
        }
    }

    #[test]
    fn names_lead_to_their_function() {
        assert_eq!(address(c"hipMalloc"), Some(api::hipMalloc as *mut c_void));
        for unknown in [c"", c"hipMallo", c"hipMallocX", c"hipmalloc", c"softrocm_host_address"] {
            assert_eq!(address(unknown), None);
        }
    }

    #[test]
    fn every_point_of_this_library_is_a_function() {
        let mut missing: Vec<&str> = soft_rocm_faults::points()
            .filter(|(name, owner)| *owner == soft_rocm_faults::Owner::Hip && name.starts_with("hip"))
            .map(|(name, _)| name)
            .filter(|name| address(&CString::new(*name).unwrap()).is_none())
            .collect();
        missing.retain(|name| cfg!(feature = "ais") || !name.starts_with("hipAmdFile"));
        assert!(missing.is_empty(), "{missing:?}");
    }
}
