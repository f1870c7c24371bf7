//! What a volume lies on: the block device, and those below it.

use std::fs;
use std::path::{Path, PathBuf};

use super::report::Finding;
use super::system::System;

/// A block device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Backing {
    /// From the top, as in `LVM on NVMe`.
    pub name: String,
    pub findings: Vec<Finding>,
}

/// The device with these numbers; a device without any is looked up by the name of its file.
pub fn of(system: &System, (major, minor): (u32, u32), source: &str) -> Backing {
    let by_number = system.at(format!("/sys/dev/block/{major}:{minor}")).canonicalize();
    let name = Path::new(source).file_name().unwrap_or_default();
    let found = by_number.or_else(|_| system.at(Path::new("/sys/class/block").join(name)).canonicalize());
    match found {
        Ok(folder) => layer(&folder, 0),
        Err(_) => {
            let text = format!("{source} is no block device of this machine");
            let advice = "keep the data on a local NVMe drive";
            Backing { name: "none".into(), findings: vec![Finding::broken(text, advice)] }
        }
    }
}

/// Nobody stacks more; a loop among links would not end.
const DEEPEST: usize = 8;

fn layer(folder: &Path, depth: usize) -> Backing {
    // A partition is what its disk is.
    let disk = if folder.join("partition").exists() { folder.parent().unwrap_or(folder) } else { folder };
    let name = disk.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let below: Vec<_> = if depth < DEEPEST { slaves(disk) } else { Vec::new() };
    let (what, mut findings) = kind(disk, &name);
    let mut names = Vec::new();
    for slave in &below {
        let backing = layer(slave, depth + 1);
        findings.extend(
            backing.findings.into_iter().filter(|finding| !findings.contains(finding)).collect::<Vec<_>>(),
        );
        if !names.contains(&backing.name) {
            names.push(backing.name);
        }
    }
    let name = if names.is_empty() { what } else { format!("{what} on {}", names.join(" and ")) };
    Backing { name, findings }
}

/// What a disk is, and what of that is in the way.
fn kind(disk: &Path, name: &str) -> (String, Vec<Finding>) {
    let broken =
        |text: &str| vec![Finding::broken(text, "keep the data on NVMe with nothing but LVM in between")];
    if disk.join("dm").is_dir() {
        let uuid = word(&disk.join("dm/uuid"));
        return match uuid.split('-').next().unwrap_or_default() {
            "LVM" => (
                "LVM".into(),
                vec![Finding::note(
                    "LVM: with more than 16 extents below a transfer it takes the fallback",
                    "see how the volume is laid out: lvs --segments",
                )],
            ),
            "CRYPT" => ("dm-crypt".into(), broken("the disk is encrypted by dm-crypt")),
            "mpath" => ("multipath".into(), broken("the disk is reached by multipath")),
            _ => ("device mapper".into(), broken("a device mapper target is in between")),
        };
    }
    if disk.join("md").is_dir() {
        let level = word(&disk.join("md/level"));
        return (level.clone(), broken(&format!("the disk is software RAID ({level})")));
    }
    if disk.join("loop").is_dir() {
        let file = word(&disk.join("loop/backing_file"));
        return ("loop".into(), broken(&format!("the disk is the file {file}")));
    }
    if name.starts_with("nvme") {
        return nvme(disk);
    }
    let kind = if name.starts_with("vd") { "virtio disk" } else { "disk other than NVMe" };
    (
        kind.to_owned(),
        vec![Finding::broken("the disk is no NVMe drive", "keep the data on a local NVMe drive")],
    )
}

/// By its controllers: one, or those of its subsystem.
fn nvme(disk: &Path) -> (String, Vec<Finding>) {
    let device = disk.join("device");
    let own = word(&device.join("transport"));
    let controllers: Vec<String> = if own.is_empty() {
        let names = fs::read_dir(&device).into_iter().flatten().flatten().map(|entry| entry.path());
        names.map(|path| word(&path.join("transport"))).filter(|transport| !transport.is_empty()).collect()
    } else {
        vec![own]
    };
    let mut findings = Vec::new();
    if controllers.len() > 1 {
        findings.push(Finding::broken("the drive is reached by NVMe multipath", "use one path to it"));
    }
    let remote = controllers.iter().find(|transport| *transport != "pcie");
    if let Some(transport) = remote {
        let text = format!("the drive is reached over {transport}: NVMe over fabrics is experimental");
        findings.push(Finding::note(text, "measure it: `hipfile bench`, or use a local drive"));
        return (format!("NVMe over {transport}"), findings);
    }
    ("NVMe".into(), findings)
}

fn slaves(disk: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(disk.join("slaves")).into_iter().flatten().flatten();
    let mut slaves: Vec<_> = entries.filter_map(|entry| entry.path().canonicalize().ok()).collect();
    slaves.sort();
    slaves
}

