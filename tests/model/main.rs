//! Random calls of libhipfile against a pure model of its contract: every answer, the use count, and what files and
//! device memory hold. Prints how often each function ended in each way, and the seed: `MODEL_SEED=N` repeats a run,
//! `MODEL_SEED=random` makes another one. What
//! a batch's workers have done when they are asked is not the seed's to decide, and later calls depend on it.
//!
//! Streams are held while asynchronous transfers are submitted, which takes the software HIP. The fallback path is
//! taken; which path is taken when is tested elsewhere.

mod call;
mod generate;
mod judge;
mod model;
mod random;
mod submitted;
mod table;
mod world;

use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use hipfile_tests::raw;
use libtest_mimic::{Arguments, Failed, Trial};

use model::{ALLOCATIONS, FILES, Model};
use random::Random;
use table::Table;
use world::World;

/// Every run makes so many calls, and then more until each cell of the table was reached often enough.
const CALLS: usize = 20_000;
const LONGEST: Duration = Duration::from_secs(45);

fn main() -> ExitCode {
    // SAFETY: requires that no other thread reads the environment; holds, there is none yet.
    unsafe { std::env::set_var("HIPFILE_FORCE_COMPAT_MODE", "true") };
    let arguments = Arguments::from_args();
    let fits = raw::version() >= (0, 5, 0) && raw::is_software();
    let trial = Trial::test("random_calls_against_the_model", || run().map_err(Failed::from));
    libtest_mimic::run(&arguments, vec![trial.with_ignored_flag(!fits)]).exit_code()
}

fn seed() -> Result<u64, String> {
    match std::env::var("MODEL_SEED") {
        Err(_) => Ok(1),
        Ok(text) if text == "random" => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            Ok(now.map_or(1, |now| now.subsec_nanos().into()))
        }
        Ok(text) => text.parse().map_err(|_| format!("MODEL_SEED={text}: expected a number or `random`")),
    }
}

fn run() -> Result<(), String> {
    let seed = seed()?;
    println!("MODEL_SEED={seed}");
    let mut random = Random::new(seed);
    let mut world = World::new().ok_or("this HIP can't hold streams")?;
    let files = std::array::from_fn(|file| world.file(file));
    let memory = std::array::from_fn(|allocation| world.memory(allocation));
    let mut model = Model::new(files, memory);
    let mut table = Table::default();
    let started = Instant::now();
    let mut calls = 0;
    let mut lost = false;
    while calls < CALLS || !table.wrong().is_empty() && started.elapsed() < LONGEST {
        for _ in 0..100 {
            let call = generate::call(&mut random, &model, calls);
            lost |= judge::loses_events(&mut model, &call);
            let answer = world.ask(&call);
            judge::judge(&mut model, &mut table, &call, &answer)
                .and_then(|()| compare(&mut model, &world, lost))
                .map_err(|error| format!("MODEL_SEED={seed}, call {calls}: {call:?}: {error}"))?;
            // Until nothing runs any more there is nothing to take over.
            lost &= model.unsettled();
            calls += 1;
        }
    }
    table.print();
    println!("{calls} calls in {:.1} s, MODEL_SEED={seed}", started.elapsed().as_secs_f64());
    let wrong = table.wrong();
    if wrong.is_empty() { Ok(()) } else { Err(format!("the table:\n{}", wrong.join("\n"))) }
}

/// Compares what can be seen beside the answers; where nobody knows what ran, takes over what is there.
fn compare(model: &mut Model, world: &World, lost: bool) -> Result<(), String> {
    if raw::count() != model.use_count {
        return Err(format!("the use count is {}, expected {}", raw::count(), model.use_count));
    }
    if model.unsettled() {
        return Ok(());
    }
    for file in 0..FILES {
        same(&format!("file {file}"), &mut model.files[file], world.file(file), lost)?;
    }
    for allocation in 0..ALLOCATIONS {
        let there = world.memory(allocation);
        same(&format!("device memory {allocation}"), &mut model.memory[allocation], there, lost)?;
    }
    Ok(())
}

fn same(what: &str, expected: &mut Vec<u8>, there: Vec<u8>, lost: bool) -> Result<(), String> {
    if lost {
        *expected = there;
        return Ok(());
    }
    if *expected == there {
        return Ok(());
    }
    let first = expected.iter().zip(&there).position(|(a, b)| a != b);
    Err(format!("{what} of {} bytes, expected {}, differs at {first:?}", there.len(), expected.len()))
}
