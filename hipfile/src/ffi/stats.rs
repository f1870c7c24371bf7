//! What the library counted, in its own structures. `None` where it has no such function.
#![allow(unsafe_code, reason = "calls C")]

use hipfile_sys as sys;
use sys::Api;

use super::filled;
use crate::error::Cause;

/// Whether the library has totals by device, which contain those of the process.
pub(crate) fn by_device_exist(api: &Api) -> bool {
    api.hipFileGetStatsL3.is_some()
}

/// Whether the library has histograms.
pub(crate) fn histograms_exist(api: &Api) -> bool {
    api.hipFileGetStatsL2.is_some()
}

/// Histograms of sizes: level 2.
pub(crate) fn histograms(api: &Api) -> Option<Result<sys::hipFileStatsLevel2_t, Cause>> {
    let get = api.hipFileGetStatsL2?;
    // SAFETY: requires a pointer to the structure that may be written; holds because `filled` gives one.
    Some(filled(|stats| unsafe { get(stats) }))
}

/// The totals of the process and those of each device: level 3.
pub(crate) fn by_device(api: &Api) -> Option<Result<sys::hipFileStatsLevel3_t, Cause>> {
    let get = api.hipFileGetStatsL3?;
    // SAFETY: requires a pointer to the structure that may be written; holds because `filled` gives one.
    Some(filled(|stats| unsafe { get(stats) }))
}
