//! The system that is looked at: a root folder and variables.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A root folder below which `/proc`, `/sys`, `/dev` and the rest are, and the variables that matter.
#[derive(Clone, Debug)]
pub struct System {
    root: PathBuf,
    variables: BTreeMap<&'static str, OsString>,
}

/// What is asked of the environment.
const VARIABLES: &[&str] = &[
    "HIPFILE_ALLOW_COMPAT_MODE",
    "HIPFILE_ASYNC_BUFFER_SIZE",
    "HIPFILE_FORCE_COMPAT_MODE",
    "HIPFILE_STATS_LEVEL",
    "HIPFILE_UNSUPPORTED_FILE_SYSTEMS",
    "HIP_PATH",
    "LD_LIBRARY_PATH",
    "ROCM_HOME",
    "ROCM_PATH",
];

impl System {
    pub fn new(root: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let variables =
            VARIABLES.iter().filter_map(|name| Some((*name, variable(name)?))).collect::<BTreeMap<_, _>>();
        Self { root: root.to_owned(), variables }
    }

    /// Where a path of that system, such as `/proc/cpuinfo`, is found by this process.
    pub fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Where a path that someone gave is found: a relative one counts from the working directory, if the system is this one.
    pub fn locate(&self, path: &Path) -> PathBuf {
        match path.is_relative() && self.root == Path::new("/") {
            true => path.to_owned(),
            false => self.at(path),
        }
    }

    /// A path of this process as one of that system.
    pub fn inside(&self, path: &Path) -> PathBuf {
        match self.root.canonicalize().ok().and_then(|root| path.strip_prefix(root).ok().map(Path::to_owned))
        {
            Some(relative) => Path::new("/").join(relative),
            None => path.to_owned(),
        }
    }

    /// The text of a file; what is no UTF-8 in it is replaced.
    pub fn read(&self, path: impl AsRef<Path>) -> io::Result<String> {
        fs::read(self.at(path)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The text of a short file without blanks around it, as in sysfs; none if it can't be read.
    pub fn word(&self, path: impl AsRef<Path>) -> Option<String> {
        self.read(path).ok().map(|text| text.trim().to_owned())
    }

    /// The text of a file that is compressed by gzip.
    pub fn unpacked(&self, path: impl AsRef<Path>) -> Option<String> {
        let file = self.at(path);
        if !file.exists() {
            return None;
        }
        let output = Command::new("gzip").arg("-dc").arg(file).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.at(path).exists()
    }

    /// The names in a folder, sorted; none if there is no such folder.
    pub fn names(&self, folder: impl AsRef<Path>) -> Vec<String> {
        let entries = fs::read_dir(self.at(folder)).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The kernel's release, as `uname -r` prints it.
    pub fn release(&self) -> Option<String> {
        self.word("/proc/sys/kernel/osrelease")
    }

    pub fn variable(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name)
    }
}

/// A system of files that a test makes up.
#[cfg(test)]
pub mod made_up {
    use super::*;

    /// The folder, and the system in it.
    pub struct MadeUp {
        pub system: System,
        _dir: tempfile::TempDir,
    }

    /// Files with their content. A path that ends in `/` is a folder; a content that begins with `->` makes a link.
    pub fn system(files: &[(&str, &str)]) -> MadeUp {
        with_variables(files, &[])
    }

    pub fn with_variables(files: &[(&str, &str)], variables: &[(&str, &str)]) -> MadeUp {
        let dir = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let place = dir.path().join(path.trim_start_matches('/'));
            let folder = if path.ends_with('/') { &place } else { place.parent().unwrap() };
            fs::create_dir_all(folder).unwrap();
            match content.strip_prefix("->") {
                Some(target) => std::os::unix::fs::symlink(target, place).unwrap(),
                None if path.ends_with('/') => {}
                None => fs::write(place, content).unwrap(),
            }
        }
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        let system = System::new(dir.path(), variable);
        MadeUp { system, _dir: dir }
    }

    #[test]
    fn paths_lead_below_the_root_and_back() {
        let made = system(&[("/proc/sys/kernel/osrelease", "6.8.0\n"), ("/b", ""), ("/a/", "")]);
        assert_eq!(made.system.release().as_deref(), Some("6.8.0"));
        assert_eq!(made.system.names("/"), ["a", "b", "proc"]);
        assert_eq!(made.system.names("/nothing"), [""; 0]);
        let place = made.system.at("/b").canonicalize().unwrap();
        assert_eq!(made.system.inside(&place), Path::new("/b"));
        assert_eq!(made.system.inside(Path::new("/elsewhere")), Path::new("/elsewhere"));
        assert!(made.system.unpacked("/b.gz").is_none());
    }
}
