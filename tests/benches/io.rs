//! What a call of libhipfile costs beside the system calls it makes. `cargo xtask bench io` runs this.
//!
//! - without arguments: hipFileRead against pread into the same memory, in interleaved pairs, with limits;
//! - `calls raw N`, `calls safe N`, `calls sliced N`, and `calls unheard N` with feature `tracing`: N reads of 4 KiB, for
//!   counting instructions.

#[path = "io/calls.rs"]
mod calls;
#[path = "io/pairs.rs"]
mod pairs;
#[path = "scene.rs"]
mod scene;
#[cfg(feature = "tracing")]
#[path = "io/unheard.rs"]
mod unheard;

use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    // cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        [] => pairs::run(),
        ["calls", kind, count] => calls(kind, count).map(|()| ExitCode::SUCCESS),
        other => Err(format!("arguments {other:?}: expected none, or `calls raw|safe|sliced N`").into()),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("io: {error}");
        ExitCode::FAILURE
    })
}

fn calls(kind: &str, count: &str) -> Result<(), Box<dyn Error>> {
    let count = count.parse()?;
    match kind {
        "raw" => calls::raw(count),
        "safe" => calls::safe(count),
        "sliced" => calls::sliced(count),
        #[cfg(feature = "tracing")]
        "unheard" => unheard::safe(count),
        other => Err(format!("calls {other}: expected raw, safe or sliced").into()),
    }
}
