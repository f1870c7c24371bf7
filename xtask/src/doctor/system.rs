//! Facts about the kernel and the file system that decide whether libhipfile may take its fast path.

use std::ffi::CString;
use std::fs;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

type Row = (&'static str, String);

/// What the fast path needs from the kernel.
pub fn kernel() -> Vec<Row> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned();
    let p2pdma = match config(&release).as_deref().map(|text| setting(text, "CONFIG_PCI_P2PDMA")) {
        Some(Some(value)) => format!("={value}"),
        Some(None) => "not set: no fast path".into(),
        None => "unknown: the kernel's configuration is not readable".into(),
    };
    let ais = match fs::read_to_string("/proc/kallsyms") {
        Ok(symbols) if symbols.contains("kfd_ais_rw_file") => "present",
        Ok(_) => "missing: amdgpu without direct storage access, or not loaded",
        Err(_) => "unknown: /proc/kallsyms is not readable",
    };
    vec![("release", release), ("CONFIG_PCI_P2PDMA", p2pdma), ("kfd_ais_rw_file", ais.into())]
}

/// What direct I/O asks here.
pub fn filesystem() -> Vec<Row> {
    let here = std::env::current_dir().unwrap_or_else(|_| ".".into());
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let kind = mount_of(&mounts, &here).unwrap_or_else(|| "unknown".into());
    vec![("directory", here.display().to_string()), ("mount", kind), ("direct I/O", direct_io(&here))]
}

fn config(release: &str) -> Option<String> {
    let files = [format!("/boot/config-{release}"), format!("/lib/modules/{release}/build/.config")];
    files.iter().find_map(|file| fs::read_to_string(file).ok()).or_else(|| {
        let unpacked = Command::new("zcat").arg("/proc/config.gz").output().ok()?;
        if unpacked.status.success() { String::from_utf8(unpacked.stdout).ok() } else { None }
    })
}

/// The value of one setting in a kernel's configuration.
fn setting<'a>(config: &'a str, name: &str) -> Option<&'a str> {
    config.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
}

/// Type, device and options of the mount that holds a directory: the last one with the longest matching path.
fn mount_of(mounts: &str, dir: &Path) -> Option<String> {
    let mut best = None;
    let mut longest = 0;
    for line in mounts.lines() {
        let mut words = line.split(' ');
        let (Some(device), Some(point), Some(kind), Some(options)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue;
        };
        if dir.starts_with(point) && point.len() >= longest {
            longest = point.len();
            best = Some(format!("{kind} on {point}, device {device}, {options}"));
        }
    }
    best
}

/// The alignment that direct I/O needs, asked of a file: directories have none.
fn direct_io(dir: &Path) -> String {
    let probe = dir.join(format!(".hipfile-doctor.{}", std::process::id()));
    if let Err(error) = fs::write(&probe, b"x") {
        return format!("unknown: cannot write here: {error}");
    }
    let answer = alignment(&probe);
    // Nothing depends on the file any more; a leftover is named by its path.
    let _ = fs::remove_file(&probe);
    match answer {
        Some((0, _) | (_, 0)) => "not supported: no fast path".into(),
        Some((memory, offset)) => format!("memory aligned to {memory}, offset and size to {offset} bytes"),
        None => "unknown: the kernel does not report it; libhipfile assumes 4096".into(),
    }
}

fn alignment(file: &Path) -> Option<(u32, u32)> {
    let path = CString::new(file.as_os_str().as_bytes()).ok()?;
    let mut answer = MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: requires a path that ends in zero and room for one statx; holds because both are locals of these types.
    let status =
        unsafe { libc::statx(libc::AT_FDCWD, path.as_ptr(), 0, libc::STATX_DIOALIGN, answer.as_mut_ptr()) };
    // SAFETY: requires initialised memory; holds because it started as zeros, which is a valid value of plain integers.
    let answer = unsafe { answer.assume_init() };
    let known = status == 0 && answer.stx_mask & libc::STATX_DIOALIGN != 0;
    known.then_some((answer.stx_dio_mem_align, answer.stx_dio_offset_align))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_read_whole() {
        let config = "CONFIG_PCI=y\n# CONFIG_PCI_P2PDMA_X=y\nCONFIG_PCI_P2PDMA=m\n";
        assert_eq!(setting(config, "CONFIG_PCI_P2PDMA"), Some("m"));
        assert_eq!(setting(config, "CONFIG_PCI"), Some("y"));
        assert_eq!(setting("# CONFIG_PCI_P2PDMA is not set\n", "CONFIG_PCI_P2PDMA"), None);
    }

    #[test]
    fn the_innermost_and_latest_mount_counts() {
        let mounts = "/dev/a / ext4 rw 0 0\n/dev/b /data xfs rw 0 0\ntmpfs /data tmpfs ro 0 0\n";
        assert_eq!(mount_of(mounts, Path::new("/data/x")).unwrap(), "tmpfs on /data, device tmpfs, ro");
        assert_eq!(mount_of(mounts, Path::new("/database")).unwrap(), "ext4 on /, device /dev/a, rw");
        assert_eq!(mount_of("", Path::new("/")), None);
    }

    #[test]
    fn the_probe_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let answer = direct_io(dir.path());
        assert!(!answer.is_empty());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(direct_io(Path::new("/nonexistent")).starts_with("unknown: cannot write here: No such file"));
    }
}
