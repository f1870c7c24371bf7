//! The statements in docs/src/contract.md and docs/src/soundness.md, and the tests that carry their ids.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::tree::{File, Tree};

const PAGES: &[&str] = &["docs/src/contract.md", "docs/src/soundness.md"];

/// The test folders in which every test belongs to a statement.
const STATED: &[&str] = &["tests/abi/", "tests/clients/", "tests/conformance/", "tests/soundness/"];

/// A row of a page.
struct Statement<'a> {
    id: String,
    page: &'a str,
    line: usize,
    text: &'a str,
    /// Why there is no test.
    reason: &'a str,
}

/// Each statement has a test or a reason; each id in a test is a statement.
pub fn documented_and_tested(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut known = BTreeSet::new();
    let tested = tested(tree);
    for statement in statements(tree) {
        let Statement { id, page, line, reason, .. } = statement;
        match tested.get(&id) {
            None if reason.is_empty() => {
                findings.push(Finding::new(page, line, format!("{id} has no test and states no reason")));
            }
            Some((test, _)) if !reason.is_empty() => {
                let message = format!("{id} states a reason for having no test, yet {test} names it");
                findings.push(Finding::new(page, line, message));
            }
            _ => {}
        }
        if !known.insert(id.clone()) {
            findings.push(Finding::new(page, line, format!("{id} is stated twice")));
        }
    }
    for (id, (path, line)) in tested {
        if !known.contains(&id) {
            findings.push(Finding::new(
                path,
                line,
                format!("{id} is no statement of {}", PAGES.join(" or ")),
            ));
        }
    }
    findings
}

/// Each test function in the folders of stated tests carries an id, in its name, its comment or its body.
pub fn tests_carry_ids(tree: &Tree) -> Vec<Finding> {
    let tests = STATED.iter().flat_map(|folder| tests_in(tree, folder));
    let without = tests.filter(|test| test.ids.is_empty());
    without.map(|test| Finding::new(test.path, test.line, "this test carries no id of a statement")).collect()
}

/// The tests in a folder as libtest calls them, where it is the sources of one test program, each with the ids it carries.
pub fn of_tests(tree: &Tree, folder: &str) -> Vec<(String, Vec<String>)> {
    let named = |test: Test<'_>| {
        let file = test.path.strip_prefix(folder)?.strip_suffix(".rs")?;
        let module = file.strip_suffix("/mod").unwrap_or(file).replace('/', "::");
        let name = if module == "main" { test.name.to_owned() } else { format!("{module}::{}", test.name) };
        Some((name, test.ids))
    };
    tests_in(tree, folder).into_iter().filter_map(named).collect()
}

/// The statements that tests carry, with their text.
pub fn tested_statements(tree: &Tree) -> Vec<(String, &str)> {
    let tested = tested(tree);
    let statements = statements(tree).into_iter().filter(|statement| tested.contains_key(&statement.id));
    statements.map(|statement| (statement.id, statement.text)).collect()
}

/// The ids that a page states.
pub fn of_page(tree: &Tree, page: &str) -> BTreeSet<String> {
    statements(tree)
        .into_iter()
        .filter(|statement| statement.page == page)
        .map(|statement| statement.id)
        .collect()
}

/// A test function.
struct Test<'a> {
    path: &'a str,
    /// Of its attribute.
    line: usize,
    name: &'a str,
    ids: Vec<String>,
}

fn tests_in<'a>(tree: &'a Tree, folder: &str) -> Vec<Test<'a>> {
    let mut tests = Vec::new();
    for file in tree.rust().filter(|file| file.path.starts_with(folder)) {
        let lines: Vec<&str> = file.text.lines().collect();
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.trim() == "#[test]") {
            let before = lines.iter().take(index).rev().take_while(|line| !line.trim().is_empty());
            let end = format!("{}}}", line.strip_suffix("#[test]").unwrap_or_default());
            let after = lines.iter().skip(index).take_while(|line| **line != end);
            let function = after.clone().find_map(|line| line.trim().strip_prefix("fn "));
            let name = function.and_then(|rest| rest.split('(').next()).unwrap_or_default();
            let carried: BTreeSet<String> = before.chain(after).flat_map(|line| ids(line)).collect();
            let ids = carried.into_iter().collect();
            tests.push(Test { path: &file.path, line: index + 1, name, ids });
        }
    }
    tests
}

