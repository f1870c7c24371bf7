//! SND-08, SND-18: descriptors and what is said of them.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};

use hipfile::{Driver, ErrorKind, FileHandle};
use hipfile_tests::isolate::alone;

use crate::fake::{self, Function};
use crate::support::prepared;

/// SND-08: a descriptor is deregistered while it is still open, in whichever way a file goes.
#[test]
fn deregistered_first_and_closed_after() {
    alone("descriptors::deregistered_first_and_closed_after", || {
        fake::install();
        let driver = Driver::open().unwrap();
        let open = || FileHandle::new(&driver, File::open("/proc/self/exe").unwrap()).unwrap();
        let dropped = open();
        let number = dropped.as_fd().as_raw_fd();
        drop(dropped);
        assert_eq!(*fake::DEREGISTERED.lock().unwrap(), [(number, true)]);
        // SAFETY: requires nothing; a closed descriptor is an error.
        assert_eq!(unsafe { libc::fcntl(number, libc::F_GETFD) }, -1, "closed afterwards");
        let taken = open();
        let number = taken.as_fd().as_raw_fd();
        let fd = taken.into_fd();
        assert_eq!(fake::DEREGISTERED.lock().unwrap()[1..], [(number, true)]);
        assert_eq!(fd.as_raw_fd(), number);
        File::from(fd).metadata().unwrap();
    });
}

/// SND-08: a refused registration gives the descriptor back, open, and nothing is deregistered for it.
#[test]
fn refused_descriptors_come_back() {
    alone("descriptors::refused_descriptors_come_back", || {
        fake::install();
        let driver = Driver::open().unwrap();
        fake::answer(Function::RegisterFile, 5028, 0);
        let file = File::open("/proc/self/exe").unwrap();
        let number = file.as_raw_fd();
        let (error, fd) = FileHandle::new(&driver, file).unwrap_err().into_parts();
        assert_eq!(error.kind(), ErrorKind::AlreadyRegistered);
        assert_eq!(fd.as_raw_fd(), number);
        File::from(fd).metadata().unwrap();
        assert_eq!(fake::calls(Function::DeregisterFile), 0);
    });
}

/// SND-18: what the library is given of a file has no byte that was not set: the pointer to file-system functions is
/// null and so is what is beside the descriptor's number.
#[test]
fn descriptions_are_whole() {
    alone("descriptors::descriptions_are_whole", || {
        fake::install();
        for _ in 0..16 {
            let noise = [0xa5_u8; 4096];
            std::hint::black_box(&noise);
            let prepared = prepared(&[1; 16]);
            let number = prepared.file.as_fd().as_raw_fd();
            let mut expected = [0; 24];
            expected[0] = 1;
            expected[8..12].copy_from_slice(&number.to_ne_bytes());
            let description = *fake::DESCRIPTION.lock().unwrap();
            assert_eq!(description[..4], expected[..4]);
            assert_eq!(description[8..], expected[8..]);
        }
    });
}
