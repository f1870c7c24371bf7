//! Registered files: what is known of the file, and the two descriptors it is reached through.

use std::ffi::{CString, c_int};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

use soft_rocm_faults::sys;

use crate::behaviour::{self, Version};
use crate::failure::Failure;
use crate::mount::{self, FileSystem, Mount};

/// Assumed for both alignments where the kernel reports none.
const ASSUMED_ALIGNMENT: u32 = 4096;

/// What kind of file it is, as far as the fast path wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Regular,
    BlockDevice,
    Other,
}

/// A registered file. Dropping it closes the library's own descriptor and never the caller's.
#[derive(Debug)]
pub(crate) struct File {
    /// The caller's descriptor, borrowed: the key of the registration.
    pub(crate) number: RawFd,
    /// The descriptor without O_DIRECT.
    pub(crate) buffered: RawFd,
    /// The descriptor with O_DIRECT, where the file can have one.
    pub(crate) direct: Option<RawFd>,
    pub(crate) kind: Kind,
    pub(crate) file_system: FileSystem,
    /// What offsets and sizes of direct I/O must be multiples of; 0 if there is no direct I/O.
    pub(crate) offset_alignment: u32,
    /// What addresses of direct I/O must be multiples of; 0 if there is no direct I/O.
    pub(crate) memory_alignment: u32,
    /// Whichever of the two descriptors is not the caller's.
    own: Option<OwnedFd>,
}

impl File {
    /// Examines the caller's descriptor and opens the file a second time, with or without O_DIRECT.
    ///
    /// # Errors
    ///
    /// The system error, except that a file without direct I/O (EINVAL) simply has no direct descriptor.
    pub(crate) fn new(number: RawFd) -> Result<Self, Failure> {
        let info = examine(number)?;
        let flags = status_flags(number)?;
        let file_system = mount::classify(number, info.mount)?;
        let mut file = Self {
            number,
            buffered: number,
            direct: None,
            kind: info.kind,
            file_system,
            offset_alignment: info.offset_alignment,
            memory_alignment: info.memory_alignment,
            own: None,
        };
        if flags & libc::O_DIRECT != 0 {
            let own = open_again(number, flags & !libc::O_DIRECT)?;
            file.direct = Some(number);
            file.buffered = own.as_raw_fd();
            file.own = Some(own);
            return Ok(file);
        }
        match open_again(number, flags | libc::O_DIRECT) {
            Ok(own) => {
                file.direct = Some(own.as_raw_fd());
                file.own = Some(own);
            }
            Err(Failure::Os(libc::EINVAL)) => {
                file.offset_alignment = 0;
                file.memory_alignment = 0;
            }
            Err(failure) => return Err(failure),
        }
        Ok(file)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let behaviour = behaviour::get();
        if behaviour.amd_quirks && behaviour.version == Version::V0_2 {
            close_or_abort(self.own.take());
        }
    }
}

/// As 0.2 does it: a descriptor that was closed behind the library's back ends the process.
#[cold]
fn close_or_abort(own: Option<OwnedFd>) {
    let Some(fd) = own.map(IntoRawFd::into_raw_fd) else { return };
    // SAFETY: requires a descriptor that nobody else owns; holds as far as the program kept its hands off it.
    if unsafe { libc::close(fd) } != 0 {
        std::process::abort();
    }
}

struct Info {
    kind: Kind,
    mount: Mount,
    offset_alignment: u32,
    memory_alignment: u32,
}