fn word(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::system::made_up::system;
    use super::*;

    const NVME: [(&str, &str); 3] = [
        ("/sys/dev/block/259:2", "->../../devices/pci/nvme/nvme0/nvme0n1/nvme0n1p2"),
        ("/sys/devices/pci/nvme/nvme0/nvme0n1/nvme0n1p2/partition", "2\n"),
        ("/sys/devices/pci/nvme/nvme0/nvme0n1/device/transport", "pcie\n"),
    ];

    /// The device mapper's first device, on the partition.
    fn stacked(uuid: &str) -> Backing {
        let files = [
            &NVME[..],
            &[
                ("/sys/dev/block/253:0", "->../../devices/virtual/block/dm-0"),
                ("/sys/devices/virtual/block/dm-0/dm/uuid", uuid),
                (
                    "/sys/devices/virtual/block/dm-0/slaves/nvme0n1p2",
                    "->../../../../pci/nvme/nvme0/nvme0n1/nvme0n1p2",
                ),
            ],
        ];
        of(&system(&files.concat()).system, (253, 0), "/dev/mapper/x")
    }

    fn texts(backing: &Backing) -> Vec<&str> {
        backing.findings.iter().map(|finding| finding.text.as_str()).collect()
    }

    #[test]
    fn a_local_nvme_drive_is_fine() {
        let backing = of(&system(&NVME).system, (259, 2), "/dev/nvme0n1p2");
        assert_eq!(backing, Backing { name: "NVMe".into(), findings: Vec::new() });
    }

    #[test]
    fn what_is_stacked_on_it_is_told() {
        let table = [
            (
                "LVM-abc\n",
                "LVM on NVMe",
                "LVM: with more than 16 extents below a transfer it takes the fallback",
                false,
            ),
            ("CRYPT-LUKS2-x\n", "dm-crypt on NVMe", "the disk is encrypted by dm-crypt", true),
            ("mpath-3600\n", "multipath on NVMe", "the disk is reached by multipath", true),
            ("", "device mapper on NVMe", "a device mapper target is in between", true),
        ];
        for (uuid, name, text, broken) in table {
            let backing = stacked(uuid);
            assert_eq!((backing.name.as_str(), texts(&backing)), (name, vec![text]));
            assert_eq!(backing.findings[0].broken, broken);
        }
    }

    #[test]
    fn raid_has_every_disk_in_its_name() {
        let files = [
            ("/sys/dev/block/9:0", "->../../devices/virtual/block/md0"),
            ("/sys/devices/virtual/block/md0/md/level", "raid1\n"),
            (
                "/sys/devices/virtual/block/md0/slaves/nvme0n1p2",
                "->../../../../pci/nvme/nvme0/nvme0n1/nvme0n1p2",
            ),
            ("/sys/devices/virtual/block/md0/slaves/sda", "->../../../../pci/sda"),
            ("/sys/devices/pci/sda/size", "1\n"),
        ];
        let backing = of(&system(&[&NVME[..], &files].concat()).system, (9, 0), "/dev/md0");
        assert_eq!(backing.name, "raid1 on NVMe and disk other than NVMe");
        assert_eq!(texts(&backing), ["the disk is software RAID (raid1)", "the disk is no NVMe drive"]);
    }

    #[test]
    fn drives_over_fabrics_and_by_several_paths_are_told() {
        let link = ("/sys/dev/block/259:0", "->../../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1");
        let below = "/sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1/device";
        let one = format!("{below}/nvme0/transport");
        let two = format!("{below}/nvme1/transport");
        let backing = of(&system(&[link, (&one, "tcp\n")]).system, (259, 0), "/dev/nvme0n1");
        assert_eq!(backing.name, "NVMe over tcp");
        assert!(!backing.findings[0].broken, "{backing:?}");
        let backing =
            of(&system(&[link, (&one, "pcie\n"), (&two, "pcie\n")]).system, (259, 0), "/dev/nvme0n1");
        assert_eq!(texts(&backing), ["the drive is reached by NVMe multipath"]);
    }

    #[test]
    fn other_disks_are_no_nvme() {
        let files = [("/sys/dev/block/254:0", "->../../devices/vda"), ("/sys/devices/vda/size", "1\n")];
        let backing = of(&system(&files).system, (254, 0), "/dev/vda");
        assert_eq!(
            (backing.name.as_str(), texts(&backing)),
            ("virtio disk", vec!["the disk is no NVMe drive"])
        );
        let by_name = [("/sys/class/block/vda", "->../../devices/vda"), files[1]];
        assert_eq!(of(&system(&by_name).system, (0, 30), "/dev/vda").name, "virtio disk");
        let none = of(&system(&[]).system, (0, 40), "overlay");
        assert_eq!(texts(&none), ["overlay is no block device of this machine"]);
        let files = [
            ("/sys/dev/block/7:0", "->../../devices/virtual/block/loop0"),
            ("/sys/devices/virtual/block/loop0/loop/backing_file", "/images/a.img\n"),
        ];
        assert_eq!(
            texts(&of(&system(&files).system, (7, 0), "/dev/loop0")),
            ["the disk is the file /images/a.img"]
        );
    }
}
