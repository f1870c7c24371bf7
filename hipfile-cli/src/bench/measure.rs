//! One measurement: threads are made ready, the page cache is, all begin at once.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

use super::args::Cache;
use super::cache::{self, CacheReport, Pages};
use super::lane::{self, Gpu, Layout};
use super::latency::Histogram;
use super::measurement::{Findings, Measurement};
use super::plan::{Case, Settings};
use super::target::{Target, failed};
use super::work::{Blocks, Work};
use super::worker::{self, Tally, Worker};
use crate::failure::Failure;
use crate::memory;
use crate::signals;
use crate::usage::Usage;

/// A case on its files.
pub struct Measure<'a> {
    pub case: Case,
    pub settings: &'a Settings,
    pub targets: &'a [Target],
    pub gpu: Option<&'a Gpu>,
}

/// The files once more, for the page cache and for writing to the disk.
type Files<'a> = Vec<(&'a Target, File)>;

/// What the threads did, and how all was when they began.
struct Race {
    tallies: Vec<Tally>,
    resident: Option<f64>,
    usage: Usage,
    stats: Option<hipfile::Stats>,
}

impl Measure<'_> {
    /// Measures.
    pub fn run(&self) -> Result<Measurement, Failure> {
        let layout = Layout::of(&self.case, self.settings.own_files);
        let files = self.files(layout)?;
        let Race { tallies, resident: before, usage, stats } = self.race(layout, &files)?;
        interrupted()?;
        let mut ended = tallies.iter().map(|tally| tally.ended).max();
        if self.settings.operation.writes() && self.settings.sync {
            for (target, file) in &files {
                file.sync_data().map_err(|error| failed("sync", target.path(), &error))?;
            }
            ended = Some(Instant::now());
        }
        let usage = Usage::now().since(usage);
        let observed = self.statistics().zip(stats).map(|(now, before)| now.since(before).observed());
        let after = resident(&files, self.settings);
        let mut times = Histogram::default();
        tallies.iter().for_each(|tally| times.merge(&tally.times));
        let begun = tallies.iter().map(|tally| tally.begun).min();
        let verified = self.verify_written(&files, &tallies, layout)?;
        let found = Findings {
            bytes: tallies.iter().map(|tally| tally.bytes).sum(),
            data_set: files.iter().map(|(target, _)| target.size).sum(),
            span: ended.zip(begun).map(|(ended, begun)| ended - begun).unwrap_or_default(),
            times,
            usage,
            page_cache: CacheReport { asked: self.settings.cache, before, after },
            observed,
            predicted: tallies.iter().find_map(|tally| tally.predicted),
            verified: self.settings.verify.then_some(verified),
        };
        Ok(Measurement::of(self.case, self.settings.operation, found))
    }

    /// Has threads made ready, then the page cache, then all begin; unless something fails before.
    fn race(&self, layout: Layout, files: &Files<'_>) -> Result<Race, Failure> {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let (ready, all_ready) = mpsc::channel();
            let (mut starts, mut workers, mut prepared) = (Vec::new(), Vec::new(), Ok(()));
            for index in 0..layout.lanes {
                let (start, wait) = mpsc::channel();
                let (ready, stop) = (ready.clone(), &stop);
                let work = move || {
                    let outcome = self.work(index, layout, stop, ready, &wait);
                    if outcome.is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    outcome
                };
                match thread::Builder::new().spawn_scoped(scope, work) {
                    Ok(worker) => workers.push(worker),
                    Err(error) => {
                        let message = format!("cannot start thread {}: {error}", index + 1);
                        prepared = Err(Failure::new(message).advice("use fewer with -w"));
                        break;
                    }
                }
                starts.push(start);
            }
            drop(ready);
            // Those that fail are never ready.
            let are_ready = all_ready.iter().count() == layout.lanes;
            if are_ready {
                prepared = self.prepare_cache(files);
            }
            let (resident, usage, stats) = (resident(files, self.settings), Usage::now(), self.statistics());
            if are_ready && prepared.is_ok() {
                for start in &starts {
                    // They all wait for this.
                    let _ = start.send(());
                }
            }
            drop(starts);
            let tallies = workers.into_iter().map(|worker| {
                worker.join().unwrap_or_else(|_| Err(Failure::new("a thread of the measurement panicked")))
            });
            let tallies = tallies.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
            prepared.map(|()| Race { tallies, resident, usage, stats })
        })
    }

    /// The files in use, opened to be written to if they are.
    fn files(&self, layout: Layout) -> Result<Files<'_>, Failure> {
        let used = if self.settings.own_files { layout.lanes } else { 1 };
        let open = |target| {
            let file =
                File::options().read(true).write(self.settings.operation.writes()).open(Target::path(target));
            file.map(|file| (target, file)).map_err(|error| failed("open", target.path(), &error))
        };
        self.targets.iter().take(used).map(open).collect()
    }

    /// The target of a thread, and its share of it.
    fn share(&self, index: usize, layout: Layout, endless: bool) -> Option<(&Target, Work)> {
        let seed = self.settings.operation.is_random().then_some(self.settings.seed);
        let own = self.settings.own_files;
        let target = self.targets.get(if own { index } else { 0 })?;
        let blocks = Blocks { offset: self.settings.offset, size: target.size, block: layout.piece };
        let work = if own {
            blocks.share(0, 1, seed.map(|seed| seed.wrapping_add(index as u64)), endless)
        } else {
            blocks.share(index, layout.lanes, seed, endless)
        };
        Some((target, work))
    }

    /// What a thread does. None where the measurement does not take place.
    fn work(
        &self,
        index: usize,
        layout: Layout,
        stop: &AtomicBool,
        ready: Sender<()>,
        start: &Receiver<()>,
    ) -> Result<Option<Tally>, Failure> {
        let _current = self.gpu.map(|gpu| gpu.device.make_current()).transpose()?;
        let time = self.settings.time;
        let share = self.share(index, layout, time.is_some());
        let (target, work) = share.ok_or_else(|| Failure::new("a thread has no file"))?;
        let longest = usize::try_from(layout.piece.min(target.size)).unwrap_or(usize::MAX);
        let plan = lane::Plan { settings: self.settings, case: self.case, target, layout, longest };
        let lane = lane::open(&plan, self.gpu)?;
        let mut worker = Worker { lane, settings: self.settings, path: target.path(), longest, stop };
        worker.warm_up(work.clone())?;
        let predicted = work.clone().next().and_then(|piece| worker.lane.predict(piece));
        // The receiver is there for as long as this thread.
        let _ = ready.send(());
        drop(ready);
        match start.recv() {
            Ok(()) => Ok(Some(Tally { predicted, ..worker.transfer(work, time)? })),
            Err(_) => Ok(None),
        }
    }

    fn prepare_cache(&self, files: &Files<'_>) -> Result<(), Failure> {
        for (target, file) in files {
            cache::prepare(file, self.settings.offset, target.size, self.settings.cache).map_err(
                |error| {
                    let doing = if self.settings.cache == Cache::Warm { "read" } else { "drop the pages of" };
                    failed(doing, target.path(), &error)
                },
            )?;
        }
        Ok(())
    }

    fn statistics(&self) -> Option<hipfile::Stats> {
        if self.case.mode.is_hipfile() { hipfile::stats().ok() } else { None }
    }

    /// Reads what was written and checks it. Returns how much was checked, here or while it was read.
    fn verify_written(&self, files: &Files<'_>, tallies: &[Tally], layout: Layout) -> Result<u64, Failure> {
        let mut verified = tallies.iter().map(|tally| tally.verified).sum();
        let mut bytes = Vec::new();
        for (index, (target, file)) in files.iter().enumerate() {
            let mine = tallies.iter().enumerate();
            let mine = mine.filter(|(lane, _)| !self.settings.own_files || *lane == index);
            let written: Vec<_> = mine.map(|(_, tally)| &tally.written).collect();
            for block in 0..target.size.div_ceil(layout.piece) {
                let place = usize::try_from(block).unwrap_or(usize::MAX);
                if !written.iter().any(|written| written.get(place) == Some(&true)) {
                    continue;
                }
                let start = block * layout.piece;
                let len = usize::try_from(layout.piece.min(target.size - start)).unwrap_or(0);
                memory::fit(&mut bytes, len)?;
                let offset = self.settings.offset + start;
                file.read_exact_at(&mut bytes, offset)
                    .map_err(|error| failed("read", target.path(), &error))?;
                worker::check(&bytes, self.settings.seed, offset, target.path())?;
                verified += bytes.len() as u64;
            }
        }
        Ok(verified)
    }
}

