//! A path that was asked about: whether transfers of files there would take the fast path.

use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::backing::{self, Backing};
use super::direct::{Alignment, Direct, DirectIo};
use super::environment;
use super::mounts::{self, Mount};
use super::report::{Finding, Verdict};
use super::system::System;
use super::volume::{file_system, no_direct_io};
use crate::name;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// As it was given.
    #[serde(serialize_with = "name::in_json")]
    pub path: PathBuf,
    pub verdict: Verdict,
    pub kind: Kind,
    pub mount: Option<String>,
    /// The type of the file system.
    #[serde(rename = "type")]
    pub file_system: Option<String>,
    pub device: Option<String>,
    pub backing: Option<String>,
    pub alignment: Option<Alignment>,
    pub reads: Route,
    pub writes: Route,
    pub findings: Vec<Finding>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    File,
    Folder,
    BlockDevice,
    Other,
    Missing,
}

/// What becomes of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Route {
    #[serde(rename = "fast path")]
    FastPath,
    Fallback,
    #[serde(rename = "not permitted")]
    NotPermitted,
    Unknown,
}

impl Route {
    pub fn text(self) -> &'static str {
        match self {
            Self::FastPath => "fast path",
            Self::Fallback => "fallback",
            Self::NotPermitted => "not permitted",
            Self::Unknown => "unknown",
        }
    }
}

impl Place {
    /// Looks at a path. `machine` names what keeps every transfer on this machine off the fast path.
    pub fn of(path: &Path, system: &System, disk: &impl Direct, machine: &[&str]) -> Self {
        let metadata =
            system.locate(path).canonicalize().and_then(|place| Ok((fs::metadata(&place)?, place)));
        let (metadata, place) = match metadata {
            Ok(found) => found,
            Err(error) => return Self::missing(path, &error),
        };
        let mounts = mounts::read(system);
        let mount = mounts::of(&mounts, &system.inside(&place));
        let kind = kind(metadata.file_type());
        let (direct, backing) = match kind {
            Kind::Folder => (disk.folder(&place), of_mount(mount, system)),
            // Not opened, which devices may take for more than a look, as a tape or a watchdog: the answer is known.
            Kind::Other => (DirectIo::Works(None), of_mount(mount, system)),
            Kind::BlockDevice => (disk.file(&place), Some(of_device(metadata.rdev(), path, system))),
            _ => (disk.file(&place), of_mount(mount, system)),
        };
        let read_only = kind != Kind::BlockDevice && mount.is_some_and(|mount| mount.read_only);
        let writable = !read_only && disk.writable(&place);
        let mut found = Self {
            path: path.to_owned(),
            verdict: Verdict::Pass,
            kind,
            mount: mount.map(|mount| mount.point.clone()),
            file_system: mount.map(|mount| mount.kind.clone()),
            device: mount.map(|mount| mount.source.clone()),
            backing: backing.as_ref().map(|backing| backing.name.clone()),
            alignment: if let DirectIo::Works(alignment) = direct { alignment } else { None },
            reads: Route::Unknown,
            writes: Route::Unknown,
            findings: findings(kind, mount, backing, system, machine),
        };
        found.conclude(&direct, writable);
        found
    }

    fn missing(path: &Path, error: &io::Error) -> Self {
        let advice = match error.kind() {
            io::ErrorKind::PermissionDenied => "ask as a user who may look there",
            _ => "give the name of a file or folder that exists",
        };
        Self {
            path: path.to_owned(),
            verdict: Verdict::Fail,
            kind: Kind::Missing,
            mount: None,
            file_system: None,
            device: None,
            backing: None,
            alignment: None,
            reads: Route::Unknown,
            writes: Route::Unknown,
            findings: vec![Finding::broken(error.to_string(), advice)],
        }
    }

    fn conclude(&mut self, direct: &DirectIo, writable: bool) {
        match direct {
            DirectIo::Works(_) => {}
            DirectIo::Missing => self.findings.push(no_direct_io()),
            DirectIo::Unverified(error) => {
                let text = format!("whether it has direct I/O is unknown: {error}");
                self.findings.push(Finding::note(text, "ask as a user who may open files there"));
            }
        }
        let path = match direct {
            _ if self.findings.iter().any(|finding| finding.broken) => Route::Fallback,
            DirectIo::Unverified(_) => Route::Unknown,
            _ => Route::FastPath,
        };
        self.reads = path;
        self.writes = if writable { path } else { Route::NotPermitted };
        self.verdict = match path {
            Route::Fallback => Verdict::Fail,
            Route::FastPath if self.findings.is_empty() && writable => Verdict::Pass,
            _ => Verdict::Warn,
        };
    }
}

fn kind(kind: FileType) -> Kind {
    if kind.is_file() {
        Kind::File
    } else if kind.is_dir() {
        Kind::Folder
    } else if kind.is_block_device() {
        Kind::BlockDevice
    } else {
        Kind::Other
    }
}

fn of_mount(mount: Option<&Mount>, system: &System) -> Option<Backing> {
    // What is no device, as on network file systems, has nothing below it.
    let device = mount.filter(|mount| mount.source.starts_with("/dev/"));
    device.map(|mount| backing::of(system, mount.device, &mount.source))
}

fn of_device(number: u64, path: &Path, system: &System) -> Backing {
    let (major, minor) = (libc::major(number), libc::minor(number));
    backing::of(system, (major, minor), &path.display().to_string())
}

