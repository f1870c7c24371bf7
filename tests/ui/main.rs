//! Programs that must not compile, each with a twin that must.
//!
//! A case marks the line that is wrong with `// refused`. Its twin is the same program without that line; it is made
//! here, so the two cannot drift apart. All twins are compiled into one program, which runs them. `TRYBUILD=overwrite`
//! blesses the `.stderr` files.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// What marks the wrong line of a case.
const MARK: &str = "// refused";

/// How the program of all twins begins.
const PRELUDE: &str =
    "#![allow(dead_code, unused_imports, unused_mut, unused_variables, reason = \"a line of each twin is missing\")]

trait Ends {
    fn well(self);
}

impl Ends for () {
    fn well(self) {}
}

impl Ends for Result<(), Box<dyn std::error::Error>> {
    fn well(self) {
        self.unwrap()
    }
}
";

#[test]
fn programs() {
    let cases = cases();
    assert!(cases.len() >= 50, "{} cases", cases.len());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui-twins");
    fs::create_dir_all(&folder).unwrap();
    let tests = trybuild::TestCases::new();
    let (mut modules, mut calls) = (String::new(), String::new());
    for case in cases {
        let name = case.file_stem().unwrap().to_str().unwrap();
        let place = folder.join(case.file_name().unwrap());
        fs::write(&place, twin(&case)).unwrap();
        writeln!(modules, "#[path = {place:?}]\nmod {name};").unwrap();
        writeln!(calls, "    Ends::well({name}::main());").unwrap();
        tests.compile_fail(&case);
    }
    let all = folder.join("all_twins.rs");
    fs::write(&all, format!("{PRELUDE}\n{modules}\nfn main() {{\n{calls}}}\n")).unwrap();
    tests.pass(&all);
}

/// The text of a case without its wrong line, and with its main function where another module can call it.
fn twin(case: &Path) -> String {
    let text = fs::read_to_string(case).unwrap();
    let (wrong, right): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.ends_with(MARK));
    assert_eq!(wrong.len(), 1, "{} marks {} lines with {MARK}", case.display(), wrong.len());
    right.join("\n").replace("\nfn main()", "\npub fn main()")
}

fn cases() -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> = fs::read_dir("ui/cases")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    cases.sort();
    cases
}
