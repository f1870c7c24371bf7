//! What the published packages offer to others, read from their sources.
//!
//! This is no parser of Rust: it relies on the layout that rustfmt gives, where an item begins at the left edge, its
//! members one step further in, and `}` at the left edge ends it.

use super::tree::{File, Tree};

/// A public type, trait, function or method.
#[derive(Debug, PartialEq, Eq)]
pub struct Item<'a> {
    pub path: &'a str,
    pub line: usize,
    /// The type or trait that a function belongs to.
    pub owner: Option<&'a str>,
    pub name: &'a str,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A struct, enum, union, trait or type alias.
    Type,
    /// A function without `self`.
    Function,
    /// A function with `self`.
    Method,
}

/// What a package offers: what its lib.rs names, and the functions of the types among that.
pub fn items<'a>(tree: &'a Tree, package: &str) -> Vec<Item<'a>> {
    let sources = format!("{package}src/");
    let files: Vec<&File> =
        tree.rust().filter(|file| file.path.starts_with(&sources) && !file.is_test()).collect();
    let Some(root) = tree.get(&format!("{sources}lib.rs")) else { return Vec::new() };
    let exports = exports(root);
    let offered = |file: &File, name: &str| {
        let module = file.path.strip_prefix(&sources).and_then(|path| path.strip_suffix(".rs"));
        let module = module.unwrap_or_default().trim_end_matches("/mod").replace('/', "::");
        let within =
            |of: &str| module == of || module.strip_prefix(of).is_some_and(|rest| rest.starts_with("::"));
        exports
            .iter()
            .any(|export| within(&export.module) && export.name.as_deref().is_none_or(|it| it == name))
    };
    let mut top = Vec::new();
    for file in &files {
        top.extend(top_level(file).into_iter().filter(|item| offered(file, item.name)));
    }
    let types: Vec<&str> = top.iter().filter(|item| item.kind == Kind::Type).map(|item| item.name).collect();
    let members = files
        .iter()
        .flat_map(|file| members(file))
        .filter(|item| item.owner.is_some_and(|owner| types.contains(&owner)));
    top.extend(members.collect::<Vec<_>>());
    top
}

/// `pub use module::Name;`, or `pub mod module;` without a name.
#[derive(Debug, PartialEq, Eq)]
struct Export {
    module: String,
    name: Option<String>,
}

/// What a lib.rs shows to others; what it hides from the documentation is not for them.
fn exports(root: &File) -> Vec<Export> {
    let mut exports = Vec::new();
    let mut hidden = false;
    let mut statement = String::new();
    for (_, line) in root.lines() {
        let code = line.trim();
        if code.starts_with("pub use ") || code.starts_with("pub mod ") || !statement.is_empty() {
            statement.push_str(code);
            if !code.ends_with(';') {
                continue;
            }
            if !hidden {
                exports.extend(names(&statement));
            }
            statement.clear();
        }
        hidden = code == "#[doc(hidden)]";
    }
    exports
}

/// The names of one `pub use` or `pub mod`.
fn names(statement: &str) -> Vec<Export> {
    let statement = statement.trim_end_matches(';');
    if let Some(module) = statement.strip_prefix("pub mod ") {
        return vec![Export { module: module.to_owned(), name: None }];
    }
    let path = statement.strip_prefix("pub use ").unwrap_or_default();
    let (module, names) = match path.split_once("::{") {
        Some((module, names)) => (module, names.trim_end_matches('}')),
        // A whole crate under another name has documentation of its own.
        None => path.rsplit_once("::").unwrap_or_default(),
    };
    let names = names.split(',').map(|name| name.split(" as ").next().unwrap_or_default().trim());
    let names = names.filter(|name| !name.is_empty() && *name != "*");
    names.map(|name| Export { module: module.to_owned(), name: Some(name.to_owned()) }).collect()
}

/// The public types and functions at the left edge of a file.
fn top_level(file: &File) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut attributes = Attributes::default();
    for (line, text) in file.lines() {
        let declared = text.strip_prefix("pub ").and_then(declared);
        if let (Some((kind, name)), false) = (declared, attributes.hidden) {
            items.push(Item { path: &file.path, line, owner: None, name, kind });
        }
        attributes.see(text);
    }
    items
}

/// The public functions in the `impl` blocks and public traits of a file.
fn members(file: &File) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut attributes = Attributes::default();
    let mut block: Option<(&str, &str)> = None;
    let lines: Vec<&str> = file.text.lines().collect();
    for (index, text) in lines.iter().enumerate() {
        if let Some(opened) = opened(text) {
            block = Some(opened);
        } else if text.starts_with('}') {
            block = None;
        }
        let declared = block.and_then(|(owner, start)| {
            let (Kind::Function, name) = declared(text.strip_prefix(start)?)? else { return None };
            Some((owner, name))
        });
        if let (Some((owner, name)), false) = (declared, attributes.hidden) {
            let kind = if takes_self(&lines, index) { Kind::Method } else { Kind::Function };
            items.push(Item { path: &file.path, line: index + 1, owner: Some(owner), name, kind });
        }
        attributes.see(text);
    }
    items
}

