//! Rules for the pages.

use std::iter;

use super::Finding;
use super::tree::{File, Tree};

/// Links between pages lead to files and headings that exist, those of the book stay in it, and its table of contents names
/// every page.
pub fn links(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut contents = Vec::new();
    for file in tree.ending(&[".md"]) {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, link) in links_of(file) {
            let (target, heading) = link.split_once('#').unwrap_or((link, ""));
            let path = if target.is_empty() { file.path.clone() } else { resolve(folder, target) };
            let headings = || tree.get(&path).map(headings).unwrap_or_default();
            let wrong = if !exists(tree, &path) {
                "does not exist"
            } else if file.path.starts_with(BOOK) && !path.starts_with(BOOK) {
                "is outside of the book, where no page of it can lead"
            } else if !heading.is_empty() && !headings().iter().any(|id| id == heading) {
                "does not exist: the page has no such heading"
            } else {
                ""
            };
            if !wrong.is_empty() {
                findings.push(Finding::new(&file.path, line, format!("{link} {wrong}")));
            }
            if file.path == SUMMARY {
                contents.push(path);
            }
        }
    }
    let pages = tree.ending(&[".md"]).filter(|file| file.path.starts_with(BOOK) && file.path != SUMMARY);
    for page in pages.filter(|page| !contents.contains(&page.path)) {
        findings.push(Finding::new(&page.path, 0, format!("{SUMMARY} does not name this page")));
    }
    findings
}

const BOOK: &str = "docs/src/";
const SUMMARY: &str = "docs/src/SUMMARY.md";

/// The relative links of a page, with the part after `#`.
fn links_of(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let links =
        prose(file).flat_map(|(number, line)| line.split("](").skip(1).map(move |rest| (number, rest)));
    let targets = links.map(|(number, rest)| (number, rest.split([')', ' ']).next().unwrap_or_default()));
    targets.filter(|(_, link)| !link.is_empty() && !link.contains("://") && !link.starts_with("mailto:"))
}

/// What links to the headings of a page call them, as mdBook and GitHub do: letters, digits, `-` and `_`, in small letters,
/// a dash for each space, and a number where a page has one twice.
fn headings(page: &File) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for (_, line) in prose(page) {
        let Some((marks, text)) = line.split_once(' ') else { continue };
        if marks.is_empty() || marks.len() > 6 || marks.chars().any(|c| c != '#') {
            continue;
        }
        let kept = |c: char| match c {
            ' ' => Some('-'),
            _ => (c.is_alphanumeric() || c == '-' || c == '_').then_some(c),
        };
        let id: String = text.trim().to_lowercase().chars().filter_map(kept).collect();
        let twice = (1..).map(|count| format!("{id}-{count}"));
        ids.extend(iter::once(id.clone()).chain(twice).find(|id| !ids.contains(id)));
    }
    ids
}

/// The lines of a page that are no blocks of code.
fn prose(page: &File) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    page.lines().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
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
                "[page](./b.md), [web](https://x.y#z)\n```\n[x](y)\n```\n[up](../../README.md), [dir](../..//xtask)\n",
            ),
            ("docs/src/b.md", "text\n"),
            ("README.md", "[no](docs/none.md) [yes](docs/src/a.md) [dir](xtask)\n"),
            ("xtask/Cargo.toml", ""),
        ]);
        let found: Vec<_> = links(&tree)
            .into_iter()
            .map(|finding| format!("{}: {}", finding.path, finding.message))
            .collect();
        let expected = [
            "docs/src/SUMMARY.md: gone.md does not exist",
            "docs/src/a.md: ../../README.md is outside of the book, where no page of it can lead",
            "docs/src/a.md: ../..//xtask is outside of the book, where no page of it can lead",
            "README.md: docs/none.md does not exist",
            "docs/src/b.md: docs/src/SUMMARY.md does not name this page",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn headings_that_links_name_exist() {
        let page = "# A `b::c` (D), e_f: 1.5\n## Twice\n### Twice\n```sh\n# comment\n```\n#no\n[a](#a-bc-d-e_f-15) [b](#twice-1)\n\
                    [c](#twice-2)\n[d](#comment) [e](#no)\n[f](b.md#there) [g](b.md#nowhere)\n";
        let tree = Tree::of(&[
            (SUMMARY, "[A](a.md) [B](b.md)"),
            ("docs/src/a.md", page),
            ("docs/src/b.md", "## There\n"),
        ]);
        let found: Vec<_> = links(&tree).into_iter().map(|finding| (finding.line, finding.message)).collect();
        let expected = [(9, "#twice-2"), (10, "#comment"), (10, "#no"), (11, "b.md#nowhere")];
        let missing = |(line, link)| (line, format!("{link} does not exist: the page has no such heading"));
        assert_eq!(found, expected.map(missing));
    }
}
