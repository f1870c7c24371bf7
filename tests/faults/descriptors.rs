//! No more descriptors: an error each time, nothing left over, and all is well once there are some again.

use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

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

/// Whether a descriptor is a socket with this abstract name.
fn is_named(fd: RawFd, name: &str) -> bool {
    // SAFETY: requires a descriptor that is closed by nobody else; holds, it is given back below.
    let socket = unsafe { UnixListener::from_raw_fd(fd) };
    let named = socket.local_addr().is_ok_and(|at| at.as_abstract_name() == Some(name.as_bytes()));
    let _ = socket.into_raw_fd();
    named
}

/// A daemon closes all descriptors and then serves under the number that was the statistics' socket.
#[test]
fn the_statistics_take_no_connection_of_a_server_that_has_their_number() {
    let test = "descriptors::the_statistics_take_no_connection_of_a_server_that_has_their_number";
    planned(test, "", &[], || {
        let _scene = Scene::new();
        let name = format!("AISSTATS{:08x}", std::process::id());
        let statistics = SocketAddr::from_abstract_name(&name).unwrap();
        drop(UnixStream::connect_addr(&statistics).unwrap());
        let number = (3..1024).find(|fd| is_named(*fd, &name)).unwrap();

        let at = SocketAddr::from_abstract_name(format!("{name} server")).unwrap();
        let server = UnixListener::bind_addr(&at).unwrap();
        let _client = UnixStream::connect_addr(&at).unwrap();
        // SAFETY: requires that nobody owns the second number; the library must expect it to be lost.
        assert_eq!(unsafe { libc::dup2(server.as_raw_fd(), number) }, number);
        // Wakes the thread if it still waits at the old socket.
        let _ = UnixStream::connect_addr(&statistics);
        std::thread::sleep(Duration::from_millis(200));
        server.set_nonblocking(true).unwrap();
        server.accept().expect("the client is still in the queue");
    });
}
