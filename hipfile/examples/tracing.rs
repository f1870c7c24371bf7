//! Prints a line for each operation on a file, by the spans of feature `tracing`: `tracing FILE`.

use hipfile::alloc::DeviceBuffer;
use hipfile::transfer;
use hipfile::{Driver, OpenOptions};
use tracing_subscriber::fmt::format::FmtSpan;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: tracing FILE")?;
    // A span is printed when it ends, with how long it took. What to show is chosen by level and target here, by
    // `EnvFilter` in programs that let their users choose.
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::DEBUG)
        .with_span_events(FmtSpan::CLOSE)
        .init();

    let driver = Driver::open()?;
    let file = OpenOptions::new().read(true).open(&driver, &path)?;
    let mut memory = driver.register(DeviceBuffer::new(1 << 20)?)?;
    let n = file.read_at(memory.slice_mut(..)?, 0)?;
    transfer::Options::new().read_file_into(&file, memory.slice_mut(..n)?, 0)?;
    // The error is ours to handle or pass on; its span has said what it was.
    if let Err(error) = file.write_at(memory.slice(..n)?, 0) {
        println!("{n} bytes are there, and none were written: {:?}", error.kind());
    }
    Ok(())
}
