//! How hip-alloc calls HIP: its own sources, without what it does with the results. Each result is compared right where it
//! comes from the call, so that a wrong assumption about it shows.
#![allow(dead_code)]

#[path = "HIP_ALLOC/src/calls.rs"]
mod calls;
#[path = "HIP_ALLOC/src/ffi.rs"]
mod ffi;

/// What `calls` makes of codes.
mod hip_error {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct HipError(pub u32);

    impl HipError {
        pub const OUT_OF_MEMORY: Self = Self(2);
    }

    impl From<u32> for HipError {
        fn from(code: u32) -> Self {
            Self(code)
        }
    }
}

/// The code that hipGetDeviceCount answers.
pub fn device_count() -> u32 {
    let hip = Box::leak(Box::new(ffi::Functions::linked()));
    hip.device_count().map_or_else(|failure| failure.error.0, |_| 0)
}
