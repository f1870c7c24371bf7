//! The volumes of a machine, and whether the fast path takes files on them.

use serde::Serialize;

use super::backing;
use super::direct::{Alignment, Direct, DirectIo};
use super::environment::{self, Settings};
use super::mounts::{self, Mount};
use super::report::{Finding, Row};
use super::system::System;

/// The id of the row about all of them.
pub const ID: &str = "volumes";

/// A mounted block device. One that is mounted in several places is there once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Volume {
    pub mount: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub device: String,
    /// What the device is and what it lies on.
    pub backing: String,
    pub direct_io: Answer,
    pub alignment: Option<Alignment>,
    /// Whether the fast path takes files on it.
    pub hipfile: Answer,
    pub findings: Vec<Finding>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    Yes,
    No,
    /// No file could be opened to see.
    Unverified,
}

impl Answer {
    pub fn text(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unverified => "unverified",
        }
    }
}

impl Volume {
    /// The volumes in the mount table.
    pub fn all(system: &System, disk: &impl Direct) -> Vec<Self> {
        let settings = environment::settings(system);
        let mut chosen: Vec<Mount> = Vec::new();
        for mount in mounts::read(system).into_iter().filter(|mount| mount.source.starts_with("/dev/")) {
            // Containers have files of the host mounted one by one.
            if !system.at(&mount.point).is_dir() {
                continue;
            }
            match chosen.iter_mut().find(|other| other.source == mount.source) {
                Some(other) if other.point.len() > mount.point.len() => *other = mount,
                Some(_) => {}
                None => chosen.push(mount),
            }
        }
        chosen.into_iter().map(|mount| Self::of(mount, system, disk, settings)).collect()
    }

    fn of(mount: Mount, system: &System, disk: &impl Direct, settings: Settings) -> Self {
        let backing = backing::of(system, mount.device, &mount.source);
        let mut findings: Vec<_> =
            file_system(&mount, settings).into_iter().chain(backing.findings).collect();
        let (direct_io, alignment) = match disk.folder(&system.at(&mount.point)) {
            DirectIo::Works(alignment) => (Answer::Yes, alignment),
            DirectIo::Missing => (Answer::No, None),
            DirectIo::Unverified(_) => (Answer::Unverified, None),
        };
        findings.extend((direct_io == Answer::No).then(no_direct_io));
        let hipfile = if findings.iter().any(|finding| finding.broken) { Answer::No } else { direct_io };
        Self {
            mount: mount.point,
            kind: mount.kind,
            device: mount.source,
            backing: backing.name,
            direct_io,
            alignment,
            hipfile,
            findings,
        }
    }
}

/// There is no direct I/O.
pub fn no_direct_io() -> Finding {
    Finding::broken("files can't be opened with O_DIRECT", "keep the data on a file system with direct I/O")
}

/// The rule about file systems; nothing is in the way on ext4 with the ordered journal and on xfs.
pub fn file_system(mount: &Mount, settings: Settings) -> Option<Finding> {
    let mode = mount.options.split(',').find_map(|option| option.strip_prefix("data="));
    let (text, advice) = match (mount.kind.as_str(), mode) {
        ("xfs", _) | ("ext4", None | Some("ordered")) => return None,
        ("ext4", Some(mode)) => {
            (format!("ext4 with data={mode}"), "mount the file system with data=ordered".to_owned())
        }
        ("overlay", _) => (
            "overlay is not ext4 or xfs".to_owned(),
            "mount the data as a volume into the container".to_owned(),
        ),
        (kind, _) => (format!("{kind} is not ext4 or xfs"), "move the data to ext4 or xfs".to_owned()),
    };
    if settings.any_file_system {
        let text = format!("{text}, accepted because of HIPFILE_UNSUPPORTED_FILE_SYSTEMS=true");
        return Some(Finding::note(text, advice));
    }
    Some(Finding::broken(text, advice))
}

