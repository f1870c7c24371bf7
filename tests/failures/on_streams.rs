//! Transfers on streams, in scopes or owned, and of batches.

use hipfile::{Batch, Completion, RegisteredStream, Request, StreamFlags};

use crate::entry::{About, Entry, Named, Outcome, all, done, kept};
use crate::stage::Stage;

pub fn entries() -> Vec<Entry> {
    let of_one: &[Named] = &[
        ("FileHandle::read_owned", |stage| {
            let region = stage.region.take().expect("it is there");
            let transfer = stage.file().read_owned(stage.stream(), region, 0);
            stage.ended(transfer)
        }),
        ("FileHandle::write_owned", |stage| {
            let region = stage.region.take().expect("it is there");
            let transfer = stage.file().write_owned(stage.stream(), region, 0);
            stage.ended(transfer)
        }),
        ("FileHandle::read_owned, registered", |stage| {
            let region = stage.region.take().expect("it is there");
            let stream = stage.registered_stream.take().expect("it is there");
            let transfer = stage.file().read_owned(&stream, region, 0);
            stage.made.push(Box::new(stream));
            stage.ended(transfer)
        }),
        ("FileHandle::write_owned, registered", |stage| {
            let region = stage.region.take().expect("it is there");
            let stream = stage.registered_stream.take().expect("it is there");
            let transfer = stage.file().write_owned(&stream, region, 0);
            stage.made.push(Box::new(stream));
            stage.ended(transfer)
        }),
        ("drop of Operation, a transfer", |stage| {
            let region = stage.region.take().expect("it is there");
            done(stage.file().read_owned(stage.stream(), region, 0))
        }),
    ];
    let of_more: &[Named] = &[
        ("FileHandle::read_at_in", |stage| {
            let stream = stage.stream().clone();
            let (file, memory) = stage.file_and_memory();
            let memory = memory.slice_mut(..)?;
            let transfer = stream.scope(|scope| file.read_at_in(scope, memory, 0))?;
            done(transfer.result().expect("the scope has waited")?)
        }),
        ("FileHandle::write_at_in and ScopedTransfer::result", |stage| {
            let stream = stage.stream().clone();
            let (file, memory) = stage.file_and_memory();
            let memory = memory.slice(..)?;
            let transfer = stream.scope(|scope| file.write_at_in(scope, memory, 0))?;
            done(transfer.result().expect("the scope has waited")?)
        }),
        ("Request::submit with late values", |stage| {
            let region = stage.region.take().expect("it is there");
            let stream = stage.stream().clone();
            let stream = RegisteredStream::new(stage.driver(), stream, StreamFlags::empty())?;
            let transfer = Request::read(stage.file(), region, 0).late(|values| values).submit(&stream);
            stage.made.push(Box::new(stream));
            stage.ended(transfer)
        }),
        ("Batch::new", |stage| {
            let batch = Batch::new(stage.driver(), 4)?;
            kept(stage, batch)
        }),
        ("Batch::submit", submitted),
        ("Batch::wait and Batch::try_next", |stage| {
            submitted(stage)?;
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
            submitted(stage)?;
            done(stage.batch.take())
        }),
    ];
    all(About::Transfer, of_one).chain(all(About::Transfers, of_more)).collect()
}

fn submitted(stage: &mut Stage) -> Outcome {
    let requests = stage.requests();
    stage.batch.as_mut().expect("it is there").submit(requests).map_err(|failed| {
        let (error, requests) = failed.into_parts();
        stage.made.push(Box::new(requests));
        error.into()
    })
}
