//! The rows of the table in the README: each function of the C interface, what offers it safely, and the statements about it.

use std::collections::{BTreeMap, BTreeSet};

use super::tables::Row;
use super::tree::{File, Tree};
use super::{Finding, ids, public};

const HEADER: &str = "soft-rocm/include/hipfile.h";
const FUNCTION_TABLE: &str = "hipfile-sys/src/table.rs";

/// What is safe to call by other means than an item that has the function as its alias.
const OTHERWISE: &[(&str, &str)] =
    &[("hipFileBatchIODestroy", "dropping a `Batch`"), ("hipFileGetOpErrorString", "`OpError::description`")];

/// The areas of the contract that are about one function or two; their statements need not name it.
const AREAS: &[(&str, &str)] = &[
    ("hipFileHandleRegister", "HF-FILE"),
    ("hipFileHandleDeregister", "HF-FILE"),
    ("hipFileBufRegister", "HF-BUF"),
    ("hipFileBufDeregister", "HF-BUF"),
    ("hipFileRead", "HF-READ"),
    ("hipFileWrite", "HF-READ"),
    ("hipFileReadAsync", "HF-ASYNC"),
    ("hipFileWriteAsync", "HF-ASYNC"),
    ("hipFileGetStatsL1", "HF-STATS"),
    ("hipFileGetStatsL2", "HF-STATS"),
    ("hipFileGetStatsL3", "HF-STATS"),
];

/// The rows, without an empty cell.
pub fn rows(tree: &Tree) -> Result<Vec<Row>, Vec<Finding>> {
    let functions = tree.get(HEADER).map(functions).unwrap_or_default();
    let younger = tree.get(FUNCTION_TABLE).map(optional).unwrap_or_default();
    let safe = safe(tree);
    let statements = statements(tree);
    let mut findings = Vec::new();
    let mut rows = Vec::new();
    for (line, function) in &functions {
        let by_alias = safe.get(function).map(|names| names.join(", "));
        let otherwise = OTHERWISE.iter().find(|(name, _)| name == function).map(|(_, how)| (*how).to_owned());
        let offered = match (by_alias, otherwise) {
            (Some(_), Some(_)) => Err("has an alias and a row in OTHERWISE"),
            (None, None) => Err("has no safe item with it as alias and no row in OTHERWISE"),
            (by_alias, otherwise) => Ok(by_alias.or(otherwise).unwrap_or_default()),
        };
        let tested = statements.get(function).map(ranges);
        let tested = tested.ok_or("is named by no statement of the contract that has a test");
        match (offered, tested) {
            (Ok(offered), Ok(tested)) => {
                let since = if younger.contains(function) { "0.5" } else { "0.2" };
                rows.push(vec![format!("`{function}`"), since.to_owned(), offered, tested]);
            }
            (offered, tested) => {
                let lacks = [offered.err(), tested.err()].into_iter().flatten();
                findings.extend(lacks.map(|lack| Finding::new(HEADER, *line, format!("{function} {lack}"))));
            }
        }
    }
    for (name, _) in OTHERWISE.iter().filter(|(name, _)| !functions.iter().any(|(_, known)| known == name)) {
        findings.push(Finding::new(HEADER, 0, format!("{name}, which OTHERWISE names, is not declared")));
    }
    if findings.is_empty() { Ok(rows) } else { Err(findings) }
}

/// The functions that the header declares, in its order.
fn functions(header: &File) -> Vec<(usize, &str)> {
    let declared = |line: &'_ str| line.starts_with(|first: char| first.is_ascii_lowercase());
    header
        .lines()
        .filter(|(_, line)| declared(line) && !line.starts_with("typedef "))
        .filter_map(|(number, line)| {
            let before = line.split_once('(')?.0;
            let name = before.rsplit([' ', '*']).next()?;
            name.starts_with("hipFile").then_some((number, name))
        })
        .collect()
}

/// The functions that a library may lack, all of them 0.5's.
fn optional(table: &File) -> BTreeSet<&str> {
    let lines = table.text.lines().skip_while(|line| *line != "    optional {");
    let functions = lines.filter_map(|line| line.trim().strip_prefix("fn ")?.split('(').next());
    functions.filter(|name| name.starts_with("hipFile")).collect()
}

/// What hipfile offers for each C function: the public functions that have it as an alias.
fn safe(tree: &Tree) -> BTreeMap<&str, Vec<String>> {
    let mut safe: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for item in public::items(tree, "hipfile/") {
        let Some(file) = tree.get(item.path) else { continue };
        let lines: Vec<&str> = file.text.lines().take(item.line - 1).collect();
        let above = lines.iter().rev().map(|line| line.trim());
        let above = above.take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        let aliases = above.filter_map(|line| line.strip_prefix("#[doc(alias = \"")?.strip_suffix("\")]"));
        let owner = item.owner.map(|owner| format!("{owner}::")).unwrap_or_default();
        for alias in aliases {
            safe.entry(alias).or_default().push(format!("`{owner}{}`", item.name));
        }
    }
    safe
}

