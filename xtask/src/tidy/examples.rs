//! Rules for the examples in documentation: everything public is shown in one, and they run.

use super::Finding;
use super::public::{Item, Kind, declared, items, opened};
use super::source::PUBLISHED;
use super::tree::{File, Tree};

/// Pages with programs for a machine with a GPU, or for files that the reader has: they are compiled and not run.
const GPU_PAGES: &[&str] = &["README.md", "docs/src/first-read.md"];

/// Where the pages are named whose programs are compiled.
const PAGES_IN: &str = "tests/src/lib.rs";

/// An example in documentation.
#[derive(Debug, Default)]
struct Example<'a> {
    /// Where it begins.
    line: usize,
    /// What stands behind the fence.
    attributes: &'a str,
    /// The type that it documents, or whose function it documents.
    owner: Option<&'a str>,
    code: String,
}

impl Example<'_> {
    fn has(&self, attribute: &str) -> bool {
        self.attributes.split([',', ' ']).any(|part| part == attribute)
    }

    /// Whether the test suite runs it.
    fn runs(&self) -> bool {
        let other = |part: &str| !matches!(part, "" | "rust" | "should_panic");
        !self.attributes.split([',', ' ']).any(other)
    }

    /// Whether it is compiled and not run.
    fn is_idle(&self) -> bool {
        self.has("no_run") || self.has("ignore")
    }
}

/// Each public type and function of a package is used by name in an example of that package which runs.
pub fn everything_is_shown(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in PUBLISHED {
        let documents = tree.files.iter().filter(|file| documents(file, package));
        let examples: Vec<_> = documents.flat_map(examples).filter(Example::runs).collect();
        let items = items(tree, package);
        for item in &items {
            let unique = items.iter().filter(|other| other.name == item.name).count() == 1;
            if !examples.iter().any(|example| shows(example, item, unique)) {
                let owner = item.owner.map(|owner| format!("{owner}::")).unwrap_or_default();
                let message = format!("no example uses {owner}{}: show it in its documentation", item.name);
                findings.push(Finding::new(item.path, item.line, message));
            }
        }
    }
    findings
}

/// Whether the examples of a file are compiled with a package.
fn documents(file: &File, package: &str) -> bool {
    let source = file.path.starts_with(&format!("{package}src/")) && !file.is_test() && !file.is_generated();
    (source && file.path.ends_with(".rs")) || file.path == format!("{package}README.md")
}

/// Whether an example uses an item. A method whose name is not `unique` counts where its type is documented or named.
fn shows(example: &Example<'_>, item: &Item<'_>, unique: bool) -> bool {
    let code = &example.code;
    match (item.kind, item.owner) {
        (Kind::Type, _) => has_word(code, item.name, |_, _| true),
        (_, None) => has_word(code, item.name, |_, after| after.starts_with(['(', ':'])),
        (kind, Some(owner)) => {
            let known = unique || example.owner == Some(owner) || has_word(code, owner, |_, _| true);
            let by_path = |before: &str, _: &str| before.ends_with("::");
            let by_dot = |before: &str, after: &str| before.ends_with('.') && after.starts_with(['(', ':']);
            let dotted = kind == Kind::Method && has_word(code, item.name, by_dot);
            known && (dotted || has_word(code, item.name, by_path) || implements(code, item))
        }
    }
}

/// Whether an example defines the function of a trait.
fn implements(code: &str, item: &Item<'_>) -> bool {
    let trait_named = |owner| code.contains(&format!("{owner} for "));
    item.owner.is_some_and(trait_named) && has_word(code, item.name, |before, _| before.ends_with("fn "))
}

/// Whether `word` stands in `code` as a whole word with the right text before and after it.
fn has_word(code: &str, word: &str, fits: impl Fn(&str, &str) -> bool) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + word.len()..]);
        !before.ends_with(part) && !after.starts_with(part) && fits(before, after)
    })
}

