//! Files opened with [`Policy::DirectOnly`], where nothing is made good by way of host memory.

use std::sync::Arc;

use hipfile::transfer::Options;
use hipfile::{OpenOptions, Policy};

use crate::entry::{About, Entry, Named, all, done, kept};
use crate::stage::Stage;

pub fn entries() -> Vec<Entry> {
    let of_files: &[Named] = &[("DirectOnly: OpenOptions::open", |stage| {
        let file = options().open(stage.driver(), &stage.path)?;
        kept(stage, file)
    })];
    let of_transfers: &[Named] = &[
        ("DirectOnly: FileHandle::explain", |stage| {
            let (file, memory) = stage.file_and_memory();
            done(file.explain(memory.slice(..)?, 0)?)
        }),
        ("DirectOnly: FileHandle::read_at", |stage| {
            let (file, memory) = stage.file_and_memory();
            done(file.read_at(memory.slice_mut(..)?, 0)?)
        }),
        ("DirectOnly: FileHandle::write_at", |stage| {
            let (file, memory) = stage.file_and_memory();
            done(file.write_at(memory.slice(..)?, 0)?)
        }),
        ("DirectOnly: FileHandle::read_owned", |stage| {
            let region = stage.region.take().expect("it is there");
            let transfer = stage.file().read_owned(stage.stream(), region, 0);
            stage.ended(transfer)
        }),
        ("DirectOnly: transfer::Options::read_file_into", |stage| {
            let (file, memory) = stage.file_and_memory();
            done(Options::new().threads(2).read_file_into(&file, memory.slice_mut(..)?, 0)?)
        }),
    ];
    let open = |stage: &mut Stage| {
        let file = options().open(stage.driver(), &stage.path).expect("a file");
        stage.file = Some(Arc::new(file));
    };
    all(About::File, of_files)
        .chain(all(About::Transfer, of_transfers).map(|entry| entry.prepared(open)))
        .collect()
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).policy(Policy::DirectOnly);
    options
}
