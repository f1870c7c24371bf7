//! Files that are replaced whole or not at all.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hipfile::alloc::{DeviceBuffer, Stream};
use hipfile::{Driver, ErrorKind, OpError, OpenOptions, Replacement};
use hipfile_tests::isolate::{alone, in_child, shimmed};
use hipfile_tests::shim::{self, Action};
use hipfile_tests::soft;

use crate::common::{Scratch, descriptors, pattern};

fn replace(driver: &Driver, path: &Path) -> Replacement {
    OpenOptions::new().replace(driver, path).unwrap()
}

/// The names in the folder of a test, in order.
fn names(scratch: &Scratch) -> Vec<String> {
    let folder = scratch.path("");
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_new_file_is_seen_whole_and_only_after_the_commit() {
    let scratch = Scratch::new();
    let content = pattern(100_003, 1);
    let path = scratch.file("data", b"old");
    let driver = Driver::open().unwrap();
    let memory = DeviceBuffer::from_host(&content).unwrap();
    let new = replace(&driver, &path);
    assert_eq!(new.file().path(), Some(path.as_path()));
    new.file().write_all_at(memory.slice(..).unwrap(), 0).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert!(format!("{new:?}").starts_with("Replacement { file: FileHandle {"), "{new:?}");
    let file = new.commit().unwrap();
    assert!(fs::read(&path).unwrap() == content);
    assert_eq!(names(&scratch), ["data"]);
    // The handle is that of the new file.
    file.write_host_all_at(b"more", 100_003).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 100_007);
    assert_eq!(file.path(), Some(path.as_path()));

    // Where there was none, and of the longest name there is.
    let path = scratch.path(&"n".repeat(255));
    let new = OpenOptions::new().read(true).mode(0o640).replace(&driver, &path).unwrap();
    assert!(!path.exists());
    new.file().write_host_all_at(b"first", 0).unwrap();
    let mut back = [0; 5];
    new.file().read_host_exact_at(&mut back, 0).unwrap();
    assert_eq!(new.file().mode() & !0o640, 0);
    new.commit().unwrap();
    assert_eq!((fs::read(&path).unwrap(), &back), (b"first".to_vec(), b"first"));
}

#[test]
fn what_is_not_committed_leaves_nothing() {
    alone("replacing::what_is_not_committed_leaves_nothing", || {
        let scratch = Scratch::new();
        let path = scratch.file("data", b"old");
        let driver = Driver::open().unwrap();
        drop(replace(&driver, &path)); // whatever the first use opens is open now
        let before = descriptors();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let new = replace(&driver, &path);
            new.file().write_host_all_at(b"half of", 0).unwrap();
            assert_eq!(names(&scratch).len(), 2, "the new file is in the same folder");
            panic!("on the way");
        }));
        assert_eq!(*panicked.unwrap_err().downcast_ref::<&str>().unwrap(), "on the way");
        let written = || -> hipfile::Result<()> {
            let new = replace(&driver, &path);
            new.file().write_host_all_at(b"half of", 0)?;
            new.file().write_host_all_at(b"of it", u64::MAX)
        };
        assert_eq!(written().unwrap_err().kind(), ErrorKind::InvalidInput);
        // Clones of the file keep it open, not its name.
        let clone = Arc::clone(replace(&driver, &path).file());
        assert_eq!(names(&scratch), ["data"]);
        clone.write_host_all_at(b"for nobody", 0).unwrap();
        drop(clone);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(descriptors(), before);
    });
}

