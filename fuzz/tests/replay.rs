//! Runs every target on its corpus, without a fuzzer.

use std::path::Path;

fn replay(target: &str, run: fn(&[u8])) {
    run(b"");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the corpus") {
        let path = entry.expect("an input").path();
        let data = std::fs::read(&path).expect("an input");
        // Named where it fails.
        println!("{}", path.display());
        run(&data);
        count += 1;
    }
    assert!(count > 0, "no corpus in {}", folder.display());
}

#[test]
fn hipfile_calls() {
    replay("hipfile_calls", hipfile_fuzz::hipfile_calls::run);
}

#[test]
fn hip_calls() {
    replay("hip_calls", hipfile_fuzz::hip_calls::run);
}

#[test]
fn fault_grammar() {
    replay("fault_grammar", hipfile_fuzz::fault_grammar::run);
}

#[test]
fn environment() {
    replay("environment", hipfile_fuzz::environment::run);
}
