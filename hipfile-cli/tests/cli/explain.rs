//! `hipfile explain`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Page, Stage};

const LEN: usize = 3 << 20;

/// With a file of 3 MiB.
fn stage() -> Stage {
    Stage::new().file("weights.bin", vec![7; LEN])
}

/// What the rules say of this machine's disk, without a word about offset and length.
fn whole(stage: &Stage) -> Value {
    stage.run(&["explain", "weights.bin", "--json"]).json()
}

#[test]
fn the_page_is_current() {
    let stage = stage();
    if stage.is_as_in_the_pages() {
        Page::new("cli-explain.md", stage).check();
    }
}

#[test]
fn odd_ends_are_told_with_what_is_between() {
    let stage = stage();
    let here = whole(&stage);
    assert_eq!((&here["offset"], &here["len"]), (&0.into(), &LEN.into()));
    let Some(block) = here["alignment"]["offset"].as_u64() else {
        return println!("skipped: no direct I/O here");
    };
    let odd = stage.run(&["explain", "weights.bin", "--offset", "1", "--len", "2M", "--json"]).json();
    assert_eq!(odd["path"], "fallback");
    let reasons = odd["reasons"].as_array().unwrap();
    let offset = reasons.iter().find(|reason| reason["rule"] == "offset").unwrap();
    assert_eq!(offset["text"], format!("offset 1 is no multiple of {block}"));
    if here["path"] == "fast path" {
        assert_eq!(odd["fast_part"], json!({ "offset": block, "len": (2 << 20) - block }));
        let inside = stage.run(&["explain", "weights.bin", "--offset", "1", "--len", "8", "--json"]).json();
        let up_to =
            stage.run(&["explain", "weights.bin", "--len", &(block - 1).to_string(), "--json"]).json();
        assert_eq!((&inside["fast_part"], &up_to["fast_part"]), (&Value::Null, &Value::Null));
    } else {
        assert_eq!(odd["fast_part"], Value::Null);
    }
}

#[test]
fn a_length_needs_no_memory_of_its_own() {
    let stage = stage().variable("SOFT_ROCM_DEVICE_MEM", Some("4M"));
    let long = |len: &str| stage.run(&["explain", "weights.bin", "--len", len, "--json"]).json();
    assert_eq!(long("1P")["len"], 1u64 << 50);
    if stage.has_direct_io() {
        let odd = long("1073741825")["reasons"].clone();
        let odd = odd.as_array().unwrap().iter().find(|reason| reason["rule"] == "length").cloned().unwrap();
        assert!(odd["text"].as_str().unwrap().starts_with("length 1073741825 is no multiple"), "{odd}");
        // The odd end of what is more than a call takes is that of the last one.
        let odd = long("3221225473");
        assert_eq!(
            (&odd["path"], &odd["reasons"][0]["rule"]),
            (&"fallback".into(), &"length".into()),
            "{odd}"
        );
        let text = stage.run(&["explain", "weights.bin", "--len", "3221225473"]).stdout;
        let fast = odd["reasons"].as_array().unwrap().len() == 1;
        let told = text.contains("\n  calls take 2147479552 bytes at most: the last one has the odd end\n");
        assert_eq!(told, fast, "{text}");
    }
}

#[test]
fn the_environment_counts() {
    let forced = stage().variable("HIPFILE_FORCE_COMPAT_MODE", Some("true"));
    let answer = whole(&forced);
    assert_eq!(
        (&answer["path"], &answer["reasons"][0]["rule"]),
        (&"fallback".into(), &"switched-off".into())
    );
    let refused = stage().variable("HIPFILE_ALLOW_COMPAT_MODE", Some("false"));
    let ran = refused.run(&["explain", "/dev/null", "--len", "4K"]);
    assert!(ran.stdout.contains("reading 4096 bytes at 0: refused"), "{ran:?}");
    assert!(ran.stdout.contains("direct I/O: none on this file"), "{ran:?}");
}

