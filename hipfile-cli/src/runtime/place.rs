//! Where a ROCm is: the folder named, or the places where the software one is put.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::HIP_VERSIONS;
use crate::failure::{Failure, NO_RUNTIME};

/// The variable that names the folder of the software ROCm.
pub const SOFT_ROCM: &str = "HIPFILE_SOFT_ROCM";

/// The two libraries of one ROCm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    pub hip: PathBuf,
    pub hipfile: PathBuf,
}

impl Prefix {
    /// The libraries in a folder, in its `lib` or `lib64`; an error says what is missing.
    pub fn at(folder: &Path) -> Result<Self, Failure> {
        let missing = |what: String| {
            let failure = Failure::new(format!("no ROCm with libhipfile in {}: {what}", folder.display()));
            failure.advice("name the folder that has lib/libhipfile.so.0 in it").code(NO_RUNTIME)
        };
        if !folder.is_dir() {
            return Err(missing("there is no such folder".into()));
        }
        let libraries = ["lib", "lib64"].map(|name| folder.join(name));
        let find = |stem: &str, versions: &[&str]| {
            let names = versions.iter().map(|version| format!("{stem}.{version}")).chain([stem.to_owned()]);
            names.flat_map(|name| libraries.iter().map(move |lib| lib.join(&name))).find(|file| file.exists())
        };
        let hipfile =
            find("libhipfile.so", &["0"]).ok_or_else(|| missing("it has no lib/libhipfile.so.0".into()))?;
        let hip = find("libamdhip64.so", HIP_VERSIONS)
            .ok_or_else(|| missing("it has no lib/libamdhip64.so".into()))?;
        Ok(Self { hip, hipfile })
    }
}

/// The software ROCm: in the folder that [`SOFT_ROCM`] names, else beside this program.
pub fn software() -> Result<Prefix, Failure> {
    let program = env::current_exe().and_then(|program| program.canonicalize()).unwrap_or_default();
    find_software(env::var_os(SOFT_ROCM).as_deref(), &program)
}

fn find_software(variable: Option<&OsStr>, program: &Path) -> Result<Prefix, Failure> {
    if let Some(folder) = variable.filter(|value| !value.is_empty()) {
        return Prefix::at(folder.as_ref());
    }
    let folder = program.parent().unwrap_or(Path::new("/"));
    let above = folder.parent().unwrap_or(folder);
    let places = [
        folder.join("soft-rocm"),
        folder.join(archive()),
        above.join("soft-rocm"),
        above.join(archive()),
        above.join("lib/soft-rocm"),
    ];
    places.iter().find_map(|place| Prefix::at(place).ok()).ok_or_else(|| {
        let tried: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
        Failure::new(format!("the software ROCm is not installed: tried {}", tried.join(", ")))
            .advice(format!("unpack its archive beside this program, or name its folder in {SOFT_ROCM}"))
            .code(NO_RUNTIME)
    })
}

/// The folder in the archive of the software ROCm of the same release.
fn archive() -> String {
    format!("soft-rocm-{}-{}", env!("CARGO_PKG_VERSION"), env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn install(prefix: &Path, files: &[&str]) {
        for file in files {
            let path = prefix.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }

    const WHOLE: [&str; 2] = ["lib/libhipfile.so.0", "lib/libamdhip64.so.7"];

    #[test]
    fn what_a_folder_lacks_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = |folder: &Path| {
            let failure = Prefix::at(folder).unwrap_err();
            assert_eq!(failure.exit_code(), NO_RUNTIME);
            let text = failure.to_string();
            let (what, advice) = text.split_once("; ").unwrap();
            assert_eq!(advice, "name the folder that has lib/libhipfile.so.0 in it");
            what.rsplit_once(": ").unwrap().1.to_owned()
        };
        assert_eq!(error(&dir.path().join("none")), "there is no such folder");
        assert_eq!(error(dir.path()), "it has no lib/libhipfile.so.0");
        install(dir.path(), &["lib/libhipfile.so"]);
        assert_eq!(error(dir.path()), "it has no lib/libamdhip64.so");
        install(dir.path(), &["lib64/libamdhip64.so.6"]);
        let found = Prefix::at(dir.path()).unwrap();
        assert_eq!(found.hip, dir.path().join("lib64/libamdhip64.so.6"));
        assert_eq!(found.hipfile, dir.path().join("lib/libhipfile.so"));
    }

    #[test]
    fn versions_are_preferred_in_their_order() {
        let dir = tempfile::tempdir().unwrap();
        install(
            dir.path(),
            &["lib/libhipfile.so", "lib/libhipfile.so.0", "lib/libamdhip64.so.6", "lib/libamdhip64.so"],
        );
        let found = Prefix::at(dir.path()).unwrap();
        assert_eq!(found.hip, dir.path().join("lib/libamdhip64.so.6"));
        assert_eq!(found.hipfile, dir.path().join("lib/libhipfile.so.0"));
    }

    #[test]
    fn the_software_rocm_is_beside_the_program_or_where_the_variable_says() {
        for place in
            ["bin/soft-rocm", "soft-rocm", "lib/soft-rocm", &archive(), &format!("bin/{}", archive())]
        {
            let dir = tempfile::tempdir().unwrap();
            let program = dir.path().join("bin/hipfile");
            let failure = find_software(None, &program).unwrap_err();
            assert!(failure.to_string().contains(&dir.path().join(place).display().to_string()), "{failure}");
            install(&dir.path().join(place), &WHOLE);
            let found = find_software(Some(OsStr::new("")), &program).unwrap();
            assert_eq!(found.hip, dir.path().join(place).join("lib/libamdhip64.so.7"));

            let other = tempfile::tempdir().unwrap();
            let named = || find_software(Some(other.path().as_os_str()), &program);
            assert!(named().is_err(), "a wrong variable is no reason to take another one");
            install(other.path(), &WHOLE);
            assert!(named().unwrap().hip.starts_with(other.path()));
        }
    }
}
