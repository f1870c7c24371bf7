//! Rules for the workflows.

use super::Finding;
use super::tree::Tree;

/// Every step of a workflow that runs something is a `cargo xtask` line, so that what a workflow does can be had on any
/// machine; those that look at changes run nothing that .ci/run does not. The closing step `exit 1`, which turns a failed job into a failed workflow, is all
/// that may differ.
pub fn steps(tree: &Tree) -> Vec<Finding> {
    let here = tree.get(".ci/run").map(|file| file.text.as_str()).unwrap_or_default();
    let mut findings = Vec::new();
    for file in tree.ending(&[".yml"]).filter(|file| file.path.starts_with(".github/workflows/")) {
        let gates = file.text.contains("\n  pull_request:");
        for (number, line) in file.lines() {
            let Some(command) = line.trim().trim_start_matches("- ").strip_prefix("run: ") else { continue };
            if command == "exit 1" {
                continue;
            }
            let message = if !command.starts_with("cargo xtask ") {
                format!("`{command}` is no `cargo xtask` line")
            } else if gates && !here.lines().any(|line| line.trim().ends_with(command)) {
                format!("`{command}` is not run by .ci/run")
            } else {
                continue;
            };
            findings.push(Finding::new(&file.path, number, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_run_here_too() {
        let steps_of = |on: &str| {
            let workflow = format!(
                "{on}- run: cargo xtask test\n  run: cargo xtask soak\n- run: make\n- run: exit 1\n- uses: x\n"
            );
            let tree =
                Tree::of(&[(".github/workflows/ci.yml", &workflow), (".ci/run", "step cargo xtask test\n")]);
            steps(&tree).into_iter().map(|finding| (finding.line, finding.message)).collect::<Vec<_>>()
        };
        let make = "`make` is no `cargo xtask` line".to_owned();
        let soak = "`cargo xtask soak` is not run by .ci/run".to_owned();
        assert_eq!(steps_of("on:\n  pull_request:\n"), [(4, soak), (5, make.clone())]);
        assert_eq!(steps_of("on:\n  schedule:\n"), [(5, make)]);
    }
}