#[test]
fn no_bytes_are_no_transfer() {
    for arguments in [&["--len", "0"][..], &["--offset", "1G"], &["--offset", "3M", "--write"]] {
        let ran = stage().run(&[&["explain", "weights.bin"][..], arguments].concat());
        assert!(ran.stdout.contains(" 0 bytes ") && ran.stdout.contains("nothing to transfer"), "{ran:?}");
    }
    let ran = stage().run(&["explain", "/proc/version"]);
    let expected =
        "/proc/version, reading 0 bytes at 0: nothing to transfer\n  direct I/O: none on this file\n";
    assert_eq!(ran.stdout, expected);
    assert!(stage().run(&["explain", "weights.bin", "--len", "1"]).stdout.contains("reading 1 byte at 0"));
}

#[test]
fn the_end_of_the_file_is_told_where_it_comes_too_early() {
    let stage = stage();
    for (arguments, note) in [
        (&["--len", "4M"][..], "the file has 3145728 bytes, so only 3145728 of these can be read"),
        (
            &["--offset", "2M", "--len", "2M"],
            "the file has 3145728 bytes, so only 1048576 of these can be read",
        ),
        (&["--offset", "3M"], "the file has 3145728 bytes; --len says how many to transfer"),
        (&["--offset", "3M", "--write"], "the file has 3145728 bytes; --len says how many to transfer"),
    ] {
        let ran = stage.run(&[&["explain", "weights.bin"][..], arguments].concat());
        assert!(ran.stdout.contains(note), "{arguments:?}: {ran:?}");
    }
    for arguments in [&[][..], &["--len", "3M"], &["--len", "4M", "--write"], &["--len", "0"]] {
        let ran = stage.run(&[&["explain", "weights.bin"][..], arguments].concat());
        assert!(!ran.stdout.contains("the file has"), "{arguments:?}: {ran:?}");
    }
    assert_eq!(stage.run(&["explain", "weights.bin", "--len", "1M", "--json"]).json()["file_len"], LEN);
}

#[test]
fn what_is_no_file_is_told_in_one_line() {
    let stage = stage().file("secret", "x");
    fs::create_dir(stage.path().join("folder")).unwrap();
    assert!(Command::new("mkfifo").arg(stage.path().join("pipe")).status().unwrap().success());
    for (arguments, message) in [
        (&["nothing"][..], "error: open nothing: no such file or directory (2 ENOENT); is the name right?\n"),
        (&["folder"], "error: folder is a folder; name a file in it\n"),
        (&["folder", "--write"], "error: folder is a folder; name a file in it\n"),
        (&["pipe"], "error: pipe is a pipe; name a file or a block device\n"),
        (
            &["weights.bin", "--offset", "9223372036854775807", "--len", "1"],
            "error: a transfer of 1 byte at 9223372036854775807 leads beyond the largest file; no file is larger than ",
        ),
    ] {
        let ran = stage.run(&[&["explain"][..], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{arguments:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert!(ran.stderr.starts_with(message), "{}", ran.stderr);
    }
    fs::set_permissions(stage.path().join("secret"), Permissions::from_mode(0o444)).unwrap();
    let ran = stage.run(&["explain", "secret", "--write"]);
    // Root may write everything.
    if ran.code == Some(1) {
        let message =
            "error: open secret: permission denied (13 EACCES); ask for permission, or be another user\n";
        assert_eq!(ran.stderr, message);
    }
}

#[test]
fn numbers_that_are_none_are_refused() {
    for (arguments, message) in [
        (["--len", "1.5G"], "`1.5G` is no number of bytes"),
        (["--len", "-1"], "`-1` is no number of bytes"),
        (["--offset", "4KB"], "`KB` could be 1000 or 1024"),
        (["--offset", "99999999999999999999"], "more than 2^64 - 1 bytes"),
        (["--len", ""], "a size is missing"),
    ] {
        let ran = stage().run(&[&["explain", "weights.bin"][..], &arguments].concat());
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
}
