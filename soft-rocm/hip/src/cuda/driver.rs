//! NVIDIA's driver, as a table of its functions filled at run time. Nothing of CUDA is needed to build or to load this library.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::mem;

use libloading::Library;

/// `CUresult`; 0 is success.
pub(super) type Code = c_int;
/// `CUdeviceptr`.
pub(super) type Address = u64;
/// `CUcontext`.
pub(super) type Context = *mut c_void;
/// `CUstream`.
pub(super) type Stream = *mut c_void;

/// What went wrong with the driver.
#[derive(Debug)]
pub(crate) enum DriverError {
    /// It could not be loaded; what the loader says.
    Missing(String),
    /// It lacks a function.
    Lacks(&'static CStr),
    /// A function failed with this code.
    Failed(&'static str, c_int),
    /// Fewer devices than asked for.
    Devices {
        /// How many there are.
        found: u32,
        /// How many were asked for.
        wanted: u32,
    },
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SOFT_ROCM_DEVICE=cuda: ")?;
        match self {
            Self::Missing(text) => write!(f, "NVIDIA's driver could not be loaded: {text}"),
            Self::Lacks(name) => {
                write!(f, "NVIDIA's driver is too old: it has no {}", name.to_string_lossy())
            }
            Self::Failed(name, code) => write!(f, "{name} of NVIDIA's driver answered {code}"),
            Self::Devices { found, wanted } => {
                write!(f, "SOFT_ROCM_DEVICE_COUNT={wanted}, but NVIDIA's driver has {found}")
            }
        }
    }
}

impl std::error::Error for DriverError {}

/// `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    kind: c_int,
    id: c_int,
}

impl Location {
    const DEVICE: c_int = 1;

    pub(super) fn device(id: c_int) -> Self {
        Self { kind: Self::DEVICE, id }
    }
}

/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Property {
    kind: c_int,
    handle_types: c_int,
    location: Location,
    win32: *mut c_void,
    compression: u8,
    rdma: u8,
    usage: u16,
    reserved: [u8; 4],
}

impl Property {
    const PINNED: c_int = 1;

    /// Memory of a device.
    pub(super) fn of(device: c_int) -> Self {
        Self {
            kind: Self::PINNED,
            handle_types: 0,
            location: Location::device(device),
            win32: std::ptr::null_mut(),
            compression: 0,
            rdma: 0,
            usage: 0,
            reserved: [0; 4],
        }
    }
}

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    location: Location,
    flags: c_int,
}

impl Access {
    const READ_AND_WRITE: c_int = 3;

    /// All of it, for a device.
    pub(super) fn of(device: c_int) -> Self {
        Self { location: Location::device(device), flags: Self::READ_AND_WRITE }
    }
}

const LIBRARY: &str = "libcuda.so.1";

macro_rules! table {
    ($($field:ident = $name:literal: fn($($argument:ty),*);)*) => {
        /// Its functions, by the names they have in the library.
        #[derive(Debug)]
        pub(super) struct Functions {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> Code,)*
        }

        impl Functions {
            fn from_library(library: &Library) -> Result<Self, DriverError> {
                Ok(Self {
                    $($field: {
                        // SAFETY: requires the type of the function of that name; holds, it is that of the driver's header.
                        let found = unsafe { library.get($name.to_bytes_with_nul()) };
                        *found.map_err(|_| DriverError::Lacks($name))?
                    },)*
                })
            }
        }
    };
}

table! {
    init = c"cuInit": fn(c_uint);
    device_count = c"cuDeviceGetCount": fn(*mut c_int);
    device = c"cuDeviceGet": fn(*mut c_int, c_int);
    device_memory = c"cuDeviceTotalMem_v2": fn(*mut usize, c_int);
    device_name = c"cuDeviceGetName": fn(*mut c_char, c_int, c_int);
    retain = c"cuDevicePrimaryCtxRetain": fn(*mut Context, c_int);
    push = c"cuCtxPushCurrent_v2": fn(Context);
    pop = c"cuCtxPopCurrent_v2": fn(*mut Context);
    info = c"cuMemGetInfo_v2": fn(*mut usize, *mut usize);
    granularity = c"cuMemGetAllocationGranularity": fn(*mut usize, *const Property, c_int);
    reserve = c"cuMemAddressReserve": fn(*mut Address, usize, usize, Address, u64);
    create = c"cuMemCreate": fn(*mut u64, usize, *const Property, u64);
    map = c"cuMemMap": fn(Address, usize, usize, u64, u64);
    set_access = c"cuMemSetAccess": fn(Address, usize, *const Access, usize);
    release = c"cuMemRelease": fn(u64);
    unmap = c"cuMemUnmap": fn(Address, usize);
    copy = c"cuMemcpyAsync": fn(Address, Address, usize, Stream);
    fill = c"cuMemsetD8Async": fn(Address, u8, usize, Stream);
    fill_words = c"cuMemsetD32Async": fn(Address, c_uint, usize, Stream);
    synchronize = c"cuStreamSynchronize": fn(Stream);
    pin = c"cuMemHostRegister_v2": fn(*mut c_void, usize, c_uint);
    unpin = c"cuMemHostUnregister": fn(*mut c_void);
}

impl Functions {
    /// The driver of this process, which stays loaded.
    pub(super) fn open() -> Result<Self, DriverError> {
        // SAFETY: requires that the driver's initialisers may run; holds as it was asked for.
        let library = unsafe { Library::new(LIBRARY) };
        let library = library.map_err(|error| DriverError::Missing(error.to_string()))?;
        let functions = Self::from_library(&library)?;
        mem::forget(library);
        Ok(functions)
    }
}
