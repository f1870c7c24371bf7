//! Which ROCm is in use, and the environment that makes it so.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use crate::cargo::library_path;
use crate::{Result, install, soft_rocm, workspace};

/// The value of `--rocm`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A real ROCm where a GPU and libhipfile are present, else the software one.
    Auto,
    /// The software ROCm.
    Soft,
    /// This prefix, whatever is in it.
    Prefix(PathBuf),
}

impl FromStr for Choice {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        Ok(match text {
            "auto" => Self::Auto,
            "soft" => Self::Soft,
            path => Self::Prefix(path.into()),
        })
    }
}

/// A ROCm prefix that holds both libraries and their headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rocm {
    prefix: PathBuf,
    lib: PathBuf,
    name: String,
}

impl Rocm {
    /// Settles which ROCm to use and says so in one line on stderr. Builds the software one where that is the answer.
    pub fn choose(choice: &Choice) -> Result<Self> {
        let rocm = match choice {
            Choice::Prefix(path) => Self::at(path)?,
            Choice::Auto if gpu_present() => {
                match real_prefixes().iter().find_map(|path| Self::at(path).ok()) {
                    Some(rocm) => rocm,
                    None => Self::software()?,
                }
            }
            Choice::Auto | Choice::Soft => Self::software()?,
        };
        let kind = if rocm.is_software() { "the software ROCm" } else { "ROCm" };
        eprintln!("xtask: using {kind} in {}", rocm.prefix.display());
        Ok(rocm)
    }

    fn software() -> Result<Self> {
        Self::at(&soft_rocm::ensure()?)
    }

    /// The ROCm in a prefix; an error says what the prefix lacks.
    pub fn at(path: &Path) -> Result<Self> {
        let prefix =
            path.canonicalize().map_err(|error| format!("no ROCm in {}: {error}", path.display()))?;
        let lib = ["lib", "lib64"]
            .iter()
            .map(|dir| prefix.join(dir))
            .find(|dir| dir.join("libhipfile.so").exists())
            .ok_or_else(|| format!("no ROCm in {}: it has no lib/libhipfile.so", prefix.display()))?;
        if install::first_existing(&lib, &["libamdhip64.so"]).is_none() {
            return Err(
                format!("no ROCm in {}: {} lacks libamdhip64.so", prefix.display(), lib.display()).into()
            );
        }
        for header in ["include/hipfile.h", "include/hip/hip_runtime_api.h"] {
            if !prefix.join(header).is_file() {
                return Err(format!("no ROCm in {}: it has no {header}", prefix.display()).into());
            }
        }
        let name = if workspace::soft_prefix().canonicalize().is_ok_and(|soft| soft == prefix) {
            "soft".to_owned()
        } else {
            let mut hasher = DefaultHasher::new();
            prefix.hash(&mut hasher);
            format!("{:016x}", hasher.finish())
        };
        Ok(Self { prefix, lib, name })
    }

    /// Gives a command this ROCm, and a target directory of its own.
    pub fn apply(&self, command: &mut Command) {
        command.envs(self.environment()).env("CARGO_TARGET_DIR", self.target_dir());
    }

    /// The directory that holds it.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// The directory of its libraries.
    pub fn lib(&self) -> &Path {
        &self.lib
    }

    /// Whether it is the workspace's own software ROCm.
    pub fn is_software(&self) -> bool {
        self.name == "soft"
    }

    /// Where cargo builds what links against it: sharing a directory between two would rebuild back and forth.
    pub fn target_dir(&self) -> PathBuf {
        workspace::target_dir().join("rocm").join(&self.name)
    }

    /// The variables by which build scripts, pkg-config, the loader and child processes find this ROCm first.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        self.environment_over(|name| env::var_os(name))
    }

    fn environment_over(
        &self,
        inherited: impl Fn(&str) -> Option<OsString>,
    ) -> Vec<(&'static str, OsString)> {
        let libraries = library_path(inherited("LD_LIBRARY_PATH").as_deref(), &workspace::target_dir());
        vec![
            ("HIP_PATH", self.prefix.clone().into()),
            ("ROCM_PATH", self.prefix.clone().into()),
            ("HIPFILE_LIB_DIR", self.lib.clone().into()),
            ("HIPFILE_INCLUDE_DIR", self.prefix.join("include").into()),
            ("PKG_CONFIG_PATH", prepend(self.lib.join("pkgconfig"), inherited("PKG_CONFIG_PATH").as_deref())),
            ("PATH", prepend(self.prefix.join("bin"), inherited("PATH").as_deref())),
            ("LD_LIBRARY_PATH", prepend(self.lib.clone(), libraries.as_deref())),
        ]
    }
}

/// `first`, then what `list` holds besides it and besides the folder that .cargo/config.toml puts there for plain cargo.
fn prepend(first: PathBuf, list: Option<&OsStr>) -> OsString {
    let plain = workspace::root().join("soft-rocm");
    let rest: Vec<_> = list.map(env::split_paths).into_iter().flatten().collect();
    let kept = rest.into_iter().filter(|entry| *entry != first && !entry.starts_with(&plain));
    env::join_paths(std::iter::once(first.clone()).chain(kept)).unwrap_or_else(|_| first.into())
}

/// Where a real ROCm may be: what the user names, then the places ROCm installs itself to, the newest first.
pub fn real_prefixes() -> Vec<PathBuf> {
    let plain = workspace::root().join("soft-rocm");
    let mut found: Vec<PathBuf> = ["ROCM_PATH", "HIP_PATH"]
        .iter()
        .filter_map(env::var_os)
        .map(PathBuf::from)
        .filter(|path| !path.as_os_str().is_empty() && !path.starts_with(&plain))
        .collect();
    let mut cores: Vec<PathBuf> = fs::read_dir("/opt/rocm")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("core-")))
        .collect();
    cores.sort();
    found.extend(cores.into_iter().rev());
    found.push("/opt/rocm".into());
    found.dedup();
    found
}

/// Whether the kernel driver reports a GPU.
pub fn gpu_present() -> bool {
    let nodes = fs::read_dir("/sys/class/kfd/kfd/topology/nodes").into_iter().flatten();
    nodes
        .filter_map(|node| fs::read_to_string(node.ok()?.path().join("gpu_id")).ok())
        .any(|id| id.trim() != "0")
}
