//! What the kernel and its driver have.

use super::gpu;
use super::report::Row;
use super::system::System;

const P2PDMA: &str = "CONFIG_PCI_P2PDMA";

/// The newest build of the amdgpu driver as a package of its own that does without telling KFD that it has file I/O.
const LAST_SILENT_BUILD: u64 = 2_327_936;

/// Peer-to-peer DMA: by KFD's own account where the driver gives one, else by the kernel's configuration.
pub fn p2pdma(system: &System) -> Row {
    const ID: &str = "p2pdma";
    const NAME: &str = "kernel P2PDMA";
    if let Some(build) = driver_build(system).filter(|build| *build > LAST_SILENT_BUILD) {
        return if gpu::nodes(system).iter().any(|node| node.has_file_io) {
            Row::pass(ID, NAME, format!("amdgpu build {build} offers file I/O on a GPU"))
        } else {
            Row::fail(
                ID,
                NAME,
                format!("amdgpu build {build} offers file I/O on no GPU"),
                format!("boot a kernel with {P2PDMA}=y; the GPU and its driver have to support it too"),
            )
        };
    }
    let advice = format!("boot a kernel with {P2PDMA}=y");
    let Some((file, config)) = config(system) else {
        let advice =
            format!("make sure that the kernel has {P2PDMA}=y, and install its configuration in /boot");
        return Row::fail(ID, NAME, "unknown: the kernel's configuration is not to be found", advice);
    };
    match setting(&config, P2PDMA) {
        Some("y") => Row::pass(ID, NAME, format!("{P2PDMA}=y in {file}")),
        Some(other) => Row::fail(ID, NAME, format!("{P2PDMA}={other} in {file}"), advice),
        None => Row::fail(ID, NAME, format!("{P2PDMA} is not set in {file}"), advice),
    }
}

/// The function of the amdgpu driver behind the fast path.
pub fn amdgpu(system: &System) -> Row {
    const ID: &str = "amdgpu";
    const NAME: &str = "amdgpu driver";
    const SYMBOL: &str = "kfd_ais_rw_file";
    let symbols = match system.read("/proc/kallsyms") {
        Ok(symbols) => symbols,
        Err(error) => {
            return Row::fail(
                ID,
                NAME,
                format!("unknown: /proc/kallsyms: {error}"),
                "run as a user who may read it",
            );
        }
    };
    if symbols.split_ascii_whitespace().any(|word| word == SYMBOL) {
        return Row::pass(ID, NAME, format!("has {SYMBOL}"));
    }
    match system.exists("/sys/module/amdgpu") {
        true => Row::fail(
            ID,
            NAME,
            format!("loaded, without {SYMBOL}"),
            "install the amdgpu driver of ROCm 7.2 or later (package amdgpu-dkms)",
        ),
        false => Row::fail(
            ID,
            NAME,
            "not loaded",
            "install the amdgpu driver of ROCm 7.2 or later (package amdgpu-dkms), or load it: modprobe amdgpu",
        ),
    }
}

/// The kernel's configuration, and where it was found.
fn config(system: &System) -> Option<(String, String)> {
    let release = system.release().unwrap_or_default();
    let files = [format!("/boot/config-{release}"), format!("/lib/modules/{release}/build/.config")];
    let plain = files.into_iter().find_map(|file| system.read(&file).ok().map(|text| (file, text)));
    plain.or_else(|| {
        let packed = "/proc/config.gz";
        system.unpacked(packed).map(|text| (packed.to_owned(), text))
    })
}

/// The value of one setting.
fn setting<'c>(config: &'c str, name: &str) -> Option<&'c str> {
    config.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
}

