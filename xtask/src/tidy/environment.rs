//! The page of environment variables names every one that is read, where it is read, and no other.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::tree::{File, Tree};

const PAGE: &str = "docs/src/environment.md";

/// The sections of the page, with whose variables they are about.
const SECTIONS: &[(&str, &[&str])] = &[
    ("Read by libhipfile", &["soft-rocm/hipfile/src/", "hipfile/src/"]),
    ("Read by the software ROCm", &["soft-rocm/hipfile/src/", "soft-rocm/hip/src/", "soft-rocm/faults/src/"]),
    ("Read by build scripts", &["hipfile-sys/build/", "soft-rocm/hip/build.rs", "soft-rocm/prefix/build.rs"]),
    ("Read when libraries are loaded at run time", &["rocm-loader/src/"]),
    ("Read by the hipfile command", &["hipfile-cli/src/"]),
    (WORKSHOP, &["xtask/", "tests/", "hip-alloc/tests/", "hipfile-cli/tests/"]),
];

const WORKSHOP: &str = "Read by cargo xtask and the tests";

/// What sets variables for others, or shows them: any section may name those.
const FOR_OTHERS: &[&str] = &["xtask/", "tests/", "hip-alloc/tests/", "hipfile-cli/"];

/// Variables that programs of others read, on our behalf or anyway: the page may name them.
const OF_OTHERS: &[&str] = &["HIP_PATH", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH"];

/// How names begin that are no variables for people to set: cargo's own, the compiler's, a build's, macros of C, modes of
/// `hipfile bench`.
const NOT_MEANT: &[&str] = &[
    "ASAN_",
    "BINDGEN_",
    "CARGO_",
    "CONFIG_",
    "CPU_",
    "GITHUB_",
    "GPUD_",
    "GPU_",
    "HIPFILE_STREAM_",
    "HIPFILE_VERSION_",
    "LD_",
    "MMAP_",
    "NUM_JOBS",
    "O_",
    "OPT_LEVEL",
    "OUT_DIR",
    "PKG_CONFIG",
    "RUSTC_",
];

/// Variables of one word; other words in capitals are none.
const WORDS: &[&str] = &["CC", "CXX", "TERM"];

/// What is read is named in a section about its reader, and what is named is read there.
pub fn documented(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.get(PAGE) else { return Vec::new() };
    let (named, mut findings) = named(page);
    let read = read(tree);
    for (name, places) in &read {
        for (path, line) in places {
            let about = |section: &str| of(section).is_some_and(|folders| is_below(path, folders));
            let sections = named.get(name.as_str());
            let anywhere = is_below(path, FOR_OTHERS);
            if !sections
                .is_some_and(|sections| anywhere || sections.iter().any(|(section, _)| about(section)))
            {
                findings.push(Finding::new(
                    path,
                    *line,
                    format!("{name} is read here and not named in {PAGE}"),
                ));
            }
        }
    }
    for (name, sections) in &named {
        for (section, line) in sections {
            let places = read.get(*name).map(Vec::as_slice).unwrap_or_default();
            let is_read = places.iter().any(|(path, _)| is_below(path, of(section).unwrap_or_default()));
            if !is_read && !OF_OTHERS.contains(name) {
                findings.push(Finding::new(PAGE, *line, format!("{name} is named and not read there")));
            }
        }
    }
    findings
}

fn of(section: &str) -> Option<&'static [&'static str]> {
    SECTIONS.iter().find(|(heading, _)| *heading == section).map(|(_, folders)| *folders)
}