/// Examples are compiled and run, other than on pages for machines that the tests do not have.
pub fn examples_run(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let named = tree.get(PAGES_IN).map(|file| file.text.as_str()).unwrap_or_default();
    for file in documented(tree).filter(|file| is_page(file)) {
        let compiled = examples(file).iter().any(|example| example.runs() || example.is_idle());
        if compiled && !named.contains(&format!("/{}\"", file.path)) {
            findings.push(Finding::new(
                &file.path,
                0,
                format!("{PAGES_IN} does not name this page with examples"),
            ));
        }
    }
    for file in documented(tree).filter(|file| !GPU_PAGES.contains(&file.path.as_str())) {
        for example in examples(file).into_iter().filter(Example::is_idle) {
            let attributes = example.attributes;
            let message = format!("`{attributes}`: the software ROCm runs every example, so let it run");
            findings.push(Finding::new(&file.path, example.line, message));
        }
    }
    findings
}

/// How many examples there are, and how many of them are not run.
pub fn tally(tree: &Tree) -> String {
    let all: Vec<_> = documented(tree).flat_map(examples).collect();
    let run = all.iter().filter(|example| example.runs()).count();
    let idle = all.iter().filter(|example| example.is_idle()).count();
    format!("{run} examples in documentation run, {idle} do not")
}

/// The files whose examples the test suite knows.
fn documented(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.files.iter().filter(|file| is_page(file) || PUBLISHED.iter().any(|package| documents(file, package)))
}

/// Whether a file is a page of the book or the one that greets readers, which no package compiles.
fn is_page(file: &File) -> bool {
    file.path == "README.md" || (file.path.starts_with("docs/src/") && file.path.ends_with(".md"))
}

/// The fenced blocks of a page, or of the comments that document a source.
fn examples(file: &File) -> Vec<Example<'_>> {
    let page = file.path.ends_with(".md");
    let mut examples: Vec<Example<'_>> = Vec::new();
    // Those whose item comes below.
    let mut waiting = 0;
    let mut open: Option<Example<'_>> = None;
    let mut block = None;
    for (line, text) in file.lines() {
        let comment = if page { Some(text) } else { documentation(text) };
        let Some(comment) = comment else {
            open = None;
            if let Some((owner, _)) = opened(text) {
                block = Some(owner);
            } else if text.starts_with('}') {
                block = None;
            }
            if !text.trim_start().starts_with("#[") {
                let block_or_item = opened(text).map(|(owner, _)| owner);
                let own =
                    block_or_item.or(text.strip_prefix("pub ").and_then(declared).map(|(_, name)| name));
                let owner = if text.starts_with(' ') { block } else { own };
                examples.iter_mut().rev().take(waiting).for_each(|example| example.owner = owner);
                waiting = 0;
            }
            continue;
        };
        let shown = comment.trim_start();
        match (open.as_mut(), shown.strip_prefix("```")) {
            (None, Some(attributes)) => {
                let attributes = attributes.trim();
                // A page's block without a language is text.
                let attributes = if page && attributes.is_empty() { "text" } else { attributes };
                open = Some(Example { line, attributes, ..Example::default() });
            }
            (Some(_), Some(_)) => {
                examples.extend(open.take());
                waiting += 1;
            }
            (Some(example), None) => {
                example.code.push_str(shown.strip_prefix("# ").unwrap_or(shown));
                example.code.push('\n');
            }
            (None, None) => {}
        }
    }
    examples
}

