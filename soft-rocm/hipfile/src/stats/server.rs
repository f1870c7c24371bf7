//! The thread that hands the statistics' memory to whoever asks: each connection to the process's socket gets the
//! descriptor of the memory file, and that is all.

use std::ffi::c_int;
use std::mem::{self, MaybeUninit};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::ptr;
use std::time::Duration;

use soft_rocm_faults::sys;

use crate::failure::Failure;
use crate::signals;

/// Bytes that go along with the descriptor: a message without any does not arrive.
pub(super) const PAYLOAD: usize = 4;

/// How long to wait for a descriptor to become free.
const PAUSE: Duration = Duration::from_millis(100);

/// An address, and how much of it counts.
pub(super) struct Address {
    pub(super) address: libc::sockaddr_un,
    pub(super) len: libc::socklen_t,
}

impl Address {
    /// The abstract name of a process's socket: `AISSTATS` and the process id in hexadecimal.
    pub(super) fn of_process(pid: libc::pid_t) -> Self {
        // SAFETY: requires a type for which zero bytes are valid; holds because it consists of integers.
        let mut address: libc::sockaddr_un = unsafe { mem::zeroed() };
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        let name = format!("\0AISSTATS{pid:08x}");
        for (place, byte) in address.sun_path.iter_mut().zip(name.bytes()) {
            *place = byte as libc::c_char;
        }
        let len = mem::offset_of!(libc::sockaddr_un, sun_path) + name.len();
        Self { address, len: len as libc::socklen_t }
    }
}

/// A socket for such an address.
pub(super) fn socket(flags: c_int) -> Result<OwnedFd, Failure> {
    let fd = sys::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC | flags, 0);
    if fd < 0 {
        return Err(Failure::last_os());
    }
    // SAFETY: requires an open descriptor that nobody else owns; holds, it was just made.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Starts to hand out a descriptor, for as long as the process lasts.
///
/// # Errors
///
/// The system error; the statistics are then this process's alone.
pub(super) fn start(memory: OwnedFd) -> Result<(), Failure> {
    let listener = socket(libc::SOCK_NONBLOCK)?;
    // SAFETY: requires nothing.
    let address = Address::of_process(unsafe { libc::getpid() });
    let at = ptr::from_ref(&address.address).cast();
    // SAFETY: requires an address of that length; holds, it is a local.
    if unsafe { sys::bind(listener.as_raw_fd(), at, address.len) } != 0 {
        return Err(Failure::last_os());
    }
    if sys::listen(listener.as_raw_fd(), 8) != 0 {
        return Err(Failure::last_os());
    }
    let (of_listener, of_memory) = (identity(listener.as_raw_fd())?, identity(memory.as_raw_fd())?);
    signals::without(|| {
        let thread = std::thread::Builder::new().name("hipfile-stats".into()).stack_size(64 << 10);
        thread
            .spawn(move || serve((listener.into_raw_fd(), of_listener), (memory.into_raw_fd(), of_memory)))
            .map(|_detached| ())
    })
    .map_err(|error| Failure::Os(error.raw_os_error().unwrap_or(libc::EAGAIN)))
}

/// What a descriptor stands for: device and inode.
type Identity = (libc::dev_t, libc::ino_t);

fn identity(fd: RawFd) -> Result<Identity, Failure> {
    let mut facts = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: requires a writable structure; holds, it is a local.
    if unsafe { sys::fstat(fd, facts.as_mut_ptr()) } != 0 {
        return Err(Failure::last_os());
    }
    // SAFETY: requires an initialised value; holds because fstat succeeded.
    let facts = unsafe { facts.assume_init() };
    Ok((facts.st_dev, facts.st_ino))
}

/// Answers until the program closes a descriptor, as daemons close all. Neither number is closed here, and nothing is
/// accepted or sent once it stands for something else: it may by then be of the program's.
fn serve((listener, of_listener): (RawFd, Identity), (memory, of_memory): (RawFd, Identity)) {
    loop {
        let entry = libc::pollfd { fd: listener, events: libc::POLLIN, revents: 0 };
        if sys::poll(&mut [entry], -1) < 0 {
            std::thread::sleep(PAUSE);
        }
        if identity(listener).ok() != Some(of_listener) || identity(memory).ok() != Some(of_memory) {
            return;
        }
        let peer = sys::accept4(listener, libc::SOCK_CLOEXEC);
        if peer >= 0 {
            // SAFETY: requires an open descriptor that nobody else owns; holds, it was just made.
            give(&unsafe { OwnedFd::from_raw_fd(peer) }, memory);
            continue;
        }
        match Failure::last_os() {
            Failure::Os(libc::EAGAIN | libc::EINTR | libc::ECONNABORTED) => {}
            // The peer stays in the queue until the program has closed something.
            Failure::Os(libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::ENOBUFS) => {
                std::thread::sleep(PAUSE);
            }
            _ => return,
        }
    }
}

/// Sends a descriptor. A peer that is gone is no concern.
fn give(peer: &OwnedFd, memory: RawFd) {
    let mut payload = [0_u8; PAYLOAD];
    let mut control = Control::new();
    let mut part = libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: payload.len() };
    let message = control.message(&mut part);
    // SAFETY: requires a message whose control part is writable; holds, it was just made.
    let header = unsafe { libc::CMSG_FIRSTHDR(&message) };
    // SAFETY: requires room for a header; holds because the control part has room for one and its descriptor.
    let Some(header) = (unsafe { header.as_mut() }) else { return };
    header.cmsg_level = libc::SOL_SOCKET;
    header.cmsg_type = libc::SCM_RIGHTS;
    // SAFETY: requires nothing.
    header.cmsg_len = unsafe { libc::CMSG_LEN(size_of::<RawFd>() as u32) } as usize;
    // SAFETY: requires a header; holds, as above.
    let data = unsafe { libc::CMSG_DATA(header) };
    // SAFETY: requires room for the descriptor; holds, as above.
    unsafe { data.cast::<RawFd>().write_unaligned(memory) };
    // SAFETY: requires a valid message; holds, all its parts are locals.
    unsafe { sys::sendmsg(peer.as_raw_fd(), &message, libc::MSG_NOSIGNAL) };
}

/// Room for one descriptor beside a message.
#[repr(align(8))]
pub(super) struct Control([u8; 64]);

impl Control {
    pub(super) fn new() -> Self {
        Self([0; 64])
    }

    /// A message of one part with this room.
    pub(super) fn message(&mut self, part: &mut libc::iovec) -> libc::msghdr {
        // SAFETY: requires a type for which zero bytes are valid; holds because it has integers and pointers alone.
        let mut message: libc::msghdr = unsafe { mem::zeroed() };
        message.msg_iov = part;
        message.msg_iovlen = 1;
        message.msg_control = self.0.as_mut_ptr().cast();
        // SAFETY: requires nothing.
        message.msg_controllen = unsafe { libc::CMSG_SPACE(size_of::<RawFd>() as u32) } as usize;
        message
    }
}
