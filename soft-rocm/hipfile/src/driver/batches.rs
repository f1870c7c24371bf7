//! The batches among what the driver keeps.

use std::ffi::c_void;

use super::Driver;
use crate::batch::Batch;
use crate::sync::Arc;

impl Driver {
    /// Makes a batch. The driver may be closed and stays so.
    pub(crate) fn set_up_batch(&self, capacity: usize) -> *mut c_void {
        let batch = Arc::new(Batch::new(capacity));
        self.write().insert_batch(batch)
    }

    /// The batch of a handle.
    pub(crate) fn batch(&self, handle: *mut c_void) -> Option<Arc<Batch>> {
        self.read().batch(handle)
    }

    /// Removes a batch, unless it is unknown, and waits for what it runs.
    pub(crate) fn destroy_batch(&self, handle: *mut c_void) {
        let removed = self.write().remove_batch(handle);
        if let Some(batch) = removed {
            batch.retire();
            batch.quiesce();
        }
    }
}
