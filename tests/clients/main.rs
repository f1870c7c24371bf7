//! C and C++ programs built with the flags of the ROCm under test send a file through device memory and back.

use std::ffi::OsString;
use std::process::Command;

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
