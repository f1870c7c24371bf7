//! Tables that are made from the sources: whole, or but for a last column that people write.

use std::collections::BTreeMap;
use std::fs;

use super::tree::Tree;
use super::{Finding, errors, features, matrix};
use crate::workspace;

/// A table of a page.
struct Table {
    page: &'static str,
    /// Its first line.
    header: &'static str,
    /// The column by which rows are told apart, if the last column is written by hand.
    key: Option<usize>,
    rows: fn(&Tree) -> Result<Vec<Row>, Vec<Finding>>,
}

/// The cells that the sources give.
pub type Row = Vec<String>;

const FEATURES: &str = "| feature | default | effect |";

const TABLES: &[Table] = &[
    Table {
        page: "README.md",
        header: "| C function | since | safe | contract |",
        key: None,
        rows: matrix::rows,
    },
    Table {
        page: "README.md",
        header: "| crate | feature | default | effect |",
        key: Some(1),
        rows: features::of_all,
    },
    Table { page: "hipfile/README.md", header: FEATURES, key: Some(0), rows: features::of_hipfile },
    Table { page: "hip-alloc/README.md", header: FEATURES, key: Some(0), rows: features::of_hip_alloc },
    Table {
        page: "docs/src/errors.md",
        header: "| kind | codes | `io::ErrorKind` | what to do |",
        key: Some(0),
        rows: errors::kinds,
    },
    Table {
        page: "docs/src/errors.md",
        header: "| code | `OpError` | C name | string | kind | AMD |",
        key: Some(0),
        rows: errors::codes,
    },
];

/// Each table is the one that the sources give, without an empty cell.
pub fn current(tree: &Tree) -> Vec<Finding> {
    current_of(TABLES, tree)
}

fn current_of(tables: &[Table], tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for table in tables {
        match written(table, tree) {
            Err(found) => findings.extend(found),
            Ok(text) => findings.extend(differs(table.page, tree, &text)),
        }
    }
    findings
}

/// The first line of a page that is not as `text` has it.
fn differs(page: &str, tree: &Tree, text: &str) -> Option<Finding> {
    let file = tree.get(page)?;
    let mut lines = text.lines();
    match file.lines().find(|(_, old)| lines.next() != Some(old)) {
        Some((line, _)) => {
            let new = text.lines().nth(line - 1).unwrap_or("no more lines");
            Some(Finding::new(page, line, format!("`cargo xtask codegen` writes: {new}")))
        }
        None => lines.next().map(|_| Finding::new(page, 0, "`cargo xtask codegen` writes more lines")),
    }
}

/// An error if a page of the repository has another table than its sources give.
pub fn check() -> crate::Result<()> {
    let findings = current(&Tree::load(&workspace::root())?);
    if findings.is_empty() { Ok(()) } else { Err(lines(&findings).into()) }
}

/// Writes the tables into the pages of the repository.
pub fn write() -> crate::Result<()> {
    let root = workspace::root();
    for table in TABLES {
        let text = written(table, &Tree::load(&root)?).map_err(|findings| lines(&findings))?;
        fs::write(root.join(table.page), text)?;
    }
    Ok(())
}

fn lines(findings: &[Finding]) -> String {
    findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("\n")
}

