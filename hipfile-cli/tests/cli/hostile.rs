//! Names that are no text, output that nobody takes, command lines that make no sense.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use crate::support::{Ran, Stage, program};

const NAMES: [&[u8]; 4] = [b"a\nb", b"\x1b[2J", b"\xff\xfe", b"-dash"];

fn run(stage: &Stage, arguments: &[&str], names: &[&[u8]]) -> Ran {
    let names = names.iter().map(|name| OsStr::from_bytes(name));
    Stage::ran(stage.command(program()).args(arguments).arg("--").args(names))
}

fn stage() -> Stage {
    let stage = Stage::new();
    for name in NAMES {
        fs::write(stage.path().join(OsStr::from_bytes(name)), "text").unwrap();
    }
    fs::create_dir(stage.path().join("d")).unwrap();
    stage
}

#[test]
fn names_may_hold_any_bytes() {
    let stage = stage();
    let shown = ["a\\nb", "\\u{1b}[2J", "\u{fffd}\u{fffd}", "-dash"];
    for (name, shown) in NAMES.into_iter().zip(shown) {
        for (arguments, start) in [(&["explain"][..], ""), (&["check"], "FAIL  "), (&["check"], "PASS  ")] {
            let ran = run(&stage, arguments, &[name]);
            let told = ran.stdout.lines().any(|line| line.starts_with(&format!("{start}{shown}")));
            assert!(told || start == "PASS  " || ran.stdout.contains(&format!("PASS  {shown}")), "{ran:?}");
            assert!(!ran.stdout.contains('\x1b'), "{ran:?}");
        }
        let json = run(&stage, &["explain", "--json"], &[name]).json();
        let expected = String::from_utf8_lossy(name);
        assert_eq!(json["file"], *expected);
        assert_eq!(run(&stage, &["check", "--json"], &[name]).json()["paths"][0]["path"], *expected);
        let missing = run(&stage, &["explain"], &[&[name, b".no"].concat()]);
        assert_eq!(missing.stderr.lines().count(), 1, "{missing:?}");
        assert!(missing.stderr.starts_with(&format!("error: open {shown}.no: ")), "{missing:?}");
    }
}

#[test]
fn copies_keep_names_as_they_are() {
    let stage = stage();
    let ran = run(&stage, &["cp", "--json"], &[NAMES.as_slice(), &[b"d"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(ran.json()["files"][2]["destination"], "d/\u{fffd}\u{fffd}");
    for name in NAMES {
        let copy = stage.path().join("d").join(OsStr::from_bytes(name));
        assert_eq!(fs::read_to_string(copy).unwrap(), "text");
    }
    let ran = run(&stage, &["cp"], &[b"a\nb", b"d"]);
    assert!(ran.stdout.starts_with("a\\nb -> d/a\\nb: 4 B\n"), "{ran:?}");
    // Four bytes have no rate.
    assert!(ran.stdout.ends_with(" s\n"), "{ran:?}");
    let ran = stage.run(&["bench", "-v", "-x", "host", "-s", "4K", "-i", "4K", "-f", "new\nline"]);
    assert!(ran.stderr.starts_with("hipfile: making new\\nline\n"), "{ran:?}");
}

#[test]
fn mistakes_in_the_command_line_are_json_too() {
    let stage = Stage::new();
    for (arguments, message) in [
        (&["--json"][..], "a subcommand is missing"),
        (&["--json", "inform"], "unrecognized subcommand 'inform'"),
        (&["cp", "a", "--json"], "2 values required by '<SRC> <DST>...'; only 1 was provided"),
        (
            &["bench", "-f", "a", "-i", "0", "--format", "json"],
            "invalid value '0' for '--block <SIZE>': 0 is too little",
        ),
        (&["info", "--json", "-q"], "the argument '--json' cannot be used with '--quiet'"),
    ] {
        let ran = stage.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        let error = ran.json()["error"].clone();
        assert_eq!((&error["message"], &error["exit_status"]), (&message.into(), &2.into()));
        assert!(!ran.stderr.is_empty());
    }
    // With a variable that stands for an option, clap would name the option as one that is needed.
    let ran = stage.run(&["explain"]);
    assert!(ran.stderr.contains("Usage: hipfile explain [OPTIONS] <FILE>\n"), "{ran:?}");
    // What asks for no JSON, or is no mistake, gets none.
    for arguments in [&["cp", "a"][..], &["explain", "--", "a", "--json"]] {
        assert_eq!(stage.run(arguments).stdout, "");
    }
    assert!(stage.run(&["--json", "--version"]).stdout.starts_with("hipfile "));
}

#[test]
fn completions_that_nobody_takes_are_no_panic() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = Stage::new().command(program()).args(["completions", "bash"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(error, "error: cannot write to standard output: No space left on device (os error 28)\n");
    let mut child = Stage::new()
        .command(program())
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn help_that_nobody_takes_is_an_error() {
    for arguments in [&["--help"][..], &["--version"], &["cp", "--help"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = Stage::new().command(program()).args(arguments).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(error, "error: cannot write to standard output: No space left on device (os error 28)\n");
    }
}

/// A log on a disk that is full is no reason to end.
#[test]
fn a_standard_error_that_takes_nothing_changes_nothing() {
    let stage = stage();
    for (arguments, code) in [
        (&["cp", "--json", "no", "./-dash", "d"][..], 1),
        (&["cp", "-v", "./-dash", "copy"], 0),
        (&["-x"], 2),
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = stage.command(program()).args(arguments).stderr(full).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    }
    assert_eq!(fs::read_to_string(stage.path().join("copy")).unwrap(), "text");
    assert_eq!(fs::read_to_string(stage.path().join("d/-dash")).unwrap(), "text");
}

#[test]
fn files_are_copied_whether_or_not_that_can_be_told() {
    let stage = stage();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let copy = ["cp", "./-dash", "a\nb", "d"];
    let output = stage.command(program()).args(copy).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(error, "error: cannot write to standard output: No space left on device (os error 28)\n");
    assert_eq!(fs::read_dir(stage.path().join("d")).unwrap().count(), 2);
}
