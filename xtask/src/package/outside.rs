//! A folder outside the workspace with the unpacked archives and a program that uses them.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::archive::Archive;
use super::program;
use crate::cargo::{must, programs};
use crate::needed;
use crate::rocm::Rocm;
use crate::test::example;
use crate::without_rocm::cargo_without_rocm;
use crate::{Result, install, lock, workspace};

/// How a program comes by the libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Feature `link`: found when building.
    Linked,
    /// Without it: built on a machine that has none, found when running.
    Loaded,
}

/// The folder; it goes when this is dropped.
#[derive(Debug)]
pub struct Outside<'a> {
    root: PathBuf,
    archives: &'a [Archive],
    _lock: lock::Lock,
}

impl<'a> Outside<'a> {
    /// Unpacks the archives and writes the program beside them. They are members of its workspace if `members` says so:
    /// then they can be built by themselves, and their dev-dependencies have a say in which versions are chosen.
    pub fn new(archives: &'a [Archive], members: bool) -> Result<Self> {
        let builds = workspace::target_dir().join("packages");
        fs::create_dir_all(&builds)?;
        let lock = lock::exclusive(&builds.join("lock"))?;
        // The same folder each time: cargo tells packages apart by their path, and would keep what it built for each.
        let root = env::temp_dir().join(format!("packages{}", workspace::root().display()).replace('/', "-"));
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        if let Some(dir) = root.ancestors().find(|dir| dir.join("Cargo.toml").exists()) {
            return Err(format!("{} is inside the workspace of {}", root.display(), dir.display()).into());
        }
        let outside = Self { root, archives, _lock: lock };
        fs::create_dir_all(outside.packages())?;
        for archive in archives {
            // Without `-m` files are as old as the archive says, and cargo would take what it built from earlier ones
            // for up to date.
            must(Command::new("tar").arg("-xmzf").arg(&archive.path).arg("-C").arg(outside.packages()))?;
        }
        outside.write_program(members)?;
        Ok(outside)
    }

    /// Writes a package with the program of hipfile's README and the examples, and a lock file that names what this
    /// machine has.
    fn write_program(&self, members: bool) -> Result<()> {
        let hipfile =
            self.archives.iter().find(|archive| archive.package == "hipfile").ok_or("no hipfile")?;
        let hipfile = self.folder(hipfile);
        install::tree(&hipfile.join("examples"), &self.root.join("examples"))?;
        let mut examples = String::new();
        for entry in fs::read_dir(self.root.join("examples"))? {
            examples += &fs::read_to_string(entry?.path())?;
        }
        let dependencies =
            program::dev_dependencies(&fs::read_to_string(hipfile.join("Cargo.toml"))?, &examples);
        let readme = fs::read_to_string(hipfile.join("README.md"))?;
        install::file(&self.root.join("src/main.rs"), program::of_readme(&readme)?.as_bytes(), 0o644)?;
        fs::write(self.root.join("README.md"), &readme)?;
        fs::write(self.root.join("Cargo.toml"), program::manifest(self.archives, &dependencies, members))?;
        fs::copy(workspace::root().join("Cargo.lock"), self.lock_file())?;
        Ok(())
    }

    /// Where cargo notes which versions it chose.
    pub fn lock_file(&self) -> PathBuf {
        self.root.join("Cargo.lock")
    }

    fn packages(&self) -> PathBuf {
        self.root.join("packages")
    }

    /// Where an archive was unpacked.
    pub fn folder(&self, archive: &Archive) -> PathBuf {
        self.packages().join(archive.stem())
    }

    /// `cargo` in the folder. `command` may have any other working directory.
    pub fn inside(&self, mut command: Command) -> Command {
        // The two ways, and the builds of each package, share what they build of other people's packages.
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", workspace::target_dir().join("packages"));
        command.env("CARGO_PROFILE_DEV_DEBUG", "0");
        command
    }

    /// Documents each package by itself, as docs.rs does: without ROCm, with the features of its manifest.
    pub fn documentation(&self) -> Result<()> {
        for archive in self.archives {
            let manifest = fs::read_to_string(self.folder(archive).join("Cargo.toml"))?;
            let mut command = self.inside(cargo_without_rocm()?);
            command.env("DOCS_RS", "1").env("RUSTDOCFLAGS", "-Dwarnings");
            command.args(["doc", "--quiet", "--offline", "--no-deps", "-p", archive.package]);
            if program::documents_all_features(&manifest) {
                command.arg("--all-features");
            }
            must(&mut command)?;
        }
        Ok(())
    }

    /// Builds the program and the examples, and runs them all.
    pub fn build_and_run(&self, way: Way, rocm: &Rocm) -> Result<()> {
        let mut command = self.inside(match way {
            Way::Linked => rocm.cargo(),
            Way::Loaded => cargo_without_rocm()?,
        });
        command.args(["build", "--quiet", "--offline", "--bins", "--examples"]);
        if way == Way::Loaded {
            command.arg("--no-default-features");
        }
        let built = programs(&mut command)?;
        for program in &built {
            needed::check(program, rocm)?;
            if way == Way::Loaded {
                needed::check_free(program)?;
            }
            let name = program.file_stem().unwrap_or_default().to_string_lossy();
            println!("\n{name}, {way:?}, from the packages:");
            example(program, &self.root, rocm)?;
        }
        Ok(())
    }
}

impl Drop for Outside<'_> {
    fn drop(&mut self) {
        // What remains is removed by the next call.
        let _ = fs::remove_dir_all(&self.root);
    }
}
