//! A libhipfile whose answers tests decide: the linked one behind a function table of our own.
//!
//! It stands where the safe crate looks, in `hipfile_sys::api`, so [`install`] has to come before anything else in the
//! process. Whatever no test has decided goes on to the linked library.

pub mod batches;
pub mod settings;
pub mod streams;

use std::ffi::{c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use hipfile::sys::*;

/// The functions that are wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Function {
    Open,
    Close,
    RegisterFile,
    DeregisterFile,
    RegisterMemory,
    DeregisterMemory,
    Read,
    Write,
    ReadAsync,
    WriteAsync,
    RegisterStream,
    DeregisterStream,
    BatchSetUp,
    BatchSubmit,
    BatchStatus,
    BatchCancel,
    BatchDestroy,
    /// Properties, setters and parameters together.
    Settings,
}

const COUNT: usize = Function::Settings as usize + 1;

static CALLS: [AtomicU64; COUNT] = [const { AtomicU64::new(0) }; COUNT];
static ANSWERS: Mutex<[Option<(u32, u32)>; COUNT]> = Mutex::new([None; COUNT]);

/// A transfer as the library is asked for it.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub size: usize,
    pub file_offset: i64,
    pub buffer_offset: i64,
}

/// What becomes of a transfer.
#[derive(Clone, Copy, Debug)]
pub enum Reply {
    /// The linked library transfers so many bytes, at most as many as asked for.
    Short(usize),
    /// The library returns this number and sets `errno`; nothing moves.
    Returns(isize, c_int),
    /// The library returns this number and leaves `errno`; nothing moves.
    LeavesErrno(isize),
}

type Decide = Box<dyn FnMut(Asked) -> Reply + Send>;
static TRANSFERS: Mutex<Option<Decide>> = Mutex::new(None);

/// What the last registration of a file was described by.
pub static DESCRIPTION: Mutex<[u8; 24]> = Mutex::new([0; 24]);

/// Which descriptors were open when their handle was deregistered: number of the fd, whether it was open.
pub static DEREGISTERED: Mutex<Vec<(i32, bool)>> = Mutex::new(Vec::new());
static NUMBERS: Mutex<Vec<(usize, i32)>> = Mutex::new(Vec::new());

/// How often a function was called.
pub fn calls(function: Function) -> u64 {
    CALLS[function as usize].load(Ordering::SeqCst)
}

/// From now on the function answers this and does nothing. 0 and 0 say success.
pub fn answer(function: Function, err: u32, hip: u32) {
    ANSWERS.lock().unwrap()[function as usize] = Some((err, hip));
}

/// From now on the function is the linked library's again.
pub fn honest(function: Function) {
    ANSWERS.lock().unwrap()[function as usize] = None;
}

/// From now on `decide` says what becomes of reads and writes.
pub fn transfers(decide: impl FnMut(Asked) -> Reply + Send + 'static) {
    *TRANSFERS.lock().unwrap() = Some(Box::new(decide));
}

/// Makes this the library of the process.
pub fn install() {
    let table = Api {
        hipFileDriverOpen: open,
        hipFileDriverClose: close,
        hipFileHandleRegister: register_file,
        hipFileHandleDeregister: deregister_file,
        hipFileBufRegister: register_memory,
        hipFileBufDeregister: deregister_memory,
        hipFileRead: read,
        hipFileWrite: write,
        hipFileReadAsync: streams::read,
        hipFileWriteAsync: streams::write,
        hipFileStreamRegister: streams::register,
        hipFileStreamDeregister: streams::deregister,
        hipFileBatchIOSetUp: batches::set_up,
        hipFileBatchIOSubmit: batches::submit,
        hipFileBatchIOGetStatus: batches::status,
        hipFileBatchIOCancel: batches::cancel,
        hipFileBatchIODestroy: batches::destroy,
        hipFileDriverGetProperties: settings::properties,
        hipFileDriverSetPollMode: settings::poll_mode,
        hipFileDriverSetMaxDirectIOSize: settings::limit,
        hipFileDriverSetMaxCacheSize: settings::limit,
        hipFileDriverSetMaxPinnedMemSize: settings::limit,
        hipFileGetParameterSizeT: settings::size,
        hipFileGetParameterBool: settings::flag,
        hipFileGetParameterString: settings::text,
        hipFileSetParameterSizeT: settings::set_size,
        hipFileSetParameterBool: settings::set_flag,
        hipFileSetParameterString: settings::set_text,
        ..*Api::linked()
    };
    hipfile::sys::api::set(Box::leak(Box::new(table))).expect("nothing used the library before");
}

/// Counts a call, and gives the answer that a test decided.
fn decided(function: Function) -> Option<hipFileError_t> {
    CALLS[function as usize].fetch_add(1, Ordering::SeqCst);
    let (err, hip) = ANSWERS.lock().unwrap()[function as usize]?;
    Some(coded(err, hip))
}

