//! Submission: the checks in the order of each release, and the handing over.

use std::ffi::c_void;
use std::slice;

use hipfile_sys::hipFileIOParams_t;

use super::MOST;
use super::operation::Operation;
use super::pool::Pool;
use super::state::{Entry, Refused};
use crate::behaviour::Version;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::hip::Hip;
use crate::sync::Arc;

/// What a submission is made to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Submission<'a> {
    pub(crate) driver: &'a Driver,
    pub(crate) hip: fn() -> Result<&'static Hip, Failure>,
    pub(crate) pool: &'a Arc<Pool<Operation>>,
    pub(crate) version: Version,
}

impl Submission<'_> {
    /// Submits all entries or none.
    ///
    /// # Errors
    ///
    /// From 0.5, in this order: 5022 for no entries and for an unknown batch; for the first entry that is refused 5001,
    /// 5027, 5013, 5022 or what HIP said; 5022 if the batch was destroyed meanwhile; 5037 without room for all. Before
    /// 0.5 room is checked first, no entries are no error, and everything but an invalid value is 5030.
    ///
    /// 5030 if there is no thread to run anything: the entries are then canceled.
    ///
    /// # Safety
    ///
    /// `entries` must be null or point to `count` entries that nobody changes meanwhile.
    pub(crate) unsafe fn submit(
        &self,
        handle: *mut c_void,
        count: u32,
        entries: *const hipFileIOParams_t,
    ) -> Result<(), Failure> {
        let runs = self.version >= Version::V0_5;
        if runs && (count == 0 || entries.is_null()) {
            return Err(Failure::INVALID_VALUE);
        }
        let batch = self.driver.batch(handle).ok_or(Failure::INVALID_VALUE)?;
        let count = count as usize;
        if !runs {
            batch.admits(count).map_err(|_| Failure::INVALID_VALUE)?;
            if count == 0 {
                return Ok(());
            }
            if entries.is_null() {
                return Err(Failure::INVALID_VALUE);
            }
        }
        // SAFETY: requires that many entries that nobody changes; the caller gives them.
        let entries = unsafe { slice::from_raw_parts(entries, count) };
        let operations = self.check(entries)?;
        batch.submit(operations).map_err(|refused| match refused {
            Refused::Full if runs => Failure::BATCH_FULL,
            _ => Failure::INVALID_VALUE,
        })?;
        if runs {
            self.pool.add(&batch).map_err(|_| Failure::INTERNAL)?;
        }
        Ok(())
    }

    fn check(&self, entries: &[hipFileIOParams_t]) -> Result<Vec<Entry<Operation>>, Failure> {
        let mut lookup = self.driver.look_up();
        let mut operations = Vec::with_capacity(entries.len().min(MOST));
        for entry in entries {
            let operation =
                Operation::new(&mut lookup, self.hip, entry).map_err(|failure| self.code(failure))?;
            operations.push(operation);
        }
        Ok(operations)
    }

    /// The failure of an entry, in the words of the release.
    fn code(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Os(_) if self.version >= Version::V0_5 => Failure::NOT_INITIALIZED,
            Failure::Os(_) | Failure::FILE_NOT_REGISTERED | Failure::MEMORY_TYPE
                if self.version < Version::V0_5 =>
            {
                Failure::INTERNAL
            }
            other => other,
        }
    }
}
