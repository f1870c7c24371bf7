//! The C functions of HIP as plain calls, and device memory to test with.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ops::Range;
use std::ptr;

/// What `hipPointerGetAttributes` tells.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    pub kind: i32,
    pub device: i32,
    pub device_pointer: usize,
    pub host_pointer: usize,
    pub is_managed: i32,
    pub flags: u32,
}

/// Finds a function of the HIP in this process, and brings HIP into it where nothing else has.
pub fn symbol(name: &str) -> Option<*mut c_void> {
    let c_name = CString::new(name).expect("a name");
    // SAFETY: requires a terminated name; holds because it comes from a CString.
    let find = || unsafe { libc::dlsym(libc::RTLD_DEFAULT, c_name.as_ptr()) };
    if !find().is_null() {
        return Some(find());
    }
    for library in [c"libamdhip64.so.7", c"libamdhip64.so.6", c"libamdhip64.so.5", c"libamdhip64.so"] {
        // SAFETY: requires a library whose initialisers may run now; holds because HIP's may.
        let loaded = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if !loaded.is_null() {
            break;
        }
    }
    Some(find()).filter(|address| !address.is_null())
}

/// Functions of HIP as plain calls, each looked up when it is called.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) = $function:literal;)*) => {
        $($(#[$doc])*
        pub fn $name($($argument: $type),*) -> u32 {
            let address = $crate::hip::symbol($function).expect($function);
            // SAFETY: requires a function of that type; holds because HIP's header declares it so.
            let function: unsafe extern "C" fn($($type),*) -> u32 = unsafe { std::mem::transmute(address) };
            // SAFETY: requires pointers HIP may use; holds because cases pass device addresses and live objects.
            unsafe { function($($argument),*) }
        })*
    };
}

pub(crate) use functions;

functions! {
    init(flags: c_uint) = "hipInit";
    malloc(out: &mut usize, size: usize) = "hipMalloc";
    free(address: usize) = "hipFree";
    host_malloc(out: &mut usize, size: usize, flags: c_uint) = "hipHostMalloc";
    host_free(address: usize) = "hipHostFree";
    malloc_managed(out: &mut usize, size: usize, flags: c_uint) = "hipMallocManaged";
    malloc_with_flags(out: &mut usize, size: usize, flags: c_uint) = "hipExtMallocWithFlags";
    host_register(address: usize, size: usize, flags: c_uint) = "hipHostRegister";
    host_unregister(address: usize) = "hipHostUnregister";
    memcpy(to: usize, from: usize, size: usize, kind: c_int) = "hipMemcpy";
    memset(to: usize, value: c_int, size: usize) = "hipMemset";
    memory_info(free: &mut usize, total: &mut usize) = "hipMemGetInfo";
    address_range(base: &mut usize, size: &mut usize, address: usize) = "hipMemGetAddressRange";
    pointer_attributes(out: &mut Attributes, address: usize) = "hipPointerGetAttributes";
    stream_create(out: &mut usize) = "hipStreamCreate";
    stream_destroy(stream: usize) = "hipStreamDestroy";
    stream_synchronize(stream: usize) = "hipStreamSynchronize";
    launch_host_function(
        stream: usize, function: unsafe extern "C" fn(*mut c_void), data: *mut c_void
    ) = "hipLaunchHostFunc";
    get_device(out: &mut c_int) = "hipGetDevice";
    set_device(device: c_int) = "hipSetDevice";
    get_device_count(out: &mut c_int) = "hipGetDeviceCount";
    runtime_version(out: &mut c_int) = "hipRuntimeGetVersion";
    driver_version(out: &mut c_int) = "hipDriverGetVersion";
    get_proc_address(
        name: *const c_char, out: &mut usize, version: c_int, flags: u64, status: *mut c_int
    ) = "hipGetProcAddress";
}

/// `hipMemcpyHostToDevice`
pub const TO_DEVICE: c_int = 1;
/// `hipMemcpyDeviceToHost`
pub const TO_HOST: c_int = 2;

/// The number of devices, 0 where HIP cannot say.
pub fn device_count() -> i32 {
    let mut count = 0;
    if get_device_count(&mut count) == 0 { count } else { 0 }
}

/// The current device of this thread.
pub fn current_device() -> i32 {
    let mut device = -1;
    assert_eq!(get_device(&mut device), 0, "hipGetDevice");
    device
}

/// Whether HIP is the software one.
pub fn is_software() -> bool {
    symbol("softrocm_host_address").is_some()
}

/// The address `hipGetProcAddress` has for a name.
pub fn proc_address(name: &CStr) -> Option<usize> {
    let (mut version, mut address) = (0, 0);
    if runtime_version(&mut version) != 0 || symbol("hipGetProcAddress").is_none() {
        return None;
    }
    let result = get_proc_address(name.as_ptr(), &mut address, version, 0, ptr::null_mut());
    (result == 0 && address != 0).then_some(address)
}

/// Whether `hipGetProcAddress` knows a name.
pub fn has_function(name: &str) -> bool {
    proc_address(&CString::new(name).expect("a name")).is_some()
}

/// An allocation on the current device.
#[derive(Debug)]
pub struct Memory {
    /// Its address, which host code may not touch.
    pub at: usize,
    /// Its size in bytes.
    pub size: usize,
}

impl Memory {
    /// Allocates; the content is arbitrary.
    pub fn new(size: usize) -> Self {
        let mut at = 0;
        assert_eq!(malloc(&mut at, size), 0, "hipMalloc of {size} bytes");
        Self { at, size }
    }

    /// Allocates and puts these bytes in.
    pub fn of(bytes: &[u8]) -> Self {
        let memory = Self::new(bytes.len());
        memory.put(0, bytes);
        memory
    }

    /// Allocates and fills with one byte.
    pub fn filled(size: usize, value: u8) -> Self {
        let memory = Self::new(size);
        assert_eq!(memset(memory.at, i32::from(value), size), 0, "hipMemset");
        memory
    }

    /// Copies bytes in.
    pub fn put(&self, offset: usize, bytes: &[u8]) {
        let from = bytes.as_ptr() as usize;
        assert_eq!(memcpy(self.at + offset, from, bytes.len(), TO_DEVICE), 0, "hipMemcpy to the device");
    }

    /// Copies bytes out.
    pub fn get(&self, range: Range<usize>) -> Vec<u8> {
        let mut bytes = vec![0; range.len()];
        let to = bytes.as_mut_ptr() as usize;
        assert_eq!(memcpy(to, self.at + range.start, range.len(), TO_HOST), 0, "hipMemcpy to the host");
        bytes
    }

    /// All of it.
    pub fn bytes(&self) -> Vec<u8> {
        self.get(0..self.size)
    }

    /// Registers all of it with hipFile.
    pub fn registered(self) -> Self {
        assert_eq!(crate::raw::buffer_register(self.at, self.size), crate::raw::OK, "hipFileBufRegister");
        self
    }

    /// Frees it now. A base that stays registered becomes a stale entry.
    pub fn free(self) {}
}

impl Drop for Memory {
    fn drop(&mut self) {
        // A panic here would hide the one under way.
        let _ = free(self.at);
    }
}
