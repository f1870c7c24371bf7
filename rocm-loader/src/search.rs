//! The order in which installations of ROCm are looked at.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The ROCm installations to look at, best first.
///
/// A prefix need not exist: looking is what a search is for.
///
/// ```
/// for prefix in rocm_loader::Search::from_env().prefixes() {
///     println!("{}", prefix.join("lib").display());
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    prefixes: Vec<PathBuf>,
}

impl Search {
    /// The order on a system whose root directory is `root`: `rocm_path` unless empty, `opt/rocm/core-*` from the newest
    /// version to the oldest, `opt/rocm`.
    #[must_use]
    pub fn new(root: &Path, rocm_path: Option<&OsStr>) -> Self {
        let opt = root.join("opt/rocm");
        let mut prefixes = Vec::new();
        let chosen = rocm_path.filter(|path| !path.is_empty()).map(PathBuf::from);
        for prefix in chosen.into_iter().chain(cores(&opt)).chain([opt]) {
            if !prefixes.contains(&prefix) {
                prefixes.push(prefix);
            }
        }
        Self { prefixes }
    }

    /// The order on this system, with `ROCM_PATH` from the environment.
    #[must_use]
    pub fn from_env() -> Self {
        Self::new(Path::new("/"), std::env::var_os("ROCM_PATH").as_deref())
    }

    /// The prefixes, best first.
    #[must_use]
    pub fn prefixes(&self) -> &[PathBuf] {
        &self.prefixes
    }
}

/// The directories `core-VERSION` in `opt`, newest first. A name that is no version comes last.
fn cores(opt: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(opt).into_iter().flatten().flatten();
    let mut cores: Vec<_> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = version(name.strip_prefix("core-")?);
            entry.path().is_dir().then(|| (version, name, entry.path()))
        })
        .collect();
    cores.sort_by_key(|(version, name, _)| Reverse((version.clone(), name.clone())));
    cores.into_iter().map(|(_, _, path)| path).collect()
}

/// The numbers of a version such as `10.1`; none if it is not one.
fn version(text: &str) -> Option<Vec<u64>> {
    text.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::create_dir_all;

    fn names(root: &Path, rocm_path: Option<&str>) -> Vec<String> {
        let search = Search::new(root, rocm_path.map(OsStr::new));
        let relative = |prefix: &PathBuf| prefix.strip_prefix(root).unwrap_or(prefix).display().to_string();
        search.prefixes().iter().map(relative).collect()
    }

    #[test]
    fn without_anything_installed_only_the_default_is_left() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(names(root.path(), None), ["opt/rocm"]);
    }

    #[test]
    fn cores_come_newest_first_by_number() {
        let root = tempfile::tempdir().unwrap();
        for name in ["core-7.9", "core-7.14", "core-10.1", "core-10", "core-next", "kore-11"] {
            create_dir_all(root.path().join("opt/rocm").join(name)).unwrap();
        }
        std::fs::write(root.path().join("opt/rocm/core-99"), "not a directory").unwrap();
        let expected = [
            "opt/rocm/core-10.1",
            "opt/rocm/core-10",
            "opt/rocm/core-7.14",
            "opt/rocm/core-7.9",
            "opt/rocm/core-next",
            "opt/rocm",
        ];
        assert_eq!(names(root.path(), None), expected);
    }

    #[test]
    fn the_variable_comes_first_and_only_once() {
        let root = tempfile::tempdir().unwrap();
        create_dir_all(root.path().join("opt/rocm/core-7.14")).unwrap();
        assert_eq!(names(root.path(), Some("/mine")), ["/mine", "opt/rocm/core-7.14", "opt/rocm"]);
        let default = root.path().join("opt/rocm");
        assert_eq!(names(root.path(), default.to_str()), ["opt/rocm", "opt/rocm/core-7.14"]);
    }

    #[test]
    fn an_empty_variable_is_no_variable() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(names(root.path(), Some("")), ["opt/rocm"]);
    }
}
