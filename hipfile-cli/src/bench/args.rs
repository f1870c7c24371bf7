//! The options of `hipfile bench`: gdsio's letters with long names beside them, then those that gdsio lacks.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;

use super::mode::Mode;
use super::operation::Operation;
use super::sweep::{Counts, Sizes};
use crate::size::Size;

/// Measure transfers between a file and a GPU: bandwidth, latencies, CPU time. Takes gdsio's letters
#[derive(Debug, clap::Args)]
#[command(override_usage = "hipfile bench [OPTIONS] <-f FILE|-D DIR>")]
#[command(after_help = "\
Examples:
  hipfile bench -f F -s 1G -i 4M -w 4 -x 0 -I 0 -V       gdsio's command line: read 1 GiB and check it
  hipfile bench -f F -s 1G --compare posix,mmap,hipfile  three ways in turn, in one table
  hipfile bench -D DIR -s 1G -i 64K:16M:x4 --plot s.svg  a sweep over block sizes, drawn")]
pub struct Args {
    /// The file; made if it is missing, and kept
    ///
    /// One that has data of others is not written without --force.
    #[arg(short, long, value_name = "FILE", required_unless_present = "directory")]
    pub file: Option<PathBuf>,
    /// A folder to make files in, one for each thread; they are removed at the end
    #[arg(short = 'D', long, value_name = "DIR", conflicts_with = "file", requires = "size")]
    pub directory: Option<PathBuf>,
    /// The GPU, by number
    #[arg(short, long, value_name = "NUMBER", default_value_t = 0)]
    pub device: u32,
    /// Threads: one number, some (1,4), or a sweep (1:16:x2)
    #[arg(short = 'w', long, value_name = "N", default_value = "1")]
    pub threads: Counts,
    /// How much of the file is used [default: up to its end]
    #[arg(short, long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Option<Size>,
    /// Bytes of one transfer: one size, some (64K,1M), or a sweep (64K:4M:x2)
    ///
    /// A sweep goes up by a factor (x2) or by a step, as in 64K:1M:64K.
    #[arg(short = 'i', long, value_name = "SIZE", default_value = "1M", allow_hyphen_values = true)]
    pub block: Sizes,
    /// Where in the file to begin
    #[arg(short, long, value_name = "SIZE", default_value = "0", allow_hyphen_values = true)]
    pub offset: Size,
    /// How the bytes go: 0 or sync, 1 or host, 2 or posix, 5 or async, 6 or batch, transfer, mmap
    ///
    /// hipFile moves them in modes sync, async (several under way on a stream), batch, and transfer (large transfers that it
    /// divides among threads). For comparison: posix reads into host memory and copies to the GPU, or the other way round; mmap
    /// copies from or to a mapping of the file; host does without a GPU.
    #[arg(short = 'x', long, value_name = "MODE", default_value = "sync", conflicts_with = "compare")]
    pub mode: Mode,
    /// 0 or read, 1 or write, 2 or randread, 3 or randwrite (at random places)
    #[arg(short = 'I', long, value_name = "OPERATION", default_value = "read")]
    pub operation: Operation,
    /// Go on for so long, over and over [default: every block once]
    #[arg(short = 'T', long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub time: Option<f64>,
    /// Check every byte
    ///
    /// Reads are compared with what bench writes, so the file has to be of bench's making. Writes are read again afterwards.
    /// The time includes it, latencies do not.
    #[arg(short = 'V', long)]
    pub verify: bool,
    /// Leave the GPU's memory unregistered (modes sync and transfer)
    #[arg(short = 'b', long)]
    pub unregistered: bool,
    /// Seed of the bytes written and of random places
    #[arg(short = 'k', long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// Transfers under way at once, for each thread (modes async and batch), 1 to 128
    #[arg(short = 'B', long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=128))]
    pub depth: u8,
    /// Transfers of each thread before the measurement
    #[arg(help_heading = MEASURED, long, value_name = "N", default_value_t = 8)]
    pub warmup: u32,
    /// The page cache at the beginning [default: as-is; cold to --compare reads]
    #[arg(help_heading = MEASURED, long, value_name = "STATE", value_enum)]
    pub cache: Option<Cache>,
    /// Open the file with O_DIRECT in modes host and posix
    #[arg(help_heading = MEASURED, long)]
    pub direct: bool,
    /// Leave the time until what was written is on the disk out
    #[arg(help_heading = MEASURED, long)]
    pub no_sync: bool,
    /// Overwrite data that bench did not write
    #[arg(help_heading = MEASURED, long)]
    pub force: bool,
    /// Modes to measure in turn, in one table; hipfile is the same as sync
    #[arg(help_heading = TOLD, long, value_name = "MODE,…", value_delimiter = ',')]
    pub compare: Vec<Mode>,
    /// Measurements of each; the median is shown [default: 1; with --compare 5]
    #[arg(help_heading = TOLD, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: Option<u32>,
    /// What is printed [default: gdsio's line and details, or a table of several]
    #[arg(help_heading = TOLD, long, value_name = "FORMAT", value_enum)]
    pub format: Option<Format>,
    /// Draw bandwidth over block size or threads
    ///
    /// A file that is there and no drawing is not replaced without --force.
    #[arg(help_heading = TOLD, long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
}

/// Options that are not gdsio's.
const MEASURED: &str = "How it is measured";
const TOLD: &str = "Comparisons and output";

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// gdsio's line, one for each measurement
    Gdsio,
    /// A table
    Table,
    /// As --json
    Json,
}

/// A state of the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// As it happens to be
    AsIs,
    /// With all of the data in it
    Warm,
    /// With none of it
    Cold,
}

impl Args {
    /// Whether the result is to be JSON, other than by `--json`.
    pub fn wants_json(&self) -> bool {
        self.format == Some(Format::Json)
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.001..=1e6).contains(&seconds) => Ok(seconds),
        _ => Err("write a number of seconds from 0.001 to 1000000".to_owned()),
    }
}
