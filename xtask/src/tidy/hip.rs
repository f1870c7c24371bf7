//! The page of the software ROCm names every function of its HIP, and no other.

use std::collections::BTreeMap;

use super::Finding;
use super::tree::{File, Tree};

const PAGE: &str = "docs/src/soft-rocm.md";
const HEADER: &str = "soft-rocm/include/hip/hip_runtime_api.h";
const TABLE: &str = "| subject | functions |";

/// The functions of the header are those of the page's table.
pub fn documented(tree: &Tree) -> Vec<Finding> {
    let (Some(page), Some(header)) = (tree.get(PAGE), tree.get(HEADER)) else { return Vec::new() };
    let (named, declared) = (named(page), declared(header));
    let unnamed = declared.iter().filter(|(name, _)| !named.contains_key(*name));
    let unnamed =
        unnamed.map(|(name, line)| Finding::new(HEADER, *line, format!("{PAGE} does not name {name}")));
    let missing = named.iter().filter(|(name, _)| !declared.contains_key(*name));
    let missing =
        missing.map(|(name, line)| Finding::new(PAGE, *line, format!("{HEADER} does not declare {name}")));
    unnamed.chain(missing).collect()
}

/// The functions in the table, with their lines.
fn named(page: &File) -> BTreeMap<&str, usize> {
    let rows = page.lines().skip_while(|(_, text)| *text != TABLE).skip(2);
    let rows = rows.take_while(|(_, text)| text.starts_with('|'));
    let words = rows.flat_map(|(line, row)| row.split('`').skip(1).step_by(2).map(move |word| (word, line)));
    words.filter(|(word, _)| !word.starts_with("hipError")).collect()
}

/// The functions that the header declares for programs, with their lines. What is called so for the sake of a release's
/// layout goes by its plain name.
fn declared(header: &File) -> BTreeMap<&str, usize> {
    let code = header.lines().filter(|(_, text)| text.starts_with(|c: char| c.is_ascii_alphabetic()));
    let functions = code.filter_map(|(line, text)| {
        let name = text.split_once('(')?.0.rsplit([' ', '*']).next()?;
        let is_function = name.strip_prefix("hip")?.starts_with(|c: char| c.is_ascii_uppercase());
        is_function.then(|| (name.strip_suffix("R0600").unwrap_or(name), line))
    });
    functions.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_is_named_and_the_other_way_round() {
        let header = "/** hipNot(x) */\nhipError_t hipFill(void *p,\n    int hipB(int));\nconst char *hipName(int x);\n\
                      typedef void (*hipFn)(int);\nhipError_t hipFactsR0600(int a);\nhipError_t hipWait64(int a);\n";
        let page = "`hipElse`\n| subject | functions |\n|---|---|\n| fills | `hipFill`, `hipFacts` |\n\
                    | rest | `hipName` is `hipErrorNone` (1), `hipWait64` |\n\n`hipAfter`\n";
        let found = |page: &str| -> Vec<_> {
            let tree = Tree::of(&[(PAGE, page), (HEADER, header)]);
            let findings = documented(&tree).into_iter();
            findings.map(|finding| format!("{}:{} {}", finding.path, finding.line, finding.message)).collect()
        };
        assert_eq!(found(page), [""; 0]);
        let expected = [
            format!("{HEADER}:7 {PAGE} does not name hipWait64"),
            format!("{PAGE}:5 {HEADER} does not declare hipWait65"),
        ];
        assert_eq!(found(&page.replace("64", "65")), expected);
    }
}
