//! The ROCm in use, and others that are installed.

use std::path::{Path, PathBuf};

use hipfile::Version;
use hipfile::alloc::{Device, has_functions};

use super::report::Row;
use super::system::System;
use crate::failure::{Failure, INSTALL};
use crate::output::Output;
use crate::runtime::{Choice, HIP_VERSIONS};

/// What came of loading it.
#[derive(Debug)]
pub struct Loaded {
    pub hip: Result<Hip, String>,
    pub hipfile: Result<Hipfile, String>,
    pub software: bool,
}

#[derive(Clone, Debug)]
pub struct Hip {
    pub path: Option<PathBuf>,
    /// How many GPUs it has, or why it can't say.
    pub devices: Result<u32, String>,
    pub file_functions: bool,
}

#[derive(Clone, Debug)]
pub struct Hipfile {
    pub path: Option<PathBuf>,
    pub version: Version,
}

impl Loaded {
    /// Loads it; what is missing is kept as text.
    pub fn load(rocm: &Choice, output: &Output) -> Self {
        let runtime = rocm.load(output);
        let text = |failure: &Failure| failure.message().to_owned();
        // HIP may be in the process though libhipfile was not found.
        let hip = match rocm_loader::loaded("libamdhip64.so", HIP_VERSIONS) {
            None => Err(runtime.as_ref().map_or_else(text, |_| "libamdhip64.so is not loaded".to_owned())),
            Some(library) => Ok(Hip {
                path: library.path(),
                devices: Device::count().map_err(|error| error.to_string()),
                file_functions: has_functions(&[c"hipAmdFileRead", c"hipAmdFileWrite"]),
            }),
        };
        let hipfile = match &runtime {
            Err(_) if hip.is_err() => Err("not loaded, as HIP was not".to_owned()),
            Err(failure) => Err(text(failure)),
            Ok(runtime) => hipfile::version()
                .map(|version| Hipfile { path: runtime.hipfile.clone(), version })
                .map_err(|error| error.to_string()),
        };
        Self { hip, hipfile, software: runtime.is_ok_and(|runtime| runtime.software) }
    }
}

fn place(path: Option<&Path>) -> String {
    path.map_or_else(|| "a file of unknown name".to_owned(), |path| path.display().to_string())
}

/// HIP and its functions for files.
pub fn hip(loaded: &Loaded, system: &System) -> Row {
    const ID: &str = "hip";
    const NAME: &str = "HIP runtime";
    let hip = match &loaded.hip {
        Ok(hip) => hip,
        Err(error) => return Row::fail(ID, NAME, error, INSTALL),
    };
    let file = place(hip.path.as_deref());
    match &hip.devices {
        Err(error) => {
            return Row::fail(
                ID,
                NAME,
                format!("{file}: {error}"),
                "mend the rows on the driver and the GPU first",
            );
        }
        Ok(0) => {
            return Row::fail(
                ID,
                NAME,
                format!("{file} finds no GPU"),
                "mend the rows on the driver and the GPU first",
            );
        }
        Ok(_) if hip.file_functions => {}
        Ok(_) => {
            let detail = format!("{file} has no hipAmdFileRead and hipAmdFileWrite");
            let others: Vec<_> = others(system, hip.path.as_deref()).into_iter().filter(names_them).collect();
            let advice = match others.first().and_then(|other| other.parent()?.parent()) {
                Some(prefix) => {
                    format!("use the one that has them: --rocm {}", system.inside(prefix).display())
                }
                None => "install ROCm 7.2 or later".to_owned(),
            };
            return Row::fail(ID, NAME, detail, advice);
        }
    }
    let count = hip.devices.as_ref().copied().unwrap_or(0);
    let gpus = if count == 1 { "1 GPU".to_owned() } else { format!("{count} GPUs") };
    Row::pass(ID, NAME, format!("{file}, {gpus}, with file functions"))
}

/// libhipfile, and what its release lacks.
pub fn libhipfile(loaded: &Loaded) -> Row {
    const ID: &str = "libhipfile";
    const NAME: &str = "libhipfile";
    match &loaded.hipfile {
        Err(error) => Row::fail(ID, NAME, error, INSTALL),
        Ok(Hipfile { path, version }) => {
            let detail = format!("{version} in {}", place(path.as_deref()));
            if (version.major, version.minor) >= (0, 5) {
                return Row::pass(ID, NAME, detail);
            }
            let lacks = "transfers on streams take the fallback, batches never run";
            Row::warn(ID, NAME, format!("{detail}: {lacks}"), "update hipFile to 0.5")
        }
    }
}

/// A warning where the software ROCm is in use.
pub fn software(loaded: &Loaded) -> Option<Row> {
    let detail = "the software ROCm is in use: its HIP and libhipfile pass for any machine";
    let advice =
        "name AMD's: --rocm DIR; what the software ROCm does with a file tells `hipfile explain FILE`";
    loaded.software.then(|| Row::warn("software", "software ROCm", detail, advice))
}

