//! `hipFileBatchIOSubmit` of all reads at once, and `hipFileBatchIOGetStatus` until all are done.

use std::ptr;

use hipfile_sys::{
    self as sys, hipFileBatchHandle_t, hipFileIOBatchParams_t, hipFileIOEvents_t, hipFileIOParams_t,
    hipFileIOParamsUnion_t,
};

use crate::Result;
use crate::plain::Round;
use crate::rows::Row;
use crate::stage::{Stage, check};

pub struct Batch<'s> {
    stage: &'s Stage,
    batch: hipFileBatchHandle_t,
    operations: Vec<hipFileIOParams_t>,
    events: Vec<hipFileIOEvents_t>,
    len: usize,
}

impl<'s> Batch<'s> {
    pub fn new(stage: &'s Stage, row: &Row) -> Result<Self> {
        let mut batch = ptr::null_mut();
        let count = row.count as u32;
        // SAFETY: requires a writable handle; holds, it is a local.
        check("hipFileBatchIOSetUp", unsafe { (stage.api.hipFileBatchIOSetUp)(&mut batch, count) })?;
        let operation = |i| {
            let offset = (i * row.len) as i64;
            hipFileIOParams_t {
                mode: sys::hipFileBatch,
                u: hipFileIOParamsUnion_t {
                    batch: hipFileIOBatchParams_t {
                        devPtr_base: stage.base(),
                        file_offset: offset,
                        devPtr_offset: offset,
                        size: row.len,
                    },
                },
                fh: stage.handle(),
                opcode: sys::hipFileBatchRead,
                cookie: ptr::without_provenance_mut(i),
            }
        };
        Ok(Self {
            stage,
            batch,
            operations: (0..row.count).map(operation).collect(),
            events: vec![hipFileIOEvents_t::default(); row.count],
            len: row.len,
        })
    }
}

impl Round for Batch<'_> {
    fn round(&mut self) -> Result<()> {
        let api = self.stage.api;
        let count = self.operations.len() as u32;
        // SAFETY: requires a batch and that many operations; holds.
        let status =
            unsafe { (api.hipFileBatchIOSubmit)(self.batch, count, self.operations.as_mut_ptr(), 0) };
        check("hipFileBatchIOSubmit", status)?;
        let mut delivered = count;
        let events = self.events.as_mut_ptr();
        // SAFETY: requires a batch and that many writable events; holds. Without a timeout it waits for all.
        let status = unsafe {
            (api.hipFileBatchIOGetStatus)(self.batch, count, &mut delivered, events, ptr::null_mut())
        };
        check("hipFileBatchIOGetStatus", status)?;
        let complete =
            |event: &hipFileIOEvents_t| event.status == sys::hipFileComplete && event.ret == self.len;
        if delivered == count && self.events.iter().all(complete) {
            Ok(())
        } else {
            Err(format!("{delivered} of {count} events, or an operation failed").into())
        }
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        // SAFETY: requires nothing: the handle is looked up. It waits for what still runs.
        unsafe { (self.stage.api.hipFileBatchIODestroy)(self.batch) };
    }
}
