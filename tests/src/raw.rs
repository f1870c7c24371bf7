//! The C functions of libhipfile as plain calls: addresses and handles are numbers, results can be compared.
//!
//! The functions are safe to call from here although the library takes any pointer: cases pass device addresses,
//! which the library does not dereference, and host objects that live in the frame that calls.

#![allow(clippy::not_unsafe_ptr_arg_deref, reason = "as said above")]

use std::ffi::{CStr, c_void};
use std::ptr;

use hipfile_sys::{
    Api, hipFileDescr_t, hipFileError_t, hipFileHandle_t, hipFileHandleTypeOpaqueFD, hipFileStatsLevel1_t,
    hipFileStatsLevel2_t, hipFileStatsLevel3_t,
};

/// `err` and `hip_drv_err` of a `hipFileError_t`.
pub type Answer = (u32, u32);

/// Success.
pub const OK: Answer = (0, 0);

/// `E(n)`: a failure that is not HIP's.
pub const fn e(code: u32) -> Answer {
    (code, 0)
}

/// What a transfer returned, and `errno` where that has a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// So many bytes, or a negated code.
    Number(isize),
    /// −1 and this `errno`.
    Os(i32),
}

/// The table of the library under test.
pub fn api() -> &'static Api {
    Api::linked()
}

/// A `hipFileError_t` as numbers.
pub fn answer(error: hipFileError_t) -> Answer {
    (error.err.0, error.hip_drv_err.0)
}

macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) = $function:ident($($pass:expr),*);)*) => {
        $($(#[$doc])*
        pub fn $name($($argument: $type),*) -> Answer {
            // SAFETY: requires pointers the library may use as its contract says; holds as this module says.
            answer(unsafe { (api().$function)($($pass),*) })
        })*
    };
}

calls! {
    /// `hipFileDriverOpen`
    driver_open() = hipFileDriverOpen();
    /// `hipFileDriverClose`
    driver_close() = hipFileDriverClose();
    /// `hipFileHandleRegister` with pointers that may be NULL.
    register_at(handle: *mut hipFileHandle_t, description: *mut hipFileDescr_t) =
        hipFileHandleRegister(handle, description);
    /// `hipFileBufRegister`
    buffer_register_with(base: usize, length: usize, flags: i32) =
        hipFileBufRegister(base as *const c_void, length, flags);
    /// `hipFileBufDeregister`
    buffer_deregister(base: usize) = hipFileBufDeregister(base as *const c_void);
}

/// `hipFileBufRegister` with flags 0.
pub fn buffer_register(base: usize, length: usize) -> Answer {
    buffer_register_with(base, length, 0)
}

/// `hipFileUseCount`
pub fn count() -> i64 {
    // SAFETY: requires nothing.
    unsafe { (api().hipFileUseCount)() }
}

/// A descriptor of that fd.
pub fn description(fd: i32) -> hipFileDescr_t {
    let mut description = empty_description();
    description.type_ = hipFileHandleTypeOpaqueFD;
    description.handle.fd = fd;
    description
}

fn empty_description() -> hipFileDescr_t {
    // SAFETY: requires a type for which zero bytes are valid; holds because it has integers and pointers alone.
    unsafe { std::mem::zeroed() }
}

/// `hipFileHandleRegister` of an fd: the answer, and the handle, which is 0 where none was written.
pub fn register(fd: i32) -> (Answer, usize) {
    let mut handle = ptr::null_mut();
    let answer = register_at(&mut handle, &mut description(fd));
    (answer, handle as usize)
}

/// Registers an fd that must register.
pub fn registered(fd: i32) -> usize {
    let (answer, handle) = register(fd);
    assert_eq!(answer, OK, "hipFileHandleRegister");
    assert_ne!(handle, 0, "the handle of a registered file");
    handle
}

/// `hipFileHandleDeregister`
pub fn deregister(handle: usize) {
    // SAFETY: requires nothing; any value that is no handle is ignored.
    unsafe { (api().hipFileHandleDeregister)(handle as hipFileHandle_t) }
}

/// `hipFileRead`, with `errno` 0 before.
pub fn read(handle: usize, base: usize, size: usize, file_offset: i64, buffer_offset: i64) -> Moved {
    set_errno(0);
    moved(read_raw(handle, base, size, file_offset, buffer_offset))
}

/// `hipFileRead` as it is.
pub fn read_raw(handle: usize, base: usize, size: usize, file_offset: i64, buffer_offset: i64) -> isize {
    let base = base as *mut c_void;
    // SAFETY: requires a device address or none; the library refuses what it is not.
    unsafe { (api().hipFileRead)(handle as hipFileHandle_t, base, size, file_offset, buffer_offset) }
}

/// `hipFileWrite`, with `errno` 0 before.
pub fn write(handle: usize, base: usize, size: usize, file_offset: i64, buffer_offset: i64) -> Moved {
    set_errno(0);
    moved(write_raw(handle, base, size, file_offset, buffer_offset))
}

