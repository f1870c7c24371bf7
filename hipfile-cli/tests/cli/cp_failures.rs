//! `hipfile cp`: what is refused, what fails, and what is left then.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::cp::{bytes, copied, fast, forget, names};
use crate::support::{Ran, Stage, program};

fn stage() -> Stage {
    Stage::new().file("a", bytes(1 << 20)).file("b", "old")
}

/// Runs it, which ends with this error and leaves nothing new and nothing changed.
fn fails(stage: &Stage, arguments: &[&str], message: &str) {
    let before = names(stage);
    let ran = stage.run(&[&["cp"][..], arguments].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{arguments:?} {ran:?}");
    assert_eq!(stage.places(&ran.stderr), format!("error: {message}\n"), "{arguments:?}");
    assert_eq!(names(stage), before, "{arguments:?}");
    assert_eq!(fs::read_to_string(stage.path().join("b")).unwrap(), "old");
}

#[test]
fn what_can_not_be_copied_is_told_in_one_line() {
    let stage = stage();
    for folder in ["d", "e/a"] {
        fs::create_dir_all(stage.path().join(folder)).unwrap();
    }
    std::os::unix::fs::symlink("nothing", stage.path().join("dangling")).unwrap();
    fs::hard_link(stage.path().join("a"), stage.path().join("again")).unwrap();
    assert!(Command::new("mkfifo").arg(stage.path().join("pipe")).status().unwrap().success());
    for (arguments, message) in [
        (&["missing", "b"][..], "open missing: no such file or directory (2 ENOENT); is the name right?"),
        (&["d", "b"], "d is a folder; name the files in it"),
        (&["..", "d"], ".. is a folder; name the files in it"),
        (&["pipe", "b"], "pipe is no regular file; the system's cp copies others"),
        (&["a", "a"], "a and a are the same file"),
        (&["a", "./again"], "a and ./again are the same file"),
        (&["a", "."], "a and ./a are the same file"),
        (
            &["a", "b", "missing"],
            "missing is no folder, and there are 2 sources; name a folder that exists last",
        ),
        (&["a", "b", "pipe"], "pipe is no folder, and there are 2 sources; name a folder that exists last"),
        (&["a", "new/"], "new/ is no folder; make it first, or leave out the slash"),
        (&["a", "e"], "e/a is a folder; give the copy another name"),
        (&["a", "dangling"], "dangling is a link that leads nowhere; remove it first"),
        (
            &["/proc/self/status", "c"],
            "/proc/self/status has content but no length; the system's cp copies it",
        ),
        (&["a", "pipe"], "replace pipe: only a regular file can be replaced"),
        (&["a", "no/c"], "there is no folder no; make it first"),
        (&["a", "b/c"], "replace b/c: not a directory (20 ENOTDIR)"),
    ] {
        fails(&stage, arguments, message);
    }
}

#[test]
fn the_others_are_copied_all_the_same() {
    let stage = stage();
    for folder in ["d", "x"] {
        fs::create_dir(stage.path().join(folder)).unwrap();
    }
    let stage = stage.file("x/a", "another");
    let ran = stage.run(&["cp", "--json", "missing", "a", "x/a", "b", "d"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        ran.stderr,
        "error: open missing: no such file or directory (2 ENOENT); is the name right?\n\
         error: x/a would replace another copy, d/a; copy it into another folder\n"
    );
    let document = ran.json();
    assert_eq!((&document["total"]["copied"], &document["total"]["failed"]), (&2.into(), &2.into()));
    assert_eq!(document["files"][0]["copied"], serde_json::Value::Null);
    assert_eq!(document["files"][0]["error"]["exit_status"], 1);
    assert_eq!(document["files"][1]["error"], serde_json::Value::Null);
    assert_eq!(document["total"]["bytes"], (1 << 20) + 3);
    assert!(fs::read(stage.path().join("d/a")).unwrap() == bytes(1 << 20));
}

#[test]
fn a_link_does_not_lead_to_another_copy() {
    let stage = stage().link("d/b", "a");
    let ran = stage.run(&["cp", "-q", "a", "b", "d"]);
    let message = "error: b would replace another copy, d/b; copy it into another folder\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), message));
    assert!(fs::read(stage.path().join("d/a")).unwrap() == bytes(1 << 20));
}

#[test]
fn a_file_system_that_takes_nothing_is_no_matter_of_permissions() {
    let stage = stage();
    let script = "unshare --mount sh -c 'mount --bind . . && mount -o remount,bind,ro . && cd . && exec hipfile cp a \"$PWD/b\"'";
    let ran = Stage::ran(stage.command("/bin/sh").args(["-c", script]));
    if ran.stderr.contains("unshare:") || ran.stderr.contains("mount:") {
        return println!("skipped: {}", ran.stderr);
    }
    assert_eq!(ran.code, Some(1));
    assert_eq!(stage.places(&ran.stderr), "error: replace /data/b: read-only file system (30 EROFS)\n");
}

#[test]
fn what_is_protected_stays() {
    let stage = stage();
    fs::set_permissions(stage.path().join("b"), Permissions::from_mode(0o444)).unwrap();
    fs::create_dir(stage.path().join("d")).unwrap();
    fs::set_permissions(stage.path().join("d"), Permissions::from_mode(0o555)).unwrap();
    if fs::write(stage.path().join("d/probe"), "").is_ok() {
        return println!("skipped: this user may write everything");
    }
    fails(&stage, &["a", "b"], "b is write-protected; remove it first, or change its mode");
    let denied = "permission denied (13 EACCES); ask for permission, or be another user";
    fails(&stage, &["a", "d"], &format!("replace d/a: {denied}"));
    fs::set_permissions(stage.path().join("a"), Permissions::from_mode(0o000)).unwrap();
    fails(&stage, &["a", "c"], &format!("open a: {denied}"));
}

#[test]
fn a_wrong_command_line_has_status_2() {
    for (arguments, message) in [
        (&["a"][..], "<DST>"),
        (&["--jobs", "0", "a", "b"], "0 is not in 1..=128"),
        (&["--jobs", "many", "a", "b"], "invalid digit"),
        (&["--buffer", "1.5G", "a", "b"], "`1.5G` is no number of bytes"),
        (&["--buffer", "1MB", "a", "b"], "`MB` could be 1000 or 1024"),
        (&["--direct", "maybe", "a", "b"], "[possible values: auto, always, never]"),
        (&["--sparse", "1", "a", "b"], "[possible values: auto, always, never]"),
        (&["-r", "a", "b"], "unexpected argument '-r'"),
        (
            &["--buffer", "200K", "a", "b"],
            "a buffer of 200 KiB is too small for 4 jobs; each takes 64 KiB at least",
        ),
    ] {
        let ran = stage().run(&[&["cp"][..], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
}

#[test]
fn without_a_runtime_nothing_is_copied() {
    let ran = stage().run(&["cp", "--rocm", "/opt/nothing", "a", "b"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.starts_with("error: no ROCm with libhipfile in /opt/nothing"), "{ran:?}");
}

#[test]
fn a_fast_path_that_is_off_is_an_error_for_those_who_insist() {
    let stage = stage().variable("HIPFILE_FORCE_COMPAT_MODE", Some("true"));
    if fast(&Stage::new()) {
        let message = "a can't take the fast path: HIPFILE_FORCE_COMPAT_MODE=true switches the fast path off; start the program without the variable";
        fails(&stage, &["--direct", "always", "a", "b"], message);
    }
    let copied = copied(&stage, &["a", "c"]);
    let reason = "HIPFILE_FORCE_COMPAT_MODE=true switches the fast path off";
    assert!(copied["reasons"].as_array().unwrap().contains(&reason.into()), "{copied}");
    assert_eq!(
        (&copied["predicted"]["write"], &copied["observed"]),
        (&"fallback".into(), &serde_json::Value::Null)
    );
}

/// On the fast path, with a script of faults.
fn faulty(script: &str) -> Option<Stage> {
    fast(&Stage::new()).then(|| stage().variable("SOFT_ROCM_FAULTS", Some(script)))
}

const DIRECT: [&str; 6] = ["--direct", "always", "--buffer", "256K", "--jobs", "2"];

#[test]
fn failures_on_the_way_leave_what_was_there() {
    for (script, message) in [
        (
            "pwrite:errno=ENOSPC@3+",
            "write b at offset 262144, 131072 bytes: no space left on device (28 ENOSPC); make room on the file system",
        ),
        ("pread:errno=EIO@2+", "read a at offset 131072, 131072 bytes: input/output error (5 EIO)"),
        (
            "hipFileDriverOpen:hipfile=5030",
            "open driver: internal error of the library (5030 hipFileInternalError)",
        ),
    ] {
        let Some(stage) = faulty(script) else { return };
        let one = [&DIRECT[..4], &["--jobs", "2", "a", "b"]].concat();
        let ran = stage.run(&[&["cp"][..], &one].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{script} {ran:?}");
        // Jobs run at the same time, so which chunk it is differs.
        let digits = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
        assert_eq!(digits(&ran.stderr), digits(&format!("error: {message}\n")), "{script}");
        assert_eq!(names(&stage), ["a", "b"], "{script}");
        assert_eq!(fs::read_to_string(stage.path().join("b")).unwrap(), "old");
    }
}

#[test]
fn short_and_interrupted_calls_are_made_again() {
    for script in ["pread:short=4096", "pwrite:short=8192@p=0.5,seed=1", "pread:errno=EINTR@p=0.5,seed=1"] {
        let Some(stage) = faulty(script) else { return };
        copied(&stage, &[&DIRECT[..], &["--verify", "a", "b"]].concat());
        assert!(fs::read(stage.path().join("b")).unwrap() == bytes(1 << 20), "{script}");
    }
}

#[test]
fn a_path_that_the_kernel_refuses_is_told() {
    let Some(stage) = faulty("hipAmdFileRead:errno=ENODEV") else { return };
    forget(&stage, "a");
    let ran = stage.run(&["cp", "a", "b"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told = "a -> b: 1 MiB\n  fast path predicted; observed: reads fallback, writes fast path\n";
    assert!(ran.stdout.starts_with(told), "{}", ran.stdout);
    let silent = Stage::new().file("a", bytes(1 << 20)).variable("HIPFILE_STATS_LEVEL", Some("0"));
    forget(&silent, "a");
    let told = "a -> b: 1 MiB\n  fast path predicted, which this libhipfile does not count\n";
    let ran = silent.run(&["cp", "a", "b"]);
    assert!(ran.stdout.starts_with(told), "{}", ran.stdout);
}

#[test]
fn without_gpu_memory_host_memory_serves() {
    for (name, value, reason) in [
        ("SOFT_ROCM_FAULTS", "hipMalloc:hip=2", "hipErrorOutOfMemory (2)"),
        ("SOFT_ROCM_DEVICE_COUNT", "0", "Device::new: "),
    ] {
        let stage = stage().variable(name, Some(value));
        let copied = copied(&stage, &["a", "b"]);
        assert_eq!(copied["route"], "host");
        assert!(copied["reasons"][0].as_str().unwrap().contains(reason), "{copied}");
        let ran = stage.run(&["cp", "--direct", "always", "a", "b"]);
        assert_eq!(ran.code, Some(1));
        assert!(ran.stderr.contains(reason) && ran.stderr.lines().count() == 1, "{ran:?}");
    }
}

#[test]
fn a_limit_on_file_size_is_an_error() {
    // The memory of the software GPU is a file too.
    let stage = stage().variable("SOFT_ROCM_DEVICE_MEM", Some("8M")).file("a", bytes(12 << 20));
    for way in ["never", "always"] {
        if way == "always" && !fast(&stage) {
            return;
        }
        let options = format!("--buffer 1M --jobs 2 --direct {way}");
        let command = format!("ulimit -f 10240; exec {} cp {options} a b", program().display());
        let ran = Stage::ran(stage.command("/bin/bash").args(["-c", &command]));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("ile too large") && ran.stderr.lines().count() == 1, "{ran:?}");
        assert_eq!(names(&stage), ["a", "b"]);
        assert_eq!(fs::read_to_string(stage.path().join("b")).unwrap(), "old");
    }
}

#[test]
fn too_little_memory_is_an_error() {
    let stage = stage().file("a", vec![7; 136 << 20]);
    let command = |options: &str| {
        let command =
            format!("ulimit -v 131072; exec {} cp --direct never {options} a b", program().display());
        Stage::ran(stage.command("/bin/bash").args(["-c", &command]))
    };
    let ran = command("--sparse always --buffer 136M --jobs 1");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let message = "error: there is no room for 136 MiB of host memory; give the copy less with --buffer\n";
    assert_eq!(ran.stderr, message);
    assert_eq!(names(&stage), ["a", "b"]);
    assert_eq!(fs::read_to_string(stage.path().join("b")).unwrap(), "old");
    // What is compared takes its share of the buffer too.
    let ran = command("--verify --buffer 2M --jobs 16");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_source_that_changes_does_not_pass_verification() {
    let Some(stage) = faulty("hipFileWrite:delay=2s") else { return };
    let stage = stage.file("a", bytes(8 << 20));
    let child = start(&stage, &["--direct", "always", "--verify", "a", "b"]);
    wait_until(|| read_by(&child) >= 8 << 20);
    let source = fs::OpenOptions::new().write(true).open(stage.path().join("a")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&source, &[0], 5_000_000).unwrap();
    let ran = end(child);
    assert_eq!(ran.0.code(), Some(1));
    let message = "error: the copy of a read back differs from byte 5000000 on; b was not replaced; was a changed meanwhile?\n";
    assert_eq!(ran.1.stderr, message);
    assert_eq!(names(&stage), ["a", "b"]);
    assert_eq!(fs::read_to_string(stage.path().join("b")).unwrap(), "old");
}

#[test]
fn a_source_that_is_cut_or_written_meanwhile_is_told() {
    for (len, code, message) in [
        (4_000_000, 1, "error: a was cut short while it was copied\n"),
        (9_000_000, 0, "hipfile: a was written while it was copied: the copy may have some of it\n"),
    ] {
        let Some(stage) = faulty("hipFileWrite:delay=2s") else { return };
        let stage = stage.file("a", bytes(8 << 20));
        let child = start(&stage, &["--direct", "always", "a", "b"]);
        // All of it has been read.
        wait_until(|| read_by(&child) >= 8 << 20);
        fs::OpenOptions::new().write(true).open(stage.path().join("a")).unwrap().set_len(len).unwrap();
        let (status, ran) = end(child);
        assert_eq!((status.code(), ran.stderr.as_str()), (Some(code), message));
        assert_eq!(names(&stage), ["a", "b"]);
        let left = if code == 0 { bytes(8 << 20) } else { b"old".to_vec() };
        assert!(fs::read(stage.path().join("b")).unwrap() == left);
    }
}

#[test]
fn a_signal_ends_it_and_leaves_what_was_there() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let Some(stage) = faulty("hipFileWrite:delay=100ms") else { return };
        let child = start(&stage, &["--direct", "always", "--buffer", "64K", "--jobs", "1", "a", "b"]);
        wait_until(|| names(&stage).len() == 3);
        send(&child, signal);
        let (status, ran) = end(child);
        assert_eq!(status.signal(), Some(signal), "{ran:?}");
        assert_eq!(ran.stderr, "error: interrupted while a was copied; b is what it was\n");
        assert_eq!(names(&stage), ["a", "b"]);
        assert_eq!(fs::read_to_string(stage.path().join("b")).unwrap(), "old");
    }
}

#[test]
fn one_that_is_killed_leaves_the_old_file() {
    let Some(stage) = faulty("hipFileWrite:delay=100ms") else { return };
    let child = start(&stage, &["--direct", "always", "--buffer", "64K", "--jobs", "1", "a", "b"]);
    wait_until(|| names(&stage).len() == 3);
    send(&child, libc::SIGKILL);
    assert_eq!(end(child).0.signal(), Some(libc::SIGKILL));
    assert_eq!(fs::read_to_string(stage.path().join("b")).unwrap(), "old");
    // As the page says.
    let left = names(&stage);
    assert!(left.len() == 3 && left[0].starts_with(".hipfile-") && left[0].ends_with(".tmp"), "{left:?}");
}

fn start(stage: &Stage, arguments: &[&str]) -> Child {
    let mut command = stage.interruptible();
    command.arg("cp").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn end(child: Child) -> (std::process::ExitStatus, Ran) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let ran = Ran { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() };
    (output.status, ran)
}

fn send(child: &Child, signal: i32) {
    assert!(
        Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap().success()
    );
}

/// Bytes that a process has read.
fn read_by(child: &Child) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap();
    text.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
}

fn wait_until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        thread::sleep(Duration::from_millis(1));
    }
}
