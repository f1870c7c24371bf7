//! What is to be measured: the command line after all that can be wrong with it was found.

use std::fmt;
use std::time::Duration;

use super::args::{Args, Cache};
use super::mode::Mode;
use super::operation::Operation;
use crate::failure::{Failure, USAGE};
use crate::size::{ONE_CALL, Size, in_bytes};

/// What all measurements have in common.
#[derive(Clone, Debug)]
pub struct Settings {
    pub operation: Operation,
    pub device: u32,
    /// Where in each file its data begins.
    pub offset: u64,
    pub seed: u64,
    pub time: Option<Duration>,
    pub verify: bool,
    pub registered: bool,
    pub depth: usize,
    pub warmup: u32,
    pub cache: Cache,
    pub direct: bool,
    pub sync: bool,
    /// Whether there is a file for each thread, rather than one for all.
    pub own_files: bool,
}

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    pub mode: Mode,
    pub threads: usize,
    pub block: u64,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.threads == 1 { "" } else { "s" };
        write!(f, "{}, {} thread{plural}, blocks of {}", self.mode, self.threads, Size(self.block))
    }
}

impl Settings {
    /// From the command line.
    pub fn of(args: &Args) -> Self {
        let compared_reads = !args.compare.is_empty() && !args.operation.writes();
        Self {
            operation: args.operation,
            device: args.device,
            offset: args.offset.0,
            seed: args.seed,
            time: args.time.map(Duration::from_secs_f64),
            verify: args.verify,
            registered: !args.unregistered,
            depth: usize::from(args.depth),
            warmup: args.warmup,
            cache: args.cache.unwrap_or(if compared_reads { Cache::Cold } else { Cache::AsIs }),
            direct: args.direct,
            sync: !args.no_sync,
            own_files: args.directory.is_some(),
        }
    }
}

/// Modes in turn, for each block size and number of threads.
pub fn cases(args: &Args) -> Result<Vec<Case>, Failure> {
    let modes = if args.compare.is_empty() { &[args.mode][..] } else { &args.compare };
    for (index, mode) in modes.iter().enumerate() {
        if modes.iter().take(index).any(|earlier| earlier == mode) {
            return Err(usage(format!("--compare has {mode} twice")));
        }
        if args.unregistered && !mode.takes_plain_memory() {
            let message = format!("mode {mode} does nothing with -b");
            return Err(usage(message).advice("-b is for modes sync and transfer"));
        }
    }
    if args.plot.is_some() && args.block.0.len().max(args.threads.0.len()) < 2 {
        let failure = usage("--plot needs more than one block size or number of threads".to_owned());
        return Err(failure.advice("as in -i 64K:4M:x2 or -w 1:8:x2"));
    }
    if let Some(block) = args.block.0.iter().find(|block| **block > ONE_CALL) {
        return Err(
            usage(format!("a transfer of {block} bytes is too large")).advice("one has at most 2147479552")
        );
    }
    let mut cases = Vec::new();
    for threads in &args.threads.0 {
        let threads = usize::try_from(*threads).unwrap_or(usize::MAX);
        for block in &args.block.0 {
            cases.extend(modes.iter().map(|mode| Case { mode: *mode, threads, block: *block }));
        }
    }
    Ok(cases)
}

/// Whether every thread has a block of its own.
pub fn check_size(case: &Case, settings: &Settings, size: u64) -> Result<(), Failure> {
    if size < case.block {
        let message = format!("a block of {} does not fit into {}", in_bytes(case.block), in_bytes(size));
        return Err(usage(message).advice("make -s larger or -i smaller"));
    }
    let blocks = size.div_ceil(case.block);
    if !settings.own_files && blocks < case.threads as u64 {
        let are = if blocks == 1 { "are 1 block".to_owned() } else { format!("are {blocks} blocks") };
        let message =
            format!("{size} bytes {are} of {}, too few for {} threads", in_bytes(case.block), case.threads);
        return Err(usage(message).advice("make -s larger, or -i or -w smaller"));
    }
    if settings.direct && (case.block | settings.offset | size) % 4096 != 0 {
        let failure = usage("--direct needs -i, -o and -s to be multiples of 4096 bytes".to_owned());
        return Err(failure);
    }
    Ok(())
}

/// A mistake on the command line.
pub fn usage(message: String) -> Failure {
    Failure::new(message).code(USAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn line(text: &str) -> Args {
        <Line as clap::Parser>::parse_from(std::iter::once("bench").chain(text.split_whitespace())).args
    }

    #[test]
    fn modes_alternate_within_block_sizes_within_threads() {
        let cases = cases(&line("-f F -w 1,2 -i 1K,2K --compare host,mmap")).unwrap();
        let texts: Vec<_> = cases.iter().map(Case::to_string).collect();
        assert_eq!(texts.len(), 8);
        assert_eq!(texts[0], "host, 1 thread, blocks of 1 KiB");
        assert_eq!(texts[1], "mmap, 1 thread, blocks of 1 KiB");
        assert_eq!(texts[2], "host, 1 thread, blocks of 2 KiB");
        assert_eq!(texts[7], "mmap, 2 threads, blocks of 2 KiB");
    }

    #[test]
    fn comparisons_of_reads_begin_cold() {
        let cache = |text: &str| Settings::of(&line(text)).cache;
        assert_eq!(cache("-f F"), Cache::AsIs);
        assert_eq!(cache("-f F --compare host,mmap"), Cache::Cold);
        assert_eq!(cache("-f F --compare host,mmap -I 1"), Cache::AsIs);
        assert_eq!(cache("-f F --compare host,mmap --cache warm"), Cache::Warm);
    }

    #[test]
    fn every_thread_has_a_block() {
        let fits = |text: &str, size| {
            let args = line(text);
            let case = cases(&args).unwrap()[0];
            check_size(&case, &Settings::of(&args), size).is_ok()
        };
        assert!(fits("-f F -i 4K -w 4", 4 * 4096) && fits("-f F -i 4K -w 4", 3 * 4096 + 1));
        assert!(!fits("-f F -i 4K -w 4", 3 * 4096) && !fits("-f F -i 4K", 4095));
        assert!(fits("-D D -s 4K -i 4K -w 4", 4096) && !fits("-D D -s 4K -i 8K -w 4", 4096));
        assert!(fits("-f F -i 4K --direct", 8192) && !fits("-f F -i 4K --direct", 8193));
    }
}
