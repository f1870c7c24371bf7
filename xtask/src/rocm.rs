//! Which ROCm is in use, and the environment that makes it so.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use crate::cargo::{cargo, clean, library_path};
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

/// Set to 1 where a GPU must be used, so that a broken installation does not pass for a machine without one.
const REQUIRE_GPU: &str = "HIPFILE_REQUIRE_GPU";

const HIPFILE_H: &str = "include/hipfile.h";

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
            Choice::Auto => match Self::real() {
                Some(rocm) => rocm,
                None if env::var_os(REQUIRE_GPU).is_some_and(|value| value == "1") => {
                    let lack =
                        if gpu_present() { "no ROCm here has libhipfile" } else { "there is no AMD GPU" };
                    return Err(
                        format!("{REQUIRE_GPU}=1, but {lack}: see `cargo xtask --rocm soft doctor`").into()
                    );
                }
                None => Self::software()?,
            },
            Choice::Soft => Self::software()?,
        };
        let kind = if rocm.is_software() { "the software ROCm" } else { "ROCm" };
        eprintln!("xtask: using {kind} in {}", rocm.prefix.display());
        Ok(rocm)
    }

    /// The first real ROCm with libhipfile, where there is a GPU for it.
    fn real() -> Option<Self> {
        if gpu_present() { real_prefixes().iter().find_map(|path| Self::at(path).ok()) } else { None }
    }

    /// The software one, built where that is not done yet.
    pub fn software() -> Result<Self> {
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
        for header in [HIPFILE_H, "include/hip/hip_runtime_api.h"] {
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

    /// A program that runs with this ROCm.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = clean(Command::new(program));
        self.apply(&mut command);
        command
    }

    /// `cargo`, for building what runs with this ROCm.
    pub fn cargo(&self) -> Command {
        let mut command = cargo();
        self.apply(&mut command);
        command
    }

    /// Gives a command this ROCm, and a target directory of its own.
    fn apply(&self, command: &mut Command) {
        command.envs(self.environment()).env("CARGO_TARGET_DIR", self.target_dir());
        if !self.is_software() {
            // The rpath of .cargo/config.toml leads to the software ROCm, which would then serve what this one lacks.
            // An empty variable wins over it; flags that someone chose do so already.
            for flags in ["RUSTFLAGS", "RUSTDOCFLAGS"].into_iter().filter(|name| env::var_os(name).is_none())
            {
                command.env(flags, "");
            }
        }
    }

    /// The directory that holds it.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// The directory of its libraries.
    pub fn lib(&self) -> &Path {
        &self.lib
    }

    /// The header of libhipfile.
    pub fn header(&self) -> PathBuf {
        self.prefix.join(HIPFILE_H)
    }

    /// The version in libhipfile's header, as in `0.5.0`.
    pub fn hipfile_version(&self) -> Option<String> {
        let header = fs::read_to_string(self.header()).ok()?;
        let numbers: Option<Vec<u32>> =
            ["MAJOR", "MINOR", "PATCH"].iter().map(|part| number(&header, part)).collect();
        Some(numbers?.iter().map(u32::to_string).collect::<Vec<_>>().join("."))
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

/// The value of `HIPFILE_VERSION_<part>` in a header.
fn number(header: &str, part: &str) -> Option<u32> {
    let name = format!("HIPFILE_VERSION_{part}");
    header.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        if words.next() == Some("#define") && words.next() == Some(&name) {
            words.next()?.parse().ok()
        } else {
            None
        }
    })
}

/// `first`, then what `list` holds besides it and besides the folder that .cargo/config.toml puts there for plain cargo.
fn prepend(first: PathBuf, list: Option<&OsStr>) -> OsString {
    let plain = workspace::root().join("soft-rocm");
    let rest: Vec<_> = list.map(env::split_paths).into_iter().flatten().collect();
    let kept = rest.into_iter().filter(|entry| *entry != first && !entry.starts_with(&plain));
    env::join_paths(std::iter::once(first.clone()).chain(kept)).unwrap_or_else(|_| first.into())
}

