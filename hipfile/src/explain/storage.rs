//! What a file lies on, as far as the fast path asks.

use std::fs;
use std::os::fd::BorrowedFd;

use crate::error::Cause;
use crate::system;

/// What a file is, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Storage {
    BlockDevice,
    Regular(FileSystem),
    /// A pipe, a folder, a character device and so on.
    Other,
}

/// A file system, by the mount table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileSystem {
    Xfs,
    /// With the `data=` mode of its journal, `ordered` where none is given.
    Ext4 {
        journal: String,
    },
    Other {
        name: String,
    },
    /// The mount table has no such device.
    Unknown,
}

/// What the file of a descriptor lies on.
pub(crate) fn of(fd: BorrowedFd<'_>) -> Result<Storage, Cause> {
    let place = system::place(fd)?;
    match place.mode & libc::S_IFMT {
        libc::S_IFBLK => Ok(Storage::BlockDevice),
        libc::S_IFREG => {
            let table = fs::read("/proc/self/mountinfo").map_err(|error| system::cause(&error))?;
            Ok(Storage::Regular(find(&String::from_utf8_lossy(&table), place.device)))
        }
        _ => Ok(Storage::Other),
    }
}

/// Finds the file system of a device, by major and minor number, in the text of a mount table. Like the library, by number
/// alone: btrfs and overlayfs number their files' devices otherwise than their mounts.
fn find(table: &str, (major, minor): (u32, u32)) -> FileSystem {
    let number = format!("{major}:{minor}");
    let mount = table.lines().find_map(|line| {
        let mut words = line.split(' ');
        // The mount's number, its parent's, then the device.
        if words.nth(2)? != number {
            return None;
        }
        // The optional fields end with a lone dash; then come type, source and the options of the file system.
        words.find(|word| *word == "-")?;
        Some((words.next()?, words.nth(1).unwrap_or_default()))
    });
    match mount {
        None => FileSystem::Unknown,
        Some(("xfs", _)) => FileSystem::Xfs,
        Some(("ext4", options)) => {
            let mode = options.split(',').find_map(|option| option.strip_prefix("data="));
            FileSystem::Ext4 { journal: mode.unwrap_or("ordered").to_owned() }
        }
        Some((name, _)) => FileSystem::Other { name: name.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsFd;

    const TABLE: &str = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro
23 22 0:21 / /proc rw,nosuid - proc proc rw
24 22 8:1 / /a\\040b rw master:3 propagate_from:2 - ext4 /dev/sda1 rw,data=journal
25 22 8:3 / /o rw - ext4 /dev/sda3 rw,noatime,data=ordered
26 22 8:4 /sub /x rw - xfs /dev/sda4 rw,attr2
27 22 8:16 / /noopts rw - ext4 /dev/sdb
28 22 8:17 / /broken rw ext4
";

    #[test]
    fn mounts_are_found_by_their_device() {
        let ext4 = |journal: &str| FileSystem::Ext4 { journal: journal.to_owned() };
        let table = [
            ((254, 0), ext4("ordered")),
            ((0, 21), FileSystem::Other { name: "proc".to_owned() }),
            ((8, 1), ext4("journal")),
            ((8, 3), ext4("ordered")),
            ((8, 4), FileSystem::Xfs),
            ((8, 16), ext4("ordered")),
            ((8, 17), FileSystem::Unknown),
            ((8, 2), FileSystem::Unknown),
        ];
        for (device, file_system) in table {
            assert_eq!(find(TABLE, device), file_system, "{device:?}");
        }
    }

    #[test]
    fn files_of_this_machine() {
        let of = |path| of(File::open(path).unwrap().as_fd()).unwrap();
        assert_eq!(of("/dev/null"), Storage::Other);
        assert_eq!(of("/"), Storage::Other);
        assert_eq!(of("/proc/self/stat"), Storage::Regular(FileSystem::Other { name: "proc".to_owned() }));
    }
}
