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
#[command(after_help = "\
Examples:
  hipfile bench -f F -s 1G -i 4M -w 4 -x 0 -I 0 -V       gdsio's command line: read 1 GiB and check it
  hipfile bench -f F -s 1G --compare posix,mmap,hipfile  three ways in turn, in one table
  hipfile bench -D DIR -s 1G -i 64K:16M:x4 --plot s.svg  a sweep over block sizes, drawn")]
pub struct Args {
    /// The file. One that is missing is made, and stays. One with data that is not bench's is not written without --force
    #[arg(short, long, value_name = "FILE", required_unless_present = "directory")]
    pub file: Option<PathBuf>,
    /// A folder to make a file for each thread in; they are removed at the end
    #[arg(short = 'D', long, value_name = "DIR", conflicts_with = "file", requires = "size")]
    pub directory: Option<PathBuf>,
    /// The GPU
    #[arg(short, long, value_name = "NUMBER", default_value_t = 0)]
    pub device: u32,
    /// Threads: one number, some (1,4), or a sweep (1:16:x2)
    #[arg(short = 'w', long, value_name = "N", default_value = "1")]
    pub threads: Counts,
    /// Bytes of the file that are used [default: those up to its end]
    #[arg(short, long, value_name = "SIZE")]
    pub size: Option<Size>,
    /// Bytes of one transfer: one size, some (64K,1M), or a sweep by factor (64K:4M:x2) or step (64K:1M:64K)
    #[arg(short = 'i', long, value_name = "SIZE", default_value = "1M")]
    pub block: Sizes,
    /// Where in the file to begin
    #[arg(short, long, value_name = "SIZE", default_value = "0")]
    pub offset: Size,
    /// How the bytes go: 0 or sync, 1 or host (stays in host memory), 2 or posix (and a copy to the GPU), 5 or async, 6 or batch, transfer, mmap
    #[arg(short = 'x', long, value_name = "MODE", default_value = "sync", conflicts_with = "compare")]
    pub mode: Mode,
    /// What is done: 0 or read, 1 or write, 2 or randread, 3 or randwrite
    #[arg(short = 'I', long, value_name = "OPERATION", default_value = "read")]
    pub operation: Operation,
    /// Go on for this long, from the beginning again where the end is reached [default: every block once]
    #[arg(short = 'T', long, value_name = "SECONDS", value_parser = seconds)]
    pub time: Option<f64>,
    /// Check every byte: reads of a file that bench wrote, or writes afterwards
    #[arg(short = 'V', long)]
    pub verify: bool,
    /// Leave GPU memory unregistered (modes sync and transfer)
    #[arg(short = 'b', long)]
    pub unregistered: bool,
    /// Seed of the bytes written and of random places
    #[arg(short = 'k', long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// Transfers that a thread has under way in modes async and batch, 1 to 128
    #[arg(short = 'B', long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=128))]
    pub depth: u8,
    /// Transfers of each thread before the measurement
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub warmup: u32,
    /// State of the page cache to begin with [default: as-is; with --compare cold for reads]
    #[arg(long, value_name = "STATE", value_enum)]
    pub cache: Option<Cache>,
    /// Open the file with O_DIRECT in modes host and posix
    #[arg(long)]
    pub direct: bool,
    /// Do not count the time until what was written is on the disk
    #[arg(long)]
    pub no_sync: bool,
    /// Write to a file even though it has data that is not bench's
    #[arg(long)]
    pub force: bool,
    /// Ways to compare, in turn: modes, of which `hipfile` is the same as sync
    #[arg(long, value_name = "MODE,…", value_delimiter = ',')]
    pub compare: Vec<Mode>,
    /// Measurements of each, of which the median is told [default: 1; with --compare 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: Option<u32>,
    /// gdsio's lines, a table, or JSON (as --json) [default: gdsio's line and details, or a table for several]
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: Option<Format>,
    /// Draw bandwidth over block size or threads
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Gdsio,
    Table,
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
