//! Rules for the pages.

use super::Finding;
use super::tree::{File, Tree};

/// Links between pages lead to files that exist, and the table of contents names every page.
pub fn links(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut contents = Vec::new();
    for file in tree.ending(&[".md"]) {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, target) in targets(file) {
            let path = resolve(folder, target);
            if !exists(tree, &path) {
                findings.push(Finding::new(&file.path, line, format!("{target} does not exist")));
            }
            if file.path == SUMMARY {
                contents.push(path);
            }
        }
    }
    let pages =
        tree.ending(&[".md"]).filter(|file| file.path.starts_with("docs/src/") && file.path != SUMMARY);
    for page in pages.filter(|page| !contents.contains(&page.path)) {
        findings.push(Finding::new(&page.path, 0, format!("{SUMMARY} does not name this page")));
    }
    findings
}

const SUMMARY: &str = "docs/src/SUMMARY.md";

/// The relative links of a page, without the part after `#`.
fn targets(file: &File) -> Vec<(usize, &str)> {
    let mut targets = Vec::new();
    let mut fenced = false;
    for (number, line) in file.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        for piece in line.split("](").skip(1).filter(|_| !fenced) {
            let target = piece.split([')', '#', ' ']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                targets.push((number, target));
            }
        }
    }
    targets
}

fn resolve(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

fn exists(tree: &Tree, path: &str) -> bool {
    let folder = format!("{path}/");
    tree.files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_links_and_unlisted_pages_are_found() {
        let tree = Tree::of(&[
            (SUMMARY, "- [A](a.md)\n- [Gone](gone.md)\n"),
            (
                "docs/src/a.md",
                "[up](../../README.md#use), [web](https://x.y), [here](#b), [dir](../..//xtask)\n```\n[x](y)\n```\n",
            ),
            ("docs/src/b.md", "text\n"),
            ("README.md", "[no](docs/none.md) [yes](docs/src/a.md)\n"),
            ("xtask/Cargo.toml", ""),
        ]);
        let found: Vec<_> = links(&tree)
            .into_iter()
            .map(|finding| format!("{}: {}", finding.path, finding.message))
            .collect();
        let expected = [
            "docs/src/SUMMARY.md: gone.md does not exist",
            "README.md: docs/none.md does not exist",
            "docs/src/b.md: docs/src/SUMMARY.md does not name this page",
        ];
        assert_eq!(found, expected);
    }
}
