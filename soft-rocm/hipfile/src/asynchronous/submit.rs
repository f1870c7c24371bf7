//! The submission of an operation: every check, in AMD's order.

use std::ffi::c_void;

use hipfile_sys::{hipErrorNotSupported, hipErrorOutOfMemory, hipStream_t};

use super::operation::{Operation, Place};
use super::values::{Pointers, Values};
use crate::behaviour::{Behaviour, Version};
use crate::config::Config;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::hip::Hip;
use crate::pinned::Pinned;
use crate::stats::{Direction, Path, Stats};
use crate::stream::Stream;
use crate::transfer::{Manner, Request, max_size, select};

/// What a submission is made to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Library<'a> {
    pub(crate) driver: &'a Driver,
    pub(crate) hip: fn() -> Result<&'static Hip, Failure>,
    pub(crate) config: fn() -> &'static Config,
    pub(crate) behaviour: &'static Behaviour,
}

/// What `hipFileReadAsync` and `hipFileWriteAsync` are given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Submission {
    pub(crate) direction: Direction,
    pub(crate) file: *mut c_void,
    pub(crate) buffer: *mut c_void,
    pub(crate) pointers: Pointers,
    pub(crate) stream: hipStream_t,
}

/// Bytes of the object that AMD's library has for an operation.
const AMD_OPERATION: usize = 168;

/// Streams that have no handle of their own; which one is meant depends on the thread.
const SPECIAL_STREAMS: std::ops::RangeInclusive<usize> = 0..=2;

/// Puts an operation on its stream.
///
/// # Errors
///
/// On a closed driver 5022, and the driver is open. Else, in this order: 5022 for a null, 5027 for an unknown file,
/// 5030 for memory that is not a device's, HIP's code for buffer and stream, 5030 if no path takes the operation, 5022
/// for a range that leaves the buffer and for a stream of another device; all these leave the result's place as it is.
/// Then HIP's code for what could not be put on the stream.
///
/// # Safety
///
/// The pointers are null or good for reading and, the result's, for writing until the operation has ended.
pub(crate) unsafe fn submit(library: &Library<'_>, submission: &Submission) -> Result<(), Failure> {
    Pinned::give_back();
    let Library { driver, behaviour, .. } = *library;
    let Submission { direction, pointers, .. } = *submission;
    if driver.open_if_closed() || submission.buffer.is_null() || pointers.any_null() {
        return Err(Failure::INVALID_VALUE);
    }
    let (file, buffer) =
        driver.resolve(library.hip, submission.file, submission.buffer).map_err(|failure| match failure {
            Failure::MEMORY_TYPE => Failure::INTERNAL,
            // Another thread closed the driver just now.
            Failure::Os(_) => Failure::INVALID_VALUE,
            other => other,
        })?;
    if buffer.host {
        // There is no asynchronous way to it.
        return Err(Failure::INTERNAL);
    }
    let hip = (library.hip)()?;
    let stream = match driver.stream(submission.stream) {
        Some(registered) => Place::Registered(registered),
        None => Place::Unregistered(Stream::unregistered(hip, behaviour, submission.stream)?),
    };
    // SAFETY: requires pointers that are not null and readable; holds, they were checked, and by contract.
    let Values { size, file_offset, buffer_offset } = unsafe { pointers.read() };
    let request = Request { direction, file: &file, buffer: &buffer, size, file_offset, buffer_offset };
    let path = if behaviour.version >= Version::V0_5 {
        select(hip, (library.config)(), Stats::get(), &request).ok_or(Failure::INTERNAL)?
    } else {
        Path::Fallback
    };
    let submitted = Values { size: size.min(max_size()), file_offset, buffer_offset };
    if file_offset < 0 || buffer.device != stream.device {
        return Err(Failure::INVALID_VALUE);
    }
    buffer.check_range(buffer_offset, submitted.size)?;
    // SAFETY: requires a writable place; holds, it is not null, and by contract.
    unsafe { pointers.publish(0) };
    if size == 0 && path == Path::Fallback {
        return Ok(());
    }
    let manner = if behaviour.amd_quirks { Manner::AmdAsync } else { Manner::Mended };
    let _pinned =
        if behaviour.amd_quirks { pinned(hip, behaviour, path, submitted.size)? } else { [None, None] };
    let operation =
        Operation { hip, direction, path, file, buffer, stream, pointers, submitted, manner, _pinned };
    enqueue(submission.stream, behaviour, Box::new(operation))
}

/// What AMD's library allocates for an operation: an object, and up to 0.4 memory for all of its bytes.
#[cold]
fn pinned(
    hip: &'static Hip,
    behaviour: &Behaviour,
    path: Path,
    size: usize,
) -> Result<[Option<Pinned>; 2], Failure> {
    let object = Pinned::new(hip, AMD_OPERATION).map_err(|_| Failure::Hip(hipErrorOutOfMemory))?;
    let bounce = (path == Path::Fallback && behaviour.version < Version::V0_5)
        .then(|| Pinned::new(hip, size))
        .transpose()
        .map_err(Failure::Hip)?;
    Ok([Some(object), bounce])
}

fn enqueue(stream: hipStream_t, behaviour: &Behaviour, operation: Box<Operation>) -> Result<(), Failure> {
    let hip = operation.hip;
    if operation.path == Path::Fallback && hip.host_address.is_none() && !hip.has_private_streams() {
        return Err(Failure::Hip(hipErrorNotSupported));
    }
    let registered = match &operation.stream {
        Place::Registered(stream) if hip.streams.launch_concurrent.is_some() => Some(stream.clone()),
        _ => None,
    };
    let targets = if behaviour.amd_quirks || SPECIAL_STREAMS.contains(&stream.addr()) {
        None
    } else {
        operation.targets()
    };
    let data = Box::into_raw(operation);
    let in_order = || {
        // SAFETY: requires that the function may be called with the data; holds, it is its box made raw, once.
        unsafe { hip.launch(stream, Operation::run, data.cast()) }
    };
    let launched = match registered {
        None => in_order(),
        Some(registered) => {
            // Held until HIP has the operation, so that the order known is the order on the stream.
            let mut order = registered.order();
            if targets.is_some_and(|(memory, result)| order.join(memory, result)) {
                // SAFETY: as above.
                unsafe { hip.launch_concurrent(stream, Operation::run, data.cast()) }
            } else {
                in_order().inspect(|()| order.begin_again())
            }
        }
    };
    launched.map_err(|code| {
        // SAFETY: requires a box made raw that nobody else has; holds because HIP refused it.
        drop(unsafe { Box::from_raw(data) });
        Failure::Hip(code)
    })
}
