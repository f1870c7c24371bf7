//! Sockets.

use std::ffi::c_int;
use std::ptr;

use libc::{msghdr, sockaddr, socklen_t};

use super::fails;
use crate::plan::Subject;
use crate::points::{Point, point};

fn fails_on(point: Point, fd: c_int) -> bool {
    fails(point, 0, Subject::Descriptor(fd))
}

/// Makes a socket.
#[must_use]
pub fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    if fails(point::socket, 0, Subject::None) {
        return -1;
    }
    // SAFETY: requires nothing: the system checks the numbers.
    unsafe { libc::socket(domain, kind, protocol) }
}

/// Gives a socket its address.
pub unsafe fn bind(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    if fails_on(point::bind, fd) {
        return -1;
    }
    // SAFETY: requires an address of that length; holds by contract.
    unsafe { libc::bind(fd, address, len) }
}

/// Lets others connect.
#[must_use]
pub fn listen(fd: c_int, backlog: c_int) -> c_int {
    if fails_on(point::listen, fd) {
        return -1;
    }
    // SAFETY: requires nothing: the system checks the descriptor.
    unsafe { libc::listen(fd, backlog) }
}

/// Takes a connection; the peer's address is not asked for.
#[must_use]
pub fn accept4(fd: c_int, flags: c_int) -> c_int {
    if fails_on(point::accept4, fd) {
        return -1;
    }
    // SAFETY: requires nothing: there is no place for an address.
    unsafe { libc::accept4(fd, ptr::null_mut(), ptr::null_mut(), flags) }
}

/// Connects to an address.
pub unsafe fn connect(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    if fails_on(point::connect, fd) {
        return -1;
    }
    // SAFETY: requires an address of that length; holds by contract.
    unsafe { libc::connect(fd, address, len) }
}

/// Sends a message.
pub unsafe fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> isize {
    if fails_on(point::sendmsg, fd) {
        return -1;
    }
    // SAFETY: requires a message whose parts are readable; holds by contract.
    unsafe { libc::sendmsg(fd, message, flags) }
}

/// Receives a message.
pub unsafe fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> isize {
    if fails_on(point::recvmsg, fd) {
        return -1;
    }
    // SAFETY: requires a message whose parts are writable; holds by contract.
    unsafe { libc::recvmsg(fd, message, flags) }
}