/// How many statements there are, with tests and with reasons.
pub fn tally(tree: &Tree) -> String {
    let tested = tested(tree);
    let all = statements(tree);
    let with_test = all.iter().filter(|statement| tested.contains_key(&statement.id)).count();
    let with_reason = all.iter().filter(|statement| !statement.reason.is_empty()).count();
    format!("{} statements ({with_test} with tests, {with_reason} with reasons)", all.len())
}

fn statements(tree: &Tree) -> Vec<Statement<'_>> {
    let mut statements = Vec::new();
    for file in PAGES.iter().filter_map(|page| tree.get(page)) {
        for (line, text) in file.lines() {
            let Some(cells) = cells(text) else { continue };
            let [first, statement, .., reason] = cells.as_slice() else { continue };
            if ids(first) == [*first] {
                let id = (*first).to_owned();
                statements.push(Statement { id, page: &file.path, line, text: statement, reason });
            }
        }
    }
    statements
}

/// The cells of a table's row; `\|` is part of a cell.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let mut cells = Vec::new();
    let mut start = 0;
    for (at, _) in inner.match_indices('|').filter(|(at, _)| !inner[..*at].ends_with('\\')) {
        cells.push(inner[start..at].trim());
        start = at + 1;
    }
    cells.push(inner[start..].trim());
    Some(cells)
}

/// The ids that tests carry, each with the first place that does.
fn tested(tree: &Tree) -> BTreeMap<String, (&str, usize)> {
    let mut found = BTreeMap::new();
    for file in tree.ending(&[".rs", ".c", ".cpp"]) {
        let first = first_test_line(file);
        for (number, line) in file.lines().skip_while(|(number, _)| *number < first) {
            for id in ids(line) {
                found.entry(id).or_insert((file.path.as_str(), number));
            }
        }
    }
    found
}

/// Where the tests of a file begin: everything under a folder of tests, else what follows `#[cfg(test)]`.
fn first_test_line(file: &File) -> usize {
    if file.is_test() {
        return 1;
    }
    let marked = file.lines().find(|(_, line)| line.trim().starts_with("#[cfg(test)]"));
    if file.path.starts_with("xtask/") { usize::MAX } else { marked.map_or(usize::MAX, |(number, _)| number) }
}

