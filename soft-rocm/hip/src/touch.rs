//! Host code that touches device memory: with `SOFT_ROCM_STRICT=abort` the fault is explained before it takes its course.
//!
//! The handler puts back what was installed before it and returns. The access is made again, faults again, and whoever
//! handled faults before deals with it: as a rule the process dies of SIGSEGV.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

use crate::memory::Verdict;
use crate::misuse::Wrong;
use crate::report::report;
use crate::{fork, runtime};

/// What was installed before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Installs the handler.
pub(crate) fn watch() {
    let mut before = MaybeUninit::zeroed();
    // SAFETY: requires a writable place; holds, it is a local.
    if unsafe { libc::sigaction(libc::SIGSEGV, ptr::null(), before.as_mut_ptr()) } != 0 {
        return;
    }
    // SAFETY: requires a value; holds, the call stored one.
    if BEFORE.set(unsafe { before.assume_init() }).is_err() {
        return;
    }
    let action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: requires that zeros are a value of each field; holds for numbers and addresses.
    let mut action = unsafe { action.assume_init() };
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_fault;
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: requires a handler that does nothing a signal handler must not do; holds, see there.
    unsafe { libc::sigaction(libc::SIGSEGV, &action, ptr::null_mut()) };
}

/// Allocates nothing. The lock it takes is never held by code that touches the program's addresses of device memory, so
/// the thread that faulted there does not hold it.
extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    if let Some(before) = BEFORE.get() {
        // SAFETY: requires an action that may be installed; holds, it was.
        unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
    }
    // SAFETY: requires what the system hands to a handler of this kind; holds.
    let info = unsafe { &*info };
    let is_sent_by_a_program = info.si_code <= 0;
    if is_sent_by_a_program {
        // Nothing would fault again. It arrives once this handler has returned.
        // SAFETY: requires nothing.
        unsafe { libc::raise(signal) };
        return;
    }
    // SAFETY: requires the information of a fault; holds for what no program sent.
    let start = unsafe { info.si_addr() }.addr();
    // A forked child has no device memory, and must not wait for locks.
    let started = runtime::started().filter(|_| !fork::is_child());
    let Some(memory) = started.and_then(|runtime| runtime.memory()) else { return };
    if !memory.touches_device(start, 1) {
        return;
    }
    match memory.judge_use(start, 1) {
        Verdict::Fine => report(format_args!(
            "host code touches {start:#x}, which is {}; copy it with hipMemcpy",
            memory.find(start).unwrap_or(crate::allocation::Allocation::NONE)
        )),
        verdict => {
            let wrong = Wrong { start, len: Some(1), verdict };
            report(format_args!("host code touches device memory: {wrong}"));
        }
    }
}
