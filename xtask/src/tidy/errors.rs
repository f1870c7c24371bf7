//! The kinds and the codes of hipfile's errors, from its sources.

use std::collections::BTreeMap;

use super::Finding;
use super::tables::Row;
use super::tree::Tree;

const KINDS: &str = "hipfile/src/kind.rs";
const CAUSES: &str = "hipfile/src/cause.rs";
const CODES: &str = "hipfile/src/op_error.rs";
/// The phrases that the library has for the codes.
const STRINGS: &str = "soft-rocm/hipfile/src/strings.rs";

/// Each kind of error: the codes that become it, and what it becomes in std.
pub fn kinds(tree: &Tree) -> Result<Vec<Row>, Vec<Finding>> {
    let codes = op_errors(tree);
    let by_code = kinds_by_code(tree);
    let by_errno = arms(body(tree, CAUSES, "pub(crate) fn kind(&self)"), "libc::", "ErrorKind::");
    let std = arms(body(tree, KINDS, "impl From<ErrorKind> for io::ErrorKind"), "ErrorKind::", "Self::");
    let mut findings = Vec::new();
    let mut rows = Vec::new();
    for kind in variants(body(tree, KINDS, "pub enum ErrorKind")) {
        let numbers = codes.iter().filter(|code| by_code.get(code.variant) == Some(&kind));
        let numbers = numbers.map(|code| code.number.to_owned());
        let errnos = by_errno.iter().filter(|(_, of)| **of == kind).map(|(errno, _)| (*errno).to_owned());
        let from: Vec<String> = numbers.chain(errnos).collect();
        match std.get(kind) {
            Some(std) => rows.push(vec![format!("`{kind}`"), from.join(", "), format!("`{std}`")]),
            None => findings.push(Finding::new(KINDS, 0, format!("{kind} becomes no io::ErrorKind"))),
        }
    }
    if rows.is_empty() {
        findings.push(Finding::new(KINDS, 0, "no kinds of errors are found here"));
    }
    if findings.is_empty() { Ok(rows) } else { Err(findings) }
}

/// Each code of libhipfile: its names, its phrase, the kind that it becomes.
pub fn codes(tree: &Tree) -> Result<Vec<Row>, Vec<Finding>> {
    let by_code = kinds_by_code(tree);
    let strings = body(tree, STRINGS, "pub(crate) fn text");
    let phrase = |number: &str| {
        let arm = format!("{number} => c\"");
        let line = strings.lines().find_map(|line| line.trim().strip_prefix(arm.as_str()))?;
        line.strip_suffix("\",")
    };
    let mut findings = Vec::new();
    let mut rows = Vec::new();
    for OpError { variant, number, name } in op_errors(tree) {
        match (phrase(number), by_code.get(variant)) {
            (Some(phrase), Some(kind)) => rows.push(
                [number.to_owned()].into_iter().chain([variant, name, phrase, *kind].map(quoted)).collect(),
            ),
            (phrase, kind) => {
                let lacks = match (phrase, kind) {
                    (None, _) => format!("no phrase in {STRINGS}"),
                    _ => format!("no kind in {CAUSES}"),
                };
                findings.push(Finding::new(CODES, 0, format!("{variant} has {lacks}")));
            }
        }
    }
    if rows.is_empty() {
        findings.push(Finding::new(CODES, 0, "no codes are found here"));
    }
    if findings.is_empty() { Ok(rows) } else { Err(findings) }
}

fn quoted(code: &str) -> String {
    format!("`{code}`")
}

/// A code of libhipfile.
struct OpError<'a> {
    variant: &'a str,
    number: &'a str,
    name: &'a str,
}

/// The lines `Variant = number, "name", "text";`.
fn op_errors(tree: &Tree) -> Vec<OpError<'_>> {
    let text = tree.get(CODES).map_or("", |file| &file.text);
    let lines = text.lines().skip_while(|line| *line != "op_errors! {").take_while(|line| *line != "}");
    lines
        .filter_map(|line| {
            let (variant, rest) = line.trim().split_once(" = ")?;
            let (number, rest) = rest.split_once(", \"")?;
            Some(OpError { variant, number, name: rest.split('"').next()? })
        })
        .collect()
}

/// The kind of each code, by the code's name in Rust.
fn kinds_by_code(tree: &Tree) -> BTreeMap<&str, &str> {
    arms(body(tree, CAUSES, "fn op_kind("), "OpError::", "ErrorKind::")
}

