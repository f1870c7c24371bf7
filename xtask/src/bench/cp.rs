//! `cargo xtask bench cp`: `hipfile cp` of a large file against `cp`, and against a loop of direct reads and writes; all until
//! the copy is synced.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::Result;
use crate::cargo::{must, programs};
use crate::rocm::Rocm;

const LEN: u64 = 1 << 30;
const ROUNDS: usize = 5;

/// Where the source is when a copy begins.
#[derive(Clone, Copy, Debug)]
enum Source {
    Storage,
    PageCache,
}

/// Measures, prints, and says whether every goal is reached.
pub fn run(rocm: &Rocm) -> Result<bool> {
    let bench = Bench::prepare(rocm)?;
    let mut reached = true;
    for source in [Source::Storage, Source::PageCache] {
        reached &= bench.compare(source)?;
    }
    fs::remove_dir_all(&bench.folder)?;
    Ok(reached)
}

/// The ways to copy, ours first.
const WAYS: [&str; 3] = ["hipfile cp", "cp, sync", "O_DIRECT loop"];

struct Bench<'a> {
    rocm: &'a Rocm,
    folder: PathBuf,
    hipfile: PathBuf,
    direct: PathBuf,
}

impl<'a> Bench<'a> {
    fn prepare(rocm: &'a Rocm) -> Result<Self> {
        let build = |selection: [&str; 2]| -> Result<PathBuf> {
            let mut build = rocm.cargo();
            build.args(["build", "--release", "--locked", "-p", "hipfile-cli"]).args(selection);
            programs(&mut build)?
                .pop()
                .ok_or_else(|| format!("cargo reported no program {}", selection[1]).into())
        };
        let (hipfile, direct) = (build(["--bin", "hipfile"])?, build(["--example", "direct_copy"])?);
        let folder = rocm.target_dir().join("bench-cp");
        fs::create_dir_all(&folder)?;
        fill(&folder.join("source"))?;
        Ok(Self { rocm, folder, hipfile, direct })
    }

    fn compare(&self, source: Source) -> Result<bool> {
        let place = match source {
            Source::Storage => "on storage only",
            Source::PageCache => "in the page cache",
        };
        println!("copies of {} MiB, source {place}, until synced; GB/s:\n", LEN >> 20);
        println!("  round  {:>14}  {:>14}  {:>14}", WAYS[0], WAYS[1], WAYS[2]);
        let mut rates = [const { Vec::new() }; WAYS.len()];
        // The first round is for warming up: the disk has free blocks, the programs are in memory.
        for round in 0..=ROUNDS {
            let mut row = [0.0; WAYS.len()];
            // Each begins in turn.
            // Each has each of the others before it: what one leaves behind in the disk is the next one's.
            let order = (0..WAYS.len()).cycle().skip(round).take(WAYS.len());
            let turns: Vec<_> = if round % 2 == 0 {
                order.collect()
            } else {
                order.collect::<Vec<_>>().into_iter().rev().collect()
            };
            for way in turns {
                let rate = self.copy(way, source)?;
                row.iter_mut().skip(way).take(1).for_each(|place| *place = rate);
            }
            let label = if round == 0 { "(first)".to_owned() } else { round.to_string() };
            println!("{label:>7}  {:>14.3}  {:>14.3}  {:>14.3}", row[0], row[1], row[2]);
            if round > 0 {
                rates.iter_mut().zip(row).for_each(|(rates, rate)| rates.push(rate));
            }
        }
        let medians = rates.map(median);
        let better = medians[1].max(medians[2]);
        let ratio = medians[0] / better;
        println!(" median  {:>14.3}  {:>14.3}  {:>14.3}", medians[0], medians[1], medians[2]);
        let verdict = if ratio >= 1.0 { "reached" } else { "MISSED" };
        println!("\n  hipfile cp against the better: {ratio:.2}, goal 1.00: {verdict}\n");
        Ok(ratio >= 1.0)
    }

    /// Makes a copy; how many GB/s that was.
    fn copy(&self, way: usize, source: Source) -> Result<f64> {
        self.settle()?;
        match source {
            Source::Storage => self.shell("dd if=source iflag=nocache count=0 status=none")?,
            Source::PageCache => self.shell("cat source > /dev/null")?,
        }
        let mut command = match way {
            0 => {
                let mut command = self.rocm.command(&self.hipfile);
                // The one of the command's environment.
                command.env_remove("HIPFILE_RUNTIME").args(["cp", "-q", "source", "copy"]);
                command
            }
            1 => {
                let mut command = Command::new("sh");
                command.args(["-c", "cp source copy && sync copy"]);
                command
            }
            _ => {
                let mut command = Command::new(&self.direct);
                command.args(["source", "copy"]);
                command
            }
        };
        let began = Instant::now();
        must(command.current_dir(&self.folder))?;
        Ok(LEN as f64 / 1e9 / began.elapsed().as_secs_f64())
    }

    /// Removes the last copy, and waits until the file system is done with that.
    fn settle(&self) -> Result<()> {
        self.shell("rm -f copy; sync -f .")
    }

    fn shell(&self, script: &str) -> Result<()> {
        must(Command::new("sh").args(["-c", script]).current_dir(&self.folder))
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Writes a file that no file system can make smaller.
fn fill(path: &Path) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| found.len() == LEN) {
        return Ok(());
    }
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..LEN / 8 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        file.write_all(&state.to_le_bytes())?;
    }
    file.into_inner()?.sync_all()
}
