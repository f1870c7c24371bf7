//! No more descriptors: an error each time, nothing left over, and all is well once there are some again.

use std::os::fd::AsRawFd;

use hipfile_tests::raw;

use crate::scene::{ALL, Scene, plan_hipfile, planned};

/// The descriptors of this process.
fn open() -> usize {
    // The one that lists them is not counted.
    std::fs::read_dir("/proc/self/fd").unwrap().count() - 1
}

/// Sets how many descriptors there may be and answers how many there might before.
fn limit(most: u64) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: requires a writable limit; holds, it is a local.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) }, 0);
    let before = std::mem::replace(&mut limit.rlim_cur, most);
    // SAFETY: requires a readable limit; holds, it is a local.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
    before
}

/// The lowest number that is free.
fn next() -> u64 {
    let file = std::fs::File::open("/dev/null").unwrap();
    file.as_raw_fd() as u64
}

#[test]
fn registering_a_file() {
    planned("descriptors::registering_a_file", "", &[], || {
        let scene = Scene::new();
        let other = tempfile::NamedTempFile::new().unwrap();
        let before = open();
        let most = limit(next());
        for _ in 0..100 {
            // 5030 is the contract's code for any system error of a registration but EINVAL.
            assert_eq!(raw::register(other.as_file().as_raw_fd()).0, raw::e(5030));
        }
        assert_eq!(scene.read(), ALL, "what is registered works");
        limit(most);
        assert_eq!(open(), before);
        let handle = raw::registered(other.as_file().as_raw_fd());
        raw::deregister(handle);
        assert_eq!(open(), before);
    });
}

/// Each step of a registration fails once, by script.
#[test]
fn each_step_of_a_registration() {
    planned("descriptors::each_step_of_a_registration", "", &[], || {
        let scene = Scene::new();
        let other = tempfile::NamedTempFile::new().unwrap();
        let before = open();
        for call in ["statx", "fcntl", "fstatfs", "open"] {
            plan_hipfile(&format!("{call}:errno=EMFILE"));
            assert_eq!(raw::register(other.as_file().as_raw_fd()).0, raw::e(5030), "{call}");
            assert_eq!(open(), before, "{call}");
        }
        plan_hipfile("open:errno=EINVAL");
        let handle = raw::registered(other.as_file().as_raw_fd());
        raw::deregister(handle);
        drop(scene);
    });
}
