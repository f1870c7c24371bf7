//! `hipfile check`: whether a machine, and places on it, have what the fast path needs.
//!
//! ```text
//!   System (a root folder, variables) ──► kernel, gpu, container, environment ──► Row   PASS, WARN or FAIL
//!   what was loaded ──────────────────► libraries ───────────────────────────────┘
//!   mount table ──► Volume: file system, backing device, direct I/O ──────────────► Row, and one for each PATH
//! ```
//!
//! Each probe is a function of what it is given, so that tests can make up machines.

mod backing;
mod container;
mod direct;
mod environment;
mod gpu;
mod kernel;
mod libraries;
mod mounts;
mod place;
mod report;
mod system;
mod text;
mod volume;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::Outcome;
use crate::failure::{FAILED, Failure, USAGE};
use crate::output::Output;
use crate::runtime::Choice;
use direct::Disk;
use libraries::Loaded;
use place::Place;
use report::Report;
use system::System;
use volume::Volume;

/// Check whether a machine, and places on it, have what the fast path needs
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files, folders or block devices to look at
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Look at the system below DIR: a host's in a container, or a copy
    #[arg(long, value_name = "DIR", default_value = "/", hide_default_value = true)]
    root: PathBuf,
}

/// The subcommand.
pub fn run(args: &Args, rocm: &Choice, output: &Output) -> Outcome {
    if !args.root.is_dir() {
        let failure = Failure::new(format!("--root {} is no folder", args.root.display()));
        return Err(failure.advice("name the one that has the system's /proc and /sys in it").code(USAGE));
    }
    let system = System::new(&args.root, |name| std::env::var_os(name));
    let loaded = Loaded::load(rocm, output);
    let report = Report::of(&system, &loaded, &Disk, &args.paths);
    if output.is_json() {
        output.document(&report)?
    } else {
        text::print(&report, output)?
    }
    Ok(if report.passes() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

impl Report {
    /// Every probe, in the order in which the rows are read.
    fn of(system: &System, loaded: &Loaded, disk: &impl direct::Direct, paths: &[PathBuf]) -> Self {
        let volumes = Volume::all(system, disk);
        let mut rows = vec![
            kernel::p2pdma(system),
            kernel::amdgpu(system),
            gpu::device_file(system),
            gpu::gpus(system),
            libraries::hip(loaded, system),
            libraries::libhipfile(loaded),
            volume::row(&volumes),
        ];
        let machine: Vec<_> = rows.iter().filter(|row| row.keeps_off()).map(|row| row.name).collect();
        rows.extend(libraries::software(loaded));
        rows.extend(gpu::sr_iov(system));
        rows.extend(container::row(system));
        rows.extend(environment::rows(system));
        let places = paths.iter().map(|path| Place::of(path, system, disk, &machine)).collect();
        Self::new(system, rows, volumes, places)
    }
}
