//! The GPUs by the kernel's account.

use std::fs::OpenOptions;
use std::io::ErrorKind;

use super::report::Row;
use super::system::System;

/// A GPU of KFD's topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub has_file_io: bool,
}

/// The bit of `capability` that says so.
const FILE_IO: u64 = 0x40;

/// The GPUs: the nodes that can compute.
pub fn nodes(system: &System) -> Vec<Node> {
    const NODES: &str = "/sys/class/kfd/kfd/topology/nodes";
    let properties = |name: &String| system.read(format!("{NODES}/{name}/properties")).ok();
    let node = |text: String| {
        let number = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|value| value.trim().parse::<u64>().ok()).unwrap_or(0)
        };
        (number("simd_count") != 0).then(|| Node { has_file_io: number("capability") & FILE_IO != 0 })
    };
    system.names(NODES).iter().filter_map(properties).filter_map(node).collect()
}

/// The file by which programs reach GPUs.
pub fn device_file(system: &System) -> Row {
    const ID: &str = "kfd";
    const NAME: &str = "/dev/kfd";
    match OpenOptions::new().read(true).write(true).open(system.at("/dev/kfd")) {
        Ok(_) => Row::pass(ID, NAME, "opens for reading and writing"),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Row::fail(ID, NAME, "permission denied", "join the groups render and video, then log in again")
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let advice = if system.exists("/.dockerenv") || system.exists("/run/.containerenv") {
                "start the container with --device=/dev/kfd --device=/dev/dri"
            } else {
                "load the amdgpu driver: modprobe amdgpu"
            };
            Row::fail(ID, NAME, "missing", advice)
        }
        Err(error) => Row::fail(ID, NAME, error.to_string(), "see dmesg for what amdgpu says"),
    }
}

/// Whether there are any.
pub fn gpus(system: &System) -> Row {
    const ID: &str = "gpu";
    const NAME: &str = "GPU";
    let nodes = nodes(system);
    let able = nodes.iter().filter(|node| node.has_file_io).count();
    match nodes.len() {
        0 => Row::fail(ID, NAME, "the kernel knows no AMD GPU", "is one there: lspci -d 1002:"),
        count => Row::pass(ID, NAME, format!("{count} known to KFD, {able} with file I/O")),
    }
}

/// A warning where GPUs are, or may be, virtual functions, which always take the fallback.
pub fn sr_iov(system: &System) -> Option<Row> {
    const ID: &str = "sr-iov";
    const NAME: &str = "SR-IOV";
    const DEVICES: &str = "/sys/bus/pci/devices";
    let is = |device: &str, file: &str, value: &str| {
        system.word(format!("{DEVICES}/{device}/{file}")).is_some_and(|word| word.starts_with(value))
    };
    let names = system.names(DEVICES);
    // Displays and processing accelerators of AMD's.
    let amd: Vec<_> = names
        .iter()
        .filter(|name| {
            is(name, "vendor", "0x1002") && (is(name, "class", "0x03") || is(name, "class", "0x12"))
        })
        .collect();
    let functions: Vec<_> = amd
        .iter()
        .filter(|name| system.exists(format!("{DEVICES}/{name}/physfn")))
        .map(|name| name.as_str())
        .collect();
    if !functions.is_empty() {
        let detail = format!("virtual functions: {}", functions.join(", "));
        return Some(Row::warn(ID, NAME, detail, "use a whole GPU: virtual functions take the fallback"));
    }
    let guest = system.read("/proc/cpuinfo").is_ok_and(|text| {
        let flags = text.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
        flags.split_ascii_whitespace().any(|flag| flag == "hypervisor")
    });
    (guest && !amd.is_empty()).then(|| {
        let detail = "a virtual machine: its GPU may be a virtual function, which takes the fallback";
        Row::warn(
            ID,
            NAME,
            detail,
            "ask whoever runs the host for a whole GPU; `amd-smi list` tells which it is",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::report::Verdict;
    use super::super::system::made_up::system;
    use super::*;

    #[test]
    fn gpus_are_nodes_that_compute() {
        let nodes = [
            (
                "/sys/class/kfd/kfd/topology/nodes/0/properties",
                "cpu_cores_count 8\nsimd_count 0\ncapability 64\n",
            ),
            ("/sys/class/kfd/kfd/topology/nodes/1/properties", "simd_count 304\ncapability 1088\n"),
            ("/sys/class/kfd/kfd/topology/nodes/2/properties", "simd_count 304\ncapability 1024\n"),
            ("/sys/class/kfd/kfd/topology/nodes/3/name", "no properties"),
        ];
        let row = gpus(&system(&nodes).system);
        assert_eq!(row, Row::pass("gpu", "GPU", "2 known to KFD, 1 with file I/O"));
        assert_eq!(gpus(&system(&nodes[..1]).system).verdict, Verdict::Fail);
    }

    #[test]
    fn the_device_file_opens_or_not() {
        let row = device_file(&system(&[("/dev/kfd", "")]).system);
        assert_eq!(row.verdict, Verdict::Pass);
        let row = device_file(&system(&[]).system);
        assert_eq!(
            (row.verdict, row.advice.as_deref()),
            (Verdict::Fail, Some("load the amdgpu driver: modprobe amdgpu"))
        );
        let row = device_file(&system(&[("/.dockerenv", "")]).system);
        assert_eq!(
            row.advice.as_deref(),
            Some("start the container with --device=/dev/kfd --device=/dev/dri")
        );
        let row = device_file(&system(&[("/dev/kfd/", "")]).system);
        assert_eq!(row.detail, "Is a directory (os error 21)");
    }

    #[test]
    fn virtual_functions_are_warned_about() {
        let gpu = [
            ("/sys/bus/pci/devices/0000:03:00.0/vendor", "0x1002\n"),
            ("/sys/bus/pci/devices/0000:03:00.0/class", "0x120000\n"),
            ("/sys/bus/pci/devices/0000:04:00.0/vendor", "0x10de\n"),
            ("/sys/bus/pci/devices/0000:04:00.0/class", "0x030000\n"),
            ("/sys/bus/pci/devices/0000:04:00.0/physfn/", ""),
        ];
        assert_eq!(sr_iov(&system(&gpu).system), None);
        let function = [&gpu[..], &[("/sys/bus/pci/devices/0000:03:00.0/physfn/", "")]].concat();
        let row = sr_iov(&system(&function).system).unwrap();
        assert_eq!((row.verdict, row.detail.as_str()), (Verdict::Warn, "virtual functions: 0000:03:00.0"));
        let guest = [&gpu[..], &[("/proc/cpuinfo", "flags\t\t: fpu hypervisor lm\n")]].concat();
        assert!(sr_iov(&system(&guest).system).unwrap().detail.starts_with("a virtual machine"));
        assert_eq!(sr_iov(&system(&guest[2..]).system), None);
    }
}
