//! Signs of a container.

use super::report::Row;
use super::system::System;

/// A warning in a container, none outside.
pub fn row(system: &System) -> Option<Row> {
    const ID: &str = "container";
    const NAME: &str = "container";
    let sign = sign(system)?;
    let overlay =
        super::mounts::read(system).iter().any(|mount| mount.point == "/" && mount.kind == "overlay");
    let root = if overlay { ", its root is an overlay, which never takes the fast path" } else { "" };
    Some(Row::warn(ID, NAME, format!("{sign}{root}"), "mount data as a volume from ext4 or xfs on NVMe"))
}

fn sign(system: &System) -> Option<String> {
    for file in ["/.dockerenv", "/run/.containerenv"] {
        if system.exists(file) {
            return Some(format!("there is {file}"));
        }
    }
    let groups = system.read("/proc/1/cgroup").unwrap_or_default();
    let known = ["docker", "kubepods", "containerd", "libpod", "lxc"];
    let name = known.into_iter().find(|name| groups.contains(name))?;
    Some(format!("/proc/1/cgroup names {name}"))
}

#[cfg(test)]
mod tests {
    use super::super::system::made_up::system;
    use super::*;

    #[test]
    fn containers_are_known_by_their_signs() {
        let detail = |files: &[(&str, &str)]| row(&system(files).system).map(|row| row.detail);
        assert_eq!(detail(&[("/proc/1/cgroup", "0::/init.scope\n")]), None);
        assert_eq!(detail(&[("/.dockerenv", "")]).as_deref(), Some("there is /.dockerenv"));
        let pods = ("/proc/1/cgroup", "0::/kubepods.slice/x\n");
        assert_eq!(detail(&[pods]).as_deref(), Some("/proc/1/cgroup names kubepods"));
        let overlay = ("/proc/self/mountinfo", "22 1 0:40 / / rw - overlay overlay rw,lowerdir=/a\n");
        let both = "there is /run/.containerenv, its root is an overlay, which never takes the fast path";
        assert_eq!(detail(&[("/run/.containerenv", ""), overlay]).as_deref(), Some(both));
    }
}