/// The build of the driver, where it is installed as a package of its own: the second number in `amdgpu-6.14.14-2204008`.
fn driver_build(system: &System) -> Option<u64> {
    let build = |name: &String| {
        let digits: String = name.split_once('-')?.1.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    system.names("/var/lib/dkms/amdgpu").iter().filter_map(build).max()
}

#[cfg(test)]
mod tests {
    use super::super::report::Verdict;
    use super::super::system::made_up::system;
    use super::*;

    const RELEASE: (&str, &str) = ("/proc/sys/kernel/osrelease", "6.8.0-31\n");
    const SILENT: (&str, &str) = ("/var/lib/dkms/amdgpu/6.8.5-2041575.22.04/", "");
    const TALKING: (&str, &str) = ("/var/lib/dkms/amdgpu/6.14.14-2327937.24.04/", "");

    fn found(files: &[(&str, &str)]) -> (Verdict, String) {
        let row = p2pdma(&system(files).system);
        assert_eq!(row.advice.is_none(), row.verdict == Verdict::Pass);
        (row.verdict, row.detail)
    }

    #[test]
    fn the_configuration_decides_where_the_driver_does_not_tell() {
        let boot = "/boot/config-6.8.0-31";
        let build = "/lib/modules/6.8.0-31/build/.config";
        for (files, verdict, detail) in [
            (
                &[RELEASE, (boot, "A=y\nCONFIG_PCI_P2PDMA=y\n")][..],
                Verdict::Pass,
                "CONFIG_PCI_P2PDMA=y in /boot/config-6.8.0-31",
            ),
            (
                &[RELEASE, (boot, "CONFIG_PCI_P2PDMA=m\n")],
                Verdict::Fail,
                "CONFIG_PCI_P2PDMA=m in /boot/config-6.8.0-31",
            ),
            (
                &[RELEASE, (boot, "# CONFIG_PCI_P2PDMA is not set\n")],
                Verdict::Fail,
                "CONFIG_PCI_P2PDMA is not set in /boot/config-6.8.0-31",
            ),
            (
                &[RELEASE, (build, "CONFIG_PCI_P2PDMA=y\n"), SILENT],
                Verdict::Pass,
                "CONFIG_PCI_P2PDMA=y in /lib/modules/6.8.0-31/build/.config",
            ),
            (&[RELEASE], Verdict::Fail, "unknown: the kernel's configuration is not to be found"),
        ] {
            assert_eq!(found(files), (verdict, detail.to_owned()));
        }
    }

    #[test]
    fn a_packed_configuration_is_read() {
        let made = system(&[RELEASE, ("/proc/config", "CONFIG_PCI_P2PDMA=y\n")]);
        let packed = std::process::Command::new("gzip").arg(made.system.at("/proc/config")).status().unwrap();
        assert!(packed.success());
        assert_eq!(p2pdma(&made.system).detail, "CONFIG_PCI_P2PDMA=y in /proc/config.gz");
    }

    #[test]
    fn a_newer_driver_tells_by_its_gpus() {
        let config = ("/boot/config-6.8.0-31", "CONFIG_PCI_P2PDMA=y\n");
        let node = |capability| ("/sys/class/kfd/kfd/topology/nodes/1/properties", capability);
        let with = node("simd_count 304\ncapability 64\n");
        assert_eq!(found(&[RELEASE, TALKING, SILENT, with]).0, Verdict::Pass);
        let detail = "amdgpu build 2327937 offers file I/O on no GPU";
        let without = node("simd_count 304\ncapability 63\n");
        assert_eq!(found(&[RELEASE, config, TALKING, without]), (Verdict::Fail, detail.to_owned()));
        let processor = node("simd_count 0\ncapability 64\n");
        assert_eq!(found(&[RELEASE, config, TALKING, processor]).0, Verdict::Fail);
    }

    #[test]
    fn the_driver_has_the_function_or_is_told_from_one_that_is_missing() {
        let row = |files: &[(&str, &str)]| {
            let row = amdgpu(&system(files).system);
            (row.verdict, row.detail)
        };
        let symbols = |text| ("/proc/kallsyms", text);
        let with = symbols("0000 t kfd_ais_rw_file\t[amdgpu]\n");
        assert_eq!(row(&[with]), (Verdict::Pass, "has kfd_ais_rw_file".into()));
        let like = symbols("0000 t kfd_ais_rw_file_x\t[amdgpu]\n");
        assert_eq!(row(&[like]), (Verdict::Fail, "not loaded".into()));
        let loaded = ("/sys/module/amdgpu/", "");
        assert_eq!(row(&[like, loaded]), (Verdict::Fail, "loaded, without kfd_ais_rw_file".into()));
        let unknown = "unknown: /proc/kallsyms: No such file or directory (os error 2)";
        assert_eq!(row(&[loaded]), (Verdict::Fail, unknown.into()));
    }
}
