//! System calls that the safe crates make themselves, refused by a filter of seccomp on the calling thread.

use std::mem::offset_of;
use std::thread;

use crate::script::{Place, Point};

/// What begins the names of these points, which the libraries may have too.
pub const PREFIX: &str = "sys ";

/// Rows, and what they call.
pub const CALLS: [(&str, &[&str]); 16] = [
    ("OpenOptions::open", &["sys openat"]),
    ("OpenOptions::replace", &["sys openat", "sys statx", "sys fchmod"]),
    ("FileHandle::try_clone", &["sys dup"]),
    ("FileHandle::alignment", &["sys statx"]),
    ("FileHandle::len", &["sys statx"]),
    ("FileHandle::set_len", &["sys ftruncate"]),
    ("FileHandle::sync_data", &["sys fdatasync"]),
    ("FileHandle::sync_all", &["sys fsync"]),
    ("FileHandle::preallocate", &["sys fallocate"]),
    ("FileHandle::explain", &["sys statx"]),
    ("FileHandle::new", &["sys statx"]),
    ("FileHandle::read_host_at", &["sys pread64"]),
    ("FileHandle::read_host_exact_at, pinned", &["sys pread64"]),
    ("FileHandle::write_host_at", &["sys pwrite64"]),
    ("FileHandle::write_host_all_at, pinned", &["sys pwrite64"]),
    ("Replacement::commit", &["sys fsync", "sys rename"]),
];

/// What the row of this name calls.
pub fn calls(row: &str) -> Vec<Point> {
    let of_row = CALLS.iter().filter(|(name, _)| *name == row).flat_map(|(_, calls)| *calls);
    of_row.map(|name| Point { name, place: Place::Ours }).collect()
}

/// The number of a call, and the value of its second argument where only that one is meant.
fn number(name: &str) -> (i64, Option<i32>) {
    let number = match name.strip_prefix(PREFIX).unwrap_or(name) {
        "dup" => return (libc::SYS_fcntl, Some(libc::F_DUPFD_CLOEXEC)),
        "fallocate" => libc::SYS_fallocate,
        "fchmod" => libc::SYS_fchmod,
        "fdatasync" => libc::SYS_fdatasync,
        "fsync" => libc::SYS_fsync,
        "ftruncate" => libc::SYS_ftruncate,
        "openat" => libc::SYS_openat,
        "pread64" => libc::SYS_pread64,
        "pwrite64" => libc::SYS_pwrite64,
        #[cfg(target_arch = "x86_64")]
        "rename" => libc::SYS_rename,
        #[cfg(not(target_arch = "x86_64"))]
        "rename" => libc::SYS_renameat,
        "statx" => libc::SYS_statx,
        other => panic!("{other} is not known here"),
    };
    (number, None)
}

/// Whether threads of this process may have filters.
pub fn is_here() -> bool {
    thread::spawn(|| refuse("sys fchmod", libc::EIO)).join().is_ok_and(|done| done.is_ok())
}

/// Lets this thread have the error `code` for each such call until it ends.
pub fn refuse(name: &str, code: i32) -> std::io::Result<()> {
    let load = |offset: usize| statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset as u32);
    let unless = |value: u32, skip: u8| libc::sock_filter {
        jf: skip,
        ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value)
    };
    let answer = |value: u32| statement(libc::BPF_RET | libc::BPF_K, value);
    let (number, argument) = number(name);
    // Arguments have 64 bits, of which the low half comes first on the machines that ROCm runs on.
    let second = offset_of!(libc::seccomp_data, args) + size_of::<u64>();
    let mut program = vec![load(offset_of!(libc::seccomp_data, nr))];
    match argument {
        None => program.push(unless(number as u32, 1)),
        Some(value) => {
            program.extend([unless(number as u32, 3), load(second), unless(value as u32, 1)]);
        }
    }
    program.extend([answer(libc::SECCOMP_RET_ERRNO | code as u32), answer(libc::SECCOMP_RET_ALLOW)]);
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: requires nothing; this thread gains no rights by starting programs from here on.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: requires a program of that length; holds, the kernel copies it.
    match unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

fn statement(code: u32, value: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k: value }
}
