//! C and C++ programs built with the flags of the ROCm under test: a file through device memory and back, and the
//! engines under AddressSanitizer.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output};
use std::ptr::null_mut;

use hipfile_tests::compiler::{Language, must_run, program, with_headers, with_libraries};
use hipfile_tests::rocm;

fn round_trip(language: Language, source: &str, flags: impl FnOnce(&mut Command, &mut Command)) {
    if !language.is_here() {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (object, built) = (folder.path().join("client.o"), folder.path().join("client"));
    let mut compile = language.compiler();
    let mut link = language.compiler();
    link.args(["-x", "none"]).arg(&object).arg("-o").arg(&built);
    flags(&mut compile, &mut link);
    compile.arg("-c").arg(rocm::workspace().join("tests/clients").join(source)).arg("-o").arg(&object);
    must_run(&mut compile);
    must_run(&mut link);
    let output = must_run(program(&built).arg(folder.path().join("data.bin")));
    let said = String::from_utf8(output.stdout).unwrap();
    let version = ["0.2.0", "0.3.0", "0.4.0", "0.5.0"];
    assert!(said.lines().any(|line| version.iter().any(|v| line == format!("hipFile {v}"))), "{said}");
    assert_eq!(said.lines().last(), Some("10007 bytes and back"), "{said}");
}

fn prefix_flags(compile: &mut Command, link: &mut Command) {
    with_headers(compile);
    with_libraries(link);
}

/// HF-ABI-34
#[test]
fn c() {
    round_trip(Language::C11, "roundtrip.c", prefix_flags);
}

/// HF-ABI-35
#[test]
fn cxx() {
    round_trip(Language::Cxx17, "roundtrip.cpp", prefix_flags);
}

/// HF-ABI-34, HF-ABI-35 with the flags that pkg-config gives, where there is a pkg-config and a `.pc` file.
#[test]
fn pkg_config() {
    let mut search = vec![rocm::lib_dir().join("pkgconfig")];
    search.extend(std::env::var_os("PKG_CONFIG_PATH").iter().flat_map(std::env::split_paths));
    let search: OsString = std::env::join_paths(search).unwrap();
    let ask = |what: &str| {
        let mut command = Command::new(std::env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into()));
        command.args([what, "hipfile"]).env("PKG_CONFIG_PATH", &search).output()
    };
    match ask("--exists") {
        Err(error) => return println!("skipped: pkg-config does not start: {error}"),
        Ok(output) if !output.status.success() => {
            // AMD installs no .pc file; ours does, so there it has to be found.
            assert!(!rocm::lib_dir().join("pkgconfig/hipfile.pc").exists(), "{output:?}");
            return println!("skipped: this ROCm has no hipfile.pc");
        }
        Ok(_) => {}
    }
    let flags = |what: &str| -> Vec<String> {
        let output = ask(what).unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().split_whitespace().map(str::to_owned).collect()
    };
    for (language, source) in [(Language::C11, "roundtrip.c"), (Language::Cxx17, "roundtrip.cpp")] {
        round_trip(language, source, |compile, link| {
            compile.args(flags("--cflags"));
            link.args(flags("--libs"));
        });
    }
}

/// What AddressSanitizer is asked for, leaks too.
const SANITIZE: [&str; 4] = ["-fsanitize=address", "-g", "-O1", "-fno-omit-frame-pointer"];

/// Whether programs with AddressSanitizer and its search for leaks can be built and run here; if not, says so.
fn sanitizer_is_here(folder: &Path) -> bool {
    let (source, built) = (folder.join("leak.cpp"), folder.join("leak"));
    std::fs::write(&source, "int *volatile kept;\nint main() { kept = new int(1); kept = nullptr; }\n")
        .unwrap();
    let mut compile = Language::Cxx17.compiler();
    let output = compile.args(SANITIZE).arg(&source).arg("-o").arg(&built).output().unwrap();
    let found = |output: Output| String::from_utf8_lossy(&output.stderr).contains("detected memory leaks");
    let here = output.status.success() && sanitized(&built).output().is_ok_and(found);
    if !here {
        println!("skipped: this compiler has no AddressSanitizer that finds leaks");
    }
    here
}

fn sanitized(built: &Path) -> Command {
    let mut command = program(built);
    command.env("ASAN_OPTIONS", "detect_leaks=1:detect_stack_use_after_return=1");
    command
}

/// HF-ASYNC-10, HF-ASYNC-11, HF-BATCH-07, HF-BATCH-30, HF-STATS-28, HF-STATS-29: a program that uses both engines and
/// compares the statistics with what it did, on either path, without a leak or a stray access.
#[test]
fn engines_under_address_sanitizer() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut minor = 0;
    // SAFETY: requires pointers to integers or NULL.
    let _ = unsafe { hipfile_sys::hipFileGetVersion(null_mut(), &mut minor, null_mut()) };
    if minor < 5 {
        return println!("skipped: the library is older than 0.5");
    }
    if !Language::Cxx17.is_here() || !sanitizer_is_here(folder.path()) {
        return;
    }
    let built = folder.path().join("engine");
    let mut compile = Language::Cxx17.compiler();
    with_headers(&mut compile).args(SANITIZE).arg(rocm::workspace().join("tests/clients/engine.cpp"));
    must_run(with_libraries(compile.arg("-o").arg(&built)));
    for (name, value) in [
        ("HIPFILE_ALLOW_COMPAT_MODE", "true"),
        ("HIPFILE_FORCE_COMPAT_MODE", "true"),
        ("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true"),
    ] {
        let data = folder.path().join(name);
        let output = must_run(sanitized(&built).env(name, value).arg(&data));
        let said = String::from_utf8(output.stdout).unwrap();
        println!("{name}={value}\n{said}");
        assert_eq!(said.lines().last(), Some("done"), "{said}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{name}");
    }
}