/// Where a real ROCm may be. `ROCM_PATH` counts unless it is the value that .cargo/config.toml sets.
pub fn real_prefixes() -> Vec<PathBuf> {
    let plain = workspace::root().join("soft-rocm");
    let chosen = env::var_os("ROCM_PATH").filter(|path| !Path::new(path).starts_with(&plain));
    rocm_loader::Search::new(Path::new("/"), chosen.as_deref()).prefixes().to_vec()
}

/// Whether the kernel driver reports a GPU.
pub fn gpu_present() -> bool {
    let nodes = fs::read_dir("/sys/class/kfd/kfd/topology/nodes").into_iter().flatten();
    nodes
        .filter_map(|node| fs::read_to_string(node.ok()?.path().join("gpu_id")).ok())
        .any(|id| id.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A prefix with these files.
    fn prefix(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "#define HIPFILE_VERSION_MAJOR 0\n#define HIPFILE_VERSION_MINOR 4\n  #define HIPFILE_VERSION_PATCH 1\n")
                .unwrap();
        }
        dir
    }

    const WHOLE: [&str; 4] =
        ["lib/libhipfile.so", "lib/libamdhip64.so", "include/hipfile.h", "include/hip/hip_runtime_api.h"];

    #[test]
    fn the_value_of_the_option() {
        let choice = |text: &str| text.parse::<Choice>().unwrap();
        assert_eq!(choice("auto"), Choice::Auto);
        assert_eq!(choice("soft"), Choice::Soft);
        assert_eq!(choice("./soft"), Choice::Prefix("./soft".into()));
    }

    #[test]
    fn what_a_prefix_lacks_is_named() {
        for missing in WHOLE {
            let files: Vec<_> = WHOLE.into_iter().filter(|file| *file != missing).collect();
            let dir = prefix(&files);
            let error = Rocm::at(dir.path()).unwrap_err().to_string();
            let name = missing.strip_prefix("lib/").unwrap_or(missing);
            assert!(error.starts_with("no ROCm in ") && error.ends_with(name), "{error}");
        }
        let error = Rocm::at(Path::new("/nonexistent")).unwrap_err().to_string();
        assert_eq!(error, "no ROCm in /nonexistent: No such file or directory (os error 2)");
    }

    #[test]
    fn the_environment_puts_the_prefix_first_and_drops_the_folder_for_plain_cargo() {
        let dir = prefix(&WHOLE);
        let rocm = Rocm::at(dir.path()).unwrap();
        let plain = workspace::root().join("soft-rocm/pkgconfig");
        let inherited = |name: &str| match name {
            "PATH" => Some("/bin:/usr/bin".into()),
            "PKG_CONFIG_PATH" => Some(plain.clone().into()),
            "LD_LIBRARY_PATH" => Some("/mine".into()),
            _ => None,
        };
        let root = dir.path().canonicalize().unwrap();
        let root = root.to_str().unwrap();
        let environment: Vec<_> = rocm
            .environment_over(inherited)
            .into_iter()
            .map(|(name, value)| format!("{name}={}", value.to_str().unwrap().replace(root, "P")))
            .collect();
        let expected = [
            "HIP_PATH=P",
            "ROCM_PATH=P",
            "HIPFILE_LIB_DIR=P/lib",
            "HIPFILE_INCLUDE_DIR=P/include",
            "PKG_CONFIG_PATH=P/lib/pkgconfig",
            "PATH=P/bin:/bin:/usr/bin",
            "LD_LIBRARY_PATH=P/lib:/mine",
        ];
        assert_eq!(environment, expected);
    }

    #[test]
    fn each_rocm_has_a_target_directory() {
        let (one, two) = (prefix(&WHOLE), prefix(&WHOLE));
        let target = |dir: &tempfile::TempDir| Rocm::at(dir.path()).unwrap().target_dir();
        assert_ne!(target(&one), target(&two));
        assert_eq!(target(&one), target(&one));
    }

    #[test]
    fn the_version_is_read_from_the_header() {
        let dir = prefix(&WHOLE);
        assert_eq!(Rocm::at(dir.path()).unwrap().hipfile_version().as_deref(), Some("0.4.1"));
        fs::write(dir.path().join("include/hipfile.h"), "#define HIPFILE_VERSION_MAJOR 1\n").unwrap();
        assert_eq!(Rocm::at(dir.path()).unwrap().hipfile_version(), None);
    }
}
