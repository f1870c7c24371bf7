//! The features of the published packages, from their manifests.

use super::Finding;
use super::source::PUBLISHED;
use super::tables::Row;
use super::tree::{File, Tree};

/// A feature that users can choose.
struct Feature<'a> {
    name: &'a str,
    default: bool,
}

/// Each feature with the packages that have it.
pub fn of_all(tree: &Tree) -> Result<Vec<Row>, Vec<Finding>> {
    let mut rows: Vec<(&str, bool, Vec<String>)> = Vec::new();
    // The one that most people use comes first.
    for package in PUBLISHED.iter().rev() {
        for Feature { name, default } in of(tree, package) {
            let package = format!("`{}`", package.trim_end_matches('/'));
            match rows.iter_mut().find(|(known, on, _)| (*known, *on) == (name, default)) {
                Some((.., packages)) => packages.push(package),
                None => rows.push((name, default, vec![package])),
            }
        }
    }
    let row = |(name, default, packages): (&str, _, Vec<String>)| {
        vec![packages.join(", "), format!("`{name}`"), on(default)]
    };
    Ok(rows.into_iter().map(row).collect())
}

pub fn of_hipfile(tree: &Tree) -> Result<Vec<Row>, Vec<Finding>> {
    Ok(rows(&of(tree, "hipfile/")))
}

pub fn of_hip_alloc(tree: &Tree) -> Result<Vec<Row>, Vec<Finding>> {
    Ok(rows(&of(tree, "hip-alloc/")))
}

fn rows(features: &[Feature<'_>]) -> Vec<Row> {
    features.iter().map(|feature| vec![format!("`{}`", feature.name), on(feature.default)]).collect()
}

fn on(default: bool) -> String {
    if default { "on" } else { "off" }.to_owned()
}

/// The features of a package, in the order of its manifest.
fn of<'a>(tree: &'a Tree, package: &str) -> Vec<Feature<'a>> {
    let Some(manifest) = tree.get(&format!("{package}Cargo.toml")) else { return Vec::new() };
    let features: Vec<_> = section(manifest).collect();
    let default = features.iter().find(|(name, _)| *name == "default").map_or("", |(_, value)| value);
    let is_default = |name: &str| default.split('"').any(|part| part == name);
    let chosen = features.iter().filter(|(name, _)| *name != "default");
    chosen.map(|(name, _)| Feature { name, default: is_default(name) }).collect()
}

/// The lines `name = value` of `[features]`.
fn section(manifest: &File) -> impl Iterator<Item = (&str, &str)> {
    let lines = manifest.text.lines().skip_while(|line| *line != "[features]").skip(1);
    lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once(" = "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_one_name_are_one_row() {
        let hipfile = "[features]\ndefault = [\"link\"]\n# Links.\nlink = [\"a/link\"]\nextra = []\n\n[dependencies]\nx = \"1\"\n";
        let sys = "[package]\n\n[features]\ndefault = [\"link\"]\nlink = []\nbindgen = [\"dep:bindgen\"]\n";
        let tree = Tree::of(&[("hipfile/Cargo.toml", hipfile), ("hipfile-sys/Cargo.toml", sys)]);
        let expected = [
            ["`hipfile`, `hipfile-sys`", "`link`", "on"],
            ["`hipfile`", "`extra`", "off"],
            ["`hipfile-sys`", "`bindgen`", "off"],
        ];
        assert_eq!(of_all(&tree).unwrap(), expected);
        assert_eq!(of_hipfile(&tree).unwrap(), [["`link`", "on"], ["`extra`", "off"]]);
        assert!(of_hip_alloc(&tree).unwrap().is_empty());
    }
}
