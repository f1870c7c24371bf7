//! The one error of a search that found nothing.

use crate::header::FLOOR;

/// What was tried, in order, and why it failed.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    tried: Vec<(String, String)>,
}

impl Attempts {
    /// Notes a place that did not have it.
    pub(crate) fn failed(&mut self, place: &str, reason: String) {
        self.tried.push((place.to_owned(), reason));
    }

    /// The error, line by line.
    pub(crate) fn into_error(self) -> Vec<String> {
        let mut lines = vec![format!("libhipfile {FLOOR} or newer was not found. Tried:")];
        for (place, reason) in self.tried {
            let reason = reason.strip_prefix(&format!("{place}/")).map(str::to_owned).unwrap_or(reason);
            lines.push(format!("  {place}: {reason}"));
        }
        lines.extend(WAYS_ON.iter().map(|line| (*line).to_owned()));
        lines
    }
}

const WAYS_ON: &[&str] = &[
    "To have it found:",
    "  install ROCm 7.14 or newer with hipFile: package amdrocm-core-sdk, or hipfile-dev (Debian, Ubuntu), hipfile-devel (Fedora, RHEL, SUSE)",
    "  or set ROCM_PATH to an installed ROCm",
    "  or set HIPFILE_LIB_DIR to the directory of libhipfile.so and HIPFILE_INCLUDE_DIR to that of hipfile.h",
    "To go on without it:",
    "  default-features = false (on hipfile or hipfile-sys) loads libhipfile when the program runs",
    "  or set ROCM_PATH to the software ROCm, which runs on any Linux machine: unpack it from a release, or run \
     `cargo xtask soft-rocm` in a checkout, of https://github.com/hipfile-rs/hipfile-rs",
];
