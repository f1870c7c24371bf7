//! Step 3: `$ROCM_PATH`, `/opt/rocm/core-*`, `/opt/rocm`, and the system's own directories.

use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::found::Found;
use crate::header;
use crate::report::Attempts;

/// Looks into ROCm's prefixes on the system whose root directory is `root`, then into its own directories.
pub(crate) fn find(env: &Env<'_>, root: &Path, attempts: &mut Attempts) -> Option<Found> {
    let chosen = env.plain("ROCM_PATH");
    if chosen.is_none() {
        attempts.failed("ROCM_PATH", "not set".into());
    }
    let search = rocm_loader::Search::new(root, chosen.as_ref().map(|variable| variable.value.as_os_str()));
    let prefixes = search.prefixes().iter();
    let found = prefixes.clone().find_map(|prefix| in_prefix(prefix, attempts));
    let mut found = found.or_else(|| in_system(env.target(), root, attempts))?;
    if let Some(chosen) = chosen.filter(|chosen| !found.include.starts_with(chosen.path())) {
        let header = found.header();
        let text = format!(
            "no hipFile in ROCM_PATH={}, so {} is used",
            chosen.value.to_string_lossy(),
            header.display()
        );
        found.warnings.push(text);
    }
    Some(found)
}

/// A prefix laid out as ROCm lays itself out.
fn in_prefix(prefix: &Path, attempts: &mut Attempts) -> Option<Found> {
    let (include, lib) = (prefix.join("include"), prefix.join("lib"));
    let result = header::version_in(&include).and_then(|version| {
        if has_library(&lib) || is_yet_to_be_built(&lib) {
            Ok(Found { include, lib_dir: Some(lib.clone()), version, warnings: Vec::new() })
        } else {
            Err(format!("has the header but no {}", lib.join("libhipfile.so").display()))
        }
    });
    result.map_err(|reason| attempts.failed(&prefix.display().to_string(), reason)).ok()
}

/// Where distributions put headers and libraries. The linker searches these by itself: naming them would put them in
/// front of directories other crates name.
fn in_system(target: &str, root: &Path, attempts: &mut Attempts) -> Option<Found> {
    ["usr/local", "usr"].iter().find_map(|prefix| {
        let prefix = root.join(prefix);
        let result = header::version_in(&prefix.join("include")).and_then(|version| {
            let folders = library_folders(&prefix, target);
            if folders.iter().any(|folder| has_library(folder)) {
                Ok(Found { include: prefix.join("include"), lib_dir: None, version, warnings: Vec::new() })
            } else {
                let list: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
                Err(format!("has the header but no libhipfile.so in {}", list.join(", ")))
            }
        });
        result.map_err(|reason| attempts.failed(&prefix.display().to_string(), reason)).ok()
    })
}

/// `lib64`, Debian's directory for the target, `lib`.
fn library_folders(prefix: &Path, target: &str) -> Vec<PathBuf> {
    let mut parts = target.split('-');
    let multiarch = match (parts.next(), parts.next_back()) {
        (Some(arch), Some(abi)) => format!("lib/{arch}-linux-{abi}"),
        _ => "lib".into(),
    };
    let mut folders = vec![prefix.join("lib64"), prefix.join(multiarch), prefix.join("lib")];
    folders.dedup();
    folders
}

fn has_library(folder: &Path) -> bool {
    folder.join("libhipfile.so").exists()
}

/// A link that leads nowhere: a prefix that has its headers before its libraries, as a fresh checkout of this project
/// does. Good enough to compile against; linking says what is missing.
fn is_yet_to_be_built(lib: &Path) -> bool {
    lib.is_symlink() && !lib.exists()
}
