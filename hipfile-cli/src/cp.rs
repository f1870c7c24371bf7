//! `hipfile cp`: copies files, between storage and GPU directly where that is possible.
//!
//! ```text
//!   Args ──► targets: which file becomes which ──► copier: one file after the other
//!                                                    │
//!             extents  what holds data, what is a hole, what direct I/O takes
//!             route    through GPU memory, or through host memory, and why
//!             pool     lanes with memory of their own, which claim chunks  ──► progress
//!             keep     mode, times and owner
//!                                                    │
//!             Replacement::commit: synced, then named ──► report
//! ```
//!
//! The destination has its old content, or none, until all of the new is on the storage device. A failure or a signal before
//! that removes what was written.

mod copier;
mod extents;
mod keep;
mod lane;
mod pool;
mod report;
mod route;
mod span;
mod system;
mod targets;
mod zeros;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::Outcome;
use crate::failure::{FAILED, Failure, USAGE};
use crate::output::Output;
use crate::runtime::Choice;
use crate::signals;
use crate::size::Size;
use copier::Copier;
use report::{Copy, Report};
use targets::Targets;

/// Copy files, directly between storage and GPU where both files can; a copy gets its name when it is complete and on disk
#[derive(Debug, clap::Args)]
#[command(override_usage = "hipfile cp [OPTIONS] <SRC>... <DST>")]
pub struct Args {
    /// The files to copy, not folders; last the copy's name, or the folder that gets the copies
    // One list, since clap takes names that begin with a dash for options in the first of two lists, after `--` too.
    #[arg(value_names = ["SRC", "DST"], num_args = 2.., required = true)]
    paths: Vec<PathBuf>,
    /// Keep mode, times and, where permitted, owner and group
    #[arg(short, long)]
    preserve: bool,
    /// Compare each copy, read back from storage, with its source before it gets its name
    #[arg(long)]
    verify: bool,
    /// Whether files go through GPU memory
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    direct: Direct,
    /// Memory for all jobs together
    #[arg(long, value_name = "SIZE", default_value = "32M", allow_hyphen_values = true)]
    buffer: Size,
    /// How many chunks are under way at once, each in its share of the buffer
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u16).range(1..=128))]
    jobs: u16,
    /// Which zeros become holes
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    sparse: Sparse,
}

/// Whether files go through GPU memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Direct {
    /// If libhipfile's rules give both files the fast path; else through host memory. What is in the page cache is read there
    #[default]
    Auto,
    /// On the fast path, or not at all
    Always,
    /// Through host memory
    Never,
}

/// Which zeros become holes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Sparse {
    /// Holes of the source
    #[default]
    Auto,
    /// Holes of the source, and every block of zeros
    Always,
    /// None: holes are filled
    Never,
}

/// What a chunk is a multiple of.
const UNIT: u64 = 64 << 10;

/// The most that one call of the library transfers, in whole units.
const MOST: u64 = 0x7fff_0000;

impl Args {
    /// Bytes that one job has under way.
    fn chunk(&self) -> Result<usize, Failure> {
        let Self { buffer, jobs, .. } = self;
        let share = (buffer.0 / u64::from(*jobs)).min(MOST);
        let chunk = share - share % UNIT;
        if chunk == 0 {
            let failure = Failure::new(format!("a buffer of {buffer} is too small for {jobs} jobs"));
            return Err(failure.advice(format!("each takes {} at least", Size(UNIT))).code(2));
        }
        Ok(usize::try_from(chunk).unwrap_or(usize::MAX))
    }
}

/// The subcommand.
pub fn run(args: &Args, rocm: &Choice, output: &Output) -> Outcome {
    let chunk = args.chunk()?;
    let Some((destination, sources)) = args.paths.split_last() else {
        return Err(Failure::new("there are no files to copy").code(USAGE));
    };
    let mut targets = Targets::new(destination, sources.len())?;
    signals::catch();
    if args.direct == Direct::Always {
        system::forbid_fallback();
    }
    rocm.load(output)?;
    let mut copier = Copier::new(args, chunk, output)?;
    let mut report = Report::default();
    // What can't be told is no reason to leave files out: they are copied all the same.
    let mut told = Ok(());
    for source in sources {
        if signals::caught().is_some() {
            break;
        }
        let destination = targets.of(source);
        let result = targets.admit(source, &destination).and_then(|()| copier.copy(source, &destination));
        if let Err(failure) = &result {
            output.error(failure);
        }
        let copy = Copy::new(source, destination, result);
        told = told.and_then(|()| copy.print(output));
        report.add(copy);
    }
    let told = told.and_then(|()| report.print(output)).map_err(Failure::from);
    let told = told.and_then(|()| output.document(&report));
    if let Some(signal) = signals::caught() {
        signals::end_by(signal);
    }
    told?;
    Ok(if report.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}
