//! The mount table.

use std::path::Path;

use super::system::System;

/// A mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    pub point: String,
    /// The type of its file system.
    pub kind: String,
    /// What is mounted, as in `/dev/nvme0n1p2`.
    pub source: String,
    /// Major and minor number.
    pub device: (u32, u32),
    /// The options of the file system.
    pub options: String,
    /// Whether the mount or the file system is read-only.
    pub read_only: bool,
}

/// Every mount, in the order of the table.
pub fn read(system: &System) -> Vec<Mount> {
    let table = system.read("/proc/self/mountinfo").unwrap_or_default();
    table.lines().filter_map(parse).collect()
}

/// The mount that holds a path: of those with the longest point, the latest.
pub fn of<'m>(mounts: &'m [Mount], path: &Path) -> Option<&'m Mount> {
    // As the table was read: what is no UTF-8 is replaced.
    let path = path.to_string_lossy().into_owned();
    let path = Path::new(&path);
    mounts.iter().filter(|mount| path.starts_with(&mount.point)).max_by_key(|mount| mount.point.len())
}

/// `36 35 98:0 /in/it /point rw,noatime master:1 - ext4 /dev/sda1 rw,data=ordered`
fn parse(line: &str) -> Option<Mount> {
    let (first, second) = line.split_once(" - ")?;
    let mut first = first.split(' ').skip(2);
    let (major, minor) = first.next()?.split_once(':')?;
    let point = unescape(first.nth(1)?);
    let of_mount = first.next().unwrap_or_default();
    let mut second = second.split(' ');
    let (kind, source) = (second.next()?.to_owned(), unescape(second.next()?));
    let options = second.next().unwrap_or_default().to_owned();
    let read_only = [of_mount, &options].iter().any(|list| list.split(',').any(|option| option == "ro"));
    Some(Mount {
        point,
        kind,
        source,
        device: (major.parse().ok()?, minor.parse().ok()?),
        options,
        read_only,
    })
}

/// Blanks, tabs, line ends and backslashes are written as `\` and three octal digits.
fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match (code, part.get(3..)) {
            (Some(code), Some(rest)) => {
                plain.push(char::from(code));
                plain.push_str(rest);
            }
            _ => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::super::system::made_up::system;
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    const TABLE: &str = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro
23 22 0:21 / /proc rw,nosuid - proc proc rw
24 22 8:1 / /a\\040b ro,relatime master:3 propagate_from:2 - ext4 /dev/sda1 rw,data=journal
25 22 8:3 / /data rw - xfs /dev/sda3 rw
26 25 8:4 / /data rw - xfs /dev/sda4 ro,attr2
27 22 8:17 / /broken rw ext4
";

    #[test]
    fn the_table_is_read() {
        let made = system(&[("/proc/self/mountinfo", TABLE)]);
        let mounts = read(&made.system);
        assert_eq!(mounts.len(), 5);
        let expected = Mount {
            point: "/a b".into(),
            kind: "ext4".into(),
            source: "/dev/sda1".into(),
            device: (8, 1),
            options: "rw,data=journal".into(),
            read_only: true,
        };
        assert_eq!(mounts[2], expected);
        assert_eq!(
            mounts.iter().map(|mount| mount.read_only).collect::<Vec<_>>(),
            [false, false, true, false, true]
        );
    }

    #[test]
    fn the_innermost_and_latest_mount_counts() {
        let made = system(&[("/proc/self/mountinfo", TABLE)]);
        let mounts = read(&made.system);
        let source = |path: &str| of(&mounts, Path::new(path)).map(|mount| mount.source.as_str());
        assert_eq!(source("/data/x"), Some("/dev/sda4"));
        assert_eq!(source("/database"), Some("/dev/vda"));
        assert_eq!(source("/a b/c"), Some("/dev/sda1"));
        assert_eq!(of(&[], Path::new("/")), None);
        let table = TABLE.replace("/data", "/d\u{fffd}ta");
        let mounts: Vec<_> = table.lines().filter_map(parse).collect();
        let path = Path::new(OsStr::from_bytes(b"/d\xffta/x"));
        assert_eq!(of(&mounts, path).map(|mount| mount.source.as_str()), Some("/dev/sda4"));
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(unescape("a\\040b\\134c"), "a b\\c");
        assert_eq!(unescape("a\\9b\\"), "a\\9b\\");
    }
}
