//! Which HIP: the one already in the process, else the one beside this library, else the one ROCm's search finds.
//!
//! Where none can be loaded, whatever needs HIP fails as if HIP had answered `hipErrorNotInitialized`, and the next
//! call tries again. AMD's library can't be in that state: it is linked to HIP and does not load without.

use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use hipfile_sys::hipErrorNotInitialized;
use rocm_loader::Library;

use super::{HIP_6, Hip, Streams};
use crate::failure::Failure;

const STEM: &str = "libamdhip64.so";

/// Versions of the HIP interface whose functions have the types of the table, newest first.
const VERSIONS: [&str; 3] = ["7", "6", "5"];

/// The HIP of this process, loaded by the first call that needs it.
///
/// # Errors
///
/// `hipErrorNotInitialized` if there is no HIP to load.
#[inline]
pub(crate) fn get() -> Result<&'static Hip, Failure> {
    static HIP: OnceLock<Hip> = OnceLock::new();
    if let Some(hip) = HIP.get() { Ok(hip) } else { load(&HIP) }
}

#[cold]
fn load(place: &'static OnceLock<Hip>) -> Result<&'static Hip, Failure> {
    static LOADING: Mutex<()> = Mutex::new(());
    let _alone = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(hip) = place.get() {
        return Ok(hip);
    }
    let hip = find().ok_or(Failure::Hip(hipErrorNotInitialized))?;
    Ok(place.get_or_init(|| hip))
}

fn find() -> Option<Hip> {
    let library = rocm_loader::loaded(STEM, &VERSIONS).or_else(beside).or_else(|| {
        // SAFETY: requires that HIP's initialisers may run; whoever does GPU I/O wants HIP.
        unsafe { rocm_loader::open(STEM, &VERSIONS) }.ok()
    })?;
    Hip::from_library(&library)
}

/// The HIP in the folder that this library was loaded from.
fn beside() -> Option<Library> {
    let this = rocm_loader::library_of(beside as *const ())?;
    in_folder(this.parent()?)
}

fn in_folder(folder: &Path) -> Option<Library> {
    let names = VERSIONS.iter().map(|version| format!("{STEM}.{version}")).chain([STEM.to_owned()]);
    names.map(|name| folder.join(name)).filter(|path| path.exists()).find_map(|path| {
        // SAFETY: requires that HIP's initialisers may run; whoever does GPU I/O wants HIP.
        unsafe { rocm_loader::open_path(&path) }.ok()
    })
}

impl Hip {
    /// Fills the table; `None` if one of the functions is missing without which nothing works.
    fn from_library(library: &Library) -> Option<Self> {
        // SAFETY: requires, of each line, the type that HIP's header gives the function of that name; holds, the
        // fields of the tables are written from it.
        macro_rules! symbol {
            ($name:literal) => {
                // SAFETY: as above.
                unsafe { library.symbol($name) }
            };
        }
        let mut hip = Self {
            pointer_get_attributes: symbol!(c"hipPointerGetAttributes")?,
            mem_get_address_range: symbol!(c"hipMemGetAddressRange")?,
            memcpy: symbol!(c"hipMemcpy")?,
            stream_synchronize: symbol!(c"hipStreamSynchronize")?,
            init: symbol!(c"hipInit"),
            get_device: symbol!(c"hipGetDevice"),
            set_device: symbol!(c"hipSetDevice"),
            stream_get_device: symbol!(c"hipStreamGetDevice"),
            runtime_get_version: symbol!(c"hipRuntimeGetVersion"),
            get_proc_address: symbol!(c"hipGetProcAddress"),
            host_address: symbol!(c"softrocm_host_address"),
            file_transfer: symbol!(c"softrocm_file_transfer"),
            streams: Streams {
                launch_host_func: symbol!(c"hipLaunchHostFunc"),
                launch_concurrent: symbol!(c"softrocm_launch_concurrent"),
                memcpy_with_stream: symbol!(c"hipMemcpyWithStream"),
                create_with_flags: symbol!(c"hipStreamCreateWithFlags"),
                destroy: symbol!(c"hipStreamDestroy"),
                host_malloc: symbol!(c"hipHostMalloc"),
                host_free: symbol!(c"hipHostFree"),
            },
            device_memory: 2,
            ais: OnceLock::new(),
        };
        if (1..HIP_6).contains(&hip.version()) {
            hip.device_memory = 1;
        }
        Some(hip)
    }
}