/// The other HIPs that are installed, one path for each.
fn others(system: &System, in_use: Option<&Path>) -> Vec<PathBuf> {
    let lists = system.variable("LD_LIBRARY_PATH").into_iter().flat_map(std::env::split_paths);
    let prefixes =
        ["ROCM_HOME", "ROCM_PATH", "HIP_PATH"].into_iter().filter_map(|name| system.variable(name));
    let mut folders: Vec<PathBuf> =
        lists.chain(prefixes.map(|prefix| Path::new(prefix).join("lib"))).collect();
    for name in system.names("/opt").into_iter().filter(|name| name.starts_with("rocm")) {
        let prefix = Path::new("/opt").join(name);
        let cores = system.names(&prefix).into_iter().filter(|name| name.starts_with("core-"));
        folders.extend(cores.map(|core| prefix.join(core).join("lib")));
        folders.push(prefix.join("lib"));
    }
    folders
        .extend(["/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"].map(PathBuf::from));
    let known = in_use.and_then(|path| path.canonicalize().ok());
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let names = HIP_VERSIONS.iter().map(|version| format!("libamdhip64.so.{version}"));
        let files = names.map(|name| system.at(folder.join(name)).canonicalize());
        for file in files.flatten().filter(|file| known.as_ref() != Some(file)) {
            if !found.contains(&file) {
                found.push(file);
            }
        }
    }
    found
}

/// Whether a library names the file functions. It is read, not loaded: there is one HIP in a process.
fn names_them(library: &PathBuf) -> bool {
    let bytes = std::fs::read(library).unwrap_or_default();
    let names = [&b"hipAmdFileRead\0"[..], b"hipAmdFileWrite\0"];
    names.iter().all(|name| bytes.windows(name.len()).any(|window| window == *name))
}

#[cfg(test)]
mod tests {
    use super::super::report::Verdict;
    use super::super::system::made_up::{system, with_variables};
    use super::*;

    fn loaded(devices: Result<u32, String>, file_functions: bool, version: (u32, u32)) -> Loaded {
        let path = |name: &str| Some(PathBuf::from(format!("/opt/rocm/lib/{name}")));
        let version = Version { major: version.0, minor: version.1, patch: 0 };
        Loaded {
            hip: Ok(Hip { path: path("libamdhip64.so.7"), devices, file_functions }),
            hipfile: Ok(Hipfile { path: path("libhipfile.so.0"), version }),
            software: false,
        }
    }

    fn nothing() -> Loaded {
        Loaded { hip: Err("cannot load x".into()), hipfile: Err("cannot load y".into()), software: false }
    }

    #[test]
    fn hip_has_gpus_and_file_functions() {
        let empty = system(&[]).system;
        let row = |loaded: Loaded| hip(&loaded, &empty);
        let good = row(loaded(Ok(2), true, (0, 5)));
        assert_eq!(
            good,
            Row::pass("hip", "HIP runtime", "/opt/rocm/lib/libamdhip64.so.7, 2 GPUs, with file functions")
        );
        let table = [
            (
                loaded(Ok(1), false, (0, 5)),
                "/opt/rocm/lib/libamdhip64.so.7 has no hipAmdFileRead and hipAmdFileWrite",
            ),
            (loaded(Ok(0), false, (0, 5)), "/opt/rocm/lib/libamdhip64.so.7 finds no GPU"),
            (loaded(Err("no device".into()), false, (0, 5)), "/opt/rocm/lib/libamdhip64.so.7: no device"),
            (nothing(), "cannot load x"),
        ];
        for (loaded, detail) in table {
            let row = row(loaded);
            assert_eq!((row.verdict, row.detail.as_str()), (Verdict::Fail, detail));
            assert!(row.advice.is_some());
        }
    }

    #[test]
    fn another_hip_with_the_functions_is_recommended() {
        let able = "\0hipAmdFileRead\0hipAmdFileWrite\0";
        let made = system(&[
            ("/opt/rocm-7.0/lib/libamdhip64.so.7", "\0hipAmdFileRead\0"),
            ("/opt/rocm/core-7.14/lib/libamdhip64.so.7", able),
        ]);
        let advice = hip(&loaded(Ok(1), false, (0, 5)), &made.system).advice;
        assert_eq!(advice.as_deref(), Some("use the one that has them: --rocm /opt/rocm/core-7.14"));
        let made = with_variables(&[("/mine/lib/libamdhip64.so.6", able)], &[("HIP_PATH", "/mine")]);
        let advice = hip(&loaded(Ok(1), false, (0, 5)), &made.system).advice;
        assert_eq!(advice.as_deref(), Some("use the one that has them: --rocm /mine"));
        let made = with_variables(&[("/l/libamdhip64.so.6", able)], &[("LD_LIBRARY_PATH", "/k:/l")]);
        let in_use = made.system.at("/l/libamdhip64.so.6");
        assert!(others(&made.system, Some(&in_use)).is_empty());
        assert_eq!(others(&made.system, None), [in_use.canonicalize().unwrap()]);
    }

    #[test]
    fn an_older_libhipfile_is_warned_about() {
        let row = |version| libhipfile(&loaded(Ok(1), true, version));
        assert_eq!(
            row((0, 5)),
            Row::pass("libhipfile", "libhipfile", "0.5.0 in /opt/rocm/lib/libhipfile.so.0")
        );
        assert_eq!(row((1, 0)).verdict, Verdict::Pass);
        assert_eq!(row((0, 4)).verdict, Verdict::Warn);
        let missing = libhipfile(&nothing());
        assert_eq!((missing.verdict, missing.detail.as_str()), (Verdict::Fail, "cannot load y"));
    }

    #[test]
    fn the_software_rocm_is_no_proof() {
        assert_eq!(software(&nothing()), None);
        let loaded = Loaded { software: true, ..nothing() };
        assert_eq!(software(&loaded).unwrap().verdict, Verdict::Warn);
    }
}
