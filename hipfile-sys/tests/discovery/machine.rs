//! A machine to search: a file system and an environment of its own.

use std::ffi::OsString;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::discover;
use crate::env::Env;
use crate::found::Found;
use crate::pkg_config::Answer;

/// The target every machine builds for.
pub(crate) const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A file system and an environment to search.
pub(crate) struct Machine {
    pub(crate) root: TempDir,
    pub(crate) variables: Vec<(String, OsString)>,
    pub(crate) pkg_config: Result<Answer, String>,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let variables = vec![("TARGET".into(), TARGET.into())];
        let pkg_config = Err("no package 'hipfile'".into());
        Self { root: tempfile::tempdir().unwrap(), variables, pkg_config }
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.push((name.into(), value.into()));
    }

    pub(crate) fn header(&self, folder: &str, version: &str) -> PathBuf {
        let folder = self.path(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let mut text = String::from("#ifndef HIPFILE_H\n/* #define HIPFILE_VERSION_MAJOR 9 */\n");
        for (name, number) in ["MAJOR", "MINOR", "PATCH"].iter().zip(version.split('.')) {
            text += &format!("# define  HIPFILE_VERSION_{name}\t{number} // {name}\n");
        }
        std::fs::write(folder.join("hipfile.h"), text).unwrap();
        folder
    }

    pub(crate) fn library(&self, folder: &str) -> PathBuf {
        let folder = self.path(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("libhipfile.so"), "").unwrap();
        folder
    }

    pub(crate) fn prefix(&self, prefix: &str, version: &str) -> PathBuf {
        self.header(&format!("{prefix}/include"), version);
        self.library(&format!("{prefix}/lib"));
        self.path(prefix)
    }

    pub(crate) fn discover(&self) -> Result<Found, Vec<String>> {
        let lookup = |name: &str| {
            let found = self.variables.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.clone())
        };
        discover::discover(&Env::new(&lookup), self.root.path(), &|| self.pkg_config.clone())
    }

    pub(crate) fn found_in(&self, prefix: &str) -> Found {
        let found = self.discover().unwrap();
        assert_eq!(found.include, self.path(prefix).join("include"), "{found:?}");
        assert_eq!(found.lib_dir, Some(self.path(prefix).join("lib")), "{found:?}");
        found
    }

    /// The error, with the root directory written as `ROOT`.
    pub(crate) fn error(&self) -> Vec<String> {
        let root = self.root.path().display().to_string();
        self.discover().unwrap_err().iter().map(|line| line.replace(&root, "ROOT")).collect()
    }
}
