//! Whether a program will run on the ROCm that was chosen, and on no other.

use std::fs;
use std::path::Path;

use crate::Result;
use crate::elf::{self, Dynamic};
use crate::rocm::Rocm;

/// The libraries that must come from the chosen ROCm.
const OURS: &[&str] = &["libamdhip64.so", "libhipfile.so"];

/// Fails unless the loader finds, inside `rocm`, every library of a ROCm that `program` needs, directly or through one
/// of those libraries.
pub fn check(program: &Path, rocm: &Rocm) -> Result<()> {
    check_in(program, rocm.lib())
}

/// Fails if `program` names a library of ROCm that it needs to start.
pub fn check_free(program: &Path) -> Result<()> {
    let needed = read(program)?.needed;
    let ours = needed.iter().find(|name| OURS.iter().any(|library| name.starts_with(library)));
    ours.map_or(Ok(()), |name| Err(format!("{} does not start without {name}", program.display()).into()))
}

fn check_in(program: &Path, lib: &Path) -> Result<()> {
    let mut seen: Vec<String> = Vec::new();
    let mut waiting = vec![program.to_path_buf()];
    while let Some(file) = waiting.pop() {
        let dynamic = read(&file)?;
        for name in dynamic.needed {
            if seen.contains(&name) {
                continue;
            }
            let inside = lib.join(&name);
            if inside.exists() {
                if let Some(rpath) = &dynamic.rpath {
                    return Err(format!(
                        "{} finds {name} through its DT_RPATH {rpath} before LD_LIBRARY_PATH; link it with --enable-new-dtags",
                        file.display(),
                    )
                    .into());
                }
                waiting.push(inside);
            } else if OURS.iter().any(|library| name.starts_with(library)) {
                return Err(format!(
                    "{} needs {name}, which is not in {}: it was linked against another ROCm",
                    file.display(),
                    lib.display()
                )
                .into());
            }
            seen.push(name);
        }
    }
    Ok(())
}

/// The dynamic section of a file.
pub fn read(file: &Path) -> Result<Dynamic> {
    let bytes = fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    elf::dynamic(&bytes)
        .ok_or_else(|| format!("{} is not an ELF file of this machine", file.display()).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::tests::program;

    fn outcome(needed: &[&str], libraries: &[(&str, &[&str])]) -> std::result::Result<(), String> {
        let dir = tempfile::tempdir().unwrap();
        for (name, needed) in libraries {
            fs::write(dir.path().join(name), program(needed)).unwrap();
        }
        let main = dir.path().join("main");
        fs::write(&main, program(needed)).unwrap();
        check_in(&main, dir.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn libraries_of_the_prefix_and_of_the_system_pass() {
        let libraries: &[(&str, &[&str])] = &[("libamdhip64.so.7", &["libc.so.6"]), ("libhipfile.so.0", &[])];
        assert_eq!(outcome(&["libamdhip64.so.7", "libhipfile.so.0", "libc.so.6"], libraries), Ok(()));
        assert_eq!(outcome(&["libc.so.6"], &[]), Ok(()));
    }

    #[test]
    fn another_hip_is_named() {
        let error = outcome(&["libamdhip64.so.6"], &[("libamdhip64.so.7", &[])]).unwrap_err();
        assert!(error.contains("main needs libamdhip64.so.6, which is not in"), "{error}");
    }

    #[test]
    fn a_library_of_the_prefix_that_needs_another_hip_is_named() {
        let error = outcome(&["libhipfile.so.0"], &[("libhipfile.so.0", &["libamdhip64.so.5"])]).unwrap_err();
        assert!(error.contains("libhipfile.so.0 needs libamdhip64.so.5"), "{error}");
    }

    #[test]
    fn a_program_that_needs_rocm_to_start_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let main = dir.path().join("main");
        fs::write(&main, program(&["libc.so.6"])).unwrap();
        check_free(&main).unwrap();
        fs::write(&main, program(&["libc.so.6", "libhipfile.so.0"])).unwrap();
        let error = check_free(&main).unwrap_err().to_string();
        assert!(error.ends_with("main does not start without libhipfile.so.0"), "{error}");
    }

    #[test]
    fn a_text_file_is_no_program() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("script");
        fs::write(&script, "#!/bin/sh\n").unwrap();
        let error = check_in(&script, dir.path()).unwrap_err().to_string();
        assert!(error.ends_with("script is not an ELF file of this machine"), "{error}");
    }
}
