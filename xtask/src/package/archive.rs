//! The archives that would be uploaded, and what must be in them.

use std::fs;
use std::path::{Path, PathBuf};

use super::PUBLISHED;
use crate::cargo::must;
use crate::rocm::Rocm;
use crate::{Result, workspace};

/// One `.crate` file.
#[derive(Debug)]
pub struct Archive {
    /// The name of its package.
    pub package: &'static str,
    /// Where it is.
    pub path: PathBuf,
}

/// Packs the published packages.
pub fn pack(rocm: &Rocm) -> Result<Vec<Archive>> {
    let dir = dir();
    // What an earlier version left must not pass for this one.
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    let mut command = rocm.cargo();
    command.args(["package", "--quiet", "--locked", "--offline", "--allow-dirty", "--no-verify"]);
    command.env("CARGO_TARGET_DIR", workspace::target_dir());
    for package in PUBLISHED {
        command.args(["-p", package]);
    }
    must(&mut command)?;
    packed()
}

/// The archives that were packed last.
pub fn packed() -> Result<Vec<Archive>> {
    PUBLISHED.iter().map(|package| find(&dir(), package)).collect()
}

/// Where cargo puts them.
fn dir() -> PathBuf {
    workspace::target_dir().join("package")
}

/// The one archive of a package.
fn find(dir: &Path, package: &'static str) -> Result<Archive> {
    let of_package = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let version = name.strip_prefix(package).and_then(|rest| rest.strip_prefix('-'));
        version.is_some_and(|version| {
            version.ends_with(".crate") && version.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        found.push(entry?.path());
    }
    found.retain(of_package);
    match <[PathBuf; 1]>::try_from(found) {
        Ok([path]) => Ok(Archive { package, path }),
        Err(found) => Err(format!("{} archives of {package} in {}", found.len(), dir.display()).into()),
    }
}

/// What every archive holds besides its sources.
const FILES: [&str; 5] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "src/lib.rs"];

/// What the index and docs.rs read of a manifest.
const KEYS: [&str; 8] =
    ["categories", "description", "edition", "keywords", "license", "readme", "repository", "rust-version"];

impl Archive {
    /// Its name without the folder.
    pub fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The name of the folder inside it: `hipfile-0.1.0`.
    pub fn stem(&self) -> String {
        self.file_name().trim_end_matches(".crate").to_owned()
    }

    /// How many bytes would be uploaded.
    pub fn size(&self) -> Result<u64> {
        Ok(fs::metadata(&self.path)?.len())
    }

    /// Whether everything is in it, given the folder it was unpacked into.
    pub fn check(&self, folder: &Path) -> Result<()> {
        let lacks: Vec<String> = self.lacks(folder).collect();
        if lacks.is_empty() {
            Ok(())
        } else {
            Err(format!("{}: {}", self.file_name(), lacks.join(", ")).into())
        }
    }

    fn lacks(&self, folder: &Path) -> impl Iterator<Item = String> {
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let (manifest, readme) = (text("Cargo.toml"), text("README.md"));
        let missing =
            FILES.iter().filter(|file| !folder.join(file).is_file()).map(|file| format!("no {file}"));
        let unsaid = KEYS
            .iter()
            .filter(|key| !manifest.lines().any(|line| line.starts_with(&format!("{key} = "))))
            .map(|key| format!("no `{key}` in Cargo.toml"));
        let docs = (!manifest.contains("[package.metadata.docs.rs]"))
            .then(|| "no [package.metadata.docs.rs] in Cargo.toml".to_owned());
        let dead = relative_links(&readme)
            .filter(|link| !folder.join(link).exists())
            .map(|link| format!("README.md links to {link}, which others do not have"));
        let all: Vec<String> = missing.chain(unsaid).chain(docs).chain(dead).collect();
        all.into_iter()
    }
}

/// The links of a page that lead to files.
fn relative_links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', '#', ' ']).next())
        .filter(|link| !link.is_empty() && !link.contains("://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_archive_lacks_is_named() {
        let dir = tempfile::tempdir().unwrap();
        for file in FILES {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let keys: String = KEYS.iter().map(|key| format!("{key} = 1\n")).collect();
        let manifest = dir.path().join("Cargo.toml");
        fs::write(&manifest, format!("{keys}[package.metadata.docs.rs]\n")).unwrap();
        let archive = Archive { package: "a", path: "x/a-1.0.0.crate".into() };
        assert_eq!(archive.stem(), "a-1.0.0");
        archive.check(dir.path()).unwrap();

        fs::remove_file(dir.path().join("LICENSE-MIT")).unwrap();
        fs::write(&manifest, keys.replace("readme", "#")).unwrap();
        fs::write(dir.path().join("README.md"), "[a](src/lib.rs) [b](../b.md#c) [d](https://x) [e](#f)")
            .unwrap();
        let error = archive.check(dir.path()).unwrap_err().to_string();
        let expected = "a-1.0.0.crate: no LICENSE-MIT, no `readme` in Cargo.toml, no [package.metadata.docs.rs] in Cargo.toml, \
                        README.md links to ../b.md, which others do not have";
        assert_eq!(error, expected);
    }

    #[test]
    fn the_archive_of_a_package_is_not_that_of_another() {
        let dir = tempfile::tempdir().unwrap();
        let names = ["hipfile-0.1.0.crate", "hipfile-sys-0.1.0+hipfile-0.5.0.crate", "hipfile-0.1.0"];
        names.iter().for_each(|name| fs::write(dir.path().join(name), "").unwrap());
        assert_eq!(find(dir.path(), "hipfile").unwrap().file_name(), names[0]);
        assert_eq!(find(dir.path(), "hipfile-sys").unwrap().file_name(), names[1]);
        assert!(
            find(dir.path(), "hip-alloc").unwrap_err().to_string().starts_with("0 archives of hip-alloc")
        );
        fs::write(dir.path().join("hipfile-0.2.0.crate"), "").unwrap();
        assert!(find(dir.path(), "hipfile").unwrap_err().to_string().starts_with("2 archives of hipfile"));
    }
}
