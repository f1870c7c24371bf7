//! What the ROCm under test and this machine have, asked once before any case runs.

use std::fmt;
use std::path::Path;

use crate::case::Need;
use crate::file;
use crate::hip;
use crate::raw;

/// The facts that decide which cases mean anything.
#[derive(Debug)]
pub struct Facts {
    version: (u32, u32, u32),
    library: String,
    ais: bool,
    stats: bool,
    ours: bool,
    permitted: bool,
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
        }
    }

    /// Why a need is not met, if it is not.
    pub fn lacks(&self, need: Need) -> Option<String> {
        let (met, reason) = match need {
            Need::Ais => (self.ais, "HIP lacks hipAmdFileRead and hipAmdFileWrite".into()),
            Need::Stats => (self.stats, "the library has no statistics".into()),
            Need::Since(major, minor) => {
                (self.version >= (major, minor, 0), format!("the library is older than {major}.{minor}"))
            }
            Need::Ours => (self.ours, "the library is AMD's and behaves otherwise".into()),
            // `SOFT_ROCM_DEVICE_COUNT` gives the software HIP as many as asked for.
            Need::SecondDevice => {
                (hip::is_software() || hip::device_count() > 1, "there is one device".into())
            }
            Need::PermittedFileSystem => {
                (self.permitted, "the temporary folder is on neither ext4 nor xfs".into())
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
