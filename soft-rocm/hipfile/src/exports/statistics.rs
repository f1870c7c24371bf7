//! `hipFileGetStatsL1`, `hipFileGetStatsL2`, `hipFileGetStatsL3`: from 0.5 on; earlier releases lack the symbols, here
//! they answer 5030.

use hipfile_sys::{hipFileError_t, hipFileStatsLevel1_t, hipFileStatsLevel2_t, hipFileStatsLevel3_t};
use soft_rocm_faults::{Point, point};

use crate::abi;
use crate::behaviour::{self, Version};
use crate::failure::Failure;
use crate::stats::{self, Shared, Stats};

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileGetStatsL1(stats: *mut hipFileStatsLevel1_t) -> hipFileError_t {
    give(point::hipFileGetStatsL1, stats, stats::level_1)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileGetStatsL2(stats: *mut hipFileStatsLevel2_t) -> hipFileError_t {
    give(point::hipFileGetStatsL2, stats, stats::level_2)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileGetStatsL3(stats: *mut hipFileStatsLevel3_t) -> hipFileError_t {
    give(point::hipFileGetStatsL3, stats, stats::level_3)
}

fn give<T>(point: Point, place: *mut T, report: fn(&Shared) -> T) -> hipFileError_t {
    abi::status(point, || {
        if behaviour::get().version < Version::V0_5 {
            return Err(Failure::INTERNAL);
        }
        if place.is_null() {
            return Err(Failure::INVALID_VALUE);
        }
        let shared = Stats::get().shared().ok_or(Failure::INTERNAL)?;
        // SAFETY: requires a writable structure; the C interface demands one, and it is not null.
        unsafe { place.write(report(shared)) };
        Ok(())
    })
}