/// A handle that is used elsewhere could change the file when it is in place.
#[test]
fn a_file_in_use_is_not_committed() {
    let scratch = Scratch::new();
    let path = scratch.file("data", b"old");
    let driver = Driver::open().unwrap();
    let new = replace(&driver, &path);
    let region = driver.register(DeviceBuffer::from_host(b"new").unwrap()).unwrap().into_region();
    let stream = Stream::new().unwrap();
    let transfer = new.file().write_owned(&stream, region, 0);
    let clone = Arc::clone(new.file());
    let (error, new) = new.commit().unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::Busy);
    let text = format!("replace {}: clones or transfers still use the file", path.display());
    assert_eq!(error.to_string(), text);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    drop((transfer.wait().unwrap(), clone));
    new.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn a_commit_that_fails_can_be_tried_again() {
    let scratch = Scratch::new();
    let path = scratch.path("data");
    let driver = Driver::open().unwrap();
    let new = replace(&driver, &path);
    new.file().write_host_all_at(b"new", 0).unwrap();
    fs::create_dir(&path).unwrap();
    let (error, new) = new.commit().unwrap_err().into_parts();
    assert_eq!((error.operation(), error.os_error()), ("replace", Some(libc::EISDIR)), "{error}");
    assert_eq!(error.path(), Some(path.as_path()));
    fs::remove_dir(&path).unwrap();
    new.commit().unwrap();
    assert_eq!((fs::read(&path).unwrap(), names(&scratch)), (b"new".to_vec(), vec!["data".to_owned()]));

    let new = replace(&driver, &path);
    fs::create_dir(scratch.path("in the way")).unwrap();
    fs::remove_file(&path).unwrap();
    fs::rename(scratch.path("in the way"), &path).unwrap();
    drop(new.commit().unwrap_err());
    assert_eq!(names(&scratch), ["data"], "dropped with the error");
}

/// The file is on the storage device before it has its name, and the name after that.
#[test]
fn a_failed_sync_says_which_file_is_in_place() {
    shimmed("replacing::a_failed_sync_says_which_file_is_in_place", &[], || {
        let scratch = Scratch::new();
        let path = scratch.file("data", b"old");
        let driver = Driver::open().unwrap();
        let new = replace(&driver, &path);
        new.file().write_host_all_at(b"new", 0).unwrap();
        shim::once("fsync", Action::Error(i64::from(libc::EIO)));
        let (error, new) = new.commit().unwrap_err().into_parts();
        let text = format!("sync {}: input/output error (5 EIO)", path.display());
        assert_eq!((error.to_string(), shim::calls("fsync")), (text, 1));
        assert_eq!(fs::read(&path).unwrap(), b"old");

        shim::release("fsync");
        shim::rule("fsync", Action::Error(i64::from(libc::EIO)), 2, 1);
        let (error, new) = new.commit().unwrap_err().into_parts();
        assert_eq!(
            error.to_string(),
            format!("sync folder of {}: input/output error (5 EIO)", path.display())
        );
        assert_eq!(fs::read(&path).unwrap(), b"new");
        new.commit().unwrap();
        assert_eq!(shim::calls("fsync"), 4);

        // A file system that has no such thing for folders.
        let new = replace(&driver, &path);
        shim::release("fsync");
        shim::rule("fsync", Action::Error(i64::from(libc::EINVAL)), 2, 1);
        new.commit().unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(&scratch)), (vec![], vec!["data".to_owned()]));
    });
}

#[test]
fn what_can_not_be_replaced_is_told_at_once() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    fs::create_dir(scratch.path("folder")).unwrap();
    symlink("nothing", scratch.path("dangling")).unwrap();
    let error = |path: &Path| OpenOptions::new().replace(&driver, path).unwrap_err();
    for path in ["folder", "."] {
        let error = error(&scratch.path(path));
        assert_eq!(error.kind(), ErrorKind::UnsupportedFile);
        assert!(error.to_string().ends_with(": only a regular file can be replaced"), "{error}");
    }
    assert_eq!(error(Path::new("/dev/null")).kind(), ErrorKind::UnsupportedFile);
    for path in ["no folder/data", "dangling"] {
        let error = error(&scratch.path(path));
        assert_eq!((error.operation(), error.os_error()), ("replace", Some(libc::ENOENT)), "{error}");
    }
    let unnamed = error(&scratch.path("no folder/.."));
    assert_eq!(unnamed.kind(), ErrorKind::InvalidInput, "{unnamed}");
    assert_eq!(names(&scratch), ["dangling", "folder"]);
}

#[test]
fn a_file_that_can_not_be_registered_is_gone() {
    soft::only("replacing::a_file_that_can_not_be_registered_is_gone", &[], || {
        let scratch = Scratch::new();
        let path = scratch.file("data", b"old");
        let driver = Driver::open().unwrap();
        soft::plan_hipfile("hipFileHandleRegister:hipfile=5030");
        let error = OpenOptions::new().replace(&driver, &path).unwrap_err();
        assert_eq!(error.op_error(), Some(OpError::InternalError));
        assert_eq!((fs::read(&path).unwrap(), names(&scratch)), (b"old".to_vec(), vec!["data".to_owned()]));
    });
}

