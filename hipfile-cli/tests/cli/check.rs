//! `hipfile check`, of machines that are made up below the folder of the stage.

use serde_json::{Value, json};

use crate::support::{Page, Stage};

const MOUNTS: &str = "\
22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
23 22 0:21 / /proc rw - proc proc rw
24 22 259:4 / /data rw,noatime - xfs /dev/nvme1n1 rw,attr2
25 22 9:0 / /scratch rw,noatime - ext4 /dev/md0 rw
26 22 0:45 / /home rw - nfs4 server:/home rw
";

/// A machine with all that the fast path needs, and a container on one without most of it.
fn stage() -> Stage {
    let kfd = "sys/class/kfd/kfd/topology/nodes";
    let stage = Stage::new()
        .file("node7/proc/sys/kernel/osrelease", "6.14.0-29-generic\n")
        .file("node7/proc/kallsyms", "0000000000000000 t kfd_ais_rw_file\t[amdgpu]\n")
        .file("node7/proc/self/mountinfo", MOUNTS)
        .file("node7/boot/config-6.14.0-29-generic", "CONFIG_PCI=y\nCONFIG_PCI_P2PDMA=y\n")
        .file("node7/dev/kfd", "")
        .file(&format!("node7/{kfd}/0/properties"), "cpu_cores_count 96\nsimd_count 0\ncapability 0\n")
        .file(&format!("node7/{kfd}/1/properties"), "simd_count 1216\ncapability 2147483720\n")
        .file("node7/data/weights.bin", vec![0; 4096])
        .file("node7/scratch/tmp.bin", vec![0; 4096])
        .file("node7/home/me/notes", "x")
        .file("node7/sys/devices/pci/nvme0n1/nvme0n1p2/partition", "2\n")
        .file("node7/sys/devices/pci/nvme0n1/device/transport", "pcie\n")
        .file("node7/sys/devices/pci/nvme1n1/device/transport", "pcie\n")
        .file("node7/sys/devices/virtual/block/md0/md/level", "raid0\n")
        .link("node7/sys/devices/virtual/block/md0/slaves/nvme0n1", "../../../../pci/nvme0n1")
        .link("node7/sys/dev/block/259:2", "../../devices/pci/nvme0n1/nvme0n1p2")
        .link("node7/sys/dev/block/259:4", "../../devices/pci/nvme1n1")
        .link("node7/sys/dev/block/9:0", "../../devices/virtual/block/md0");
    stage
        .file("pod/.dockerenv", "")
        .file("pod/proc/sys/kernel/osrelease", "6.8.0-31-generic\n")
        .file("pod/proc/kallsyms", "0000000000000000 T _text\n")
        .file("pod/proc/self/mountinfo", "30 1 0:60 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/u\n")
        .file("pod/models/weights.bin", vec![0; 4096])
}

#[test]
fn the_page_is_current() {
    let stage = stage();
    if stage.is_as_in_the_pages() {
        Page::new("cli-check.md", stage).check();
    }
}

/// The checks of a report by their ids.
fn verdicts(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    report["checks"].as_array().unwrap().iter().map(|row| (text(&row["id"]), text(&row["verdict"]))).collect()
}

#[test]
fn a_good_machine_passes() {
    let stage = stage();
    if !stage.has_direct_io() {
        return;
    }
    let ran = stage.run(&["check", "--root", "node7", "--json"]);
    let report = ran.json();
    let expected = [
        ("p2pdma", "pass"),
        ("amdgpu", "pass"),
        ("kfd", "pass"),
        ("gpu", "pass"),
        ("hip", "pass"),
        ("libhipfile", "pass"),
        ("volumes", "pass"),
        ("software", "warn"),
    ];
    assert_eq!(verdicts(&report), expected.map(|(id, verdict)| (id.to_owned(), verdict.to_owned())));
    assert_eq!((ran.code, &report["verdict"]), (Some(0), &json!("warn")));
    assert_eq!((&report["schema"], &report["kernel"]), (&json!(1), &json!("6.14.0-29-generic")));
    let volumes = report["volumes"].as_array().unwrap();
    let answers: Vec<_> = volumes.iter().map(|volume| (&volume["mount"], &volume["hipfile"])).collect();
    assert_eq!(
        answers,
        [(&json!("/"), &json!("yes")), (&json!("/data"), &json!("yes")), (&json!("/scratch"), &json!("no"))]
    );
}

