//! Which ROCm runs, and loading it.
#![allow(unsafe_code, reason = "loads libraries, whose initialisers run")]

mod place;

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use hipfile::ErrorKind;
use hipfile::alloc::{self, Device};

use crate::failure::{Failure, INSTALL, NO_RUNTIME};
use crate::output::Output;
use place::Prefix;

/// The value of `--rocm`, or of `HIPFILE_RUNTIME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The first one that the library finds.
    Auto,
    /// The software one, where it is installed.
    Soft,
    /// The one in this folder.
    Prefix(PathBuf),
}

impl FromStr for Choice {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "auto" | "" => Self::Auto,
            "soft" => Self::Soft,
            folder => Self::Prefix(folder.into()),
        })
    }
}

/// The ROCm in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// The file of libamdhip64, where the loader knows it.
    pub hip: Option<PathBuf>,
    /// The file of libhipfile, where the loader knows it.
    pub hipfile: Option<PathBuf>,
    /// Whether it is the software ROCm.
    pub software: bool,
}

impl fmt::Display for Runtime {
    /// As in `the software ROCm in /opt/soft-rocm`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.software { "the software ROCm" } else { "ROCm" })?;
        match self.hipfile.as_deref().and_then(prefix_of) {
            Some(prefix) => write!(f, " in {}", prefix.display()),
            None => Ok(()),
        }
    }
}

/// The prefix that holds a library: the folder above its folder.
fn prefix_of(library: &Path) -> Option<&Path> {
    library.parent()?.parent()
}

impl Choice {
    /// Loads the ROCm chosen, for this process, and says under `--verbose` which it is. Once, before any other use of the
    /// libraries.
    pub fn load(&self, output: &Output) -> Result<Runtime, Failure> {
        match self {
            Self::Auto => load_any(output)?,
            Self::Soft => load_from(&place::software()?)?,
            Self::Prefix(folder) => load_from(&Prefix::at(folder)?)?,
        }
        let hipfile = rocm_loader::loaded("libhipfile.so", &["0"]);
        // SAFETY: requires a type that fits the symbol; nothing is done with the address.
        let ours: Option<*const ()> = unsafe { hipfile.as_ref().and_then(|library| library.symbol(MARK)) };
        let runtime = Runtime {
            hip: rocm_loader::loaded("libamdhip64.so", HIP_VERSIONS).and_then(|library| library.path()),
            hipfile: hipfile::library_path()?,
            software: ours.is_some(),
        };
        output.note(format!("using {runtime}"));
        if *self == Self::Auto && runtime.software {
            let advice = "name another one with --rocm DIR, or say --rocm soft to have it so";
            output.warning(format!("{runtime} is the first one that was found; {advice}"));
        }
        Ok(runtime)
    }
}

/// What the software libhipfile exports besides AMD's functions.
const MARK: &core::ffi::CStr = c"softrocm_hipfile_set_faults";

/// The versions of HIP's library that have what is called, best first.
pub const HIP_VERSIONS: &[&str] = &["7", "6", "5"];

/// Has the libraries search as they do for every program. HIP comes first, since libhipfile uses the one in the process.
fn load_any(output: &Output) -> Result<(), Failure> {
    match Device::count() {
        Err(error) if error.kind() == alloc::ErrorKind::NotLoaded => {
            return Err(not_loaded("libamdhip64.so", &error, output));
        }
        // Whether there is a device is for whoever needs one.
        Ok(_) | Err(_) => {}
    }
    match hipfile::version() {
        Err(error) if error.kind() == ErrorKind::NotLoaded => {
            Err(not_loaded("libhipfile.so", &error, output))
        }
        outcome => Ok(outcome.map(drop)?),
    }
}

/// A library was not loaded. Where there is none, the places are enough; one that is there and does not load has a reason.
fn not_loaded(library: &str, error: &dyn fmt::Display, output: &Output) -> Failure {
    output.note(error);
    let search = rocm_loader::Search::from_env();
    let folders: Vec<_> = search.prefixes().iter().map(|prefix| prefix.join("lib")).collect();
    let message = if folders.iter().any(|folder| holds(folder, library)) {
        error.to_string()
    } else {
        let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
        format!("no {library} was found: looked in {} and asked the system's loader", folders.join(", "))
    };
    Failure::new(message).advice(INSTALL).code(NO_RUNTIME)
}

/// Whether a folder has a library, of whichever version.
fn holds(folder: &Path, library: &str) -> bool {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.into_iter().any(|name| name.to_string_lossy().starts_with(library))
}

fn load_from(prefix: &Prefix) -> Result<(), Failure> {
    let explain = |failure: Failure| failure.code(NO_RUNTIME);
    // SAFETY: requires a HIP runtime; holds as far as a file in the place of one is one, as for a program linked with it.
    unsafe { alloc::load(&prefix.hip) }.map_err(|error| explain(Failure::new(error.to_string())))?;
    // SAFETY: requires a libhipfile; holds as above.
    let loaded = unsafe { hipfile::load(&prefix.hipfile) };
    loaded.map_err(|error| match error.kind() {
        ErrorKind::NotLoaded => explain(Failure::new(error.to_string())),
        _ => error.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_the_option() {
        let choice = |text: &str| text.parse::<Choice>().unwrap();
        assert_eq!(choice("auto"), Choice::Auto);
        assert_eq!(choice(""), Choice::Auto);
        assert_eq!(choice("soft"), Choice::Soft);
        assert_eq!(choice("./soft"), Choice::Prefix("./soft".into()));
    }

    #[test]
    fn a_library_of_any_version_is_there() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!holds(dir.path(), "libhipfile.so") && !holds(Path::new("/nonexistent"), "libhipfile.so"));
        std::fs::write(dir.path().join("libhipfile.so.9"), "").unwrap();
        assert!(holds(dir.path(), "libhipfile.so"));
    }

    #[test]
    fn a_runtime_says_what_and_where_it_is() {
        let runtime = |software, hipfile: Option<&str>| {
            Runtime { hip: None, hipfile: hipfile.map(PathBuf::from), software }.to_string()
        };
        assert_eq!(
            runtime(true, Some("/opt/soft-rocm/lib/libhipfile.so.0")),
            "the software ROCm in /opt/soft-rocm"
        );
        assert_eq!(runtime(false, Some("/opt/rocm/lib/libhipfile.so.0")), "ROCm in /opt/rocm");
        assert_eq!(runtime(false, None), "ROCm");
    }
}
