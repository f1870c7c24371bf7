//! A stranger's package that depends on the published ones by version.

use super::archive::Archive;
use crate::Result;

/// Its manifest, with the sections `dependencies` of the examples. The unpacked archives beside it stand in for what
/// the registry would give.
pub fn manifest(archives: &[Archive], dependencies: &str, members: bool) -> String {
    let members = if members { "members = [\"packages/*\"]\n" } else { "" };
    let packages = |line: fn(&Archive) -> String| archives.iter().map(line).collect::<String>();
    format!(
        "[package]
name = \"outsider\"
version = \"0.0.0\"
edition = \"2024\"

[features]
default = [\"link\"]
link = [\"hipfile/link\"]

[dependencies]
hipfile = {{ version = \"0\", default-features = false, features = [\"tracing\"] }}

{dependencies}
[workspace]
resolver = \"3\"
{members}
[patch.crates-io]
{}",
        packages(|archive| format!("{} = {{ path = \"packages/{}\" }}\n", archive.package, archive.stem())),
    )
}

/// The sections of a packed manifest that name the dev-dependencies which the examples use.
pub fn dev_dependencies(manifest: &str, examples: &str) -> String {
    let sections = manifest.split("\n[dev-dependencies.").skip(1);
    let used = sections.filter_map(|section| {
        let section = section.split("\n[").next()?.trim_end();
        let (name, _) = section.split_once(']')?;
        let used = examples.contains(&format!("{}::", name.replace('-', "_")));
        used.then(|| format!("[dev-dependencies.{section}\n\n"))
    });
    used.collect()
}

/// The first program in a README.
pub fn of_readme(readme: &str) -> Result<&str> {
    let program = readme.split_once("```rust\n").and_then(|(_, rest)| rest.split_once("```"));
    let (program, _) = program.ok_or("the README has no program")?;
    Ok(program)
}

/// Whether a packed manifest asks docs.rs for all features.
pub fn documents_all_features(manifest: &str) -> bool {
    let section = manifest.split_once("[package.metadata.docs.rs]").map_or("", |(_, rest)| rest);
    let section = section.split("\n[").next().unwrap_or_default();
    section.lines().any(|line| line.trim() == "all-features = true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_names_the_archives() {
        let archives = [Archive { package: "a", path: "/t/a-1.0.0+b.crate".into() }];
        let text = manifest(&archives, "[dev-dependencies.x]\nversion = \"1\"\n", true);
        assert!(text.contains("\n[dev-dependencies.x]\n"), "{text}");
        assert!(text.ends_with("[patch.crates-io]\na = { path = \"packages/a-1.0.0+b\" }\n"), "{text}");
        assert!(text.contains("members") && !manifest(&archives, "", false).contains("members"), "{text}");
    }

    #[test]
    fn the_dependencies_of_examples() {
        let manifest = "[dependencies.x]\nversion = \"1\"\n\n[dev-dependencies.a-b]\nversion = \"2\"\nfeatures = [\n    \"c\",\n]\n\n\
            [dev-dependencies.d]\nversion = \"3\"\n\n[lints.rust]\n";
        let expected = "[dev-dependencies.a-b]\nversion = \"2\"\nfeatures = [\n    \"c\",\n]\n\n";
        assert_eq!(dev_dependencies(manifest, "use a_b::f; x::y()"), expected);
    }

    #[test]
    fn the_program_of_a_page() {
        assert_eq!(of_readme("a\n```sh\nx\n```\n```rust\nfn main() {}\n```\nb").unwrap(), "fn main() {}\n");
        assert_eq!(of_readme("a").unwrap_err().to_string(), "the README has no program");
    }

    #[test]
    fn the_features_that_docs_rs_is_asked_for() {
        let manifest =
            "[package]\n[package.metadata.docs.rs]\nall-features = true\ntargets = []\n[features]\n";
        assert!(documents_all_features(manifest));
        assert!(!documents_all_features(
            "[package.metadata.docs.rs]\ntargets = []\n[x]\nall-features = true\n"
        ));
    }
}
