//! Transfers: blocking, in scopes, owned, of batches and large ones.

use std::sync::Arc;

use hipfile::transfer::Options;
use hipfile::{Batch, Completion, OwnedTransfer, Request};

use crate::entry::{About, Entry, Named, Outcome, done, kept};
use crate::stage::{LEN, Stage};

pub fn entries() -> Vec<Entry> {
    let of_one: [Named; 16] = [
        ("FileHandle::read_at", |stage| {
            let (file, memory) = blocking(stage);
            done(file.read_at(memory.slice_mut(..)?, 0)?)
        }),
        ("FileHandle::read_at, not registered", |stage| {
            let file = Arc::clone(stage.file());
            done(file.read_at(stage.buffer().slice_mut(..)?, 0)?)
        }),
        ("FileHandle::read_at, not aligned", |stage| {
            let (file, memory) = blocking(stage);
            done(file.read_at(memory.slice_mut(1..8000)?, 3)?)
        }),
        ("FileHandle::read_exact_at", |stage| {
            let (file, memory) = blocking(stage);
            Ok(file.read_exact_at(memory.slice_mut(..)?, 0)?)
        }),
        ("FileHandle::write_at", |stage| {
            let (file, memory) = blocking(stage);
            done(file.write_at(memory.slice(..)?, 0)?)
        }),
        ("FileHandle::write_at, not aligned", |stage| {
            let (file, memory) = blocking(stage);
            done(file.write_at(memory.slice(1..8000)?, 3)?)
        }),
        ("FileHandle::write_all_at", |stage| {
            let (file, memory) = blocking(stage);
            Ok(file.write_all_at(memory.slice(..)?, 0)?)
        }),
        ("FileHandle::read_owned", |stage| {
            let region = stage.region.take().expect("it is there");
            let transfer = stage.file().read_owned(stage.stream(), region, 0);
            ended(stage, transfer)
        }),
        ("FileHandle::write_owned", |stage| {
            let region = stage.region.take().expect("it is there");
            let transfer = stage.file().write_owned(stage.stream(), region, 0);
            ended(stage, transfer)
        }),
        ("FileHandle::read_owned, registered", |stage| {
            let region = stage.region.take().expect("it is there");
            let stream = stage.registered_stream.take().expect("it is there");
            let transfer = stage.file().read_owned(&stream, region, 0);
            stage.made.push(Box::new(stream));
            ended(stage, transfer)
        }),
        ("FileHandle::write_owned, registered", |stage| {
            let region = stage.region.take().expect("it is there");
            let stream = stage.registered_stream.take().expect("it is there");
            let transfer = stage.file().write_owned(&stream, region, 0);
            stage.made.push(Box::new(stream));
            ended(stage, transfer)
        }),
        ("drop of OwnedTransfer", |stage| {
            let region = stage.region.take().expect("it is there");
            done(stage.file().read_owned(stage.stream(), region, 0))
        }),
        ("transfer::read_file_into", |stage| {
            let (file, memory) = blocking(stage);
            done(Options::new().threads(2).read_file_into(&file, memory.slice_mut(1..)?, 1)?)
        }),
        ("transfer::write_file_from", |stage| {
            let (file, memory) = blocking(stage);
            done(Options::new().threads(2).write_file_from(&file, memory.slice(1..)?, 1)?)
        }),
        ("transfer::read_files_into", |stage| {
            let (file, memory) = blocking(stage);
            let (one, two) = memory.slice_mut(..)?.split_at_mut(4096)?;
            done(Options::new().read_files_into([(&*file, one, 0), (&*file, two, 4096)])?)
        }),
        ("transfer::write_files_from", |stage| {
            let (file, memory) = blocking(stage);
            let (one, two) = memory.slice(..)?.split_at(4096)?;
            done(Options::new().write_files_from([(&*file, one, 0), (&*file, two, 4096)])?)
        }),
    ];
    let of_more: [Named; 12] = [
        ("FileHandle::read_at_after(stream)", |stage| {
            let stream = stage.stream().clone();
            let (file, memory) = blocking(stage);
            done(file.read_at_after(&stream, memory.slice_mut(..)?, 0)?)
        }),
        ("FileHandle::write_at_after(event)", |stage| {
            let events = stage.events.take().expect("they are there");
            let (file, memory) = blocking(stage);
            let outcome = file.write_at_after(&events[0], memory.slice(..)?, 0);
            stage.events = Some(events);
            done(outcome?)
        }),
        ("FileHandle::read_at_in", |stage| {
            let stream = stage.stream().clone();
            let (file, memory) = blocking(stage);
            let memory = memory.slice_mut(..)?;
            let transfer = stream.scope(|scope| file.read_at_in(scope, memory, 0))?;
            done(transfer.result().expect("the scope has waited")?)
        }),
        ("FileHandle::write_at_in", |stage| {
            let stream = stage.stream().clone();
            let (file, memory) = blocking(stage);
            let memory = memory.slice(..)?;
            let transfer = stream.scope(|scope| file.write_at_in(scope, memory, 0))?;
            done(transfer.result().expect("the scope has waited")?)
        }),
        ("Request::late", |stage| {
            let region = stage.region.take().expect("it is there");
            let stream = hipfile::RegisteredStream::new(
                stage.driver(),
                stage.stream().clone(),
                hipfile::StreamFlags::empty(),
            )?;
            let transfer = Request::read(stage.file(), region, 0).late(|values| values).submit(&stream);
            stage.made.push(Box::new(stream));
            ended(stage, transfer)
        }),
        ("Batch::new", |stage| {
            let batch = Batch::new(stage.driver(), 4)?;
            kept(stage, batch)
        }),
        ("Batch::submit", |stage| {
            let requests = requests(stage);
            submitted(stage, requests)
        }),
        ("Batch::wait", |stage| {
            let requests = requests(stage);
            submitted(stage, requests)?;
            let batch = stage.batch.as_mut().expect("it is there");
            batch.wait(2, None)?;
            let mut outcome = Ok(());
            while let Some(Completion { region, result, .. }) = batch.try_next()? {
                stage.made.push(Box::new(region));
                outcome = outcome.and(result.map(drop));
            }
            Ok(outcome?)
        }),
        ("Batch::cancel", |stage| Ok(stage.batch.as_mut().expect("it is there").cancel()?)),
        ("drop of Batch", |stage| {
            let requests = requests(stage);
            submitted(stage, requests)?;
            done(stage.batch.take())
        }),
        ("transfer::copy_file", |stage| {
            let file = Arc::clone(stage.file());
            done(Options::new().copy_file((&file, 0), (&file, LEN as u64), LEN as u64)?)
        }),
        ("transfer::Job::wait", |stage| {
            let ended = Options::new().threads(2).spawn(requests(stage)).wait();
            stage.made.push(Box::new(ended.regions));
            done(ended.result?)
        }),
    ];
    let of_one = of_one.map(|(name, call)| Entry::new(name, About::Transfer, call));
    let of_more = of_more.map(|(name, call)| Entry::new(name, About::Transfers, call));
    of_one.into_iter().chain(of_more).collect()
}

