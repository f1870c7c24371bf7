//! Programs with kernels: they load, and each launch is refused.
#![allow(
    clippy::multiple_unsafe_ops_per_block,
    clippy::unwrap_used,
    reason = "lists of calls; a panic is a failed test"
)]

mod support;

use std::ptr;

use soft_rocm_hip::header::*;
use support::passes_in_process;

const ONE: dim3 = dim3 { x: 1, y: 1, z: 1 };

/// HF-HIP-36
#[test]
fn launches_are_refused_with_one_code() {
    let (null, none) = (ptr::null_mut(), ptr::null_mut());
    let args = ptr::null_mut();
    let launch = |stream| {
        // SAFETY: requires nothing of arguments that are not looked at; holds.
        unsafe {
            [
                hipLaunchKernel(null, ONE, ONE, args, 0, stream),
                hipExtLaunchKernel(null, ONE, ONE, args, 0, stream, none, none, 0),
                hipModuleLaunchKernel(ptr::null_mut(), 1, 1, 1, 1, 1, 1, 0, stream, args, args),
            ]
        }
    };
    assert_eq!(launch(ptr::null_mut()), [hipErrorNoBinaryForGpu; 3]);
    assert_eq!(launch(ptr::without_provenance_mut(3)), [hipErrorInvalidHandle; 3]);
}

#[test]
fn there_are_no_modules() {
    let mut module = ptr::dangling_mut();
    let mut function = ptr::null_mut();
    // SAFETY: requires NULL, writable places and C strings; holds.
    unsafe {
        assert_eq!(hipModuleLoad(&mut module, c"kernels.co".as_ptr()), hipErrorNoBinaryForGpu);
        assert!(module.is_null());
        assert_eq!(hipModuleLoadData(&mut module, c"\x7fELF".as_ptr().cast()), hipErrorNoBinaryForGpu);
        assert_eq!(hipModuleLoad(ptr::null_mut(), c"kernels.co".as_ptr()), hipErrorInvalidValue);
        assert_eq!(hipModuleLoad(&mut module, ptr::null()), hipErrorInvalidValue);
        assert_eq!(hipModuleLoadData(&mut module, ptr::null()), hipErrorInvalidValue);
        assert_eq!(hipModuleGetFunction(&mut function, module, c"copy".as_ptr()), hipErrorInvalidHandle);
    }
    assert_eq!(hipModuleUnload(module), hipErrorInvalidHandle);
}

/// HF-HIP-36
#[test]
fn kernels_are_noted_without_a_device() {
    passes_in_process("kernels_are_noted_without_a_device", &[("SOFT_ROCM_DEVICE_COUNT", "0")], || {
        let null = ptr::null_mut();
        // SAFETY: requires nothing of arguments that are not looked at; holds.
        unsafe {
            let modules = __hipRegisterFatBinary(ptr::null());
            assert!(!modules.is_null());
            assert!((*modules).is_null());
            let name = c"kernel".as_ptr();
            let dims = ptr::null_mut();
            __hipRegisterFunction(
                modules,
                ptr::null(),
                name.cast_mut(),
                name,
                0,
                null,
                null,
                dims,
                dims,
                null.cast(),
            );
            __hipRegisterVar(modules, null, name.cast_mut(), name.cast_mut(), 0, 4, 0, 0);
            __hipUnregisterFatBinary(modules);
        }
    });
}

#[test]
fn configurations_are_a_stack() {
    let stream = ptr::without_provenance_mut(77);
    let extent = |x| dim3 { x, y: 2, z: 3 };
    let (mut grid, mut block, mut shared, mut on) = (ONE, ONE, 0, ptr::null_mut());
    // SAFETY: requires NULL or writable places; holds.
    unsafe {
        assert_eq!(__hipPushCallConfiguration(extent(1), extent(4), 5, stream), hipSuccess);
        assert_eq!(__hipPushCallConfiguration(extent(6), extent(7), 8, stream), hipSuccess);
        assert_eq!(
            __hipPopCallConfiguration(ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut()),
            hipSuccess
        );
        assert_eq!(__hipPopCallConfiguration(&mut grid, &mut block, &mut shared, &mut on), hipSuccess);
        assert_eq!(
            __hipPopCallConfiguration(&mut grid, &mut block, &mut shared, &mut on),
            hipErrorMissingConfiguration
        );
    }
    assert_eq!((grid.x, grid.y, grid.z, block.x, shared, on), (1, 2, 3, 4, 5, stream));
}
