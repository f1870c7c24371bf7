//! Rules for the workflows.

use super::Finding;
use super::tree::Tree;

/// Every step of a workflow that runs something is a `cargo xtask` line that .ci/run runs too, so that what a workflow
/// does can be had on any machine. The closing step `exit 1`, which turns a failed job into a failed workflow, is all
/// that may differ.
pub fn steps(tree: &Tree) -> Vec<Finding> {
    let here = tree.get(".ci/run").map(|file| file.text.as_str()).unwrap_or_default();
    let mut findings = Vec::new();
    for file in tree.ending(&[".yml"]).filter(|file| file.path.starts_with(".github/workflows/")) {
        for (number, line) in file.lines() {
            let Some(command) = line.trim().trim_start_matches("- ").strip_prefix("run: ") else { continue };
            if command == "exit 1" {
                continue;
            }
            let message = if !command.starts_with("cargo xtask ") {
                format!("`{command}` is no `cargo xtask` line")
            } else if !here.lines().any(|line| line.trim().ends_with(command)) {
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
        let workflow =
            "- run: cargo xtask test\n  run: cargo xtask soak\n- run: make\n- run: exit 1\n- uses: x\n";
        let tree =
            Tree::of(&[(".github/workflows/ci.yml", workflow), (".ci/run", "step cargo xtask test\n")]);
        let found: Vec<_> = steps(&tree).into_iter().map(|finding| (finding.line, finding.message)).collect();
        let expected =
            [(2, "`cargo xtask soak` is not run by .ci/run"), (3, "`make` is no `cargo xtask` line")];
        assert_eq!(found, expected.map(|(line, message)| (line, message.to_owned())));
    }
}
