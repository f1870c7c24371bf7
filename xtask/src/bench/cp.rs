//! `cargo xtask bench cp`: `hipfile cp` of a large file against `cp`, and against direct reads and writes in turn by `dd` and by a
//! loop in huge pages; all until the copy is synced.

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

/// The ways to copy.
#[derive(Clone, Copy, Debug)]
enum Way {
    Hipfile,
    Cp,
    /// A loop of direct reads and writes in ordinary pages.
    Dd,
    /// The same in huge pages.
    Loop,
}

impl Way {
    const ALL: [Self; 4] = [Self::Hipfile, Self::Cp, Self::Dd, Self::Loop];
    const OTHERS: [Self; 3] = [Self::Cp, Self::Dd, Self::Loop];

    fn name(self) -> &'static str {
        match self {
            Self::Hipfile => "hipfile cp",
            Self::Cp => "cp, sync",
            Self::Dd => "dd, O_DIRECT",
            Self::Loop => "O_DIRECT loop",
        }
    }
}

/// The ways in a round's order. In four rounds each begins once and follows each other once, for what one leaves behind in the
/// disk is the next one's.
fn turns(round: usize) -> impl Iterator<Item = Way> {
    [0, 1, 3, 2].into_iter().filter_map(move |way| Way::ALL.get((way + round) % Way::ALL.len()).copied())
}

fn line(label: &str, columns: &[impl AsRef<str>]) -> String {
    let columns: String = columns.iter().map(|column| format!("  {:>14}", column.as_ref())).collect();
    format!("{label:>7}{columns}")
}

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
        println!("{}", line("round", &Way::ALL.map(Way::name)));
        let mut rounds = Vec::new();
        // The first round is for warming up: the disk has free blocks, the programs are in memory.
        for round in 0..=ROUNDS {
            let mut rates = [0.0; Way::ALL.len()];
            for way in turns(round) {
                let rate = self.copy(way, source)?;
                rates.iter_mut().skip(way as usize).take(1).for_each(|place| *place = rate);
            }
            let label = if round == 0 { "(first)".to_owned() } else { round.to_string() };
            println!("{}", line(&label, &rates.map(|rate| format!("{rate:.3}"))));
            if round > 0 {
                rounds.push(rates);
            }
        }
        let of = |way: Way| rounds.iter().filter_map(move |rates| rates.get(way as usize).copied());
        println!("{}", line("median", &Way::ALL.map(|way| format!("{:.3}", median(of(way).collect())))));
        println!();
        let mut reached = true;
        // Two copies of a round are neighbours in time, so that their disk is the same one more than that of two rounds.
        for other in Way::OTHERS {
            let ratios: Vec<f64> =
                of(Way::Hipfile).zip(of(other)).map(|(ours, theirs)| ours / theirs).collect();
            let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
            let most = ratios.iter().copied().fold(0.0, f64::max);
            let ratio = median(ratios);
            reached &= ratio >= 1.0;
            let verdict = if ratio >= 1.0 { "reached" } else { "MISSED" };
            println!(
                "  hipfile cp against {:<14} {ratio:.2} ({least:.2} to {most:.2}), goal 1.00: {verdict}",
                other.name()
            );
        }
        println!();
        Ok(reached)
    }

    /// Makes a copy; how many GB/s that was.
    fn copy(&self, way: Way, source: Source) -> Result<f64> {
        self.settle()?;
        match source {
            Source::Storage => self.shell("dd if=source iflag=nocache count=0 status=none")?,
            Source::PageCache => self.shell("cat source > /dev/null")?,
        }
        let mut command = match way {
            Way::Hipfile => {
                let mut command = self.rocm.command(&self.hipfile);
                // The one of the command's environment.
                command.env_remove("HIPFILE_RUNTIME").args(["cp", "-q", "source", "copy"]);
                command
            }
            Way::Cp => {
                let mut command = Command::new("sh");
                command.args(["-c", "cp source copy && sync copy"]);
                command
            }
            Way::Dd => {
                let mut command = Command::new("dd");
                command.args(["if=source", "of=copy", "bs=16M", "iflag=direct", "oflag=direct"]);
                command.args(["conv=fsync", "status=none"]);
                command
            }
            Way::Loop => {
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
