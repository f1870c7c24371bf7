//! `abi.c` compiles, as C and as C++, against whichever headers the ROCm under test has.

use hipfile_tests::compiler::{Language, must_run, with_headers};
use hipfile_tests::rocm;

fn compiles(language: Language, source: &str) {
    if !language.is_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("out.o");
    let mut command = language.compiler();
    with_headers(&mut command).arg("-c").arg(rocm::workspace().join(source)).arg("-o").arg(object);
    must_run(&mut command);
}

/// HF-ABI-01 to HF-ABI-27: sizes, offsets, values and prototypes.
#[test]
fn table_holds_in_c() {
    compiles(Language::C11, "tests/abi.c");
}

/// HF-ABI-01 to HF-ABI-27 once more.
#[test]
fn table_holds_in_cxx() {
    compiles(Language::Cxx17, "tests/abi.c");
}

/// HF-ABI-32, HF-ABI-33
#[test]
fn header_compiles_alone() {
    let folder = tempfile::tempdir().unwrap();
    let files = [(Language::C11, "alone.c"), (Language::Cxx17, "alone.cpp")];
    for (language, name) in files.into_iter().filter(|(language, _)| language.is_here()) {
        let source = folder.path().join(name);
        std::fs::write(&source, "#include <hipfile.h>\nint main(void) { return 0; }\n").unwrap();
        let mut command = language.compiler();
        with_headers(&mut command).arg("-c").arg(&source).arg("-o").arg(folder.path().join("alone.o"));
        must_run(&mut command);
    }
}

/// HF-ABI-36: a result that is dropped is a warning in C++17.
#[test]
fn result_is_nodiscard() {
    if !Language::Cxx17.is_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("dropped.cpp");
    for (line, accepted) in [("hipFileDriverOpen();", false), ("(void)hipFileDriverOpen();", true)] {
        std::fs::write(&source, format!("#include <hipfile.h>\nvoid f() {{ {line} }}\n")).unwrap();
        let mut command = Language::Cxx17.compiler();
        with_headers(&mut command).arg("-c").arg(&source).arg("-o").arg(folder.path().join("dropped.o"));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), accepted, "{line}: {said}");
        assert!(accepted || said.contains("nodiscard"), "{line}: {said}");
    }
}