/// An error if a signal asked for an end.
pub fn interrupted() -> Result<(), Failure> {
    match signals::caught() {
        Some(_) => Err(Failure::new("interrupted before the measurement had ended")),
        None => Ok(()),
    }
}

fn resident(files: &Files<'_>, settings: &Settings) -> Option<f64> {
    let pages = files.iter().map(|(target, file)| cache::pages(file, settings.offset, target.size));
    Pages::sum(pages).and_then(Pages::share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::args::Args;
    use crate::bench::mode::Mode;
    use crate::bench::target::Wanted;

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
        #[command(flatten)]
        common: crate::args::Common,
    }

    #[test]
    fn what_was_written_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("F");
        let wanted =
            Wanted { offset: 1000, size: Some(10_000), writes: false, force: false, seed: 3, reserve: false };
        let line = <Line as clap::Parser>::parse_from([
            "bench", "-f", "F", "-k", "3", "-o", "1000", "-I", "1", "-V",
        ]);
        let settings = Settings::of(&line.args);
        let output = crate::output::Output::new(&line.common);
        let targets = [Target::named(&path, wanted, &output).unwrap()];
        let case = Case { mode: Mode::Host, threads: 2, block: 4096 };
        let measure = Measure { case, settings: &settings, targets: &targets, gpu: None };
        let layout = Layout::of(&case, false);
        let files = measure.files(layout).unwrap();
        let tally = |written: &[bool]| Tally {
            times: Histogram::default(),
            bytes: 0,
            verified: 0,
            begun: Instant::now(),
            ended: Instant::now(),
            predicted: None,
            written: written.to_vec(),
        };
        // Two threads have written the first and the last block, which is shorter.
        let tallies = [tally(&[true]), tally(&[false, false, true])];
        assert_eq!(measure.verify_written(&files, &tallies, layout).unwrap(), 4096 + 10_000 - 8192);
        files[0].1.write_all_at(b"harm", 1000 + 5000).unwrap();
        assert_eq!(measure.verify_written(&files, &tallies, layout).unwrap(), 4096 + 10_000 - 8192);
        files[0].1.write_all_at(b"harm", 1000 + 9000).unwrap();
        let failure = measure.verify_written(&files, &tallies, layout).unwrap_err();
        assert!(failure.message().contains("F has a wrong byte at offset 1000"), "{failure}");
    }
}