/// What follows the line that contains `start`, to the `}` below its first character.
fn body<'a>(tree: &'a Tree, path: &str, start: &str) -> &'a str {
    let text = tree.get(path).map_or("", |file| file.text.as_str());
    let Some((before, rest)) = text.split_once(start) else { return "" };
    let line = before.rsplit('\n').next().unwrap_or_default();
    let indent: String = line.chars().take_while(|c| *c == ' ').collect();
    rest.split(&format!("\n{indent}}}\n")).next().unwrap_or_default()
}

/// The names of an enum's variants.
fn variants(body: &str) -> Vec<&str> {
    let lines = body.lines().filter_map(|line| line.strip_prefix("    ")?.strip_suffix(','));
    lines.filter(|name| name.chars().all(char::is_alphanumeric)).collect()
}

/// What each `pattern` of a `match` becomes: `a::X | a::Y => b::Z`.
fn arms<'a>(body: &'a str, pattern: &str, result: &str) -> BTreeMap<&'a str, &'a str> {
    let mut arms = BTreeMap::new();
    let mut waiting = Vec::new();
    for word in body.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        if let Some(name) = word.strip_prefix(result) {
            arms.extend(waiting.drain(..).map(|pattern| (pattern, name)));
        } else if let Some(name) = word.strip_prefix(pattern) {
            waiting.push(name);
        }
    }
    arms
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: &str = "/// A.\npub enum ErrorKind {\n    /// B.\n    Os,\n    Busy,\n    Hip,\n}\n\n\
        impl From<ErrorKind> for io::ErrorKind {\n    /// | `Os` | x |\n    fn from(kind: ErrorKind) -> Self {\n        match kind {\n\
        \x20           ErrorKind::Busy => Self::ResourceBusy,\n            ErrorKind::Os\n            | ErrorKind::Hip => Self::Other,\n        }\n    }\n}\n";
    const CAUSE: &str = "impl Cause {\n    pub(crate) fn kind(&self) -> ErrorKind {\n        match self {\n\
        \x20           Self::Os(libc::EBUSY | libc::EAGAIN) => ErrorKind::Busy,\n            Self::Os(_) => ErrorKind::Os,\n\
        \x20           Self::Op(code) => op_kind(*code),\n        }\n    }\n}\n\nfn op_kind(code: OpError) -> ErrorKind {\n    match code {\n\
        \x20       OpError::One\n        | OpError::Two => {\n            ErrorKind::Hip\n        }\n        OpError::Three => ErrorKind::Busy,\n    }\n}\n";
    const CODE: &str = "macro_rules! op_errors {}\n\nop_errors! {\n    One = 1, \"hipOne\", \"ours\";\n    Two = 2, \"hipTwo\", \"ours\";\n\
        \x20   Three = 3, \"hipThree\", \"ours\";\n}\n";
    const TEXT: &str = "pub(crate) fn text(code: T) {\n        1 => c\"first\",\n        2 => c\"second\",\n        3 => c\"third\",\n}\n";

    fn tree(kind: &str, code: &str) -> Tree {
        Tree::of(&[(KINDS, kind), (CAUSES, CAUSE), (CODES, code), (STRINGS, TEXT)])
    }

    fn messages(findings: Result<Vec<Row>, Vec<Finding>>) -> Vec<String> {
        findings.unwrap_err().into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn kinds_have_their_codes_and_std_s_kind() {
        let expected = [
            ["`Os`", "", "`Other`"],
            ["`Busy`", "3, EAGAIN, EBUSY", "`ResourceBusy`"],
            ["`Hip`", "1, 2", "`Other`"],
        ];
        assert_eq!(kinds(&tree(KIND, CODE)).unwrap(), expected);
        let more = KIND.replace("    Hip,\n", "    Hip,\n    New,\n");
        assert_eq!(messages(kinds(&tree(&more, CODE))), ["New becomes no io::ErrorKind"]);
        assert_eq!(messages(kinds(&tree("", CODE))), ["no kinds of errors are found here"]);
    }

    #[test]
    fn codes_have_names_phrase_and_kind() {
        let expected = [
            ["1", "`One`", "`hipOne`", "`first`", "`Hip`"],
            ["2", "`Two`", "`hipTwo`", "`second`", "`Hip`"],
            ["3", "`Three`", "`hipThree`", "`third`", "`Busy`"],
        ];
        assert_eq!(codes(&tree(KIND, CODE)).unwrap(), expected);
        let more = CODE.replace("Two = 2", "Four = 4").replace("Three = 3", "Five = 3");
        let expected = [
            "Four has no phrase in soft-rocm/hipfile/src/strings.rs",
            "Five has no kind in hipfile/src/cause.rs",
        ];
        assert_eq!(messages(codes(&tree(KIND, &more))), expected);
        assert_eq!(messages(codes(&tree(KIND, ""))), ["no codes are found here"]);
    }
}
