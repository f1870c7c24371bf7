//! The five functions of AMD's statistics tool, which no header declares: they look at another process's statistics.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use soft_rocm_faults::{point, sys};

use crate::abi;
use crate::stats::Remote;

const OK: c_int = 0;
const INVALID_ARGUMENT: c_int = 1;
const NOT_FOUND: c_int = 2;
const NOT_ACCESSIBLE: c_int = 3;
const FAILED: c_int = 4;

/// A process under observation.
struct Context {
    /// A descriptor that becomes readable when the process ends.
    process: OwnedFd,
    pid: c_int,
    /// Its statistics, once it was asked for them. They can be read after its end.
    statistics: Mutex<Option<Remote>>,
}

impl Context {
    fn statistics(&self) -> MutexGuard<'_, Option<Remote>> {
        self.statistics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipFileStatsCreateContext(context: *mut *mut c_void, pid: c_int) -> c_int {
    abi::value(point::hipFileStatsCreateContext, FAILED, || {
        if context.is_null() || pid <= 0 {
            return INVALID_ARGUMENT;
        }
        let fd = sys::pidfd_open(pid);
        if fd < 0 {
            return NOT_FOUND;
        }
        // SAFETY: requires an open descriptor that nobody else owns; holds, it was just opened.
        let process = unsafe { OwnedFd::from_raw_fd(fd) };
        let made = Box::into_raw(Box::new(Context { process, pid, statistics: Mutex::new(None) }));
        // SAFETY: requires a writable pointer; the caller gives one, and it is not null.
        unsafe { context.write(made.cast()) };
        OK
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipFileStatsCloseContext(context: *mut c_void) {
    abi::silent(point::hipFileStatsCloseContext, || {
        if !context.is_null() {
            // SAFETY: requires a context that is closed once; the caller gives one.
            drop(unsafe { Box::from_raw(context.cast::<Context>()) });
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipFileStatsConnectToTargetProcess(context: *mut c_void) -> c_int {
    abi::value(point::hipFileStatsConnectToTargetProcess, FAILED, || {
        if context.is_null() {
            return INVALID_ARGUMENT;
        }
        // SAFETY: requires a context that is not closed; the caller gives one.
        let context = unsafe { &*context.cast::<Context>() };
        match Remote::connect(context.pid) {
            Ok(remote) => {
                *context.statistics() = Some(remote);
                OK
            }
            Err(_) => NOT_ACCESSIBLE,
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipFileStatsPollTargetProcess(context: *mut c_void, block: bool) -> c_int {
    abi::value(point::hipFileStatsPollTargetProcess, FAILED, || {
        if context.is_null() {
            return INVALID_ARGUMENT;
        }
        // SAFETY: requires a context that is not closed; the caller gives one.
        let context = unsafe { &*context.cast::<Context>() };
        let entry = libc::pollfd { fd: context.process.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let ready = sys::poll(&mut [entry], if block { -1 } else { 0 });
        if ready == 1 { OK } else { NOT_ACCESSIBLE }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipFileStatsGenerateReport(context: *mut c_void, fd: c_int) -> c_int {
    abi::value(point::hipFileStatsGenerateReport, FAILED, || {
        if context.is_null() || fd < 0 {
            return INVALID_ARGUMENT;
        }
        // SAFETY: requires a context that is not closed; the caller gives one.
        let context = unsafe { &*context.cast::<Context>() };
        let Some(report) = context.statistics().as_ref().map(Remote::report) else { return FAILED };
        // SAFETY: requires an open descriptor; the caller gives one. It stays the caller's.
        let mut out = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
        if out.write_all(report.as_bytes()).is_ok() { OK } else { FAILED }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_watched_until_it_ends() {
        // HF-STATS-21
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let mut context = std::ptr::null_mut();
        // SAFETY: requires a writable pointer; holds, it is a local.
        assert_eq!(unsafe { hipFileStatsCreateContext(&mut context, child.id() as c_int) }, OK);
        // SAFETY: requires an open context, as all that follow; holds, it is closed last.
        assert_eq!(unsafe { hipFileStatsConnectToTargetProcess(context) }, NOT_ACCESSIBLE);
        // SAFETY: as above.
        assert_eq!(unsafe { hipFileStatsPollTargetProcess(context, false) }, NOT_ACCESSIBLE);
        drop(child.stdin.take());
        // SAFETY: as above.
        assert_eq!(unsafe { hipFileStatsPollTargetProcess(context, true) }, OK);
        child.wait().unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { hipFileStatsGenerateReport(context, 1) }, FAILED);
        // SAFETY: as above.
        unsafe { hipFileStatsCloseContext(context) };
    }

    #[test]
    fn bad_arguments() {
        let mut context = std::ptr::null_mut();
        // SAFETY: requires a pointer that is null or writable; holds, as in all that follow.
        assert_eq!(unsafe { hipFileStatsCreateContext(std::ptr::null_mut(), 1) }, INVALID_ARGUMENT);
        // SAFETY: as above.
        assert_eq!(unsafe { hipFileStatsCreateContext(&mut context, 0) }, INVALID_ARGUMENT);
        // SAFETY: as above.
        assert_eq!(unsafe { hipFileStatsCreateContext(&mut context, c_int::MAX) }, NOT_FOUND);
        assert!(context.is_null());
        // SAFETY: as above.
        assert_eq!(unsafe { hipFileStatsConnectToTargetProcess(context) }, INVALID_ARGUMENT);
        // SAFETY: as above.
        assert_eq!(unsafe { hipFileStatsPollTargetProcess(context, false) }, INVALID_ARGUMENT);
        // SAFETY: as above.
        assert_eq!(unsafe { hipFileStatsGenerateReport(context, 1) }, INVALID_ARGUMENT);
        // SAFETY: as above.
        unsafe { hipFileStatsCloseContext(context) };
    }
}