#[test]
fn each_required_row_decides_the_exit_status() {
    if !stage().has_direct_io() {
        return;
    }
    let text = "x";
    for (file, content, id) in [
        ("node7/boot/config-6.14.0-29-generic", "CONFIG_PCI_P2PDMA=m\n", "p2pdma"),
        ("node7/proc/kallsyms", text, "amdgpu"),
        ("node7/sys/class/kfd/kfd/topology/nodes/1/properties", text, "gpu"),
        ("node7/proc/self/mountinfo", text, "volumes"),
    ] {
        let ran = stage().file(file, content).run(&["check", "--root", "node7", "--json"]);
        let failed: Vec<_> = verdicts(&ran.json())
            .into_iter()
            .filter(|(_, verdict)| verdict == "fail")
            .map(|(id, _)| id)
            .collect();
        assert_eq!((ran.code, failed), (Some(1), vec![id.to_owned()]), "{file}");
    }
    let old = stage().variable("SOFT_ROCM_DEVICE_COUNT", Some("0"));
    let ran = old.run(&["check", "--root", "node7", "--json"]);
    assert!(verdicts(&ran.json()).contains(&("hip".into(), "fail".into())), "{ran:?}");
}

#[test]
fn a_path_that_does_not_take_the_fast_path_fails() {
    let stage = stage();
    if !stage.has_direct_io() {
        return;
    }
    for (path, code, reads, text) in [
        ("/data/weights.bin", 0, "fast path", Value::Null),
        ("/data", 0, "fast path", Value::Null),
        ("/scratch/tmp.bin", 1, "fallback", "the disk is software RAID (raid0)".into()),
        ("/home/me/notes", 1, "fallback", "nfs4 is not ext4 or xfs".into()),
        ("/nothing", 1, "unknown", "No such file or directory (os error 2)".into()),
    ] {
        let ran = stage.run(&["check", "--root", "node7", "--json", path]);
        let place = ran.json()["paths"][0].clone();
        assert_eq!(
            (ran.code, &place["reads"], &place["findings"][0]["text"]),
            (Some(code), &reads.into(), &text),
            "{path}"
        );
    }
    let other = stage.variable("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", Some("true"));
    let ran = other.run(&["check", "--root", "node7", "--json", "/home/me/notes"]);
    let place = ran.json()["paths"][0].clone();
    assert_eq!(
        (ran.code, &place["reads"], &place["verdict"]),
        (Some(0), &"fast path".into(), &"warn".into())
    );
}

#[test]
fn no_runtime_is_two_rows_and_no_error() {
    let stage = stage();
    if !stage.has_direct_io() {
        return;
    }
    let ran = stage.run(&["check", "--root", "node7", "--rocm", "/opt/nothing", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""));
    let report = ran.json();
    let rows: Vec<_> =
        report["checks"].as_array().unwrap().iter().filter(|row| row["verdict"] == "fail").collect();
    let ids: Vec<_> = rows.iter().map(|row| &row["id"]).collect();
    assert_eq!(ids, ["hip", "libhipfile"]);
    assert_eq!(rows[0]["detail"], "no ROCm with libhipfile in /opt/nothing: there is no such folder");
    assert_eq!(rows[1]["detail"], "not loaded, as HIP was not");
}

#[test]
fn quiet_leaves_the_exit_status() {
    let stage = stage();
    if !stage.has_direct_io() {
        return;
    }
    let ran = stage.run(&["check", "--root", "node7", "-q", "/scratch"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(1), "", ""));
    let ran = stage.run(&["check", "--root", "node7", "-q", "/data"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn this_machine_is_looked_at_without_root() {
    let stage = stage();
    let ran = stage.run(&["check", "--json", "node7/data"]);
    let report = ran.json();
    assert_eq!(report["kernel"], std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap().trim());
    assert_eq!(report["paths"][0]["kind"], "folder");
    assert_eq!(report["paths"][0]["path"], "node7/data");
    assert!(report["paths"][0]["mount"].is_string());
}

#[test]
fn a_root_is_a_folder() {
    let stage = stage().file("file", "");
    for root in ["file", "nothing"] {
        let ran = stage.run(&["check", "--root", root]);
        let message = format!(
            "error: --root {root} is no folder; name the one that has the system's /proc and /sys in it\n"
        );
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (Some(2), "", message));
    }
}