/// All that is known before a file is opened.
fn findings(
    kind: Kind,
    mount: Option<&Mount>,
    backing: Option<Backing>,
    system: &System,
    machine: &[&str],
) -> Vec<Finding> {
    let settings = environment::settings(system);
    let mut findings = Vec::new();
    if !machine.is_empty() {
        let text = format!("this machine does not qualify: {}", machine.join(", "));
        findings.push(Finding::broken(text, "see the rows above"));
    }
    if settings.force_compat {
        findings
            .push(Finding::broken("HIPFILE_FORCE_COMPAT_MODE=true switches the fast path off", "unset it"));
    }
    match kind {
        Kind::Other => {
            let advice = "keep the data in a regular file or on a block device";
            findings.push(Finding::broken("it is neither a regular file nor a block device", advice));
        }
        Kind::BlockDevice => {}
        _ => findings.extend(mount.and_then(|mount| file_system(mount, settings))),
    }
    findings.extend(backing.into_iter().flat_map(|backing| backing.findings));
    findings
}

#[cfg(test)]
mod tests {
    use super::super::system::made_up::{system, with_variables};
    use super::super::volume::tests::{ALIGNMENT, Told, files};
    use super::*;

    fn machine() -> Vec<(&'static str, &'static str)> {
        let more = [
            ("/data/file", ""),
            ("/data/none", ""),
            ("/data/locked", ""),
            ("/btrfs/file", ""),
            ("/file", ""),
        ];
        [files(), more.to_vec()].concat()
    }

    fn texts(place: &Place) -> Vec<&str> {
        place.findings.iter().map(|finding| finding.text.as_str()).collect()
    }

    #[test]
    fn a_file_on_a_good_volume_takes_the_fast_path() {
        let made = system(&machine());
        for (path, kind) in [("/data/file", Kind::File), ("/data", Kind::Folder)] {
            let place = Place::of(path.as_ref(), &made.system, &Told, &[]);
            assert_eq!((place.verdict, place.kind, texts(&place)), (Verdict::Pass, kind, vec![]));
            assert_eq!((place.reads, place.writes), (Route::FastPath, Route::FastPath));
            assert_eq!((place.mount.as_deref(), place.backing.as_deref()), (Some("/data"), Some("NVMe")));
            assert_eq!(place.alignment, Some(ALIGNMENT));
        }
    }

    #[test]
    fn what_is_in_the_way_is_told() {
        let made = system(&machine());
        for (path, text) in [
            ("/file", "the disk is no NVMe drive"),
            ("/btrfs/file", "btrfs is not ext4 or xfs"),
            ("/data/none", "files can't be opened with O_DIRECT"),
        ] {
            let place = Place::of(path.as_ref(), &made.system, &Told, &[]);
            assert_eq!(
                (place.verdict, place.reads, texts(&place)),
                (Verdict::Fail, Route::Fallback, vec![text])
            );
        }
        let place = Place::of("/data/file".as_ref(), &made.system, &Told, &["GPU", "amdgpu driver"]);
        assert_eq!(texts(&place), ["this machine does not qualify: GPU, amdgpu driver"]);
        let forced = with_variables(&machine(), &[("HIPFILE_FORCE_COMPAT_MODE", "true")]);
        let place = Place::of("/data/file".as_ref(), &forced.system, &Told, &[]);
        assert_eq!(texts(&place), ["HIPFILE_FORCE_COMPAT_MODE=true switches the fast path off"]);
    }

    #[test]
    fn what_could_not_be_opened_is_unknown() {
        let made = system(&machine());
        let place = Place::of("/data/locked".as_ref(), &made.system, &Told, &[]);
        assert_eq!(
            (place.verdict, place.reads, place.writes),
            (Verdict::Warn, Route::Unknown, Route::NotPermitted)
        );
        assert_eq!(texts(&place), ["whether it has direct I/O is unknown: permission denied"]);
    }

    #[test]
    fn what_is_no_place_for_data_is_told() {
        let made = system(&machine());
        let place = Place::of("/nothing".as_ref(), &made.system, &Told, &[]);
        assert_eq!((place.verdict, place.kind), (Verdict::Fail, Kind::Missing));
        assert_eq!(texts(&place), ["No such file or directory (os error 2)"]);
        let _socket = std::os::unix::net::UnixListener::bind(made.system.at("/data/socket")).unwrap();
        let place = Place::of("/data/socket".as_ref(), &made.system, &Told, &[]);
        assert_eq!(
            (place.kind, texts(&place)),
            (Kind::Other, vec!["it is neither a regular file nor a block device"])
        );
    }

    /// Opens nothing.
    struct Sealed;

    impl Direct for Sealed {
        fn folder(&self, folder: &Path) -> DirectIo {
            panic!("{} was opened", folder.display())
        }

        fn file(&self, file: &Path) -> DirectIo {
            self.folder(file)
        }

        fn writable(&self, _: &Path) -> bool {
            true
        }
    }

    #[test]
    fn devices_are_not_opened() {
        let made = system(&[("/dev/", ""), ("/proc/self/mountinfo", "")]);
        let pipe = made.system.at("/dev/watchdog");
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
        let place = Place::of("/dev/watchdog".as_ref(), &made.system, &Sealed, &[]);
        assert_eq!((place.verdict, place.reads), (Verdict::Fail, Route::Fallback));
        assert_eq!(texts(&place), ["it is neither a regular file nor a block device"]);
    }

    #[test]
    fn a_read_only_mount_permits_no_writes() {
        let mut files = machine();
        files[0].1 = "20 1 254:0 / / rw - ext4 /dev/vda rw\n23 20 259:1 / /data ro - xfs /dev/nvme0n1 rw\n";
        let place = Place::of("/data/file".as_ref(), &system(&files).system, &Told, &[]);
        assert_eq!(
            (place.verdict, place.reads, place.writes),
            (Verdict::Warn, Route::FastPath, Route::NotPermitted)
        );
    }
}
