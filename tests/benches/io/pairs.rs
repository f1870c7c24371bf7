//! hipFileRead against pread into the very same memory.
//!
//! Both read the same bytes of the same file from the page cache, one right after the other, and which comes first
//! alternates. Each pair gives a ratio; the median of the ratios is what counts, since it does not mind the odd
//! interrupt.

use std::error::Error;
use std::ffi::c_void;
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hip_alloc::DeviceBuffer;
use hipfile_sys::Api;

use crate::scene::Scene;

/// How much is read at a time, in how many pairs, and how many times slower than pread hipFileRead may be.
struct Row {
    len: usize,
    pairs: usize,
    limit: Option<f64>,
}

const ROWS: &[Row] = &[
    Row { len: 4 << 10, pairs: 40_000, limit: Some(1.5) },
    Row { len: 64 << 10, pairs: 20_000, limit: None },
    Row { len: 1 << 20, pairs: 10_000, limit: Some(1.1) },
    // Fewer, for the sake of time: each takes some milliseconds.
    Row { len: 16 << 20, pairs: 500, limit: Some(1.1) },
];

/// After so many pairs the next part of the file is read.
const SAME_PLACE: usize = 50;
const FILE: usize = 64 << 20;

/// Measures all rows and prints them; fails if one is over its limit.
pub fn run() -> Result<ExitCode, Box<dyn Error>> {
    let api = hipfile_sys::api::get()?;
    let scene = Scene::new(FILE)?;
    let mut over = 0;
    println!(
        "hipFileRead against pread into the same memory, page cache, fallback path, registered buffer\n"
    );
    println!(
        "{:>8} {:>7} {:>12} {:>12} {:>7} {:>7}",
        "size", "pairs", "hipFileRead", "pread", "ratio", "limit"
    );
    for row in ROWS {
        let Measured { ours, theirs, ratio } = measure(api, &scene, row)?;
        let verdict = match row.limit {
            Some(limit) if ratio > limit => {
                over += 1;
                format!("{limit:>7.2}  over")
            }
            Some(limit) => format!("{limit:>7.2}"),
            None => format!("{:>7}", "-"),
        };
        let (ours, theirs) = (micros(ours), micros(theirs));
        println!(
            "{:>6} K {:>7} {ours:>9.2} us {theirs:>9.2} us {ratio:>7.3} {verdict}",
            row.len >> 10,
            row.pairs
        );
    }
    println!();
    Ok(if over == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Medians over the pairs.
struct Measured {
    ours: Duration,
    theirs: Duration,
    ratio: f64,
}

fn measure(api: &Api, scene: &Scene, row: &Row) -> Result<Measured, Box<dyn Error>> {
    let mut memory = DeviceBuffer::new(row.len)?;
    let alias = host_address(&memory)?;
    let registered = scene.driver.register(&mut memory)?;
    let (handle, base, fd) = (scene.handle.as_raw(), registered.as_ptr(), scene.file.as_raw_fd());
    let ours = |offset: i64| {
        // SAFETY: requires a handle and memory that live; holds because both outlive this closure.
        unsafe { (api.hipFileRead)(handle, base, row.len, offset, 0) }
    };
    let theirs = |offset: i64| {
        // SAFETY: requires row.len writable bytes; holds because the alias covers the whole buffer, which lives.
        unsafe { libc::pread(fd, alias, row.len, offset) }
    };

    let clock = clock_cost();
    let places = FILE / row.len;
    let mut samples = Vec::with_capacity(row.pairs);
    // The first tenth only warms up.
    let warm_up = row.pairs / 10;
    for pair in 0..row.pairs + warm_up {
        let offset = (pair / SAME_PLACE % places * row.len) as i64;
        let (first, second) = if pair % 2 == 0 {
            let first = timed(|| ours(offset), row.len)?;
            (first, timed(|| theirs(offset), row.len)?)
        } else {
            let second = timed(|| theirs(offset), row.len)?;
            (timed(|| ours(offset), row.len)?, second)
        };
        if pair >= warm_up {
            samples.push((first.saturating_sub(clock), second.saturating_sub(clock)));
        }
    }
    drop(registered);
    check_contents(api, scene, &mut memory)?;

    let ratios = samples.iter().map(|(ours, theirs)| ours.as_secs_f64() / theirs.as_secs_f64());
    Ok(Measured {
        ours: median(samples.iter().map(|(ours, _)| *ours), |a, b| a.cmp(b)),
        theirs: median(samples.iter().map(|(_, theirs)| *theirs), |a, b| a.cmp(b)),
        ratio: median(ratios, f64::total_cmp),
    })
}

/// Reads once more and compares, so that a library which does nothing does not win.
fn check_contents(api: &Api, scene: &Scene, memory: &mut DeviceBuffer) -> Result<(), Box<dyn Error>> {
    memory.fill(0xff)?;
    let (handle, base, len) = (scene.handle.as_raw(), memory.as_ptr(), memory.len());
    // SAFETY: requires a handle and memory that live; holds because both outlive the call.
    let n = unsafe { (api.hipFileRead)(handle, base, len, 0, 0) };
    if n == len as isize && scene.arrived(memory, len) {
        Ok(())
    } else {
        Err("the bytes did not arrive".into())
    }
}

fn timed(call: impl FnOnce() -> isize, len: usize) -> Result<Duration, String> {
    let started = Instant::now();
    let n = call();
    let time = started.elapsed();
    if n == len as isize { Ok(time) } else { Err(format!("a read of {len} bytes returned {n}")) }
}

/// What reading the clock adds to every time.
fn clock_cost() -> Duration {
    let times = (0..10_001).map(|_| Instant::now().elapsed());
    median(times, |a, b| a.cmp(b))
}

fn median<T: Copy>(values: impl Iterator<Item = T>, order: impl Fn(&T, &T) -> std::cmp::Ordering) -> T {
    let mut values: Vec<T> = values.collect();
    values.sort_by(order);
    values[values.len() / 2]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Where the host sees the buffer: the software HIP tells, AMD's has no such place.
fn host_address(memory: &DeviceBuffer) -> Result<*mut c_void, Box<dyn Error>> {
    // SAFETY: requires a string that ends in zero; holds for the literal.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"softrocm_host_address".as_ptr()) };
    if symbol.is_null() {
        return Err(
            "this HIP has no host address for device memory: compare on the software ROCm, --rocm soft"
                .into(),
        );
    }
    // SAFETY: requires a function of this type; holds because the software HIP exports the name with it.
    let host_address = unsafe {
        std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*const c_void, usize) -> *mut c_void>(symbol)
    };
    // SAFETY: requires nothing; it answers for any address.
    let alias = unsafe { host_address(memory.as_ptr(), memory.len()) };
    if alias.is_null() { Err("the software HIP does not know the buffer".into()) } else { Ok(alias) }
}
