//! Asking each stream once for many operations.

use core::ffi::c_void;

use crate::device::Device;
use crate::error::Result;
use crate::stream::Stream;

/// What streams answered.
#[derive(Default)]
pub(crate) struct StreamAnswers(Vec<(*mut c_void, Device, Result<bool>)>);

impl StreamAnswers {
    /// Whether everything is done that `stream` had been given when it was asked first.
    pub(crate) fn is_idle(&mut self, stream: &Stream) -> Result<bool> {
        let (raw, device) = (stream.as_raw(), stream.device());
        if let Some((.., answer)) = self.0.iter().find(|known| (known.0, known.1) == (raw, device)) {
            return answer.clone();
        }
        let answer = stream.as_ref().is_idle_for("Operation");
        self.0.push((raw, device, answer.clone()));
        answer
    }
}
