//! A loaded library.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{mem, ptr};

/// A library that is loaded in this process, and stays so: GPU runtimes do not survive being unloaded.
///
/// ```
/// // SAFETY: requires that the library's initialisers may run; the C library's have.
/// let libc = unsafe { rocm_loader::open_path("libc.so.6".as_ref()) }?;
/// // SAFETY: requires the type of the symbol; it is that of C's abs.
/// let abs: unsafe extern "C" fn(i32) -> i32 = unsafe { libc.symbol(c"abs") }.expect("C has abs");
/// // SAFETY: requires an argument other than i32::MIN.
/// assert_eq!(unsafe { abs(-5) }, 5);
/// assert_eq!(libc.path().unwrap_or_default().file_name(), Some("libc.so.6".as_ref()));
/// # Ok::<(), rocm_loader::LoadError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Library {
    handle: *mut c_void,
}

// SAFETY: requires that the handle may be used from any thread; holds because dlsym and dlinfo are thread-safe and the
// library is never closed.
unsafe impl Send for Library {}
// SAFETY: as for Send.
unsafe impl Sync for Library {}

impl Library {
    /// Keeps a handle from dlopen for ever.
    pub(crate) fn leak(library: libloading::os::unix::Library) -> Self {
        Self { handle: library.into_raw() }
    }

    /// Everything that code linked into the same program or library as this crate can refer to, as a place to look
    /// symbols up in.
    ///
    /// ```
    /// use rocm_loader::Library;
    ///
    /// // SAFETY: requires a type that fits the symbol; nothing is done with the address.
    /// let malloc: Option<*const ()> = unsafe { Library::process().symbol(c"malloc") };
    /// assert!(malloc.is_some());
    /// ```
    #[must_use]
    pub fn process() -> Self {
        Self { handle: libc::RTLD_DEFAULT }
    }

    /// The address of a function or variable, as a value of the pointer type `T`; none if the library has no such symbol.
    ///
    /// The sizes are compared when the call is compiled.
    ///
    /// # Safety
    ///
    /// `T` is a function pointer or raw pointer type that fits the symbol.
    #[must_use]
    pub unsafe fn symbol<T: Copy>(&self, name: &CStr) -> Option<T> {
        const { assert!(size_of::<T>() == size_of::<*mut c_void>(), "T is not a pointer") };
        // SAFETY: requires an open handle or RTLD_DEFAULT, and a C string; holds because no handle is closed.
        let address = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        if address.is_null() {
            return None;
        }
        // SAFETY: requires two types of one size and a valid value; holds by the assertion above, and because the caller
        // promises that a pointer to the symbol is a T.
        Some(unsafe { mem::transmute_copy(&address) })
    }

    /// The file the library was loaded from, as the loader knows it; none for [`Library::process`].
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        if self.handle == libc::RTLD_DEFAULT {
            return None;
        }
        let mut map: *const LinkMap = ptr::null();
        // SAFETY: requires an open handle and room for the pointer this request stores; holds by construction.
        let status = unsafe { dlinfo(self.handle, RTLD_DI_LINKMAP, (&raw mut map).cast()) };
        if status != 0 || map.is_null() {
            return None;
        }
        // SAFETY: requires the loader's record of a loaded library; holds because dlinfo succeeded and none is unloaded.
        let name = unsafe { (*map).name };
        path_from(name)
    }
}

/// The file of the library (or program) that holds the code or data at `address`; none if there is none.
///
/// ```
/// let path = rocm_loader::library_of(std::process::abort as *const ()).expect("code is in a file");
/// assert_eq!(path.file_name(), std::env::current_exe()?.file_name());
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub fn library_of(address: *const ()) -> Option<PathBuf> {
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: requires room for the answer; any address may be asked about.
    let found = unsafe { libc::dladdr(address.cast(), &raw mut info) };
    if found == 0 { None } else { path_from(info.dli_fname) }
}

/// A path from a C string of the loader.
fn path_from(name: *const c_char) -> Option<PathBuf> {
    if name.is_null() {
        return None;
    }
    // SAFETY: requires a C string that lives during the call; holds because the loader keeps it with the library.
    let name = unsafe { CStr::from_ptr(name) };
    (!name.is_empty()).then(|| Path::new(OsStr::from_bytes(name.to_bytes())).to_owned())
}

/// The part of the loader's record of a library that is the same everywhere.
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const c_char,
}

const RTLD_DI_LINKMAP: c_int = 2;

// The libc crate has this for glibc only; musl has it too.
unsafe extern "C" {
    fn dlinfo(handle: *mut c_void, request: c_int, info: *mut c_void) -> c_int;
}