/// The ids in a line, as in `HF-READ-07` and `fn snd_03_…`.
fn ids(line: &str) -> Vec<String> {
    let text = line.to_ascii_uppercase().replace('_', "-");
    let mut found = Vec::new();
    for start in ["HF-", "SND-"] {
        for (at, _) in text.match_indices(start) {
            let joined = text[..at].ends_with(|before: char| before.is_ascii_alphanumeric());
            let mut parts = text[at..].split(|c: char| !c.is_ascii_alphanumeric());
            let prefix = parts.next();
            let area = if start == "HF-" { parts.next() } else { None };
            let number = parts.next().unwrap_or_default();
            let whole = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            if whole && !joined {
                let parts: Vec<_> = [prefix, area, Some(number)].into_iter().flatten().collect();
                found.push(parts.join("-"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "| id | statement | versions | reason |\n|---|---|---|---|\n\
        | HF-READ-01 | it reads | all | |\n| HF-READ-02 | a \\| b | all | no such device here |\n";

    fn check(rule: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)]) -> Vec<String> {
        let findings = rule(&Tree::of(files)).into_iter();
        findings.map(|finding| format!("{}:{}: {}", finding.path, finding.line, finding.message)).collect()
    }

    #[test]
    fn ids_are_found_in_text_and_in_names() {
        assert_eq!(ids("// HF-READ-07: short, see SND-3"), ["HF-READ-07", "SND-3"]);
        assert_eq!(ids("fn hf_read_07_is_short() {"), ["HF-READ-07"]);
        assert_eq!(ids("SHELF-READ-07 HF-READ HF- SND-x hf_read"), [""; 0]);
    }

    #[test]
    fn a_statement_with_a_test_or_a_reason_passes() {
        for test in
            [("tests/system/read.rs", "// HF-READ-01\n"), ("a/src/x.rs", "#[cfg(test)]\n// HF-READ-01\n")]
        {
            assert_eq!(check(documented_and_tested, &[("docs/src/contract.md", PAGE), test]), [""; 0]);
        }
    }

    #[test]
    fn a_statement_without_test_is_found() {
        let expected = ["docs/src/contract.md:3: HF-READ-01 has no test and states no reason"];
        assert_eq!(check(documented_and_tested, &[("docs/src/contract.md", PAGE)]), expected);
        let outside_tests = ("a/src/x.rs", "// HF-READ-01\n#[cfg(test)]\n");
        assert_eq!(check(documented_and_tested, &[("docs/src/contract.md", PAGE), outside_tests]), expected);
    }

    #[test]
    fn a_reason_that_no_longer_holds_is_found() {
        let tests = ("tests/a.rs", "// HF-READ-01\n// HF-READ-02\n");
        let found = check(documented_and_tested, &[("docs/src/contract.md", PAGE), tests]);
        let expected =
            "docs/src/contract.md:4: HF-READ-02 states a reason for having no test, yet tests/a.rs names it";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn an_unknown_or_doubled_id_is_found() {
        let page = format!("{PAGE}| HF-READ-01 | again | all | |\n");
        let tests = ("tests/a.rs", "// HF-READ-01\n// SND-99\n");
        let found = check(documented_and_tested, &[("docs/src/contract.md", &page), tests]);
        assert_eq!(found[0], "docs/src/contract.md:5: HF-READ-01 is stated twice");
        assert!(found[1].starts_with("tests/a.rs:2: SND-99 is no statement of"), "{found:?}");
    }

    #[test]
    fn tests_are_known_by_their_paths() {
        let text =
            "/// SND-01, SND-02: why\n#[test]\nfn a() {\n    // SND-01\n}\n\n#[test]\nfn snd_03_b() {\n}\n";
        let files = ["tests/x/main.rs", "tests/x/c.rs", "tests/x/d/mod.rs", "tests/x/d/e.rs", "tests/y/f.rs"];
        let tree = Tree::of(&files.map(|path| (path, text)));
        let found = of_tests(&tree, "tests/x/");
        let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["a", "snd_03_b", "c::a", "c::snd_03_b", "d::a", "d::snd_03_b", "d::e::a", "d::e::snd_03_b"]
        );
        assert!(found.iter().step_by(2).all(|(_, ids)| *ids == ["SND-01", "SND-02"]), "{found:?}");
        assert!(found.iter().skip(1).step_by(2).all(|(_, ids)| *ids == ["SND-03"]), "{found:?}");
        assert_eq!(of_page(&Tree::of(&[("docs/src/contract.md", PAGE)]), "docs/src/contract.md").len(), 2);
    }

    #[test]
    fn a_test_without_id_is_found() {
        let text = "/// SND-01: why\n#[test]\nfn a() {\n}\n\n#[test]\nfn snd_02() {\n}\n\n#[test]\nfn c() {\n    // SND-03\n}\n\n#[test]\nfn d() {\n}\n\n// SND-04\n";
        let found = check(tests_carry_ids, &[("tests/soundness/a.rs", text), ("tests/system/b.rs", text)]);
        assert_eq!(found, ["tests/soundness/a.rs:15: this test carries no id of a statement"]);
    }
}