/// `hipFileWrite` as it is.
pub fn write_raw(handle: usize, base: usize, size: usize, file_offset: i64, buffer_offset: i64) -> isize {
    let base = base as *const c_void;
    // SAFETY: requires a device address or none; the library refuses what it is not.
    unsafe { (api().hipFileWrite)(handle as hipFileHandle_t, base, size, file_offset, buffer_offset) }
}

fn moved(result: isize) -> Moved {
    match (result, errno()) {
        (-1, errno) if errno != 0 => Moved::Os(errno),
        _ => Moved::Number(result),
    }
}

/// `errno` of this thread.
pub fn errno() -> i32 {
    // SAFETY: requires nothing.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: requires a readable int; holds because it is this thread's errno.
    unsafe { *place }
}

/// Sets `errno` of this thread.
pub fn set_errno(value: i32) {
    // SAFETY: requires nothing.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: requires a writable int; holds because it is this thread's errno.
    unsafe { *place = value }
}

/// `hipFileGetVersion`
pub fn version() -> (u32, u32, u32) {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: requires pointers to integers or NULL; holds because they point to three of our own.
    let error = unsafe { (api().hipFileGetVersion)(&mut major, &mut minor, &mut patch) };
    assert_eq!(answer(error), OK);
    (major, minor, patch)
}

/// `hipFileGetOpErrorString`: the text and the address it stands at.
pub fn string(code: u32) -> (&'static str, usize) {
    // SAFETY: requires nothing; the function is a look-up.
    let text = unsafe { (api().hipFileGetOpErrorString)(hipfile_sys::hipFileOpError_t(code)) };
    assert!(!text.is_null(), "the string of {code}");
    // SAFETY: requires a terminated string that stays; holds because the library's strings are static.
    let string = unsafe { CStr::from_ptr(text) };
    (string.to_str().expect("ASCII"), text as usize)
}

macro_rules! stats {
    ($($name:ident($level:ty) = $function:ident;)*) => {
        $(/// The statistics of that level, asked for into memory full of ones.
        pub fn $name() -> $level {
            let mut level = std::mem::MaybeUninit::<$level>::uninit();
            // SAFETY: requires room for one value; holds because it is one.
            unsafe { ptr::write_bytes(level.as_mut_ptr(), 0xff, 1) };
            let function = api().$function.expect("the library has statistics");
            // SAFETY: requires room for one value; holds because it is one.
            assert_eq!(answer(unsafe { function(level.as_mut_ptr()) }), OK);
            // SAFETY: requires an initialised value; holds because all its bytes were set above.
            unsafe { level.assume_init() }
        })*
    };
}

stats! {
    stats1(hipFileStatsLevel1_t) = hipFileGetStatsL1;
    stats2(hipFileStatsLevel2_t) = hipFileGetStatsL2;
    stats3(hipFileStatsLevel3_t) = hipFileGetStatsL3;
}

/// The three statistics functions with NULL.
pub fn stats_of_null() -> [Answer; 3] {
    let (one, two, three) = (api().hipFileGetStatsL1, api().hipFileGetStatsL2, api().hipFileGetStatsL3);
    // SAFETY: requires room for one value or NULL.
    let one = unsafe { one.expect("level 1")(ptr::null_mut()) };
    // SAFETY: requires room for one value or NULL.
    let two = unsafe { two.expect("level 2")(ptr::null_mut()) };
    // SAFETY: requires room for one value or NULL.
    let three = unsafe { three.expect("level 3")(ptr::null_mut()) };
    [one, two, three].map(answer)
}

/// Whether the library has the statistics of 0.5. The software one has the functions even where it is an older one.
pub fn has_stats() -> bool {
    api().hipFileGetStatsL3.is_some() && version() >= (0, 5, 0)
}

/// Whether the library is the software one: AMD's brings libmount into the process.
pub fn is_software() -> bool {
    // SAFETY: requires a terminated name; holds because it is a literal.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"mnt_new_context".as_ptr()) }.is_null()
}

/// Values that are no handle where `handle` is the only one.
pub fn unknown_handles(handle: usize) -> impl Iterator<Item = usize> {
    let values = [0, 1, 8, 0x1000, handle + 1, handle.wrapping_sub(1), handle ^ 0x5a5a_5a00, usize::MAX];
    values.into_iter().filter(move |value| *value != handle)
}

/// The file the library was loaded from.
pub fn library_path() -> String {
    // SAFETY: requires a type for which zero bytes are valid; holds because it has pointers alone.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: requires room for the answer; holds because it is ours.
    let found = unsafe { libc::dladdr(api().hipFileRead as *const c_void, &mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return "an unknown place".into();
    }
    // SAFETY: requires a terminated string; holds because dladdr found a library.
    unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned()
}