/// The answer with these codes; 0 and 0 say success.
fn coded(err: u32, hip: u32) -> hipFileError_t {
    hipFileError_t { err: hipFileOpError_t(err), hip_drv_err: hipError_t(hip) }
}

extern "C" fn open() -> hipFileError_t {
    // SAFETY: requires nothing.
    decided(Function::Open).unwrap_or_else(|| unsafe { (Api::linked().hipFileDriverOpen)() })
}

extern "C" fn close() -> hipFileError_t {
    // SAFETY: requires nothing.
    decided(Function::Close).unwrap_or_else(|| unsafe { (Api::linked().hipFileDriverClose)() })
}

unsafe extern "C" fn register_file(fh: *mut hipFileHandle_t, descr: *mut hipFileDescr_t) -> hipFileError_t {
    // SAFETY: requires a descriptor of 24 bytes; holds because the caller passes one.
    *DESCRIPTION.lock().unwrap() = unsafe { descr.cast::<[u8; 24]>().read() };
    if let Some(answer) = decided(Function::RegisterFile) {
        return answer;
    }
    // SAFETY: requires what the caller was required.
    let answer = unsafe { (Api::linked().hipFileHandleRegister)(fh, descr) };
    if answer.err == hipFileSuccess {
        // SAFETY: requires a handle; holds because registration succeeded.
        let handle = unsafe { *fh };
        // SAFETY: requires a descriptor; holds because registration succeeded.
        let description = unsafe { descr.read() };
        // SAFETY: requires that the fd is what was stored; holds because the type is that of descriptors.
        NUMBERS.lock().unwrap().push((handle.addr(), unsafe { description.handle.fd }));
    }
    answer
}

unsafe extern "C" fn deregister_file(fh: hipFileHandle_t) {
    if decided(Function::DeregisterFile).is_some() {
        return;
    }
    let mut numbers = NUMBERS.lock().unwrap();
    if let Some(index) = numbers.iter().position(|(handle, _)| *handle == fh.addr()) {
        let (_, fd) = numbers.swap_remove(index);
        // SAFETY: requires nothing; a closed descriptor is an error.
        let is_open = unsafe { libc::fcntl(fd, libc::F_GETFD) } >= 0;
        DEREGISTERED.lock().unwrap().push((fd, is_open));
    }
    // SAFETY: requires what the caller was required.
    unsafe { (Api::linked().hipFileHandleDeregister)(fh) }
}

unsafe extern "C" fn register_memory(base: *const c_void, length: usize, flags: c_int) -> hipFileError_t {
    decided(Function::RegisterMemory)
        // SAFETY: requires what the caller was required.
        .unwrap_or_else(|| unsafe { (Api::linked().hipFileBufRegister)(base, length, flags) })
}

unsafe extern "C" fn deregister_memory(base: *const c_void) -> hipFileError_t {
    decided(Function::DeregisterMemory)
        // SAFETY: requires what the caller was required.
        .unwrap_or_else(|| unsafe { (Api::linked().hipFileBufDeregister)(base) })
}

/// What becomes of a transfer: how many bytes to move, or what to return.
fn reply(function: Function, asked: Asked) -> Result<usize, isize> {
    CALLS[function as usize].fetch_add(1, Ordering::SeqCst);
    match TRANSFERS.lock().unwrap().as_mut().map(|decide| decide(asked)) {
        None => Ok(asked.size),
        Some(Reply::Short(size)) => Ok(size.min(asked.size)),
        Some(Reply::LeavesErrno(value)) => Err(value),
        Some(Reply::Returns(value, errno)) => {
            // SAFETY: requires nothing.
            let place = unsafe { libc::__errno_location() };
            // SAFETY: requires a writable int; holds because it is this thread's errno.
            unsafe { *place = errno };
            Err(value)
        }
    }
}

unsafe extern "C" fn read(
    fh: hipFileHandle_t,
    base: *mut c_void,
    size: usize,
    file_offset: hoff_t,
    buffer_offset: hoff_t,
) -> isize {
    match reply(Function::Read, Asked { size, file_offset, buffer_offset }) {
        // SAFETY: requires what the caller was required, which holds for fewer bytes too.
        Ok(size) => unsafe { (Api::linked().hipFileRead)(fh, base, size, file_offset, buffer_offset) },
        Err(value) => value,
    }
}

unsafe extern "C" fn write(
    fh: hipFileHandle_t,
    base: *const c_void,
    size: usize,
    file_offset: hoff_t,
    buffer_offset: hoff_t,
) -> isize {
    match reply(Function::Write, Asked { size, file_offset, buffer_offset }) {
        // SAFETY: requires what the caller was required, which holds for fewer bytes too.
        Ok(size) => unsafe { (Api::linked().hipFileWrite)(fh, base, size, file_offset, buffer_offset) },
        Err(value) => value,
    }
}
