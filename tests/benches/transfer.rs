//! Large reads by `hipfile::transfer`, against one call and against chunks that a program hands to threads itself.
//! `cargo xtask bench transfer` runs this, with AMD's quirks and without.

#[path = "scene.rs"]
mod scene;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use hip_alloc::DeviceBuffer;
use hipfile::transfer::Options;
use hipfile::{FileHandle, Registered};

use crate::scene::Scene;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What part of the throughput of either other way is to be reached: all of it, but for what two runs differ by.
const GOAL: f64 = 0.95;

/// How many bytes, and how often.
const ROWS: [(usize, usize); 3] = [(16 << 20, 60), (128 << 20, 15), (512 << 20, 7)];

/// Threads of the way by hand, and its chunks, which are those of transfers.
const BY_HAND: [usize; 3] = [1, 2, 4];
const CHUNK: usize = 64 << 20;

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        eprintln!("transfer: {error}");
        ExitCode::FAILURE
    })
}

fn run() -> Result<ExitCode> {
    println!(
        "{:>7} {:>9} {:>9} {:>6} {:>12} {:>6}",
        "MiB", "transfer", "one call", "ratio", "by hand", "ratio"
    );
    let mut below = false;
    for (len, rounds) in ROWS {
        below |= row(len, rounds)?;
    }
    println!();
    Ok(if below { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Measures and prints a row, and says whether it is below the goal.
fn row(len: usize, rounds: usize) -> Result<bool> {
    let scene = Scene::new(len)?;
    let mut memory = scene.driver.register(DeviceBuffer::with_alignment(len, 4096)?)?;
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); 2 + BY_HAND.len()];
    for round in 0..=rounds {
        for step in 0..times.len() {
            let which = (round + step) % times.len();
            let started = Instant::now();
            match which {
                0 => drop(Options::new().read_file_into(&scene.handle, memory.slice_mut(..)?, 0)?),
                1 => scene.handle.read_exact_at(memory.slice_mut(..)?, 0)?,
                _ => by_hand(&scene.handle, &mut memory, BY_HAND[which - 2])?,
            }
            // The first round only warms up.
            if round > 0 {
                times[which].push(started.elapsed().as_secs_f64());
            }
        }
    }
    memory.slice_mut(..)?.as_device_mut().fill(0)?;
    Options::new().read_file_into(&scene.handle, memory.slice_mut(..)?, 0)?;
    if !scene.arrived(memory.memory(), len) {
        return Err("the bytes did not arrive".into());
    }
    let best = (2..times.len()).min_by(|a, b| median(&times[*a]).total_cmp(&median(&times[*b])));
    let best = best.ok_or("nothing to compare with")?;
    let speed = |which: usize| len as f64 / median(&times[which]) / 1e9;
    let ratio = |which: usize| {
        let pairs = times[which].iter().zip(&times[0]);
        median(&pairs.map(|(theirs, ours)| theirs / ours).collect::<Vec<_>>())
    };
    // AMD's fallback takes host memory for each call, which one call does once: more threads gain where cores are free.
    let quirks = std::env::var_os("SOFT_ROCM_QUIRKS").is_some();
    let below = ratio(best) < GOAL || (!quirks && ratio(1) < GOAL);
    println!(
        "{:>7} {:>9.2} {:>9.2} {:>6.2} {:>8.2} ({}) {:>6.2}{}",
        len >> 20,
        speed(0),
        speed(1),
        ratio(1),
        speed(best),
        BY_HAND[best - 2],
        ratio(best),
        if below { "  below" } else { "" }
    );
    Ok(below)
}

/// The same read, in chunks that threads claim.
fn by_hand(file: &FileHandle, memory: &mut Registered<DeviceBuffer>, threads: usize) -> Result<()> {
    let mut slices = Vec::new();
    let mut rest = memory.slice_mut(..)?;
    while rest.len() > CHUNK {
        let (slice, after) = rest.split_at_mut(CHUNK)?;
        slices.push(Mutex::new(slice));
        rest = after;
    }
    slices.push(Mutex::new(rest));
    let next = AtomicUsize::new(0);
    let work = || -> hipfile::Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(slice) = slices.get(number) else { return Ok(()) };
            file.read_exact_at(&mut *slice.lock().unwrap(), (number * CHUNK) as u64)?;
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mine = work();
        others.into_iter().map(|other| other.join().unwrap()).fold(mine, hipfile::Result::and)
    })?;
    Ok(())
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