fn examine(fd: RawFd) -> Result<Info, Failure> {
    let mask = libc::STATX_TYPE | libc::STATX_MODE | libc::STATX_DIOALIGN | libc::STATX_MNT_ID_UNIQUE;
    let mut info = std::mem::MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: requires a C string and a writable statx; holds, they are a literal and a local.
    if unsafe { sys::statx(fd, c"".as_ptr(), libc::AT_EMPTY_PATH, mask, info.as_mut_ptr()) } != 0 {
        return Err(Failure::last_os());
    }
    // SAFETY: requires an initialised value; holds because it was zeroed and has integer fields only.
    let info = unsafe { info.assume_init() };
    let has = |bit| info.stx_mask & bit != 0;
    let alignment = |reported| if has(libc::STATX_DIOALIGN) { reported } else { ASSUMED_ALIGNMENT };
    Ok(Info {
        kind: match u32::from(info.stx_mode) & libc::S_IFMT {
            libc::S_IFREG => Kind::Regular,
            libc::S_IFBLK => Kind::BlockDevice,
            _ => Kind::Other,
        },
        mount: Mount {
            device: (info.stx_dev_major, info.stx_dev_minor),
            unique_id: has(libc::STATX_MNT_ID_UNIQUE).then_some(info.stx_mnt_id),
        },
        offset_alignment: alignment(info.stx_dio_offset_align),
        memory_alignment: alignment(info.stx_dio_mem_align),
    })
}

fn status_flags(fd: RawFd) -> Result<c_int, Failure> {
    // SAFETY: requires nothing: F_GETFL takes no argument and any descriptor may be asked.
    match unsafe { sys::fcntl(fd, libc::F_GETFL, 0) } {
        -1 => Err(Failure::last_os()),
        flags => Ok(flags),
    }
}

fn open_again(number: RawFd, flags: c_int) -> Result<OwnedFd, Failure> {
    let path = CString::new(format!("/proc/self/fd/{number}")).map_err(|_| Failure::INTERNAL)?;
    // F_GETFL never reports O_CREAT, so the mode has no meaning.
    let fd = sys::open(&path, flags | libc::O_CLOEXEC, 0);
    if fd < 0 {
        return Err(Failure::last_os());
    }
    // SAFETY: requires an open descriptor that nobody else owns; holds, it was just opened.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::OpenOptionsExt;

    #[test]
    fn a_regular_file_gets_a_second_descriptor() {
        let caller = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        let file = File::new(caller.as_raw_fd()).unwrap();
        assert_eq!(file.kind, Kind::Regular);
        assert_eq!(file.buffered, caller.as_raw_fd());
        let direct = file.direct.unwrap();
        assert_ne!(direct, caller.as_raw_fd());
        assert_ne!(status_flags(direct).unwrap() & libc::O_DIRECT, 0);
        drop(file);
        assert_eq!(status_flags(direct), Err(Failure::Os(libc::EBADF)));
        assert!(status_flags(caller.as_raw_fd()).is_ok());
    }

    #[test]
    fn a_direct_descriptor_gets_a_buffered_one() {
        let path = std::env::current_exe().unwrap();
        let caller = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path).unwrap();
        let file = File::new(caller.as_raw_fd()).unwrap();
        assert_eq!(file.direct, Some(caller.as_raw_fd()));
        assert_ne!(file.buffered, caller.as_raw_fd());
        assert_eq!(status_flags(file.buffered).unwrap() & libc::O_DIRECT, 0);
        // SAFETY: requires nothing.
        let descriptor_flags = unsafe { libc::fcntl(file.buffered, libc::F_GETFD) };
        assert_eq!(descriptor_flags & libc::FD_CLOEXEC, libc::FD_CLOEXEC);
    }

    #[test]
    fn files_without_direct_io_have_no_alignment() {
        for path in ["/dev/null", "/dev/zero", "/proc/self/stat", "/"] {
            let caller = std::fs::File::open(path).unwrap();
            let file = File::new(caller.as_raw_fd()).unwrap();
            assert_eq!(file.kind, Kind::Other.min_regular(path), "{path}");
            assert_eq!((file.direct, file.offset_alignment, file.memory_alignment), (None, 0, 0), "{path}");
        }
    }

    impl Kind {
        /// procfs files count as regular files.
        fn min_regular(self, path: &str) -> Self {
            if path.starts_with("/proc") { Self::Regular } else { self }
        }
    }

    #[test]
    fn refused_descriptors() {
        assert_eq!(File::new(-1).unwrap_err(), Failure::Os(libc::EBADF));
        // What statx takes for the working directory is no descriptor.
        assert_eq!(File::new(libc::AT_FDCWD).unwrap_err(), Failure::Os(libc::EBADF));
        let (socket, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
        assert_eq!(File::new(socket.as_raw_fd()).unwrap_err(), Failure::Os(libc::ENXIO));
    }
}
