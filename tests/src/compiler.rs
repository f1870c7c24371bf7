//! C and C++ programs built and run against the ROCm under test.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output};

use crate::rocm;

/// A language a program is written in.
#[derive(Clone, Copy, Debug)]
pub enum Language {
    C11,
    Cxx17,
}

impl Language {
    /// The compiler with every warning on and fatal. `CC` and `CXX` choose another one.
    pub fn compiler(self) -> Command {
        let standard = match self {
            Language::C11 => "-std=c11",
            Language::Cxx17 => "-std=c++17",
        };
        let mut command = Command::new(self.program());
        command.args([standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-D_GNU_SOURCE"]);
        if let Language::Cxx17 = self {
            command.args(["-x", "c++"]);
        }
        command
    }

    /// Whether tests of this language can run; if not, says so. Rust links with a C compiler, so that one is always
    /// here.
    pub fn is_here(self) -> bool {
        if let Language::C11 = self {
            return true;
        }
        match Command::new(self.program()).arg("--version").output() {
            Ok(_) => true,
            Err(error) => {
                println!("skipped: {} does not start: {error}", Path::new(&self.program()).display());
                false
            }
        }
    }

    fn program(self) -> OsString {
        let (chosen, default) = match self {
            Language::C11 => (env::var_os("CC"), "cc"),
            Language::Cxx17 => (env::var_os("CXX"), "c++"),
        };
        chosen.unwrap_or_else(|| default.into())
    }
}

/// Adds where the headers are. Warnings in headers that are not ours are not ours to mend.
pub fn with_headers(command: &mut Command) -> &mut Command {
    let flag = if rocm::own_headers() { "-I" } else { "-isystem" };
    command.arg("-D__HIP_PLATFORM_AMD__").arg(flag).arg(rocm::include_dir());
    if rocm::hip_include_dir() != rocm::include_dir() {
        command.arg("-isystem").arg(rocm::hip_include_dir());
    }
    command
}

/// Adds where the libraries are. After the sources: linkers read from left to right.
pub fn with_libraries(command: &mut Command) -> &mut Command {
    // `-x c++` would hold for what follows, too.
    command.args(["-x", "none"]).arg("-L").arg(rocm::lib_dir()).args(["-lhipfile", "-lamdhip64"])
}

/// Runs a command and gives its output, or fails with all it said.
pub fn must_run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// A program that was built against the libraries, ready to run with them.
pub fn program(path: &Path) -> Command {
    let mut command = Command::new(path);
    let mut search = vec![rocm::lib_dir()];
    search.extend(env::var_os("LD_LIBRARY_PATH").iter().flat_map(env::split_paths));
    command.env("LD_LIBRARY_PATH", env::join_paths(search).expect("no colon in a library folder"));
    command
}
