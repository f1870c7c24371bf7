//! Step 2: pkg-config. Upstream installs no `hipfile.pc`; distributions and `cargo xtask pkgconfig` do.

use std::path::PathBuf;

use crate::env::Env;
use crate::found::Found;
use crate::header;
use crate::report::Attempts;

/// What pkg-config says about a package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Directories to link from. Taken at its word: the library may be built after this.
    pub lib_dirs: Vec<PathBuf>,
    /// Directories of headers.
    pub include_dirs: Vec<PathBuf>,
}

/// Asks pkg-config for `hipfile`.
pub(crate) fn probe() -> Result<Answer, String> {
    let library =
        ::pkg_config::Config::new().cargo_metadata(false).probe("hipfile").map_err(|error| reason(&error))?;
    // Directories the compiler searches anyway are left out of the flags, but not out of the variable.
    let include_dirs = match library.include_paths {
        paths if paths.is_empty() => {
            ::pkg_config::get_variable("hipfile", "includedir").map(PathBuf::from).into_iter().collect()
        }
        paths => paths,
    };
    Ok(Answer { lib_dirs: library.link_paths, include_dirs })
}

/// The first line of what pkg-config complained about, or else of what kept it from running.
fn reason(error: &::pkg_config::Error) -> String {
    use ::pkg_config::Error::{Failure, ProbeFailure};
    let text = match error {
        Failure { output, .. } | ProbeFailure { output, .. } => {
            String::from_utf8_lossy(&output.stderr).into_owned()
        }
        other => other.to_string(),
    };
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it failed without a word").to_owned()
}

/// Takes the first header among the directories that `probe` names, unless `HIPFILE_NO_PKG_CONFIG` is set.
pub(crate) fn find(
    env: &Env<'_>,
    probe: &dyn Fn() -> Result<Answer, String>,
    attempts: &mut Attempts,
) -> Option<Found> {
    const PLACE: &str = "pkg-config hipfile";
    if let Some(variable) = env.for_target("HIPFILE_NO_PKG_CONFIG") {
        attempts.failed(PLACE, format!("not asked, since {} is set", variable.name));
        return None;
    }
    let answer = match probe() {
        Ok(answer) => answer,
        Err(reason) => {
            attempts.failed(PLACE, reason);
            return None;
        }
    };
    if answer.include_dirs.is_empty() {
        attempts.failed(PLACE, "names no directory of headers".into());
    }
    answer.include_dirs.iter().find_map(|include| match header::version_in(include) {
        Ok(version) => Some(Found {
            include: include.clone(),
            lib_dir: answer.lib_dirs.first().cloned(),
            version,
            warnings: Vec::new(),
        }),
        Err(reason) => {
            attempts.failed(PLACE, reason);
            None
        }
    })
}
