//! The text files of the repository, in memory, so that rules can be tested on made-up ones.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Result;

/// Every file that is committed or would be.
#[derive(Debug, Default)]
pub struct Tree {
    pub files: Vec<File>,
}

/// One file: its path from the root with `/` between the parts, and its content.
#[derive(Debug)]
pub struct File {
    pub path: String,
    pub text: String,
}

impl Tree {
    /// Reads the files that git knows or would add. Links and files that are not text are left out.
    pub fn load(root: &Path) -> Result<Self> {
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .map_err(|error| format!("cannot start git, which lists the files: {error}"))?;
        if !output.status.success() {
            return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
        }
        let mut files = Vec::new();
        for path in String::from_utf8_lossy(&output.stdout).split_terminator('\0') {
            let full = root.join(path);
            if full.is_symlink() || !full.is_file() {
                continue;
            }
            if let Ok(text) = fs::read_to_string(full) {
                files.push(File { path: path.to_owned(), text });
            }
        }
        Ok(Self { files })
    }

    /// The file at `path`.
    pub fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The files whose names end in one of `suffixes`.
    pub fn ending<'a>(&'a self, suffixes: &'a [&str]) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(|file| suffixes.iter().any(|suffix| file.path.ends_with(suffix)))
    }

    /// The Rust sources that people wrote.
    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.ending(&[".rs"]).filter(|file| !file.is_generated())
    }

    /// The text of some files, for tests.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File { path: (*path).to_owned(), text: (*text).to_owned() };
        Self { files: files.iter().map(file).collect() }
    }
}

impl File {
    /// Whether a program wrote it, as its first line says.
    pub fn is_generated(&self) -> bool {
        self.text.lines().next().is_some_and(|line| line.starts_with("// @generated"))
    }

    /// Whether it holds tests and nothing else.
    pub fn is_test(&self) -> bool {
        let in_folder = self.path.starts_with("tests/") || self.path.contains("/tests/");
        in_folder || self.path.ends_with("/tests.rs") || self.path.ends_with("/test.rs")
    }

    /// The lines with their numbers, counted from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}