/// The file and the registered memory.
fn blocking(
    stage: &mut Stage,
) -> (Arc<hipfile::FileHandle>, &mut hipfile::Registered<hipfile::alloc::DeviceBuffer>) {
    let file = Arc::clone(stage.file());
    (file, stage.registered.as_mut().expect("it is there"))
}

/// A read and a write.
fn requests(stage: &mut Stage) -> Vec<Request> {
    let (one, two) =
        (stage.region.take().expect("it is there"), stage.second_region.take().expect("it is there"));
    vec![Request::read(stage.file(), one, 0), Request::write(stage.file(), two, LEN as u64)]
}

fn submitted(stage: &mut Stage, requests: Vec<Request>) -> Outcome {
    stage.batch.as_mut().expect("it is there").submit(requests).map_err(|failed| {
        let (error, requests) = failed.into_parts();
        stage.made.push(Box::new(requests));
        error.into()
    })
}

/// Waits for a transfer and keeps what it gives back.
fn ended(stage: &mut Stage, transfer: OwnedTransfer) -> Outcome {
    match transfer.wait() {
        Ok(done) => kept(stage, done.region),
        Err(failed) => {
            let (error, region) = failed.into_parts();
            stage.made.push(Box::new(region));
            Err(error.into())
        }
    }
}
