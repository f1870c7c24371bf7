//! Transfers that block: single ones, large and scattered ones, and those of a job.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;

use hipfile::transfer::{Ended, Job, Options};

use crate::entry::{About, Entry, Named, Outcome, all, done};
use crate::stage::{LEN, Stage};

pub fn entries() -> Vec<Entry> {
    let of_one: &[Named] = &[
        ("FileHandle::read_at", |stage| {
            let (file, memory) = stage.file_and_memory();
            done(file.read_at(memory.slice_mut(..)?, 0)?)
        }),
        ("FileHandle::read_at, not registered", |stage| {
            let file = Arc::clone(stage.file());
            done(file.read_at(stage.buffer().slice_mut(..)?, 0)?)
        }),
        ("FileHandle::read_at, not aligned", |stage| {
            let (file, memory) = stage.file_and_memory();
            done(file.read_at(memory.slice_mut(1..8000)?, 3)?)
        }),
        ("FileHandle::read_exact_at", |stage| {
            let (file, memory) = stage.file_and_memory();
            Ok(file.read_exact_at(memory.slice_mut(..)?, 0)?)
        }),
        ("FileHandle::write_at", |stage| {
            let (file, memory) = stage.file_and_memory();
            done(file.write_at(memory.slice(..)?, 0)?)
        }),
        ("FileHandle::write_at, not aligned", |stage| {
            let (file, memory) = stage.file_and_memory();
            done(file.write_at(memory.slice(1..8000)?, 3)?)
        }),
        ("FileHandle::write_all_at", |stage| {
            let (file, memory) = stage.file_and_memory();
            Ok(file.write_all_at(memory.slice(..)?, 0)?)
        }),
        ("transfer::Options::read_file_into", |stage| {
            let (file, memory) = stage.file_and_memory();
            done(Options::new().threads(2).read_file_into(&file, memory.slice_mut(1..)?, 1)?)
        }),
        ("transfer::Options::write_file_from", |stage| {
            let (file, memory) = stage.file_and_memory();
            done(Options::new().threads(2).write_file_from(&file, memory.slice(1..)?, 1)?)
        }),
        ("transfer::Options::read_files_into", |stage| {
            let (file, memory) = stage.file_and_memory();
            let (one, two) = memory.slice_mut(..)?.split_at_mut(4096)?;
            done(Options::new().read_files_into([(&*file, one, 0), (&*file, two, 4096)])?)
        }),
        ("transfer::Options::write_files_from", |stage| {
            let (file, memory) = stage.file_and_memory();
            let (one, two) = memory.slice(..)?.split_at(4096)?;
            done(Options::new().write_files_from([(&*file, one, 0), (&*file, two, 4096)])?)
        }),
    ];
    let of_more: &[Named] = &[
        ("FileHandle::read_at_after(stream)", |stage| {
            let stream = stage.stream().clone();
            let (file, memory) = stage.file_and_memory();
            done(file.read_at_after(&stream, memory.slice_mut(..)?, 0)?)
        }),
        ("FileHandle::write_at_after(event)", |stage| {
            let events = stage.events.take().expect("they are there");
            let (file, memory) = stage.file_and_memory();
            let outcome = file.write_at_after(&events[0], memory.slice(..)?, 0);
            stage.events = Some(events);
            done(outcome?)
        }),
        ("transfer::Options::copy_file", |stage| {
            let file = Arc::clone(stage.file());
            done(Options::new().copy_file((&file, 0), (&file, LEN as u64), LEN as u64)?)
        }),
        ("transfer::Job::wait", |stage| {
            let job = job(stage);
            ended(stage, job.wait())
        }),
        ("transfer::Job::try_wait", |stage| {
            let mut job = job(stage);
            loop {
                match job.try_wait() {
                    Ok(moved) => return ended(stage, moved),
                    Err(going) => job = going,
                }
                thread::yield_now();
            }
        }),
        ("drop of transfer::Job", |stage| done(job(stage))),
        ("transfer::Job::poll", |stage| {
            let mut job = job(stage);
            loop {
                match Pin::new(&mut job).poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(moved) => return ended(stage, moved),
                    Poll::Pending => thread::yield_now(),
                }
            }
        }),
    ];
    all(About::Transfer, of_one).chain(all(About::Transfers, of_more)).collect()
}

fn job(stage: &mut Stage) -> Job {
    let requests = stage.requests();
    Options::new().threads(2).spawn(requests)
}

/// Keeps what a job gives back.
fn ended(stage: &mut Stage, Ended { result, regions, .. }: Ended) -> Outcome {
    stage.made.push(Box::new(regions));
    done(result?)
}
