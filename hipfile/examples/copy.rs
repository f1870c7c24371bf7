//! Copies a file through GPU memory and verifies the copy: `copy SRC DST`.
//!
//! The copy is made in a temporary file beside DST, which takes its place only when everything is right.

use std::error::Error;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, ErrorKind, FileHandle, OpenOptions, Stats};
use sha2::{Digest, Sha256};

const CHUNK: usize = 64 << 20;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let outcome = match arguments.as_slice() {
        [source, destination] => copy(source.as_ref(), destination.as_ref()),
        _ => Err("usage: copy SRC DST".into()),
    };
    match outcome.and_then(|line| Ok(writeln!(io::stdout(), "{line}")?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("copy: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Copies, verifies, and says how it went.
fn copy(source: &Path, destination: &Path) -> Result<String> {
    let facts = fs::metadata(source).map_err(on(source))?;
    if !facts.is_file() {
        return Err(format!("{}: not a regular file", source.display()).into());
    }
    if destination.is_dir() {
        return Err(format!("{}: is a directory", destination.display()).into());
    }
    let folder = match destination.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let driver = Driver::open()?;
    let input = OpenOptions::new().read(true).open(&driver, source)?;
    let temporary = tempfile::NamedTempFile::new_in(folder).map_err(on(destination))?;
    let writable = temporary.reopen().map_err(on(destination))?;
    let output = FileHandle::new(&driver, writable).map_err(on(destination))?;

    let before = statistics()?;
    let (bytes, time) = through_the_gpu(&driver, &input, &output, facts.len(), on(destination))?;
    let path = path_taken(before, bytes)?;
    if bytes != facts.len() {
        return Err(format!("{}: changed size while it was copied", source.display()).into());
    }

    let original = File::open(source).and_then(hash).map_err(on(source))?;
    if original != temporary.reopen().and_then(hash).map_err(on(destination))? {
        return Err(format!("{}: the copy differs from {}", destination.display(), source.display()).into());
    }
    temporary.as_file().set_permissions(facts.permissions()).map_err(on(destination))?;
    temporary.as_file().sync_all().map_err(on(destination))?;
    temporary.persist(destination).map_err(|failed| on(destination)(failed.error))?;

    let rate = bytes as f64 / 1e9 / time.as_secs_f64();
    let library = hipfile::library_path()?.unwrap_or_default();
    let rocm = format!("{} {}", library.display(), hipfile::version()?);
    Ok(format!("copied {bytes} bytes at {rate:.2} GB/s, path {path}, ROCm {rocm}, verified"))
}

/// The copy itself: one chunk of device memory, filled and emptied in turn.
fn through_the_gpu(
    driver: &Driver,
    input: &FileHandle,
    output: &FileHandle,
    size: u64,
    on_output: impl Fn(hipfile::Error) -> String,
) -> Result<(u64, Duration)> {
    // Whole pages, also for the last chunk: its read is short, and still fit for the fast path.
    let chunk = usize::try_from(size)?.next_multiple_of(4096).clamp(4096, CHUNK);
    let mut memory = driver.register(DeviceBuffer::with_alignment(chunk, 4096)?)?;
    let start = Instant::now();
    let mut done = 0;
    loop {
        let n = match input.read_at(memory.slice_mut(..)?, done) {
            Ok(0) => return Ok((done, start.elapsed())),
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        output.write_all_at(memory.slice(..n)?, done).map_err(&on_output)?;
        done += n as u64;
    }
}

/// What the library counted so far; `None` if it doesn't count.
fn statistics() -> Result<Option<Stats>> {
    match hipfile::stats() {
        Ok(stats) => Ok(Some(stats)),
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Which way the bytes went, after checking that the library counted them all, in both directions.
fn path_taken(before: Option<Stats>, bytes: u64) -> Result<String> {
    let (Some(before), Some(now)) = (before, statistics()?) else {
        return Ok("unknown".into());
    };
    let since = now.since(before);
    let Stats { reads, writes, .. } = since;
    if (reads.bytes, writes.bytes) != (bytes, bytes) {
        let (read, written) = (reads.bytes, writes.bytes);
        return Err(format!("the library counted {read} bytes read, {written} written of {bytes}").into());
    }
    Ok(since.observed().to_string())
}

fn hash(mut file: File) -> io::Result<[u8; 32]> {
    let mut digest = Sha256::new();
    io::copy(&mut file, &mut digest)?;
    Ok(digest.finalize().into())
}

/// Says which file an error is about.
fn on<E: Display>(path: &Path) -> impl Fn(E) -> String {
    let path = path.display().to_string();
    move |error| format!("{path}: {error}")
}
