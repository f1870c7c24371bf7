//! The page about tracing names every span, and no other.

use std::collections::BTreeMap;

use super::Finding;
use super::tree::{File, Tree};

const PAGE: &str = "docs/src/tracing.md";
const SPANS: &str = "hipfile/src/trace/spans.rs";

/// The spans of the source are those of the page's table.
pub fn documented(tree: &Tree) -> Vec<Finding> {
    let (Some(page), Some(source)) = (tree.get(PAGE), tree.get(SPANS)) else { return Vec::new() };
    let (named, made) = (named(page), made(source));
    let unnamed = made.iter().filter(|(name, _)| !named.contains_key(*name));
    let unmade = named.iter().filter(|(name, _)| !made.contains_key(*name));
    let unnamed = unnamed
        .map(|(name, line)| Finding::new(SPANS, *line, format!("{PAGE} does not name the span {name}")));
    let unmade =
        unmade.map(|(name, line)| Finding::new(PAGE, *line, format!("{SPANS} makes no span {name}")));
    unnamed.chain(unmade).collect()
}

/// The names in the first cells of the table of spans, with their lines.
fn named(page: &File) -> BTreeMap<&str, usize> {
    let rows = page.lines().skip_while(|(_, text)| !text.starts_with("| span |")).skip(2);
    let rows = rows.take_while(|(_, text)| text.starts_with('|'));
    let cells = rows.filter_map(|(line, row)| Some((line, row.split('|').nth(1)?)));
    cells.flat_map(|(line, cell)| cell.split('`').skip(1).step_by(2).map(move |name| (name, line))).collect()
}

/// The names that the source gives to spans, with their lines: the first literal of each use of its macros.
fn made(source: &File) -> BTreeMap<&str, usize> {
    let uses = source.lines().filter_map(|(line, text)| {
        let (_, arguments) = text.split_once("span!(").or_else(|| text.split_once("transfer!("))?;
        // In the macros themselves the name is not a literal.
        let name = arguments.split('"').nth(1).filter(|_| !arguments.contains("target:"))?;
        Some((name, line))
    });
    uses.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_page_agree() {
        let source = "tracing::span!(target: \"hipfile\", $name)\nA => span!(\"open\", path = x),\nB => transfer!(DEBUG, \"read\", mode, bytes),\n";
        let page = "`none`\n\n| span | of |\n|---|---|\n| `open`, `read` | `other` |\n\n| `x` | |\n";
        let found = |source: &str, page: &str| {
            let findings = documented(&Tree::of(&[(SPANS, source), (PAGE, page)]));
            findings.iter().map(Finding::to_string).collect::<Vec<_>>()
        };
        assert_eq!(found(source, page), [""; 0]);
        let renamed = source.replace("\"open\"", "\"opened\"");
        let expected = [
            format!("{SPANS}:2: {PAGE} does not name the span opened"),
            format!("{PAGE}:5: {SPANS} makes no span open"),
        ];
        assert_eq!(found(&renamed, page), expected);
    }
}