/// The text of a line that documents something.
fn documentation(line: &str) -> Option<&str> {
    let code = line.trim_start();
    code.strip_prefix("///").or_else(|| code.strip_prefix("//!"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)]) -> Vec<String> {
        let findings = rule(&Tree::of(files)).into_iter();
        findings.map(|finding| format!("{}:{} {}", finding.path, finding.line, finding.message)).collect()
    }

    fn shown(text: &str) -> Vec<String> {
        let lib = ("hipfile/src/lib.rs", "pub use a::{Thing, Other, make};\n");
        let findings = check(everything_is_shown, &[lib, ("hipfile/src/a.rs", text)]).into_iter();
        let name = |finding: String| finding.split([' ', ':']).skip(5).take(3).collect::<Vec<_>>().join(":");
        findings.map(name).map(|name| name.trim_end_matches(":show").to_owned()).collect()
    }

    #[test]
    fn types_functions_and_methods_are_shown_by_name() {
        let text = "\
/// ```
/// let thing = Thing::new();
/// # make();
/// ```
pub struct Thing;

impl Thing {
    pub fn new() -> Self {}

    /// ```
    /// assert_eq!(thing
    ///     .len(), 0);
    /// ```
    pub fn len(&self) {}
}

pub fn make() {}
";
        assert_eq!(shown(text), [""; 0]);
        let broken = text.replace("Thing::new", "Thing::renew");
        assert_eq!(shown(&broken), ["Thing::new"]);
        assert_eq!(shown(&text.replace("# make()", "# remake()")), ["make:"]);
        assert_eq!(shown(&text.replace(".len(), 0", ".length, 0")), ["Thing::len"]);
        assert_eq!(shown(&text.replacen("```", "```no_run", 1)), ["Thing:", "make:", "Thing::new"]);
        let on_the_block = "pub struct Thing;\n/// ```\n/// x.len();\n/// ```\nimpl Thing {\n    pub fn len(&self) {}\n}\n\
            pub struct Other;\n\nimpl Other {\n    pub fn len(&self) {}\n}\n";
        assert_eq!(shown(on_the_block), ["Thing:", "Other:", "Other::len"]);
    }

    #[test]
    fn a_method_of_the_same_name_is_no_example() {
        let text = "\
/// ```
/// Thing
/// ```
pub struct Thing;
/// ```
/// let other: Other = f();
/// other.len();
/// ```
pub struct Other;

impl Thing {
    pub fn len(&self) {}
}

impl Other {
    pub fn len(&self) {}
}
";
        assert_eq!(shown(text), ["Thing::len"]);
        assert_eq!(shown(&text.replace("impl Other", "impl Unknown")), [""; 0]);
        let named = text.replace("let other", "let thing = Thing::new(); let other");
        assert_eq!(shown(&named), [""; 0]);
    }

    #[test]
    fn a_trait_is_shown_by_implementing_it() {
        let text = "\
/// ```
/// unsafe impl Thing for Mine {
///     fn len(&self) -> usize {}
/// }
/// ```
pub unsafe trait Thing {
    fn len(&self) -> usize;
}
";
        assert_eq!(shown(text), [""; 0]);
        assert_eq!(shown(&text.replace("///     fn len", "///     fn length")), ["Thing::len"]);
    }

    #[test]
    fn examples_run() {
        let source = "/// ```no_run\n/// ```\n//! ```rust,ignore\n//! ```\n/// ```\n/// ```\n/// ```compile_fail,E0382\n/// ```\n";
        let page = "```\nignore\n```\n```rust,no_run\n```\n";
        let files = [
            ("hipfile/src/a.rs", source),
            ("xtask/src/a.rs", source),
            ("docs/src/a.md", page),
            ("docs/src/first-read.md", page),
        ];
        let found = check(super::examples_run, &files);
        let lines: Vec<_> = found.iter().filter_map(|finding| finding.split(' ').next()).collect();
        let unnamed = ["docs/src/a.md:0", "docs/src/first-read.md:0"];
        assert_eq!(
            lines,
            [&unnamed[..], &["hipfile/src/a.rs:1", "hipfile/src/a.rs:3", "docs/src/a.md:4"]].concat()
        );
        let named = "#[doc = include_str!(\"../../docs/src/a.md\")]\n\"../../docs/src/first-read.md\"\n";
        let found = check(super::examples_run, &[files[2], files[3], ("tests/src/lib.rs", named)]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(tally(&Tree::of(&files)), "1 examples in documentation run, 4 do not");
    }
}