/// What stands above an item.
#[derive(Default)]
struct Attributes {
    hidden: bool,
}

impl Attributes {
    fn see(&mut self, line: &str) {
        let code = line.trim();
        self.hidden =
            code == "#[doc(hidden)]" || (self.hidden && (code.starts_with("#[") || code.starts_with("//")));
    }
}

/// The type whose public functions follow, and how the line of one begins.
pub fn opened(line: &str) -> Option<(&str, &'static str)> {
    if let Some(rest) = line.strip_prefix("impl") {
        let rest = rest.trim_start();
        let rest = if rest.starts_with('<') { after_generics(rest)? } else { rest };
        return (!rest.contains(" for ") || rest.contains("for<")).then(|| (word(rest), "    pub "));
    }
    let (kind, name) = declared(line.strip_prefix("pub ")?)?;
    (kind == Kind::Type && line.contains("trait ") && line.ends_with('{')).then_some((name, "    "))
}

/// What follows `<…>`.
fn after_generics(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            '>' if !text[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(text[at + 1..].trim_start());
        }
    }
    None
}

/// The kind and name of what a line declares, after `pub `.
pub fn declared(mut code: &str) -> Option<(Kind, &str)> {
    loop {
        let (first, rest) = code.split_once(' ')?;
        match first {
            "unsafe" | "async" | "extern" | "\"C\"" => {}
            "const" if ["fn ", "unsafe "].iter().any(|next| rest.starts_with(next)) => {}
            "fn" => return Some((Kind::Function, word(rest))),
            "struct" | "enum" | "union" | "trait" | "type" => return Some((Kind::Type, word(rest))),
            _ => return None,
        }
        code = rest;
    }
}

/// The identifier at the start of a text.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Whether the function declared at `index` has a receiver.
fn takes_self(lines: &[&str], index: usize) -> bool {
    let head: Vec<&str> = lines.iter().skip(index).take(2).copied().collect();
    let head = head.join(" ");
    let first = head.split_once("fn ").and_then(|(_, rest)| {
        let rest = rest.strip_prefix(word(rest))?;
        let rest = if rest.starts_with('<') { after_generics(rest)? } else { rest };
        rest.strip_prefix('(')?.trim_start().split([',', ')', ':']).next()
    });
    first.is_some_and(|first| first.split(['&', ' ']).any(|part| part == "self"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIB: &str = "mod a;\npub mod open;\npub use a::{First, make};\npub use a::hidden_no_more as shown;\n\
        #[doc(hidden)]\npub use a::Hidden;\npub use other as renamed;\npub use bindings::*;\n";

    const A: &str = "\
pub struct First;

impl First {
    pub fn new() -> Self {
    pub(crate) fn inner(&self) {}
    pub const unsafe fn get(&self) -> u8 {
    /// Words.
    #[doc(hidden)]
    #[must_use]
    pub fn secret(self) {}
}

impl<T: Fn() -> u8> First {
    pub fn many<U: Into<T>>(
        &mut self,
        x: u8,
    ) {
    }
}

impl Drop for First {
    fn drop(&mut self) {}
}

pub fn make() {}
pub fn hidden_no_more() {}
pub fn internal() {}
pub struct Hidden;

impl Hidden {
    pub fn no(&self) {}
}
pub const LIMIT: usize = 1;
";

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let tree = Tree::of(files);
        let items = items(&tree, "x/").into_iter();
        let text = |item: Item<'_>| {
            let owner = item.owner.map(|owner| format!("{owner}::")).unwrap_or_default();
            format!("{}{owner}{} {:?}", item.line, item.name, item.kind)
        };
        items.map(text).collect()
    }

    #[test]
    fn what_lib_names_is_public() {
        let open = "pub unsafe trait Open {\n    fn len(&self) -> usize;\n    #[doc(hidden)]\n    fn no(&self);\n}\n\
            pub trait Empty: Open {}\n\nimpl Open for u8 {\n    fn len(&self) -> usize {}\n}\n";
        let expected = [
            "1First Type",
            "25make Function",
            "26hidden_no_more Function",
            "1Open Type",
            "6Empty Type",
            "4First::new Function",
            "6First::get Method",
            "14First::many Method",
            "2Open::len Method",
        ];
        assert_eq!(found(&[("x/src/lib.rs", LIB), ("x/src/a.rs", A), ("x/src/open.rs", open)]), expected);
    }

    #[test]
    fn a_name_belongs_to_the_module_it_is_taken_from() {
        let lib = "pub use regions::Region;\n";
        let files = [("x/src/lib.rs", lib), ("x/src/region.rs", "pub struct Region;\n")];
        assert_eq!(found(&files), [""; 0]);
        let files = [("x/src/lib.rs", lib), ("x/src/regions/whole.rs", "\npub struct Region;\n")];
        assert_eq!(found(&files), ["2Region Type"]);
    }
}
