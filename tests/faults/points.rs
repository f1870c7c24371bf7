//! The points are the functions that the libraries export: a plan can name each of them, and nothing that is not there.

use std::collections::BTreeSet;
use std::process::Command;

use hipfile_tests::compiler::must_run;
use hipfile_tests::rocm;
use soft_rocm_faults::{Owner, points};

use crate::scene::symbol;

fn exported(library: &str) -> BTreeSet<String> {
    let path = rocm::lib_dir().join(library);
    let output = must_run(Command::new("nm").args(["-D", "--defined-only"]).arg(path));
    let listing = String::from_utf8(output.stdout).unwrap();
    let names = listing.lines().filter_map(|line| line.split_whitespace().nth(2));
    let plain = names.map(|name| name.split('@').next().unwrap().to_owned());
    plain
        .filter(|name| name.starts_with("hip") || name.starts_with("__hip"))
        .filter(|name| !name.starts_with("hip_"))
        .collect()
}

#[test]
fn points_are_what_the_libraries_export() {
    if symbol("softrocm_hip_set_faults").is_null() {
        return println!("skipped: scripted faults are the software ROCm's");
    }
    for (library, owner) in [("libamdhip64.so", Owner::Hip), ("libhipfile.so", Owner::Hipfile)] {
        let exported = exported(library);
        let known: BTreeSet<String> = points()
            .filter(|(name, of)| *of == owner && name.contains("hip"))
            .map(|(name, _)| name.to_owned())
            .collect();
        let unknown: Vec<_> = exported.difference(&known).collect();
        assert!(unknown.is_empty(), "{library} exports what is no point: {unknown:?}");
        // A prefix can lack the file functions of newer HIPs and the statistics of newer hipFiles.
        let absent: Vec<_> = known
            .difference(&exported)
            .filter(|name| !name.starts_with("hipAmdFile") && !name.starts_with("hipFileGetStats"))
            .collect();
        assert!(absent.is_empty(), "{library} lacks points: {absent:?}");
    }
}
