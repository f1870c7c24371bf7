//! The contract of libhipfile (docs/src/contract.md), row by row, on the raw C ABI of whichever library the
//! environment points to.
//!
//! Each case runs in a process of its own: the library reads its environment once and keeps its state for the life
//! of the process. Names carry the ids of the rows. At the end the rows that passed are counted for each area, and
//! what was left out is listed with the reason.

mod batches;
mod case;
mod extensions;
mod facts;
mod file;
mod hip;
mod output;
mod page;
mod report;
mod runner;
mod witness;

mod async_data;
mod async_engine;
mod async_late;
mod async_life;
mod async_submit;
mod asynchronous;
mod batch_early;
mod batch_end;
mod batch_run;
mod batch_submit;
mod buffer;
mod driver;
mod environment;
mod fallback;
mod fast;
mod file_kinds;
mod file_leave;
mod file_register;
mod hip_streams;
mod host_memory;
mod memory_kinds;
mod mounts;
mod path;
mod process;
mod queue;
mod quirks;
mod read_data;
mod read_errors;
mod read_limits;
mod releases;
mod runtime;
mod sharing;
mod software;
mod stats;
mod strings;
mod stubs;
mod threads;
mod tidiness;
mod versions;

use std::process::ExitCode;

use hipfile_tests::raw;

fn main() -> ExitCode {
    let cases: Vec<case::Case> = [
        strings::cases(),
        driver::cases(),
        file_register::cases(),
        file_kinds::cases(),
        file_leave::cases(),
        buffer::cases(),
        read_errors::cases(),
        read_data::cases(),
        read_limits::cases(),
        path::cases(),
        mounts::cases(),
        fast::cases(),
        fallback::cases(),
        releases::cases(),
        threads::cases(),
        process::cases(),
        asynchronous::cases(),
        async_submit::cases(),
        async_data::cases(),
        async_engine::cases(),
        async_late::cases(),
        async_life::cases(),
        batch_submit::cases(),
        batch_run::cases(),
        batch_end::cases(),
        batch_early::cases(),
        stubs::cases(),
        stats::cases(),
        environment::cases(),
        runtime::cases(),
        hip_streams::cases(),
        memory_kinds::cases(),
        tidiness::cases(),
        extensions::cases(),
        host_memory::cases(),
        sharing::cases(),
        software::cases(),
        versions::cases(),
        quirks::cases(),
    ]
    .into_iter()
    .flatten()
    .collect();
    match runner::case_of_this_process(&cases) {
        Some(code) => code,
        None => runner::run_all(cases),
    }
}
