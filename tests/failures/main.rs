//! Every safe entry point × every failure of HIP, of libhipfile and of the system calls below them, scripted: it is told
//! with the right kind and code, or made good for a stated reason; the thread's current device stays what it was; no
//! descriptor, allocation or registration is left behind, unless it is leaked on purpose and counted; nothing panics.
//!
//! The matrix is made from lists: entry points ([`memory`], [`streams`], [`files`], [`transfers`]), the points of the
//! software ROCm's plans and the codes of both libraries ([`script`]). What an entry point reaches is found by trying. AMD's
//! libraries have no plans; there the target says so and passes.

mod entry;
mod expected;
mod files;
mod matrix;
mod memory;
mod part;
mod script;
mod stage;
mod streams;
mod transfers;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    if let Some(part) = part::of_this_process() {
        return part.run();
    }
    let arguments = Arguments::from_args();
    let trials = part::all().into_iter().map(|part| Trial::test(part.name(), move || part.spawn()));
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