/// The page with the table that the sources give.
fn written(table: &Table, tree: &Tree) -> Result<String, Vec<Finding>> {
    let Table { page, header, key, rows } = table;
    let text = tree.get(page).map_or("", |file| &file.text);
    let Some((before, rest)) = text.split_once(&format!("{header}\n")) else {
        return Err(vec![Finding::new(page, 0, format!("has no table {header}"))]);
    };
    let old: Vec<&str> = rest.lines().take_while(|line| line.starts_with('|')).collect();
    let after = rest.split_inclusive('\n').skip(old.len()).collect::<String>();
    let by_hand: BTreeMap<&str, &str> = old.iter().filter_map(|row| kept(row, (*key)?)).collect();
    let columns = cells(header).len();
    let mut new = format!("{before}{header}\n{}|\n", "|---".repeat(columns));
    let mut findings = Vec::new();
    for mut row in rows(tree)? {
        if let Some(key) = key {
            let name = row.get(*key).cloned().unwrap_or_default();
            let last = by_hand.get(name.as_str()).copied().unwrap_or_default();
            if last.is_empty() {
                let column = cells(header).pop().unwrap_or_default();
                findings.push(Finding::new(page, 0, format!("{name}: write the column {column}")));
            }
            row.push(last.to_owned());
        }
        new.push_str(&format!("| {} |\n", row.join(" | ")).replace("|  |", "| |"));
    }
    if findings.is_empty() { Ok(new + &after) } else { Err(findings) }
}

/// The key of a row and its last cell.
fn kept(row: &str, key: usize) -> Option<(&str, &str)> {
    let cells = cells(row);
    Some((cells.get(key).copied()?, cells.last().copied()?))
}

fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split('|').map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "page.md";
    const OLD: &str =
        "# x\n\n| a | b | by hand |\n|---|---|---|\n| `2` | old | two |\n| `3` | | three |\n\nmore\n";

    fn table(key: Option<usize>, rows: fn(&Tree) -> Result<Vec<Row>, Vec<Finding>>) -> Table {
        Table { page: PAGE, header: "| a | b | by hand |", key, rows }
    }

    fn rows(_: &Tree) -> Result<Vec<Row>, Vec<Finding>> {
        Ok(vec![vec!["`3`".to_owned(), "new".to_owned()], vec!["`2`".to_owned(), String::new()]])
    }

    fn found(table: Table, text: &str) -> Vec<String> {
        current_of(&[table], &Tree::of(&[(PAGE, text)])).iter().map(Finding::to_string).collect()
    }

    const NEW: &str =
        "# x\n\n| a | b | by hand |\n|---|---|---|\n| `3` | new | three |\n| `2` | | two |\n\nmore\n";

    #[test]
    fn what_people_wrote_is_kept() {
        let tree = Tree::of(&[(PAGE, OLD)]);
        assert_eq!(written(&table(Some(0), rows), &tree).unwrap(), NEW);
        assert_eq!(found(table(Some(0), rows), NEW), [""; 0]);
        assert_eq!(
            found(table(Some(0), rows), OLD),
            ["page.md:5: `cargo xtask codegen` writes: | `3` | new | three |"]
        );
        let longer = format!("{NEW}end\n");
        assert_eq!(found(table(Some(0), rows), &longer), [""; 0], "text around it is free");
    }

    #[test]
    fn what_nobody_wrote_is_found() {
        let text = OLD.replace("| `3` | | three |\n", "");
        assert_eq!(found(table(Some(0), rows), &text), ["page.md: `3`: write the column by hand"]);
        assert_eq!(found(table(Some(0), rows), "# x\n"), ["page.md: has no table | a | b | by hand |"]);
    }

    #[test]
    fn a_table_may_come_from_the_sources_alone() {
        fn all(_: &Tree) -> Result<Vec<Row>, Vec<Finding>> {
            Ok(vec![["1", "2", "3"].map(str::to_owned).to_vec()])
        }
        fn none(_: &Tree) -> Result<Vec<Row>, Vec<Finding>> {
            Err(vec![Finding::new("a.rs", 7, "no")])
        }
        let expected = "# x\n\n| a | b | by hand |\n|---|---|---|\n| 1 | 2 | 3 |\n\nmore\n";
        assert_eq!(written(&table(None, all), &Tree::of(&[(PAGE, OLD)])).unwrap(), expected);
        let shorter = OLD.replace("\n\nmore\n", "\n");
        assert_eq!(found(table(None, none), &shorter), ["a.rs:7: no"]);
    }
}
