//! `hipfile bench`: how fast transfers between files and GPUs are.
//!
//! ```text
//!   Args ──► plan: Settings, Cases ──► Targets: files found or made
//!                    │
//!                    └─► Measure, round after round ──► Measurements ──► Summaries ──► gdsio's line, table, JSON, SVG
//!                          a Worker a thread, each with a Lane: the file and memory, one for each Mode
//! ```

mod args;
mod cache;
mod lane;
mod latency;
mod measure;
mod measurement;
mod mode;
mod operation;
mod pattern;
mod plan;
mod plot;
mod space;
mod summary;
mod sweep;
mod target;
mod text;
mod work;
mod worker;

use std::process::ExitCode;

use hipfile::Driver;
use hipfile::alloc::Device;

use crate::Outcome;
use crate::failure::Failure;
use crate::output::Output;
use crate::runtime::{Choice, Runtime};
use crate::signals;
pub use args::Args;
use args::Cache;
use lane::Gpu;
use measure::Measure;
use mode::Mode;
use plan::{Case, Settings};
use summary::{Document, summarize};
use target::{Target, Wanted};

/// The subcommand.
pub fn run(args: &Args, rocm: &Choice, output: &Output) -> Outcome {
    let outcome = measure(args, rocm, output);
    if let Some(signal) = signals::caught() {
        if let Err(failure) = &outcome {
            output.failure(failure);
        }
        signals::end_by(signal);
    }
    outcome
}

fn measure(args: &Args, rocm: &Choice, output: &Output) -> Outcome {
    if output.is_json() && args.format.is_some() && !args.wants_json() {
        return Err(
            plan::usage("--json is a format of its own".to_owned()).advice("leave it or --format out")
        );
    }
    let settings = Settings::of(args);
    let cases = plan::cases(args)?;
    if let Some(size) = args.size {
        cases.iter().try_for_each(|case| plan::check_size(case, &settings, size.0))?;
    }
    if let Some(path) = &args.plot {
        plot::admit(path, args.force)?;
    }
    let uses_gpu = cases.iter().any(|case| case.mode.uses_gpu());
    let runtime = if uses_gpu { Some(rocm.load(output)?) } else { None };
    let gpu = if uses_gpu { Some(gpu(settings.device)?) } else { None };
    signals::catch();
    let targets = targets(args, &cases, output)?;
    for target in &targets {
        cases.iter().try_for_each(|case| plan::check_size(case, &settings, target.size))?;
    }
    let rounds = args.rounds.unwrap_or(if args.compare.is_empty() { 1 } else { 5 });
    let mut measured = Vec::new();
    for round in 1..=rounds {
        let mut results = Vec::new();
        for case in &cases {
            output.note(format!("round {round} of {rounds}: {case}"));
            let measure = Measure { case: *case, settings: &settings, targets: &targets, gpu: gpu.as_ref() };
            results.push(measure.run()?);
        }
        measured.push(results);
    }
    let results = summarize(&cases, &settings, &measured);
    if let Some(path) = &args.plot {
        std::fs::write(path, plot::svg(&results)).map_err(|error| target::failed("write", path, &error))?;
    }
    warn_of_cache(&settings, measured.iter().flatten(), output);
    if output.is_json() {
        output.document(&document(&settings, runtime.as_ref(), &targets, &results))?;
    } else {
        text::print(&results, args.format, output)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn gpu(number: u32) -> Result<Gpu, Failure> {
    Ok(Gpu { driver: Driver::open()?, device: Device::new(number)? })
}

fn targets(args: &Args, cases: &[Case], output: &Output) -> Result<Vec<Target>, Failure> {
    let wanted = Wanted {
        offset: args.offset.0,
        size: args.size.map(|size| size.0),
        writes: args.operation.writes(),
        force: args.force,
        seed: args.seed,
        reserve: args.operation.writes() && cases.iter().any(|case| case.mode == Mode::Mmap),
    };
    match (&args.file, &args.directory) {
        (Some(file), _) => Ok(vec![Target::named(file, wanted, output)?]),
        (None, Some(folder)) => {
            let most = cases.iter().map(|case| case.threads).max().unwrap_or(1);
            Target::in_folder(folder, most, wanted, output)
        }
        (None, None) => Err(plan::usage("name a file with -f or a folder with -D".to_owned())),
    }
}

/// A line on standard error if the page cache was not as it was to be.
fn warn_of_cache<'m>(
    settings: &Settings,
    measured: impl Iterator<Item = &'m measurement::Measurement>,
    output: &Output,
) {
    let shares = measured.filter_map(|one| one.page_cache.before);
    let (least, most) = shares.fold((1.0, 0.0), |(least, most), share| (share.min(least), share.max(most)));
    match settings.cache {
        Cache::Cold if most > 0.01 => output.warning(format!(
            "the page cache could not be made cold: {:.0} % of the data stayed in it",
            most * 100.0
        )),
        Cache::Warm if least < 0.99 => output.warning(format!(
            "the page cache could not be made warm: only {:.0} % of the data was in it",
            least * 100.0
        )),
        _ => {}
    }
}

fn document<'r>(
    settings: &Settings,
    runtime: Option<&Runtime>,
    targets: &[Target],
    results: &'r [summary::Summary],
) -> Document<'r> {
    Document {
        version: env!("CARGO_PKG_VERSION"),
        rocm: runtime.map(Runtime::to_string),
        device: runtime.map(|_| settings.device),
        files: targets.iter().map(|target| target.path().display().to_string()).collect(),
        offset: crate::size::Size(settings.offset),
        seed: settings.seed,
        registered: settings.registered,
        depth: settings.depth,
        direct: settings.direct,
        sync: settings.sync,
        results,
    }
}
