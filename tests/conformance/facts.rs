//! What the ROCm under test and this machine have, asked once before any case runs.

use std::path::Path;
use std::{env, fmt};

use crate::case::{Case, Need};
use crate::file;
use crate::hip;
use crate::mounts;
use crate::raw;

/// Tells the software libhipfile which release to be.
pub const VERSION: &str = "SOFT_ROCM_HIPFILE_VERSION";

/// The releases it can be, the oldest first.
const RELEASES: [(u32, u32, &str); 3] = [(0, 2, "0.2"), (0, 4, "0.4"), (0, 5, "0.5")];

/// Why a case means nothing here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    /// It is about another release than the library is.
    Release(String),
    /// The ROCm or the machine has not what it needs.
    Thing(String),
}

/// The facts that decide which cases mean anything.
#[derive(Debug)]
pub struct Facts {
    version: (u32, u32, u32),
    library: String,
    ais: bool,
    stats: bool,
    ours: bool,
    permitted: bool,
    loop_device: bool,
    /// Whether the caller said which release to test.
    chosen: bool,
}

impl Facts {
    /// Asks the libraries and the file system.
    pub fn gather() -> Self {
        Self {
            version: raw::version(),
            library: raw::library_path(),
            ais: hip::has_function("hipAmdFileRead") && hip::has_function("hipAmdFileWrite"),
            stats: raw::has_stats(),
            ours: raw::is_software(),
            permitted: permitted(&file::folder()),
            loop_device: mounts::available(),
            chosen: env::var_os(VERSION).is_some_and(|value| !value.is_empty()),
        }
    }

    /// The release that a case is about where it is not the library's own: a software library that nobody told which
    /// release to be is that one for the case.
    pub fn other_release(&self, case: &Case) -> Option<&'static str> {
        if !self.ours || self.chosen || case.needs.iter().all(|need| self.fits(self.version, *need)) {
            return None;
        }
        let fits = |major, minor| case.needs.iter().all(|need| self.fits((major, minor, 0), *need));
        RELEASES.iter().rev().find(|(major, minor, _)| fits(*major, *minor)).map(|(_, _, name)| *name)
    }

    /// Why the case means nothing here, if it does not.
    pub fn lack(&self, case: &Case) -> Option<Lack> {
        let other = self.other_release(case).is_some();
        let of_version = |need: Need| matches!(need, Need::Since(..) | Need::Until(..) | Need::Stats);
        let (release, things): (Vec<Need>, Vec<Need>) =
            case.needs.iter().partition(|need| of_version(**need));
        let release = release.into_iter().filter(|_| !other).find_map(|need| self.lacks(need));
        let thing = || things.into_iter().find_map(|need| self.lacks(need));
        release.map(Lack::Release).or_else(|| thing().map(Lack::Thing))
    }

    /// Whether a version is one that a need speaks of.
    fn fits(&self, version: (u32, u32, u32), need: Need) -> bool {
        match need {
            Need::Since(major, minor) => version >= (major, minor, 0),
            Need::Stats => version >= (0, 5, 0),
            Need::Until(major, minor) => version < (major, minor + 1, 0),
            _ => true,
        }
    }

    /// Why a need is not met, if it is not.
    fn lacks(&self, need: Need) -> Option<String> {
        let (met, reason) = match need {
            Need::Ais => (self.ais, "HIP lacks hipAmdFileRead and hipAmdFileWrite".into()),
            Need::Stats => (self.stats, "the library has no statistics functions".into()),
            Need::Since(major, minor) => {
                (self.fits(self.version, need), format!("the library is older than {major}.{minor}"))
            }
            Need::Until(major, minor) => {
                (self.fits(self.version, need), format!("the library is newer than {major}.{minor}"))
            }
            Need::Ours => (self.ours, "the library is AMD's and behaves otherwise".into()),
            Need::OurHip => (hip::is_software(), "HIP is AMD's and behaves otherwise".into()),
            Need::Amds => (true, String::new()),
            Need::Hip(name) => (hip::symbol(name).is_some(), format!("HIP lacks {name}")),
            // `SOFT_ROCM_DEVICE_COUNT` gives the software HIP as many as asked for.
            Need::SecondDevice => {
                (hip::is_software() || hip::device_count() > 1, "there is one device".into())
            }
            Need::PermittedFileSystem => {
                (self.permitted, "the temporary folder is on neither ext4 nor xfs".into())
            }
            Need::LoopDevice => {
                (self.loop_device, "no loop devices here, or no mkfs.ext4, or not root".into())
            }
        };
        (!met).then_some(reason)
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor, patch) = self.version;
        let whose = if self.ours { "software" } else { "AMD's" };
        let ais = if self.ais { "with" } else { "without" };
        write!(f, "{whose} libhipfile {major}.{minor}.{patch} at {}, HIP {ais} file functions", self.library)
    }
}

/// Whether a folder lies on ext4 in ordered mode or on xfs.
fn permitted(folder: &Path) -> bool {
    let Ok(mounts) = std::fs::read_to_string("/proc/self/mountinfo") else { return false };
    let Ok(device) = std::fs::metadata(folder).map(|meta| std::os::linux::fs::MetadataExt::st_dev(&meta))
    else {
        return false;
    };
    let number = format!("{}:{}", libc::major(device), libc::minor(device));
    mounts.lines().filter(|line| line.split(' ').nth(2) == Some(&number)).any(|line| {
        let after = line.split(" - ").nth(1).unwrap_or_default();
        let journalled = after.contains("data=journal") || after.contains("data=writeback");
        match after.split(' ').next() {
            Some("ext4") => !journalled,
            kind => kind == Some("xfs"),
        }
    })
}
