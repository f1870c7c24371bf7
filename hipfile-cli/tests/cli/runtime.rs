//! Which ROCm runs, what is said where there is none, and how output goes.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::{Ran, Stage, program};

/// The program where nothing of the build lies beside it and no rpath leads anywhere.
fn installed(stage: &Stage) -> PathBuf {
    let copy = stage.path().join("bin/hipfile");
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    // A process of its own, since a file that this one has open for writing may be inherited by another test's command, and
    // then can't be started.
    assert!(Command::new("cp").arg(program()).arg(&copy).status().unwrap().success());
    copy
}

fn run(stage: &Stage, arguments: &[&str]) -> Ran {
    Stage::ran(stage.command(installed(stage)).args(arguments))
}

const NOTHING: [&str; 2] = ["HIPFILE_RUNTIME", "HIPFILE_SOFT_ROCM"];

fn bare() -> Stage {
    NOTHING.into_iter().fold(Stage::apart(), |stage, name| stage.variable(name, None))
}

/// The prefix of the stage's environment.
fn soft_rocm() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/soft-rocm").canonicalize().unwrap()
}

#[test]
fn the_program_is_linked_with_no_rocm() {
    let ran = Stage::ran(Stage::new().command(program()).env("LD_TRACE_LOADED_OBJECTS", "1"));
    assert!(ran.stdout.contains("libc.so"), "{ran:?}");
    let linked = ran.stdout.contains("libamdhip64") || ran.stdout.contains("libhipfile");
    assert!(
        !linked,
        "built together with packages that link, it links too; build it with -p hipfile-cli alone: {ran:?}"
    );
}

#[test]
fn no_runtime_is_one_line_with_what_to_do() {
    let ran = run(&bare(), &["info"]);
    if ran.code == Some(0) {
        return println!("skipped: there is a ROCm here");
    }
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""));
    let message = "error: no libamdhip64.so was found: looked in /opt/rocm/lib and asked the system's loader; \
        install ROCm with hipfile, name its folder with --rocm DIR or ROCM_PATH, or run the software ROCm with --rocm soft\n";
    assert_eq!(ran.stderr, message);
    let long = run(&bare(), &["info", "-v"]).stderr;
    assert!(long.contains("system loader, libamdhip64.so.7: "), "{long}");
    let error = run(&bare(), &["info", "--json"]).json()["error"].clone();
    assert_eq!(error["exit_status"], 3);
    assert!(error["advice"].as_str().unwrap().starts_with("install ROCm"), "{error}");
}

#[test]
fn a_library_that_does_not_load_is_told_with_the_reason() {
    let stage = bare().file("rocm/lib/libamdhip64.so.7", "no library").variable("ROCM_PATH", Some("rocm"));
    let ran = run(&stage, &["info"]);
    if ran.code == Some(0) {
        return println!("skipped: there is a ROCm here");
    }
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("rocm/lib/libamdhip64.so.7: file too short"), "{}", ran.stderr);
}

#[test]
fn no_software_rocm_is_told_with_the_places() {
    let stage = bare();
    let ran = run(&stage, &["info", "--rocm", "soft"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""));
    let expected = "error: the software ROCm is not installed: tried /data/bin/soft-rocm, /data/bin/soft-rocm-VERSION, \
        /data/soft-rocm, /data/soft-rocm-VERSION, /data/lib/soft-rocm; unpack its archive beside this program, or name its folder in HIPFILE_SOFT_ROCM\n";
    let version = format!("{}-{}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    assert_eq!(stage.places(&ran.stderr).replace(&version, "VERSION"), expected);
}

#[test]
fn the_software_rocm_is_found_beside_the_program() {
    let stage = bare();
    std::os::unix::fs::symlink(soft_rocm(), stage.path().join("soft-rocm")).unwrap();
    let ran = run(&stage, &["info", "--rocm", "soft", "-v"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(stage.places(&ran.stderr), "hipfile: using the software ROCm in /data/soft-rocm\n");
}

#[test]
fn a_folder_is_named_by_option_or_variable() {
    let prefix = soft_rocm();
    let ran = run(&bare(), &["info", "-v", "--rocm", prefix.to_str().unwrap()]);
    assert_eq!(ran.stderr, format!("hipfile: using the software ROCm in {}\n", prefix.display()));
    let stage = bare().variable("HIPFILE_RUNTIME", prefix.to_str());
    assert_eq!(run(&stage, &["info"]).code, Some(0));
    let stage = bare().variable("ROCM_PATH", prefix.to_str());
    let ran = run(&stage, &["info"]);
    let warning = format!(
        "hipfile: the software ROCm in {} is the first one that was found; \
         name another one with --rocm DIR, or say --rocm soft to have it so\n",
        prefix.display()
    );
    assert_eq!((ran.code, ran.stderr), (Some(0), warning));
    assert_eq!(run(&stage, &["info", "-q"]).stderr, "");
    let ran = run(&bare(), &["info", "--rocm", "nowhere"]);
    assert_eq!(ran.code, Some(3));
    assert_eq!(
        ran.stderr,
        "error: no ROCm with libhipfile in nowhere: there is no such folder; name the folder that has lib/libhipfile.so.0 in it\n"
    );
}

#[test]
fn a_wrong_command_line_has_status_2() {
    for (arguments, message) in [
        (&["inform"][..], "unrecognized subcommand 'inform'"),
        (&["info", "-q", "-v"], "cannot be used with"),
        (&["info", "--colour"], "unexpected argument '--colour'"),
        (&[], "Usage: hipfile [OPTIONS] <COMMAND>"),
    ] {
        let ran = Stage::new().run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
}

#[test]
fn quiet_prints_nothing_and_colours_are_for_terminals() {
    let stage = Stage::new();
    let ran = stage.run(&["info", "-q"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    assert!(!stage.run(&["info"]).stdout.contains('\x1b'));
    assert!(stage.run(&["info", "--color", "always"]).stdout.contains("\x1b[1mGPUs\x1b[0m"));
}

#[test]
fn a_terminal_has_colours_unless_they_are_unwanted() {
    let on_terminal = |variables: &str, options: &str| {
        let stage = Stage::new();
        let mut script = stage.command("/usr/bin/script");
        script.args(["-qec", &format!("{variables} hipfile info {options}"), "/dev/null"]);
        Stage::ran(script.stdin(Stdio::null())).stdout
    };
    if !std::path::Path::new("/usr/bin/script").exists() {
        return println!("skipped: no /usr/bin/script, which makes terminals");
    }
    let heading = "\x1b[1mGPUs\x1b[0m";
    assert!(on_terminal("", "").contains(heading));
    assert!(!on_terminal("NO_COLOR=1", "").contains('\x1b'));
    assert!(!on_terminal("TERM=dumb", "").contains('\x1b'));
    assert!(!on_terminal("", "--color never").contains('\x1b'));
}

#[test]
fn a_reader_that_goes_is_no_error() {
    let mut child = Stage::new()
        .command(program())
        .arg("info")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Before anything is written: the program has libraries to load first.
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(1));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Stage::new().command(program()).arg("info").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(error, "error: cannot write to standard output: No space left on device (os error 28)\n");
}

#[test]
fn shells_get_their_completions() {
    for (shell, part) in
        [("bash", "_hipfile()"), ("zsh", "#compdef hipfile"), ("fish", "complete -c hipfile")]
    {
        let ran = Stage::new().run(&["completions", shell]);
        assert_eq!(ran.code, Some(0));
        assert!(ran.stdout.contains(part), "{shell}");
    }
}
