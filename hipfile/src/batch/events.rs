//! The way out of a batch.

use std::time::Duration;

use hipfile_sys as sys;

use super::{Batch, MOST, entry};
use crate::decode;
use crate::error::Cause;
use crate::ffi;
use crate::op_error::OpError;

impl Batch {
    /// Fetches all that has ended, after waiting for `min`. Returns how many events there were.
    pub(super) fn fetch(
        &mut self,
        min: usize,
        timeout: Option<Duration>,
    ) -> std::result::Result<usize, Cause> {
        let api = self.driver.live()?;
        if self.outstanding.is_empty() {
            return Ok(0);
        }
        let mut room = [sys::hipFileIOEvents_t::default(); MOST];
        let room = room.get_mut(..self.outstanding.len()).unwrap_or_default();
        let events = known(ffi::batch::status(api, &self.handle, min, room, timeout))?;
        // All of them are seen to before a fault is told.
        let mut answer = Ok(events.len());
        for event in events {
            if let Err(fault) = self.take(event) {
                answer = answer.and(Err(fault));
            }
        }
        answer
    }

    /// Believes an event if it is about something outstanding and says that it ended.
    fn take(&mut self, event: &sys::hipFileIOEvents_t) -> std::result::Result<(), Cause> {
        let cookie = event.cookie.addr();
        let Some(outstanding) = self.outstanding.get(&cookie) else {
            let account = "the library reports the end of a transfer that is not outstanding";
            return Err(Cause::Fault(account.into()));
        };
        let state = event.status.0;
        let Some(result) = decode::event(state, event.ret, entry::size(&outstanding.request)) else {
            let account =
                format!("the library reports the end of a transfer with state {state}, which is none");
            return Err(Cause::Fault(account));
        };
        self.end(cookie, result);
        Ok(())
    }

    /// Makes a transfer ready. Nothing uses its memory any more.
    pub(super) fn end(&mut self, cookie: usize, result: std::result::Result<usize, Cause>) {
        let ended = self.outstanding.remove(&cookie);
        self.ready.extend(ended.map(|outstanding| outstanding.end(result)));
    }
}

/// The answer of a function whose arguments are right, so that it can only find fault with the batch.
pub(super) fn known<T>(answer: std::result::Result<T, Cause>) -> std::result::Result<T, Cause> {
    answer.map_err(|cause| match cause {
        Cause::Op(OpError::InvalidValue) => Cause::UnknownBatch,
        other => other,
    })
}
