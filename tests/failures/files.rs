//! Files: opened, replaced, asked, sized, and read into and written from host memory.

use std::fs::File;
use std::sync::Arc;

use hipfile::{FileHandle, OpenOptions, Policy, Replacement};

use crate::entry::{About, Entry, Named, all, done, given_back, kept};
use crate::stage::{LEN, Stage};

pub fn entries() -> Vec<Entry> {
    let of_files: &[Named] = &[
        ("OpenOptions::open", |stage| {
            let file = OpenOptions::new().read(true).open(stage.driver(), &stage.path)?;
            kept(stage, file)
        }),
        ("OpenOptions::open with a policy", |stage| {
            let policy = Policy::Auto;
            let file = OpenOptions::new().read(true).policy(policy).open(stage.driver(), &stage.path)?;
            kept(stage, file)
        }),
        ("OpenOptions::replace", |stage| {
            let replacement = replacement(stage)?;
            kept(stage, replacement)
        }),
        ("FileHandle::try_clone", |stage| {
            let file = stage.file().try_clone()?;
            kept(stage, file)
        }),
        ("FileHandle::alignment", |stage| done(stage.file().alignment()?)),
        ("FileHandle::len", |stage| done(stage.file().len()?)),
        ("FileHandle::set_len", |stage| Ok(stage.file().set_len(9)?)),
        ("FileHandle::sync_data", |stage| Ok(stage.file().sync_data()?)),
        ("FileHandle::sync_all", |stage| Ok(stage.file().sync_all()?)),
        ("FileHandle::preallocate", |stage| done(stage.file().preallocate(0, 1 << 20)?)),
        ("FileHandle::into_fd", |stage| {
            let file = stage.file.take().and_then(Arc::into_inner).expect("nobody else has it");
            kept(stage, file.into_fd())
        }),
    ];
    let with_a_replacement: &[Named] = &[
        ("Replacement::commit", |stage| {
            let committed = stage.replacement.take().expect("it is there").commit();
            given_back(stage, committed)
        }),
        ("drop of Replacement", |stage| done(stage.replacement.take())),
    ];
    let of_transfers: &[Named] = &[
        ("FileHandle::explain", |stage| {
            let file = Arc::clone(stage.file());
            done(file.explain(stage.buffer().slice(..)?, 0)?)
        }),
        ("FileHandle::read_host_at", |stage| {
            let file = Arc::clone(stage.file());
            done(file.read_host_at(&mut stage.host_bytes, 0)?)
        }),
        ("FileHandle::read_host_exact_at, pinned", |stage| {
            let file = Arc::clone(stage.file());
            Ok(file.read_host_exact_at(stage.host.as_mut().expect("it is there"), 0)?)
        }),
        ("FileHandle::write_host_at", |stage| done(stage.file().write_host_at(&stage.host_bytes, 0)?)),
        ("FileHandle::write_host_all_at, pinned", |stage| {
            let memory = stage.host.as_ref().expect("it is there");
            Ok(stage.file().write_host_all_at(memory, LEN as u64)?)
        }),
    ];
    let without_path: &[Named] = &[
        ("FileHandle::new", |stage| {
            let file = File::open(&stage.path).expect("it is there");
            let file = FileHandle::new(stage.driver(), file);
            given_back(stage, file)
        }),
        ("drop of FileHandle", |stage| done(stage.file.take())),
    ];
    let replace = |stage: &mut Stage| stage.replacement = Some(replacement(stage).expect("a new file"));
    all(About::File, of_files)
        .chain(all(About::File, with_a_replacement).map(|entry| entry.prepared(replace)))
        .chain(all(About::Transfer, of_transfers))
        .chain(all(About::Operation, without_path))
        .collect()
}

fn replacement(stage: &Stage) -> hipfile::Result<Replacement> {
    OpenOptions::new().replace(stage.driver(), &stage.path)
}
