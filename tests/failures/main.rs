//! Every safe entry point × every failure of HIP, of libhipfile and of the system calls below them, scripted: it is told
//! with the right kind and code, or made good for a stated reason; the thread's current device stays what it was; no
//! descriptor, allocation or registration is left behind, unless it is leaked on purpose and counted; nothing panics.
//!
//! The matrix is made from lists: entry points ([`part`] has them by group), the points of the software ROCm's plans and the
//! codes of both libraries ([`script`]), and system calls of our own ([`system`]). What an entry point reaches in the libraries
//! is counted. AMD's libraries have no plans; there the target says so and passes. That no entry point is forgotten is checked
//! with any library ([`complete`]).

mod complete;
mod direct;
mod entry;
mod expected;
mod files;
mod matrix;
mod memory;
mod on_streams;
mod part;
mod registrations;
mod script;
mod settings;
mod stage;
mod streams;
mod system;
mod transfers;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    if let Some(part) = part::of_this_process() {
        return part.run();
    }
    let arguments = Arguments::from_args();
    let parts = part::all().into_iter().map(|part| Trial::test(part.name(), move || part.spawn()));
    let complete = Trial::test("every public function that can fail has a row", complete::check);
    libtest_mimic::run(&arguments, parts.chain([complete]).collect()).exit_code()
}