#[test]
fn links_and_permissions_stay() {
    let scratch = Scratch::new();
    let path = scratch.file("data", b"old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4606)).unwrap();
    symlink("data", scratch.path("link")).unwrap();
    let driver = Driver::open().unwrap();
    let new = OpenOptions::new().mode(0o777).replace(&driver, scratch.path("link")).unwrap();
    assert_eq!(
        new.file().mode(),
        0o606,
        "set before there is content, without the right to be somebody else"
    );
    new.file().write_host_all_at(b"new", 0).unwrap();
    new.commit().unwrap();
    assert_eq!(fs::read_link(scratch.path("link")).unwrap(), Path::new("data"));
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o606);
}

/// What belongs to another user still does when root has replaced it, as after a write.
#[test]
fn owner_and_group_stay() {
    let scratch = Scratch::new();
    let path = scratch.file("data", b"old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o460)).unwrap();
    if chown(&path, Some(1234), Some(4321)).is_err() {
        return println!("skipped: this user may not give files away");
    }
    let new = replace(&Driver::open().unwrap(), &path);
    let found = |file: fs::Metadata| (file.uid(), file.gid(), file.mode() & 0o7777);
    assert_eq!(
        found(fs::File::from(new.file().as_fd().try_clone_to_owned().unwrap()).metadata().unwrap()),
        (1234, 4321, 0o460)
    );
    new.commit().unwrap();
    assert_eq!(found(fs::metadata(&path).unwrap()), (1234, 4321, 0o460));
}

/// The folder is the one that it was when the replacement began.
#[test]
fn a_change_of_the_working_directory_changes_nothing() {
    alone("replacing::a_change_of_the_working_directory_changes_nothing", || {
        let scratch = Scratch::new();
        let driver = Driver::open().unwrap();
        std::env::set_current_dir(scratch.path("")).unwrap();
        let (new, dropped) = (replace(&driver, Path::new("data")), replace(&driver, Path::new("other")));
        std::env::set_current_dir("/").unwrap();
        drop(dropped);
        new.commit().unwrap();
        assert_eq!(names(&scratch), ["data"]);
    });
}

/// SND-16: a child can neither commit nor remove what is its parent's.
#[test]
fn a_forked_child_leaves_the_new_file_alone() {
    alone("replacing::a_forked_child_leaves_the_new_file_alone", || {
        let scratch = Scratch::new();
        let path = scratch.path("data");
        let driver = Driver::open().unwrap();
        let mut new = Some(replace(&driver, &path));
        let passed = in_child(|| {
            let (error, new) = new.take().unwrap().commit().unwrap_err().into_parts();
            drop(new);
            error.kind() == ErrorKind::Forked && OpenOptions::new().replace(&driver, &path).is_err()
        });
        assert!(passed);
        assert_eq!(names(&scratch).len(), 1, "the new file, and nothing of the child's");
        new.unwrap().commit().unwrap();
        assert_eq!(names(&scratch), ["data"]);
    });
}

/// Whoever reads meanwhile finds the whole of one of the files.
#[test]
fn replacements_at_once_do_not_mix() {
    let scratch = Scratch::new();
    let path = scratch.file("data", &[0; 50_000]);
    let driver = Driver::open().unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = 0;
            while !done.load(Ordering::Relaxed) || seen == 0 {
                let content = fs::read(&path).unwrap();
                assert!(content.len() == 50_000 && content.iter().all(|&byte| byte == content[0]));
                seen += 1;
            }
        });
        let writers: Vec<_> = (1..5)
            .map(|value| {
                let (driver, path) = (&driver, &path);
                scope.spawn(move || {
                    let memory = DeviceBuffer::from_host(&[value; 50_000]).unwrap();
                    for _ in 0..5 {
                        let new = replace(driver, path);
                        new.file().write_all_at(memory.slice(..).unwrap(), 0).unwrap();
                        new.commit().unwrap();
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
    assert_eq!(names(&scratch), ["data"]);
}
