//! `cargo xtask bench transfer`: large reads by several threads, where one call of the library is serial and where it is not.

use super::{build, measured};
use crate::Result;
use crate::cargo::status;
use crate::rocm::Rocm;

/// Measures, prints, and says whether every goal is reached.
pub fn run(rocm: &Rocm) -> Result<bool> {
    let program = build(rocm, "transfer")?;
    println!(
        "throughput of reads in GB/s, page cache, fallback path; by hand: the best number of threads, in brackets\n"
    );
    println!("the library as it is:");
    let plain = status(&mut measured(&program, rocm))?.success();
    println!("SOFT_ROCM_QUIRKS=amd, every byte through host memory that is taken for each call:");
    let quirks = status(measured(&program, rocm).env("SOFT_ROCM_QUIRKS", "amd"))?.success();
    Ok(plain && quirks)
}
