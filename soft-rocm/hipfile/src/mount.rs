//! Which file system a file lies on, as far as the fast path wants to know.
//!
//! The mount table is read only for files whose file-system magic is ext's or XFS's, and once per mount where the
//! kernel numbers mounts without reuse (Linux 6.8): neither the type of a mount nor the `data=` mode of ext4 can
//! change while it lasts. With AMD's quirks it is read for every file.

use std::ffi::{CStr, c_int};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use soft_rocm_faults::sys;

use crate::behaviour;
use crate::failure::Failure;

const MOUNTINFO: &CStr = c"/proc/self/mountinfo";

/// More mounts than this in use at once make the memory of them start afresh.
const REMEMBERED: usize = 64;

/// A file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileSystem {
    /// ext4 whose journal is in ordered mode, as it is without a `data=` option.
    Ext4Ordered,
    /// ext4 in another mode.
    Ext4Other,
    /// XFS.
    Xfs,
    /// Any other, also one whose mount is not visible to this process.
    Other,
}

/// Where a file is mounted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mount {
    /// Major and minor number of the device that contains the file.
    pub(crate) device: (u32, u32),
    /// The number of the mount, if the kernel never uses it again.
    pub(crate) unique_id: Option<u64>,
}

/// The file system of an open file.
///
/// # Errors
///
/// The system error if the descriptor or the mount table can't be read.
pub(crate) fn classify(fd: c_int, mount: Mount) -> Result<FileSystem, Failure> {
    if behaviour::get().amd_quirks {
        return look_up(mount.device);
    }
    if !may_matter(fd)? {
        return Ok(FileSystem::Other);
    }
    let Some(id) = mount.unique_id else { return look_up(mount.device) };

    static KNOWN: Mutex<Vec<(u64, FileSystem)>> = Mutex::new(Vec::new());
    let known =
        |list: &Vec<(u64, FileSystem)>| list.iter().find(|(known, _)| *known == id).map(|(_, fs)| *fs);
    if let Some(file_system) = known(&KNOWN.lock().unwrap_or_else(PoisonError::into_inner)) {
        return Ok(file_system);
    }
    let file_system = look_up(mount.device)?;
    let mut list = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if list.len() >= REMEMBERED {
        list.clear();
    }
    list.push((id, file_system));
    Ok(file_system)
}

/// Whether the file lies on something that calls itself ext2, ext3, ext4 or XFS.
fn may_matter(fd: c_int) -> Result<bool, Failure> {
    let mut info = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: requires a writable statfs; holds, it is a local.
    if unsafe { sys::fstatfs(fd, info.as_mut_ptr()) } != 0 {
        return Err(Failure::last_os());
    }
    // SAFETY: requires an initialised value; holds because fstatfs succeeded.
    let info = unsafe { info.assume_init() };
    Ok(info.f_type == libc::EXT4_SUPER_MAGIC || info.f_type == libc::XFS_SUPER_MAGIC)
}

fn look_up(device: (u32, u32)) -> Result<FileSystem, Failure> {
    Ok(find(&read_all(MOUNTINFO)?, device))
}

/// The whole of a file.
fn read_all(path: &CStr) -> Result<Vec<u8>, Failure> {
    let fd = sys::open(path, libc::O_RDONLY | libc::O_CLOEXEC, 0);
    if fd < 0 {
        return Err(Failure::last_os());
    }
    // SAFETY: requires an open descriptor that nobody else owns; holds, it was just opened.
    let file = unsafe { OwnedFd::from_raw_fd(fd) };
    let (mut text, mut part) = (Vec::new(), [0; 4096]);
    loop {
        // SAFETY: requires that many writable bytes; holds for the array.
        let got = unsafe { sys::read(file.as_raw_fd(), part.as_mut_ptr().cast(), part.len()) };
        match usize::try_from(got) {
            Ok(0) => return Ok(text),
            Ok(got) => text.extend(part.iter().take(got)),
            Err(_) => match Failure::last_os() {
                Failure::Os(libc::EINTR) => {}
                failure => return Err(failure),
            },
        }
    }
}

/// Finds a device in the text of a mount table.
fn find(table: &[u8], device: (u32, u32)) -> FileSystem {
    let number = format!("{}:{}", device.0, device.1);
    table
        .split(|byte| *byte == b'\n')
        .find_map(|line| {
            let mut words = line.split(|byte| *byte == b' ');
            // Mount, parent, then the device.
            if words.nth(2)? != number.as_bytes() {
                return None;
            }
            // The optional fields end with a lone dash; then type, source and the options of the file system.
            words.find(|word| *word == b"-")?;
            let kind = words.next()?;
            let options = words.nth(1).unwrap_or_default();
            Some(of_kind(kind, options))
        })
        .unwrap_or(FileSystem::Other)
}

fn of_kind(kind: &[u8], options: &[u8]) -> FileSystem {
    let data = || options.split(|byte| *byte == b',').find_map(|option| option.strip_prefix(b"data="));
    match kind {
        b"ext4" if data().is_none_or(|mode| mode == b"ordered") => FileSystem::Ext4Ordered,
        b"ext4" => FileSystem::Ext4Other,
        b"xfs" => FileSystem::Xfs,
        _ => FileSystem::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    const TABLE: &[u8] = b"\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro
23 22 0:21 / /proc rw,nosuid - proc proc rw
24 22 8:1 / /a\\040b rw master:3 propagate_from:2 - ext4 /dev/sda1 rw,data=journal
25 22 8:2 / /w rw - ext4 /dev/sda2 rw,data=writeback,noatime
26 22 8:3 / /o rw - ext4 /dev/sda3 rw,noatime,data=ordered
27 22 8:4 /sub /x rw - xfs /dev/sda4 rw,attr2
28 22 8:5 / /t rw - ext3 /dev/sda5 rw
29 22 8:16 / /noopts rw - ext4 /dev/sdb
";

    #[test]
    fn mount_table() {
        assert_eq!(find(TABLE, (254, 0)), FileSystem::Ext4Ordered);
        assert_eq!(find(TABLE, (0, 21)), FileSystem::Other);
        assert_eq!(find(TABLE, (8, 1)), FileSystem::Ext4Other);
        assert_eq!(find(TABLE, (8, 2)), FileSystem::Ext4Other);
        assert_eq!(find(TABLE, (8, 3)), FileSystem::Ext4Ordered);
        assert_eq!(find(TABLE, (8, 4)), FileSystem::Xfs);
        assert_eq!(find(TABLE, (8, 5)), FileSystem::Other);
        assert_eq!(find(TABLE, (8, 16)), FileSystem::Ext4Ordered);
    }

    #[test]
    fn unknown_devices_and_broken_lines_are_other() {
        assert_eq!(find(TABLE, (8, 6)), FileSystem::Other);
        assert_eq!(find(b"", (8, 1)), FileSystem::Other);
        assert_eq!(find(b"24 22 8:1 / /a rw ext4", (8, 1)), FileSystem::Other);
        assert_eq!(find(b"24 22 8:1", (8, 1)), FileSystem::Other);
    }

    #[test]
    fn proc_is_other_and_a_bad_descriptor_an_error() {
        let file = std::fs::File::open("/proc/self/stat").unwrap();
        let mount = Mount { device: (0, 0), unique_id: None };
        assert_eq!(classify(file.as_raw_fd(), mount), Ok(FileSystem::Other));
        assert_eq!(classify(-1, mount), Err(Failure::Os(libc::EBADF)));
    }
}
