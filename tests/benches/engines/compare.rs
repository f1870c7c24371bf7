//! The comparison: in every round each way makes all reads once, in changing order, and the medians decide.

use std::process::ExitCode;
use std::time::Instant;

use crate::Result;
use crate::plain::{Plain, Round};
use crate::rows::{self, Row};

/// What part of pread's throughput is to be reached.
pub const GOAL: f64 = 0.9;

/// With how many threads pread may try.
const THREADS: [usize; 3] = [1, 2, 4];

/// Medians of the seconds that a round takes.
#[derive(Debug)]
pub struct Outcome {
    pub ours: f64,
    /// By the best number of threads.
    pub theirs: f64,
    pub threads: usize,
    /// The median of theirs / ours in the same round: our throughput as a part of theirs.
    pub ratio: f64,
    /// Pread by as many threads as the row has itself, and our throughput as a part of that; only to be read.
    pub as_many: Option<(f64, f64)>,
}

/// Measures the rows of a group and prints them; fails if one is below the goal.
pub fn run(group: &str) -> Result<ExitCode> {
    let rows = rows::group(group)?;
    let cores = std::thread::available_parallelism()?;
    println!(
        "throughput in GB/s, page cache, fallback path, registered buffer, {cores} cores;\n\
         pread goes into ordinary memory, by the best of 1, 2 and 4 threads (which, in brackets); goal {GOAL}\n"
    );
    let load = load();
    if load > 0.5 {
        println!("load {load:.1} from other programs: whoever has more threads gets more of the machine\n");
    }
    println!("{:<45} {:>6} {:>8}     {:>8}", "", "ours", "pread", "ratio");
    let mut below = 0;
    for row in rows {
        let outcome = measure(row)?;
        println!("{}", row.line(&outcome));
        below += usize::from(outcome.ratio < GOAL);
    }
    println!();
    Ok(if below == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How many programs want to run besides this one, over the last minute; 0 where nobody says.
fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0.0)
}

fn measure(row: &Row) -> Result<Outcome> {
    let stage = row.stage()?;
    let mut ways: Vec<Box<dyn Round + '_>> = vec![row.engine(&stage)?];
    for threads in THREADS.into_iter().chain(row.threads) {
        ways.push(Box::new(Plain::new(&stage, row, threads)));
    }
    let mut times: Vec<Vec<f64>> = vec![Vec::with_capacity(row.rounds); ways.len()];
    // The first tenth only warms up.
    let warm_up = row.rounds / 10 + 1;
    for round in 0..row.rounds + warm_up {
        for step in 0..ways.len() {
            let which = (round + step) % ways.len();
            let started = Instant::now();
            ways[which].round()?;
            let time = started.elapsed().as_secs_f64();
            if round >= warm_up {
                times[which].push(time);
            }
        }
    }
    drop(ways);
    stage.verify()?;

    let ours = &times[0];
    let best = (1..=THREADS.len()).min_by(|a, b| median(&times[*a]).total_cmp(&median(&times[*b])));
    let best = best.ok_or("nothing to compare with")?;
    let as_many = row.threads.and(times.last());
    Ok(Outcome {
        ours: median(ours),
        theirs: median(&times[best]),
        threads: THREADS[best - 1],
        ratio: part(&times[best], ours),
        as_many: as_many.map(|theirs| (median(theirs), part(theirs, ours))),
    })
}

/// The median of theirs / ours in the same round.
fn part(theirs: &[f64], ours: &[f64]) -> f64 {
    let ratios: Vec<f64> = theirs.iter().zip(ours).map(|(theirs, ours)| theirs / ours).collect();
    median(&ratios)
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
