//! Looking at the statistics of another process.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use soft_rocm_faults::sys;

use super::layout::{Early, Shared};
use super::memory::View;
use super::server::{Address, Control, PAYLOAD, socket};
use super::text;
use crate::failure::Failure;

/// How long a process may take to answer, in milliseconds: its thread may be gone.
const PATIENCE: c_int = 2000;

/// Another process's statistics, in whichever layout it has.
#[derive(Debug)]
pub(crate) enum Remote {
    Shared(View<Shared>),
    Early(View<Early>),
}

impl Remote {
    /// Asks a process for its statistics.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from answering with memory in one of the two layouts.
    pub(crate) fn connect(pid: libc::pid_t) -> Result<Self, Failure> {
        let socket = socket(0)?;
        let address = Address::of_process(pid);
        let at = ptr::from_ref(&address.address).cast();
        // SAFETY: requires an address of that length; holds, it is a local.
        if unsafe { sys::connect(socket.as_raw_fd(), at, address.len) } != 0 {
            return Err(Failure::last_os());
        }
        Self::of(&receive(&socket)?)
    }

    /// Looks at a memory file. The two layouts say the same version, so the size tells them apart.
    fn of(memory: &OwnedFd) -> Result<Self, Failure> {
        let mut info = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: requires a writable stat; holds, it is a local.
        if unsafe { sys::fstat(memory.as_raw_fd(), info.as_mut_ptr()) } != 0 {
            return Err(Failure::last_os());
        }
        // SAFETY: requires an initialised value; holds because fstat succeeded.
        let size = usize::try_from(unsafe { info.assume_init() }.st_size).unwrap_or(0);
        if size == size_of::<Early>() {
            View::new(memory.as_fd()).map(Self::Early)
        } else if size >= size_of::<Shared>() {
            View::new(memory.as_fd()).map(Self::Shared)
        } else {
            Err(Failure::INTERNAL)
        }
    }

    /// What `ais-stats` prints.
    pub(crate) fn report(&self) -> String {
        match self {
            Self::Shared(view) => text::report(view.counters()),
            Self::Early(view) => text::early_report(view.counters()),
        }
    }
}

/// Waits for a message with a descriptor.
fn receive(socket: &OwnedFd) -> Result<OwnedFd, Failure> {
    let entry = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    if sys::poll(&mut [entry], PATIENCE) != 1 {
        return Err(Failure::INTERNAL);
    }
    let mut payload = [0_u8; PAYLOAD];
    let mut control = Control::new();
    let mut part = libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: payload.len() };
    let mut message = control.message(&mut part);
    // SAFETY: requires a message whose parts are writable; holds, they are locals.
    if unsafe { sys::recvmsg(socket.as_raw_fd(), &mut message, libc::MSG_CMSG_CLOEXEC) } <= 0 {
        return Err(Failure::INTERNAL);
    }
    // SAFETY: requires a message that was received; holds.
    let header = unsafe { libc::CMSG_FIRSTHDR(&message) };
    // SAFETY: requires null or a header; holds because the system wrote it.
    let header = unsafe { header.as_ref() }.ok_or(Failure::INTERNAL)?;
    // SAFETY: requires nothing.
    let len = unsafe { libc::CMSG_LEN(size_of::<RawFd>() as u32) } as usize;
    if (header.cmsg_level, header.cmsg_type, header.cmsg_len) != (libc::SOL_SOCKET, libc::SCM_RIGHTS, len) {
        return Err(Failure::INTERNAL);
    }
    // SAFETY: requires a header; holds.
    let data = unsafe { libc::CMSG_DATA(header) };
    // SAFETY: requires a readable descriptor; holds because the length says that there is one.
    let fd = unsafe { data.cast::<RawFd>().read_unaligned() };
    // SAFETY: requires an open descriptor that nobody else owns; holds, it was just received.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::super::memory::Memory;
    use super::super::{Ended, Path, Stats, server};
    use super::*;
    use crate::behaviour::Version;
    use crate::stats::Direction;

    #[test]
    fn a_process_hands_out_its_statistics() {
        Stats::get();
        // SAFETY: requires nothing.
        let own = unsafe { libc::getpid() };
        let Remote::Shared(view) = Remote::connect(own).unwrap() else { panic!("the layout of 0.5") };
        let shared = Stats::get().shared().unwrap();
        assert_ne!(std::ptr::from_ref(shared), std::ptr::from_ref(view.counters()), "another mapping");
        let again = Remote::connect(own).unwrap().report();
        assert!(again.starts_with("AIS-STATS Version: 1\nHipFile Stats Level: 1\n"), "{again}");
        assert!(Remote::connect(1).is_err());
        assert!(server::start(Memory::<Early>::new(0).unwrap().fd).is_err(), "the name is taken");
    }

    #[test]
    fn reports() {
        let ended = |path, direction, moved| Ended {
            device: 3,
            path,
            direction,
            size: 5000,
            moved,
            unaligned: path == Path::Fallback,
        };
        let report = |version| {
            let (stats, file) = Stats::new(version, 1);
            stats.end(stats.begin(), ended(Path::Fast, Direction::Read, Some(4096)));
            stats.end(stats.begin(), ended(Path::Fallback, Direction::Write, Some(10)));
            stats.end(stats.begin(), ended(Path::Fallback, Direction::Write, None));
            stats.file_registered();
            Remote::of(&file.unwrap()).unwrap().report()
        };
        assert_eq!(
            report(Version::V0_2),
            "AIS-STATS Version: 1\nHipFile Stats Level: 1\nTotal Fastpath Read (B): 4096\nTotal Fastpath Write (B): 0\n\
             Total Fallback Read (B): 0\nTotal Fallback Write (B): 10\n"
        );
        let later = report(Version::V0_4);
        for line in [
            "File Registrations: 1\n",
            "Buffer Registrations: 0\n",
            "Total Fastpath Read: Size (B) 4096, ",
            "Total Fallback Write: Size (B) 10, ",
            "Errors 1, Unaligned 2\n",
            "GPU 3 Fastpath\n  Read        4K            1 ops             4096 B ",
            "GPU 3 Fallback\n  Write     < 4K            1 ops               10 B ",
        ] {
            assert!(later.contains(line), "{line:?} in\n{later}");
        }
    }

    #[test]
    fn memory_of_another_kind() {
        let (_, file) = Stats::new(Version::V0_5, 1);
        let file = std::fs::File::from(file.unwrap());
        assert!(file.set_len(100).is_err(), "it can't shrink");
        let plain = tempfile::tempfile().unwrap();
        plain.set_len(size_of::<Shared>() as u64).unwrap();
        assert!(Remote::of(&plain.into()).is_err(), "it could shrink");
    }
}
