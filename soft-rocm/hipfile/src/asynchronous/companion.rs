//! A second thread for each thread of HIP that runs operations whose memory host code can't reach.
//!
//! A host function must not call HIP's copies: HIP may hold what a copy waits for. So it hands the operation to its
//! companion, which copies on a stream of its own that waits for no other, and waits itself, keeping its stream in
//! order meanwhile.

use std::cell::RefCell;
use std::io;
use std::sync::{Arc, TryLockError};
use std::thread;

use super::handover::Handover;
use super::operation::Operation;
use super::values::Values;
use crate::abi;
use crate::failure::Failure;
use crate::hip::PrivateStream;
use crate::signals;
use crate::transfer::{Bounce, through_bounce};

/// Moves the bytes of an operation and returns how many; the operation is dropped.
pub(super) fn run(operation: Box<Operation>, values: Values) -> Result<usize, Failure> {
    thread_local! {
        static COMPANION: RefCell<Option<Companion>> = const { RefCell::new(None) };
    }
    COMPANION.with_borrow_mut(|place| {
        let companion = match place {
            Some(companion) => companion,
            None => place.insert(Companion::start().map_err(os)?),
        };
        companion.0.ask((operation, values)).ok_or(Failure::INTERNAL)?
    })
}

/// Dropped when its thread ends.
#[derive(Debug)]
struct Companion(Arc<Work>);

/// Operations whose bytes are to be moved, and how many were.
type Work = Handover<(Box<Operation>, Values), Result<usize, Failure>>;

impl Companion {
    fn start() -> io::Result<Self> {
        let work = Arc::new(Work::new());
        let theirs = Arc::clone(&work);
        signals::without(|| {
            thread::Builder::new().name("hipfile-copy".into()).spawn(move || serve(&theirs))
        })?;
        Ok(Self(work))
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// What the companion does all its life.
fn serve(work: &Work) {
    let mut streams = Vec::new();
    while let Some((operation, values)) = work.job() {
        work.answer(abi::contained(|| copy(&mut streams, operation, values)));
    }
}

/// Moves the bytes of an operation, through the bounce buffer of its stream or one from the pool.
fn copy(
    streams: &mut Vec<PrivateStream>,
    operation: Box<Operation>,
    values: Values,
) -> Result<usize, Failure> {
    let request = operation.request(values);
    let stream = stream_on(streams, &operation).map_err(Failure::Hip)?;
    let (copy_in, copy_out) = (
        |device, host: &[u8]| stream.copy_in(device, host),
        |host: &mut [u8], device| stream.copy_out(host, device),
    );
    let manner = operation.manner;
    let own = operation.stream.bounce.as_ref().and_then(|bounce| match bounce.try_lock() {
        Ok(bounce) => Some(bounce),
        Err(TryLockError::Poisoned(bounce)) => Some(bounce.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    });
    match own {
        Some(mut bounce) => through_bounce(&request, bounce.bytes(), manner, copy_in, copy_out),
        None => through_bounce(&request, Bounce::take()?.bytes(), manner, copy_in, copy_out),
    }
}

/// The stream on the device of an operation, which becomes current.
fn stream_on<'a>(
    streams: &'a mut Vec<PrivateStream>,
    operation: &Operation,
) -> Result<&'a PrivateStream, hipfile_sys::hipError_t> {
    let (hip, device) = (operation.hip, operation.buffer.device);
    match streams.iter().position(|stream| stream.device() == device) {
        Some(known) => {
            hip.make_current(device)?;
            streams.get(known).ok_or(hipfile_sys::hipErrorUnknown)
        }
        None => {
            streams.push(PrivateStream::new(hip, device)?);
            streams.last().ok_or(hipfile_sys::hipErrorUnknown)
        }
    }
}

fn os(error: io::Error) -> Failure {
    Failure::Os(error.raw_os_error().unwrap_or(libc::EAGAIN))
}