fn is_below(path: &str, folders: &[&str]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

type Named<'a> = BTreeMap<&'a str, Vec<(&'a str, usize)>>;

/// The variables in the first cells of the page's tables, with section and line.
fn named(page: &File) -> (Named<'_>, Vec<Finding>) {
    let mut named = Named::new();
    let mut findings = Vec::new();
    let mut section = "";
    for (line, text) in page.lines() {
        if let Some(heading) = text.strip_prefix("## ") {
            section = heading;
            if of(section).is_none() {
                findings.push(Finding::new(PAGE, line, format!("no program is known to be `{section}`")));
            }
        }
        let Some(cell) = text.strip_prefix("| ").and_then(|row| row.split(" | ").next()) else { continue };
        for name in cell.split('`').skip(1).step_by(2) {
            // A variable for one target stands for the plain one.
            let plain = name.split_once("_LINUX_GNU_").map_or(name, |(_, plain)| plain);
            named.entry(plain).or_default().push((section, line));
        }
    }
    (named, findings)
}

/// The variables that the sources name, and where first in each file. Of tests only what they read directly: the rest is for their own
/// processes.
fn read(tree: &Tree) -> BTreeMap<String, Vec<(&str, usize)>> {
    let mut read: BTreeMap<String, Vec<(&str, usize)>> = BTreeMap::new();
    for file in tree.rust().filter(|file| SECTIONS.iter().any(|(_, folders)| is_below(&file.path, folders))) {
        // The rules would find their own lists.
        if file.path.starts_with("xtask/src/tidy/") {
            continue;
        }
        for (line, text) in file.lines() {
            let names: BTreeSet<&str> = literals(text, file.is_test()).collect();
            for name in names {
                let places = read.entry(name.to_owned()).or_default();
                if places.last().is_none_or(|(path, _)| *path != file.path) {
                    places.push((&file.path, line));
                }
            }
        }
    }
    read
}

/// The literals of a line that are names of variables.
fn literals(line: &str, only_direct: bool) -> impl Iterator<Item = &str> {
    let mut before = "";
    let quoted = line.split('"').enumerate().filter_map(move |(index, part)| {
        let is_read = match before {
            _ if index % 2 == 0 || before.ends_with(" env!(") => false,
            _ => !only_direct || before.ends_with("var(") || before.ends_with("var_os("),
        };
        before = part;
        is_read.then_some(part)
    });
    quoted.filter(|name| is_variable(name))
}

fn is_variable(name: &str) -> bool {
    let capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let several =
        name.contains('_') && name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(capital);
    WORDS.contains(&name) || (several && !NOT_MEANT.iter().any(|start| name.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Variables\n\n## Read by libhipfile\n\n| variable | effect |\n|---|---|\n| `HIPFILE_A`, `X_LINUX_GNU_HIPFILE_A` | `HIPFILE_NONE` |\n\n\
        ## Read by cargo xtask and the tests\n\n| `HIPFILE_B` | both |\n| `LD_LIBRARY_PATH` | the loader's |\n";
    const SOURCE: &str = "const A: &str = \"HIPFILE_A\";\nlet text = \"O\", \"HIPFILE_STREAM_X\";\n";
    const TEST: &str =
        "std::env::var_os(\"HIPFILE_B\");\nfaulty(\"HIPFILE_C\");\nstd::env::var(\"HIPFILE_A\");\n";

    fn found(page: &str, source: &str, test: &str) -> Vec<String> {
        let files = [(PAGE, page), ("soft-rocm/hipfile/src/a.rs", source), ("tests/a.rs", test)];
        let findings = documented(&Tree::of(&files)).into_iter();
        findings.map(|finding| format!("{}:{} {}", finding.path, finding.line, finding.message)).collect()
    }

    #[test]
    fn what_is_read_is_named() {
        assert_eq!(found(TEXT, SOURCE, TEST), [""; 0]);
        let more = format!(
            "{SOURCE}(x, \"y\", env(\"HIPFILE_D\"), \"HIPFILE_B\")\n\"TERM\"\nmatch env!(\"HIPFILE_E\")\n"
        );
        let place = "soft-rocm/hipfile/src/a.rs";
        let expected = [
            format!("{place}:3 HIPFILE_B is read here and not named in {PAGE}"),
            format!("{place}:3 HIPFILE_D is read here and not named in {PAGE}"),
            format!("{place}:4 TERM is read here and not named in {PAGE}"),
        ];
        assert_eq!(found(TEXT, &more, TEST), expected);
        let more = format!("{TEST}var(\"MODEL_SEED\")\n");
        assert_eq!(
            found(TEXT, SOURCE, &more),
            [format!("tests/a.rs:4 MODEL_SEED is read here and not named in {PAGE}")]
        );
    }

    #[test]
    fn what_is_named_is_read() {
        let twice = found(TEXT, "", TEST);
        assert_eq!(twice.len(), 2);
        assert_eq!(twice[0], format!("{PAGE}:7 HIPFILE_A is named and not read there"));
        assert_eq!(found(TEXT, SOURCE, ""), [format!("{PAGE}:11 HIPFILE_B is named and not read there")]);
        let other = TEXT.replace("by libhipfile", "by nobody");
        let found = found(&other, SOURCE, TEST);
        assert_eq!(found[0], format!("{PAGE}:3 no program is known to be `Read by nobody`"));
    }
}
