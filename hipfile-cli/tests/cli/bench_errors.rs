//! `hipfile bench`: what it refuses, what it does when something fails, and what it leaves behind.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;

use crate::bench::bench;
use crate::support::{Ran, Stage, program};

/// Runs it, and has it say why not in one line.
fn refused(stage: &Stage, arguments: &str, code: i32, message: &str) -> Ran {
    let ran = bench(stage, arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{arguments}: {}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{arguments}: {}", ran.stderr);
    assert!(ran.stderr.starts_with(&format!("error: {message}")), "{arguments}: {}", ran.stderr);
    ran
}

fn names(stage: &Stage) -> Vec<String> {
    let entries = fs::read_dir(stage.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn what_is_no_file_is_told() {
    let stage =
        Stage::new().file("short", "twenty bytes of text").file("empty", "").link("dangling", "nowhere");
    for (arguments, message) in [
        ("-f nothing", "nothing does not exist; say with -s how large a file to make\n"),
        ("-f no/F -s 1M", "cannot make no/F: No such file or directory (os error 2); is the name right?\n"),
        ("-f . -s 1M", ". is a folder; name a file with -f, or use -D to have files made in it\n"),
        ("-f dangling -s 1M", "dangling is a link that leads nowhere; name a file\n"),
        ("-D nothing -s 1M", "nothing is no folder; name one that is there, or a file with -f\n"),
        ("-f /dev/null -s 1M", "/dev/null is neither a file nor a block device\n"),
        (
            "-f short -s 4K -i 4K",
            "short has 20 bytes, too few for 4096 from offset 0; make -s smaller, or write it first: -I 1\n",
        ),
        ("-f empty", "empty has nothing to transfer from offset 0; say with -s how many bytes to use\n"),
        ("-f short -o 20", "short has nothing to transfer from offset 20; "),
    ] {
        refused(&stage, arguments, 1, message);
    }
    assert_eq!(names(&stage).len(), 3);
}

#[test]
fn what_may_not_be_written_or_does_not_fit_is_told() {
    let stage = Stage::new().file("closed", "");
    fs::set_permissions(stage.path().join("closed"), Permissions::from_mode(0o444)).unwrap();
    let ran = bench(&stage, "-f closed -s 4K -i 4K -I 1");
    // Root may write everything.
    if ran.code == Some(1) {
        let message = "error: cannot open closed: Permission denied (os error 13); ask for permission, or be another user\n";
        assert_eq!(ran.stderr, message);
    }
    let ran = refused(&stage, "-f F -s 1023P -I 1", 1, "no room for F: its file system lacks ");
    assert!(ran.stderr.ends_with("; make -s smaller, or make room\n"), "{}", ran.stderr);
    refused(&stage, "-f F -s 16383P -I 1", 1, "-o and -s lead beyond the largest file");
    assert_eq!(names(&stage), ["closed"]);
}

#[test]
fn a_full_disk_and_a_broken_one_are_told() {
    for (faults, arguments, message) in [
        (
            "pwrite:errno=ENOSPC@3+",
            "-f F -s 1M -i 64K -w 2 -I 1",
            "no space left on device (28 ENOSPC); make room",
        ),
        ("pread:errno=EIO", "-f F -s 1M -i 64K -w 2", "input/output error (5 EIO)"),
        ("pread:errno=EIO@6+", "-f F -s 1M -i 64K -w 2 -x 6 -B 3 --warmup 0", "input/output error (5 EIO)"),
        (
            "pread:errno=EIO@6+",
            "-f F -s 1M -i 64K -w 2 -x 5 -B 3 --warmup 0",
            "internal error of the library",
        ),
        ("pread:errno=EIO@6+", "-f F -s 1M -i 64K -w 2 -x transfer", "input/output error (5 EIO)"),
        ("hipMalloc:hip=2", "-f F -s 1M -i 64K", "use less memory"),
        ("hipMalloc:hip=2@2", "-f F -s 1M -i 64K -w 3 -x posix", "use less memory"),
    ] {
        let stage = Stage::new().variable("SOFT_ROCM_FAULTS", Some(faults));
        let ran = refused(&stage, arguments, 1, "");
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
        let error = bench(&stage, &format!("{arguments} --format json")).json()["error"].clone();
        assert_eq!(error["exit_status"], 1, "{error}");
    }
}

#[test]
fn a_file_that_could_not_be_made_is_not_left() {
    let stage = Stage::new().file("keep", "me");
    // In units of 512 or 1024 bytes, as the shell has it.
    let limited = "ulimit -f 64; exec hipfile bench -f F -s 1M -x 1";
    let ran = Stage::ran(stage.command("/bin/sh").args(["-c", limited]));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
    assert_eq!(ran.stderr, "error: cannot write F: File too large (os error 27)\n");
    assert_eq!(names(&stage), ["keep"]);
}

#[test]
fn a_mistake_in_the_command_line_has_status_2() {
    let stage = Stage::new();
    for (arguments, message) in [
        (
            "-f F -s 4K -i 1M",
            "a block of 1048576 bytes does not fit into 4096 bytes; make -s larger or -i smaller\n",
        ),
        ("-f F -s 1M -i 1M -w 2", "1048576 bytes are 1 block of 1048576 bytes, too few for 2 threads; "),
        ("-f F -s 4G -i 2G", "a transfer of 2147483648 bytes is too large; one has at most 2147479552\n"),
        ("-f F -s 1M -x 6 -b", "mode batch does nothing with -b; -b is for modes sync and transfer\n"),
        ("-f F -s 1M --compare sync,hipfile", "--compare has sync twice\n"),
        ("-f F -s 1M --plot a.svg", "--plot needs more than one block size or number of threads; "),
        ("-f F -s 1M -i 1000 --direct -x 2", "--direct needs -i, -o and -s to be multiples of 4096 bytes\n"),
    ] {
        refused(&stage, arguments, 2, message);
    }
    for (arguments, message) in [
        ("-s 1M", "--file <FILE>"),
        ("-f F -D .", "cannot be used with"),
        ("-D .", "--size <SIZE>"),
        ("-f F -s 4X", "`X` is no suffix"),
        ("-f F -s -1", "`-1` is no number of bytes"),
        ("-f F -T -1", "write a number of seconds"),
        ("-f F -i 0", "0 is too little"),
        ("-f F -i 1M:64K:x2", "the first value is above the last"),
        ("-f F -w 0", "0 is too little"),
        ("-f F -w four", "`four` is no number"),
        ("-f F -T 0", "write a number of seconds"),
        ("-f F -T never", "write a number of seconds"),
        ("-f F -B 129", "129 is not in 1..=128"),
        ("-f F -x 3", "CPU_ASYNC_GPU has no counterpart here"),
        ("-f F -x 4", "-x 2 --cache warm"),
        ("-f F -x 9", "there are 0 or sync"),
        ("-f F -I 4", "there are 0 or read"),
        ("-f F -Z", "unexpected argument '-Z'"),
        ("-f F -n 0", "unexpected argument '-n'"),
        ("-f F -x 0 --compare posix,sync", "cannot be used with"),
        ("-f F --compare posix,fast", "there are 0 or sync"),
    ] {
        let ran = bench(&stage, arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{arguments}: {}", ran.stderr);
    }
    let error = bench(&stage, "-f F -s 1M --json --format table").json()["error"].clone();
    assert_eq!((&error["exit_status"], &error["advice"]), (&2.into(), &"leave it or --format out".into()));
    assert!(names(&stage).is_empty());
}

#[test]
fn without_a_rocm_only_the_host_takes_part() {
    let stage = Stage::new().variable("HIPFILE_SOFT_ROCM", Some("/nowhere"));
    refused(&stage, "-f F -s 1M", 3, "no ROCm with libhipfile in /nowhere");
    assert!(names(&stage).is_empty());
    let ran = bench(&stage, "-f F -s 1M -x 1 --json");
    assert_eq!((ran.code, &ran.json()["rocm"]), (Some(0), &serde_json::Value::Null));
    let without_gpu = Stage::new().variable("SOFT_ROCM_DEVICE_COUNT", Some("0"));
    refused(&without_gpu, "-f F -s 1M", 1, "");
    refused(&Stage::new(), "-f F -s 1M -d 7", 1, "");
}

#[test]
fn what_the_library_lacks_is_told() {
    let stage = Stage::new().variable("SOFT_ROCM_HIPFILE_VERSION", Some("0.2"));
    let ran = refused(&stage, "-f F -s 1M -x 6", 1, "");
    assert!(ran.stderr.contains("0.5"), "{}", ran.stderr);
}

#[test]
fn data_of_others_is_not_overwritten() {
    let precious = "precious ".repeat(1000);
    let stage = Stage::new().file("F", &precious);
    let path = stage.path().join("F");
    for mode in ["sync", "host", "mmap"] {
        let message =
            "F has data that bench did not write; name another file, or overwrite it with --force\n";
        refused(&stage, &format!("-f F -s 1M -i 4K -I 1 -x {mode}"), 1, message);
        refused(&stage, &format!("-f F -s 1M -i 4K -I 3 -x {mode}"), 1, message);
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), precious);
    assert_eq!(bench(&stage, "-f F -s 1M -i 4K -I 1 --force").code, Some(0));
    // From now on it is bench's, also after writes that left gaps.
    assert_eq!(bench(&stage, "-f F -s 1M -i 4K -I 1").code, Some(0));
    assert_eq!(bench(&stage, "-f G -s 16M -i 4K -I 3 -T 0.05").code, Some(0));
    assert_eq!(bench(&stage, "-f G -s 16M -i 4K -I 3 -T 0.05").code, Some(0));
    // Until somebody adds something.
    let ours = fs::read(&path).unwrap();
    for more in [precious.as_str(), "precious"] {
        fs::write(&path, [&ours, more.as_bytes()].concat()).unwrap();
        refused(&stage, "-f F -s 1M -i 4K -I 1", 1, "F has data that bench did not write");
    }
    // Where nothing was written there is nothing to lose.
    fs::File::create(stage.path().join("hole")).unwrap().set_len(1 << 20).unwrap();
    assert_eq!(bench(&stage, "-f hole -s 1M -I 1").code, Some(0));
}

#[test]
fn a_drawing_replaces_drawings_only() {
    let stage = Stage::new().file("notes", "precious").file("G", vec![0; 8192]);
    let draw = |rest: &str| format!("-f G -s 8K -i 2K,4K -x host --plot {rest}");
    let message = "notes is there and no drawing; give --plot another name, or overwrite it with --force\n";
    refused(&stage, &draw("notes"), 1, message);
    refused(&stage, &draw("G"), 1, "G is there and no drawing");
    refused(&stage, &draw("no/a.svg"), 1, "cannot write no/a.svg: No such file or directory");
    assert_eq!(fs::read_to_string(stage.path().join("notes")).unwrap(), "precious");
    for rest in ["a.svg", "a.svg", "notes --force", "notes"] {
        assert_eq!(bench(&stage, &draw(rest)).code, Some(0), "{rest}");
    }
    assert!(fs::read_to_string(stage.path().join("notes")).unwrap().starts_with("<svg "));
}

#[test]
fn files_in_a_folder_are_removed_whatever_happens() {
    let stage = Stage::new().file("keep", "me");
    let ran = bench(&stage, "-D . -s 256K -i 64K -w 1,3 -V --json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.json()["results"][1]["rounds"][0]["data_set"], 3 * 262_144);
    assert_eq!(bench(&stage, "-D . -s 256K -i 64K -w 2 -I 1 -V -x 5").code, Some(0));
    assert_eq!(names(&stage), ["keep"]);
    let stage = stage.variable("SOFT_ROCM_FAULTS", Some("hipFileRead:hipfile=5030@5"));
    assert_eq!(bench(&stage, "-D . -s 256K -i 64K -w 2 --warmup 0").code, Some(1));
    assert_eq!(names(&stage), ["keep"]);
}

#[test]
fn too_little_memory_is_an_error_and_leaves_nothing() {
    let stage = Stage::new().file("keep", "me");
    let bench = format!("{} bench -D . -s 200M -i 200M -w 2 -I 1 -x host", program().display());
    let command = format!("ulimit -v 300000; exec {bench}");
    let ran = Stage::ran(stage.command("/bin/bash").args(["-c", &command]));
    let message = "error: there is no room for 200 MiB of host memory\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), message));
    assert_eq!(names(&stage), ["keep"]);
}

#[test]
fn a_signal_ends_it_in_order() {
    let stage = Stage::new().file("keep", "me");
    let mut command = stage.interruptible();
    command.args(["bench", "-D", ".", "-s", "256K", "-i", "64K", "-T", "600", "-x", "host", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while names(&stage).len() < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let killed =
        stage.command("/bin/sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(libc::SIGINT));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: interrupted before the measurement had ended\n"
    );
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["error"]["message"], "interrupted before the measurement had ended");
    assert_eq!(names(&stage), ["keep"]);
}