/// Whether there is a volume that the fast path takes.
pub fn row(volumes: &[Volume]) -> Row {
    const NAME: &str = "volumes";
    let of = |answer| volumes.iter().filter(move |volume| volume.hipfile == answer);
    let points: Vec<_> = of(Answer::Yes).map(|volume| volume.mount.as_str()).collect();
    if !points.is_empty() {
        return Row::pass(ID, NAME, format!("the fast path takes files in {}", points.join(", ")));
    }
    match of(Answer::Unverified).next() {
        Some(volume) => Row::fail(
            ID,
            NAME,
            format!("unverified: no file could be made in {}", volume.mount),
            "run as a user who may write there, or name a folder or file: hipfile check PATH",
        ),
        None => Row::fail(
            ID,
            NAME,
            "the fast path takes files on none",
            "mount a local NVMe drive with ext4 or xfs",
        ),
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::report::Verdict;
    use super::super::system::made_up::{MadeUp, system, with_variables};
    use super::*;
    use std::path::Path;

    /// Answers by the name of the last folder.
    pub struct Told;

    impl Direct for Told {
        fn folder(&self, folder: &Path) -> DirectIo {
            match folder.file_name().and_then(|name| name.to_str()).unwrap_or_default() {
                "locked" => DirectIo::Unverified("permission denied".into()),
                "none" => DirectIo::Missing,
                _ => DirectIo::Works(Some(ALIGNMENT)),
            }
        }

        fn file(&self, file: &Path) -> DirectIo {
            self.folder(file)
        }

        fn writable(&self, path: &Path) -> bool {
            !path.ends_with("locked")
        }
    }

    pub const ALIGNMENT: Alignment =
        Alignment { memory: crate::size::Size(4), offset: crate::size::Size(512) };

    const MOUNTS: &str = "\
20 1 254:0 / / rw - ext4 /dev/vda rw
21 20 0:21 / /proc rw - proc proc rw
22 20 259:1 / /data/deep rw - xfs /dev/nvme0n1 rw
23 20 259:1 / /data rw - xfs /dev/nvme0n1 rw
24 20 254:0 / /etc/hosts rw - ext4 /dev/vda rw
25 20 259:2 / /locked rw - ext4 /dev/nvme1n1 rw
26 20 259:3 / /none rw - ext4 /dev/nvme2n1 rw,data=journal
27 20 259:4 / /btrfs rw - btrfs /dev/nvme3n1 rw
";

    pub fn files() -> Vec<(&'static str, &'static str)> {
        vec![
            ("/proc/self/mountinfo", MOUNTS),
            ("/data/deep/", ""),
            ("/locked/", ""),
            ("/none/", ""),
            ("/btrfs/", ""),
            ("/etc/hosts", ""),
            ("/sys/dev/block/254:0", "->../../devices/vda"),
            ("/sys/devices/vda/size", ""),
            ("/sys/dev/block/259:1", "->../../devices/nvme0n1"),
            ("/sys/devices/nvme0n1/device/transport", "pcie\n"),
            ("/sys/dev/block/259:2", "->../../devices/nvme1n1"),
            ("/sys/devices/nvme1n1/device/transport", "pcie\n"),
            ("/sys/dev/block/259:3", "->../../devices/nvme2n1"),
            ("/sys/devices/nvme2n1/device/transport", "pcie\n"),
            ("/sys/dev/block/259:4", "->../../devices/nvme3n1"),
            ("/sys/devices/nvme3n1/device/transport", "pcie\n"),
        ]
    }

    fn answers(made: &MadeUp) -> Vec<(String, Answer, Answer, Vec<String>)> {
        let volumes = Volume::all(&made.system, &Told).into_iter();
        let texts = |volume: &Volume| volume.findings.iter().map(|finding| finding.text.clone()).collect();
        volumes
            .map(|volume| (volume.mount.clone(), volume.direct_io, volume.hipfile, texts(&volume)))
            .collect()
    }

    #[test]
    fn each_device_is_there_once_with_what_is_in_the_way() {
        let expected = [
            ("/", Answer::Yes, Answer::No, &["the disk is no NVMe drive"][..]),
            ("/data", Answer::Yes, Answer::Yes, &[]),
            ("/locked", Answer::Unverified, Answer::Unverified, &[]),
            (
                "/none",
                Answer::No,
                Answer::No,
                &["ext4 with data=journal", "files can't be opened with O_DIRECT"],
            ),
            ("/btrfs", Answer::Yes, Answer::No, &["btrfs is not ext4 or xfs"]),
        ];
        let expected = expected.map(|(mount, direct, hipfile, texts)| {
            (
                mount.to_owned(),
                direct,
                hipfile,
                texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(),
            )
        });
        assert_eq!(answers(&system(&files())), expected);
    }

    #[test]
    fn a_variable_lets_other_file_systems_in() {
        let made = with_variables(&files(), &[("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true")]);
        let all = answers(&made);
        let btrfs = all.iter().find(|volume| volume.0 == "/btrfs").unwrap();
        assert_eq!(btrfs.2, Answer::Yes);
        assert_eq!(
            btrfs.3,
            ["btrfs is not ext4 or xfs, accepted because of HIPFILE_UNSUPPORTED_FILE_SYSTEMS=true"]
        );
    }

    #[test]
    fn one_volume_is_enough() {
        let all = Volume::all(&system(&files()).system, &Told);
        assert_eq!(row(&all), Row::pass(ID, "volumes", "the fast path takes files in /data"));
        let without: Vec<_> = all.into_iter().filter(|volume| volume.hipfile != Answer::Yes).collect();
        let unverified = row(&without);
        assert_eq!(
            (unverified.verdict, unverified.detail.as_str()),
            (Verdict::Fail, "unverified: no file could be made in /locked")
        );
        assert_eq!(row(&without[..1]).detail, "the fast path takes files on none");
    }
}