/// The tested statements of the contract about each function: those that name it, and those of its area.
fn statements(tree: &Tree) -> BTreeMap<&str, BTreeSet<String>> {
    let mut named: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (id, statement) in ids::tested_statements(tree) {
        for code in statement.split('`').skip(1).step_by(2) {
            let end = code.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(code.len());
            named.entry(&code[..end]).or_default().insert(id.clone());
        }
        let area = id.rsplit_once('-').map_or("", |(area, _)| area);
        for (function, _) in AREAS.iter().filter(|(_, of)| *of == area) {
            named.entry(function).or_default().insert(id.clone());
        }
    }
    named
}

/// Ids in few words: `HF-DRV-01…03, HF-BUF-02`.
fn ranges(ids: &BTreeSet<String>) -> String {
    let mut ranges: Vec<(String, u32, u32)> = Vec::new();
    for id in ids {
        let Some((area, number)) = id.rsplit_once('-') else { continue };
        let number = number.parse().unwrap_or_default();
        match ranges.last_mut() {
            Some((known, _, last)) if known == area && *last + 1 == number => *last = number,
            _ => ranges.push((area.to_owned(), number, number)),
        }
    }
    let text = ranges.iter().map(|(area, first, last)| match last - first {
        0 => format!("{area}-{first:02}"),
        _ => format!("{area}-{first:02}…{last:02}"),
    });
    text.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER_TEXT: &str = "#define X(y) (hipFileNo(y))\ntypedef int hipFileT(void);\nhipFileError_t hipFileOpen(void);\n\
        hipFileError_t hipFileGetStatsL1(int a,\n                            int b);\nconst char *hipFileGetOpErrorString(int);\n\
        void hipFileBatchIODestroy(int);\n";
    const TABLE_TEXT: &str = "api! {\n    required {\n        fn hipFileOpen();\n    }\n    optional {\n\
        \x20       /// It.\n        fn hipFileGetStatsL1(a: c_int) -> c_int;\n    }\n}\n";
    const OPEN: &str = "pub struct Driver;\n\nimpl Driver {\n    /// Opens.\n    #[doc(alias = \"hipFileOpen\")]\n    #[must_use]\n\
        \x20   pub fn open() {}\n\n    pub fn plain() {}\n}\n\n#[doc(alias = \"hipFileGetStatsL1\")]\npub fn stats() {}\n";
    const CONTRACT: &str = "| HF-A-01 | `hipFileOpen` opens | all | |\n| HF-A-02 | `hipFileOpen(void)` too | all | |\n\
        | HF-A-04 | `hipFileOpen` and `hipFileGetStatsL1` | all | |\n| HF-A-05 | hipFileOpen, untested | all | no machine |\n\
        | HF-STATS-01 | levels | all | |\n| HF-A-06 | `hipFileGetOpErrorString`, `hipFileBatchIODestroy` | all | |\n";

    fn tree(driver: &str) -> Tree {
        Tree::of(&[
            (HEADER, HEADER_TEXT),
            (FUNCTION_TABLE, TABLE_TEXT),
            ("hipfile/src/lib.rs", "pub use driver::{Driver, stats};\n"),
            ("hipfile/src/driver.rs", driver),
            ("docs/src/contract.md", CONTRACT),
            ("tests/a.rs", "// HF-A-01, HF-A-02, HF-A-04, HF-A-06, HF-STATS-01\n"),
        ])
    }

    fn found(tree: &Tree) -> Vec<String> {
        let findings = rows(tree).unwrap_err().into_iter();
        findings.map(|finding| format!("{}:{}: {}", finding.path, finding.line, finding.message)).collect()
    }

    #[test]
    fn the_rows_are_made_of_the_sources() {
        let expected = [
            ["`hipFileOpen`", "0.2", "`Driver::open`", "HF-A-01…02, HF-A-04"],
            ["`hipFileGetStatsL1`", "0.5", "`stats`", "HF-A-04, HF-STATS-01"],
            ["`hipFileGetOpErrorString`", "0.2", "`OpError::description`", "HF-A-06"],
            ["`hipFileBatchIODestroy`", "0.2", "dropping a `Batch`", "HF-A-06"],
        ];
        assert_eq!(rows(&tree(OPEN)).unwrap(), expected);
    }

    #[test]
    fn an_empty_cell_is_found() {
        let without = OPEN.replace("#[doc(alias = \"hipFileGetStatsL1\")]\n", "");
        let expected = "soft-rocm/include/hipfile.h:4: hipFileGetStatsL1 has no safe item with it as alias and no row in OTHERWISE";
        assert_eq!(found(&tree(&without)), [expected]);
        let mut untested = tree(OPEN);
        untested.files.retain(|file| file.path != "tests/a.rs");
        let found = found(&untested);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(
            found[0].ends_with("hipFileOpen is named by no statement of the contract that has a test"),
            "{found:?}"
        );
    }
}
