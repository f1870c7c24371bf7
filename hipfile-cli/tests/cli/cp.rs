//! `hipfile cp`: what copies are.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::support::{Page, Stage, program};

/// Bytes that differ from one offset to the next.
pub fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at / 4096 + at % 251) as u8 | 1).collect()
}

/// Whether files in the folder take the fast path, which hangs on this machine's disk.
pub fn fast(stage: &Stage) -> bool {
    fs::write(stage.path().join("probe"), bytes(4096)).unwrap();
    let fast = stage.run(&["cp", "--direct", "always", "probe", "probe.copy"]).code == Some(0);
    if !fast {
        println!("skipped: no fast path on the disk of the build");
    }
    for name in ["probe", "probe.copy"] {
        // The second one is there only if it is fast.
        let _ = fs::remove_file(stage.path().join(name));
    }
    fast
}

/// What a copy of one file came to.
pub fn copied(stage: &Stage, arguments: &[&str]) -> Value {
    let ran = stage.run(&[&["cp", "--json"][..], arguments].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{arguments:?}: {}", ran.stdout);
    ran.json()["files"][0]["copied"].clone()
}

/// Names that are left in the folder.
pub fn names(stage: &Stage) -> Vec<String> {
    let entries = fs::read_dir(stage.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Times and rates.
fn measured(line: &str) -> String {
    let masked = ["\"seconds\"", "\"gb_per_second\"", "\"cpu_seconds\"", "\"cpu_seconds_per_gb\""];
    if let Some(name) = masked.into_iter().find(|name| line.contains(name)) {
        return name.to_owned();
    }
    match line.split_once(" in ") {
        Some((files, _)) if files.starts_with(|c: char| c.is_ascii_digit()) => files.to_owned(),
        _ => line.to_owned(),
    }
}

#[test]
fn the_page_is_current() {
    let stage = Stage::new().file("model.bin", bytes(32 << 20)).file("odd.bin", bytes((1 << 20) + 13));
    if !fast(&stage) {
        return;
    }
    let prelude = "
        [ -e backup ] || { mkdir backup; truncate -s 1G disk.img
            dd if=model.bin of=disk.img bs=1M seek=512 count=16 conv=notrunc status=none; }
        rm -f copy.bin copy.img backup/*
        for file in model.bin odd.bin disk.img; do
            sync $file; dd if=$file iflag=nocache count=0 status=none; done";
    Page::new("cli-cp.md", stage).prelude(prelude).mask(measured).check();
}

#[test]
fn every_length_arrives_by_every_way() {
    let stage = Stage::new();
    let ways: &[&str] = if fast(&stage) { &["auto", "always", "never"] } else { &["auto", "never"] };
    for len in [0, 1, 4095, 4096, 4097, 65536, (3 << 20) + 5] {
        let content = bytes(len);
        fs::write(stage.path().join("a"), &content).unwrap();
        for way in ways {
            for sparse in ["auto", "always"] {
                let options =
                    ["--direct", way, "--sparse", sparse, "--buffer", "256K", "--jobs", "3", "--verify"];
                let copied = copied(&stage, &[&options[..], &["a", "b"]].concat());
                assert!(fs::read(stage.path().join("b")).unwrap() == content, "{len} {way} {sparse}");
                assert_eq!(
                    (&copied["bytes"], &copied["moved"], &copied["holes"]),
                    (&len.into(), &len.into(), &0.into())
                );
                assert_eq!(copied["verified"], true);
                let gpu = ways.contains(&"always") && *way != "never" && len >= 4096;
                let odd = if gpu { len % 4096 } else { 0 };
                assert_eq!(
                    (&copied["odd"], &copied["route"]),
                    (&odd.into(), &(if gpu { "gpu" } else { "host" }).into()),
                    "{len} {way}"
                );
            }
        }
    }
    assert_eq!(names(&stage), ["a", "b"]);
}

#[test]
fn what_is_in_the_page_cache_is_read_there() {
    const LEN: u64 = 1 << 20;
    let stage = Stage::new().file("a", bytes(LEN as usize));
    if !fast(&stage) {
        return;
    }
    let cached = |options: &[&str]| {
        let copied = copied(&stage, &[options, &["--buffer", "256K", "a", "b"]].concat());
        assert!(fs::read(stage.path().join("b")).unwrap() == bytes(LEN as usize), "{options:?}");
        copied["cached"].as_u64().unwrap()
    };
    let all = cached(&[]);
    if all == 0 && !tells_of_the_page_cache() {
        return println!("skipped: this Linux does not tell what is in the page cache");
    }
    assert_eq!((all, cached(&["--sparse", "always"]), cached(&["--direct", "always"])), (LEN, LEN, 0));
    forget(&stage, "a");
    assert_eq!(cached(&[]), 0);
}

/// Whether this Linux is 6.5 or later.
fn tells_of_the_page_cache() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|number| number.parse().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(5u32))
}

/// Writes a file to storage and removes it from the page cache.
pub fn forget(stage: &Stage, name: &str) {
    let script = format!("sync {name} && dd if={name} iflag=nocache count=0 status=none");
    let ran = stage.command("/bin/sh").args(["-c", &script]).status().unwrap();
    assert!(ran.success());
}

#[test]
fn holes_are_kept_found_and_filled() {
    let stage = Stage::new();
    let fast = fast(&stage);
    let path = stage.path().join("a");
    // 1 MiB of a hole, 64 KiB of data, 64 KiB of zeros, a hole up to 4 MiB.
    let mut content = vec![0; 4 << 20];
    content[1 << 20..][..64 << 10].copy_from_slice(&bytes(64 << 10));
    let file = fs::File::create(&path).unwrap();
    file.set_len(4 << 20).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &content[1 << 20..][..128 << 10], 1 << 20).unwrap();
    file.sync_all().unwrap();
    let taken = |name: &str| fs::metadata(stage.path().join(name)).unwrap().blocks() * 512;
    if taken("a") != 128 << 10 {
        return println!("skipped: no holes on the disk of the build");
    }
    for way in if fast { &["always", "never"][..] } else { &["never"] } {
        for (sparse, moved) in [("auto", 128u64 << 10), ("always", 64 << 10), ("never", 4 << 20)] {
            let copied = copied(&stage, &["--direct", way, "--sparse", sparse, "a", "b"]);
            assert_eq!(
                (&copied["moved"], &copied["holes"]),
                (&moved.into(), &((4 << 20) - moved).into()),
                "{way} {sparse}"
            );
            assert_eq!(taken("b"), moved, "{way} {sparse}");
            assert!(fs::read(stage.path().join("b")).unwrap() == content, "{way} {sparse}");
        }
    }
}

#[test]
fn mode_times_and_owner_are_kept_if_asked_for() {
    let stage = Stage::new().file("a", bytes(5000));
    let path = |name: &str| stage.path().join(name);
    fs::set_permissions(path("a"), Permissions::from_mode(0o2751)).unwrap();
    let past = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
    fs::File::open(path("a")).unwrap().set_modified(past).unwrap();
    let found = |name: &str| fs::metadata(path(name)).unwrap();
    copied(&stage, &["a", "plain"]);
    assert_eq!(found("plain").mode() & 0o7777 & !0o751, 0);
    assert_ne!(found("plain").modified().unwrap(), past);
    copied(&stage, &["-p", "a", "kept"]);
    assert_eq!((found("kept").mode() & 0o7777, found("kept").modified().unwrap()), (0o2751, past));
    assert_eq!((found("kept").uid(), found("kept").gid()), (found("a").uid(), found("a").gid()));
    // One that exists keeps its own.
    fs::set_permissions(path("plain"), Permissions::from_mode(0o600)).unwrap();
    copied(&stage, &["a", "plain"]);
    assert_eq!(found("plain").mode() & 0o7777, 0o600);
}

/// libhipfile opens files again by their permissions, which count for nobody but root.
#[test]
fn a_file_that_may_only_be_read_is_copied_by_its_reader() {
    let stage = Stage::new().file("a", bytes(8192));
    fs::set_permissions(stage.path(), Permissions::from_mode(0o777)).unwrap();
    fs::set_permissions(stage.path().join("a"), Permissions::from_mode(0o444)).unwrap();
    let mut command = stage.command(program());
    command.args(["cp", "a", "b"]);
    if fs::metadata(stage.path()).unwrap().uid() == 0 {
        command.uid(65534).gid(65534);
    }
    let ran = match command.output() {
        Ok(ran) if ran.status.code() != Some(3) => ran,
        other => return println!("skipped: another user gets at no build: {other:?}"),
    };
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(fs::metadata(stage.path().join("b")).unwrap().mode() & 0o777, 0o444);
    assert!(fs::read(stage.path().join("b")).unwrap() == bytes(8192));
}

#[test]
fn what_is_replaced_keeps_owner_group_and_mode() {
    let stage = Stage::new().file("a", bytes(8192)).file("b", "old");
    let path = |name: &str| stage.path().join(name);
    let attributes = |name: &str| {
        let found = fs::metadata(path(name)).unwrap();
        (found.uid(), found.gid(), found.mode() & 0o7777)
    };
    let (uid, gid, _) = attributes("b");
    fs::set_permissions(path("b"), Permissions::from_mode(0o2604)).unwrap();
    copied(&stage, &["a", "b"]);
    assert_eq!(attributes("b"), (uid, gid, 0o2604));
    if chown(path("b"), Some(1234), Some(4321)).is_err() {
        return println!("skipped: this user may not give files away");
    }
    fs::set_permissions(path("b"), Permissions::from_mode(0o4640)).unwrap();
    copied(&stage, &["a", "b"]);
    assert_eq!(attributes("b"), (1234, 4321, 0o4640));
    copied(&stage, &["-p", "a", "b"]);
    assert_eq!(attributes("b"), attributes("a"));
    // By one who may write the file and the folder, and no more.
    fs::set_permissions(stage.path(), Permissions::from_mode(0o777)).unwrap();
    for (group, mode, message, after) in [
        (4321, 0o6662, "hipfile: b gets another owner, which can't be kept here\n", (65534, 4321, 0o662)),
        (
            65534,
            0o6642,
            "hipfile: b gets another owner and group, which can't be kept here\n",
            (65534, 65534, 0o602),
        ),
    ] {
        chown(path("b"), Some(1234), Some(4321)).unwrap();
        fs::set_permissions(path("b"), Permissions::from_mode(mode)).unwrap();
        let groups = format!("--groups={group}");
        let ran = Stage::ran(
            stage
                .command("/usr/bin/setpriv")
                .args(["--reuid=65534", "--regid=65534", &groups])
                .arg(program())
                .args(["cp", "a", "b"]),
        );
        if ran.code != Some(0) {
            return println!("skipped: another user gets at no build: {ran:?}");
        }
        assert_eq!((ran.stderr.as_str(), attributes("b")), (message, after));
    }
}

/// As the system's cp: who may not give files away may still choose among groups.
#[test]
fn the_group_is_kept_where_the_owner_can_not_be() {
    let stage = Stage::new().file("a", bytes(100));
    let path = |name: &str| stage.path().join(name);
    fs::set_permissions(stage.path(), Permissions::from_mode(0o777)).unwrap();
    if chown(path("a"), Some(1234), Some(4321)).is_err() {
        return println!("skipped: this user may not give files away");
    }
    fs::set_permissions(path("a"), Permissions::from_mode(0o4644)).unwrap();
    let mut command = stage.command("/usr/bin/setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--groups=4321"]).arg(program());
    let ran = Stage::ran(command.args(["cp", "-vp", "a", "b"]));
    if ran.code != Some(0) {
        return println!("skipped: another user gets at no build: {ran:?}");
    }
    assert!(ran.stderr.contains("hipfile: the owner of b is not that of its source\n"), "{ran:?}");
    let found = fs::metadata(path("b")).unwrap();
    assert_eq!((found.uid(), found.gid(), found.mode() & 0o7777), (65534, 4321, 0o644));
}

/// Where the kernel does not copy by itself.
#[test]
fn between_file_systems_plain_reads_and_writes_serve() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        return println!("skipped: no /dev/shm");
    };
    let stage = Stage::new();
    let content = bytes((1 << 20) + 7);
    let source = memory.path().join("a");
    fs::write(&source, &content).unwrap();
    let copied = copied(&stage, &["--buffer", "256K", source.to_str().unwrap(), "b"]);
    assert_eq!(copied["route"], "host");
    let reasons = copied["reasons"].as_array().unwrap();
    let told = reasons.iter().any(|reason| reason == "the file is on tmpfs, not on ext4 or xfs");
    assert!(told, "{copied}");
    assert!(fs::read(stage.path().join("b")).unwrap() == content);
}

#[test]
fn a_link_leads_to_what_is_replaced() {
    let stage = Stage::new().file("a", "new").file("b", "old");
    symlink("b", stage.path().join("link")).unwrap();
    copied(&stage, &["a", "link"]);
    assert_eq!(fs::read_to_string(stage.path().join("b")).unwrap(), "new");
    assert!(fs::symlink_metadata(stage.path().join("link")).unwrap().is_symlink());
}

#[test]
fn several_go_into_a_folder() {
    let stage = Stage::new().file("a", "one").file("b", "two");
    fs::create_dir(stage.path().join("d")).unwrap();
    let ran = stage.run(&["cp", "a", "./b", "d"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.starts_with("a -> d/a: 3 B\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\n2 files, 6 B in "), "{}", ran.stdout);
    assert_eq!(fs::read_to_string(stage.path().join("d/b")).unwrap(), "two");
    let ran = stage.run(&["cp", "-q", "a", "d"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn there_is_a_bar_on_a_terminal() {
    let stage = Stage::new().file("model", bytes(1 << 20));
    let slow =
        stage.variable("SOFT_ROCM_FAULTS", Some("hipFileWrite:delay=300ms")).variable("TERM", Some("xterm"));
    if !fast(&slow) {
        return;
    }
    let copy = format!("{} cp --direct always --buffer 512K model copy", program().display());
    let ran = Stage::ran(slow.command("/usr/bin/script").args(["-qefc", &copy, "/dev/null"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("model ") && ran.stdout.contains(" of 1.00 MiB"), "{ran:?}");
    // And none elsewhere.
    let ran = slow.run(&["cp", "--direct", "always", "model", "copy"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}
