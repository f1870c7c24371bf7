//! Kernels: they are noted, and never run.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;

use soft_rocm_faults::point;

use super::put;
use crate::bindings::{
    dim3, hipError_t, hipErrorInvalidHandle, hipErrorInvalidValue, hipErrorMissingConfiguration,
    hipErrorNoBinaryForGpu, hipEvent_t, hipFunction_t, hipModule_t, hipStream_t,
};
use crate::entry::{call, value};
use crate::runtime::{memory, streams};

/// Launches a kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLaunchKernel(
    _function_address: *const c_void,
    _num_blocks: dim3,
    _dim_blocks: dim3,
    _args: *mut *mut c_void,
    _shared_mem_bytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    call(point::hipLaunchKernel, 0, || launch(stream))
}

/// Launches a kernel between two events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipExtLaunchKernel(
    _function_address: *const c_void,
    _num_blocks: dim3,
    _dim_blocks: dim3,
    _args: *mut *mut c_void,
    _shared_mem_bytes: usize,
    stream: hipStream_t,
    _start_event: hipEvent_t,
    _stop_event: hipEvent_t,
    _flags: c_int,
) -> hipError_t {
    call(point::hipExtLaunchKernel, 0, || launch(stream))
}

/// Launches a kernel of a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLaunchKernel(
    _f: hipFunction_t,
    _grid_dim_x: c_uint,
    _grid_dim_y: c_uint,
    _grid_dim_z: c_uint,
    _block_dim_x: c_uint,
    _block_dim_y: c_uint,
    _block_dim_z: c_uint,
    _shared_mem_bytes: c_uint,
    stream: hipStream_t,
    _kernel_params: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> hipError_t {
    call(point::hipModuleLaunchKernel, 0, || launch(stream))
}

fn launch(stream: hipStream_t) -> Result<(), hipError_t> {
    streams()?.find(stream.addr())?;
    Err(hipErrorNoBinaryForGpu)
}

/// Loads a module from a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoad(module: *mut hipModule_t, fname: *const c_char) -> hipError_t {
    // SAFETY: requires NULL or a writable place; holds by the header.
    call(point::hipModuleLoad, 0, || unsafe { load(module, fname.cast()) })
}

/// Loads a module from memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoadData(module: *mut hipModule_t, image: *const c_void) -> hipError_t {
    // SAFETY: requires NULL or a writable place; holds by the header.
    call(point::hipModuleLoadData, 0, || unsafe { load(module, image) })
}

/// Refuses to load a module.
///
/// # Safety
///
/// `place` is NULL or writable.
unsafe fn load(place: *mut hipModule_t, from: *const c_void) -> Result<(), hipError_t> {
    memory()?;
    if from.is_null() {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: requires NULL or a writable place; holds by contract.
    unsafe { put(place, ptr::null_mut()) }?;
    Err(hipErrorNoBinaryForGpu)
}

/// Unloads a module.
#[unsafe(no_mangle)]
pub extern "C" fn hipModuleUnload(_module: hipModule_t) -> hipError_t {
    call(point::hipModuleUnload, 0, || memory().and(Err(hipErrorInvalidHandle)))
}

/// A kernel of a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetFunction(
    _function: *mut hipFunction_t,
    _module: hipModule_t,
    _kname: *const c_char,
) -> hipError_t {
    call(point::hipModuleGetFunction, 0, || memory().and(Err(hipErrorInvalidHandle)))
}

/// Notes the kernels of a program. The handle leads to a place that holds nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterFatBinary(_data: *const c_void) -> *mut *mut c_void {
    static NOTHING: usize = 0;
    value(point::__hipRegisterFatBinary, || (&raw const NOTHING).cast_mut().cast())
}

/// Notes one kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterFunction(
    _modules: *mut *mut c_void,
    _host_function: *const c_void,
    _device_function: *mut c_char,
    _device_name: *const c_char,
    _thread_limit: c_uint,
    _tid: *mut c_void,
    _bid: *mut c_void,
    _block_dim: *mut dim3,
    _grid_dim: *mut dim3,
    _w_size: *mut c_int,
) {
    value(point::__hipRegisterFunction, || ())
}

/// Notes one variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterVar(
    _modules: *mut *mut c_void,
    _var: *mut c_void,
    _host_var: *mut c_char,
    _device_var: *mut c_char,
    _ext: c_int,
    _size: usize,
    _constant: c_int,
    _global: c_int,
) {
    value(point::__hipRegisterVar, || ())
}

/// Forgets what was noted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipUnregisterFatBinary(_modules: *mut *mut c_void) {
    value(point::__hipUnregisterFatBinary, || ())
}

/// Grid, block, shared memory and stream of a launch.
type Configuration = (dim3, dim3, usize, hipStream_t);

thread_local! {
    static CONFIGURATIONS: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the configuration of a launch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipPushCallConfiguration(
    grid_dim: dim3,
    block_dim: dim3,
    shared_mem: usize,
    stream: hipStream_t,
) -> hipError_t {
    call(point::__hipPushCallConfiguration, 0, || {
        let push = |kept: &RefCell<Vec<Configuration>>| {
            kept.borrow_mut().push((grid_dim, block_dim, shared_mem, stream));
        };
        CONFIGURATIONS.try_with(push).map_err(|_| hipErrorMissingConfiguration)
    })
}

/// Gives back the configuration that was kept last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipPopCallConfiguration(
    grid_dim: *mut dim3,
    block_dim: *mut dim3,
    shared_mem: *mut usize,
    stream: *mut hipStream_t,
) -> hipError_t {
    call(point::__hipPopCallConfiguration, 0, || {
        let last = CONFIGURATIONS.try_with(|kept| kept.borrow_mut().pop()).ok().flatten();
        let (grid, block, shared, on) = last.ok_or(hipErrorMissingConfiguration)?;
        // SAFETY: requires NULL or a writable place; holds by the header.
        let _ = unsafe { put(grid_dim, grid) };
        // SAFETY: as above.
        let _ = unsafe { put(block_dim, block) };
        // SAFETY: as above.
        let _ = unsafe { put(shared_mem, shared) };
        // SAFETY: as above.
        let _ = unsafe { put(stream, on) };
        Ok(())
    })
}
