//! What was not freed when the process ends, listed where the environment asks for it.

use crate::config::Leaks;
use crate::report::report;
use crate::{fork, runtime};

/// How many are listed.
const LISTED: usize = 100;

/// Exit status of a process with leaks under `SOFT_ROCM_LEAKS=fail`.
const STATUS: libc::c_int = 23;

/// Runs after the handlers and destructors that programs and other libraries have for the end of the process.
extern "C" fn at_exit() {
    // A forked child has a copy of the table and nothing of what is in it.
    let Some(runtime) = runtime::started().filter(|_| !fork::is_child()) else { return };
    if runtime.leaks() == Leaks::Ignored {
        return;
    }
    let Some(memory) = runtime.memory() else { return };
    let live = memory.live();
    if live.is_empty() {
        return;
    }
    let bytes: usize = live.iter().map(|allocation| allocation.len).sum();
    report(format_args!("{} allocations not freed, {bytes} bytes in all", live.len()));
    for allocation in live.iter().take(LISTED) {
        report(format_args!("  {allocation}"));
    }
    if live.len() > LISTED {
        report(format_args!("  and {} more", live.len() - LISTED));
    }
    if runtime.leaks() == Leaks::Fatal {
        // What exit would have done after this.
        // SAFETY: requires nothing of the streams: NULL stands for all of them.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        // SAFETY: requires nothing.
        unsafe { libc::_exit(STATUS) };
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;
