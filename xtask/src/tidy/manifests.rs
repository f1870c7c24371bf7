//! Rules for manifests.

use std::collections::BTreeSet;

use super::Finding;
use super::source::PUBLISHED;
use super::tree::{File, Tree};

/// A published package names a version for each package of this workspace it depends on: `cargo publish` needs it. For
/// dev-dependencies a path alone is right, cargo leaves those out.
pub fn published_dependencies(tree: &Tree) -> Vec<Finding> {
    let shared = tree.get("Cargo.toml").map(unversioned).unwrap_or_default();
    let mut findings = Vec::new();
    for package in PUBLISHED {
        let Some(file) = tree.get(&format!("{package}Cargo.toml")) else { continue };
        for (line, section, name, value) in entries(file) {
            let counts = matches!(section, "dependencies" | "build-dependencies");
            let inherits = name.ends_with(".workspace") || value.contains("workspace = true");
            let plain = name.trim_end_matches(".workspace");
            let bare = if inherits { shared.contains(plain) } else { lacks_version(value) };
            if counts && bare {
                findings.push(Finding::new(&file.path, line, format!("{plain} has a path and no version")));
            }
        }
    }
    findings
}

/// The names in `[workspace.dependencies]` that have a path and no version.
fn unversioned(file: &File) -> BTreeSet<&str> {
    let shared = entries(file).into_iter().filter(|(_, section, ..)| *section == "workspace.dependencies");
    shared.filter(|(.., value)| lacks_version(value)).map(|(_, _, name, _)| name).collect()
}

fn lacks_version(value: &str) -> bool {
    value.contains("path =") && !value.contains("version =")
}

/// The `name = value` lines of a manifest with their sections.
fn entries(file: &File) -> Vec<(usize, &str, &str, &str)> {
    let mut section = "";
    let mut entries = Vec::new();
    for (number, line) in file.lines() {
        if let Some(name) = line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
        } else if let Some((name, value)) = line.split_once(" = ") {
            entries.push((number, section, name.trim(), value));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_needs_a_version() {
        let root =
            "[workspace.dependencies]\na = { path = \"a\" }\nb = { path = \"b\", version = \"0.1\" }\n";
        let package = "[dependencies]\na.workspace = true\nb = { workspace = true, features = [\"x\"] }\nc = { path = \"../c\" }\n\
            d = \"1\"\n[dev-dependencies]\na.workspace = true\n";
        let tree =
            Tree::of(&[("Cargo.toml", root), ("hipfile/Cargo.toml", package), ("tests/Cargo.toml", package)]);
        let found = published_dependencies(&tree);
        let expected = [(2, "a has a path and no version"), (4, "c has a path and no version")];
        let expected = expected.map(|(line, message)| Finding::new("hipfile/Cargo.toml", line, message));
        assert_eq!(found, expected);
    }
}
