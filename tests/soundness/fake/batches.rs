//! Batches whose submissions stop half-way and whose events tests rewrite.

use std::sync::Mutex;

use hipfile::sys::*;

use super::{Function, coded, decided};

type Rewrite = Box<dyn FnMut(&mut Vec<hipFileIOEvents_t>) + Send>;
static REWRITE: Mutex<Option<Rewrite>> = Mutex::new(None);
static ACCEPT: Mutex<Option<(u32, u32)>> = Mutex::new(None);
static COUNT: Mutex<Option<u32>> = Mutex::new(None);

/// From now on `rewrite` changes what the library says has ended before the caller sees it. More events than there is room
/// for are cut off.
pub fn events(rewrite: impl FnMut(&mut Vec<hipFileIOEvents_t>) + Send + 'static) {
    *REWRITE.lock().unwrap() = Some(Box::new(rewrite));
}

/// From now on the library says that this many events were delivered, whatever is in the array.
pub fn count(count: u32) {
    *COUNT.lock().unwrap() = Some(count);
}

/// The next submission takes so many of its operations and then fails with 5030, as when the library can't hand work out.
pub fn accept_only(count: u32) {
    stop_after(count, 5030);
}

/// The next submission takes so many of its operations and then answers this.
pub fn stop_after(count: u32, err: u32) {
    *ACCEPT.lock().unwrap() = Some((count, err));
}

pub unsafe extern "C" fn set_up(batch: *mut hipFileBatchHandle_t, capacity: u32) -> hipFileError_t {
    decided(Function::BatchSetUp)
        // SAFETY: requires what the caller was required.
        .unwrap_or_else(|| unsafe { (Api::linked().hipFileBatchIOSetUp)(batch, capacity) })
}

pub unsafe extern "C" fn submit(
    batch: hipFileBatchHandle_t,
    count: u32,
    operations: *mut hipFileIOParams_t,
    flags: u32,
) -> hipFileError_t {
    if let Some(answer) = decided(Function::BatchSubmit) {
        return answer;
    }
    let accepted = ACCEPT.lock().unwrap().take();
    let submit = Api::linked().hipFileBatchIOSubmit;
    let answer = match accepted {
        Some((0, _)) => coded(0, 0),
        // SAFETY: requires what the caller was required, which holds for fewer operations too.
        _ => unsafe { submit(batch, accepted.map_or(count, |(only, _)| only.min(count)), operations, flags) },
    };
    accepted.map_or(answer, |(_, err)| coded(err, 0))
}

pub unsafe extern "C" fn status(
    batch: hipFileBatchHandle_t,
    least: u32,
    count: *mut u32,
    events: *mut hipFileIOEvents_t,
    timeout: *mut libc::timespec,
) -> hipFileError_t {
    if let Some(answer) = decided(Function::BatchStatus) {
        return answer;
    }
    // SAFETY: requires a readable number; holds because the caller was required one.
    let room = unsafe { count.read() };
    // SAFETY: requires what the caller was required.
    let answer = unsafe { (Api::linked().hipFileBatchIOGetStatus)(batch, least, count, events, timeout) };
    if let Some(rewrite) = REWRITE.lock().unwrap().as_mut().filter(|_| answer.err == hipFileSuccess) {
        // SAFETY: requires a readable number; holds as above.
        let delivered = unsafe { count.read() };
        // SAFETY: requires that many initialised events; holds because the library says so.
        let mut list = unsafe { std::slice::from_raw_parts(events, delivered as usize) }.to_vec();
        rewrite(&mut list);
        list.truncate(room as usize);
        for (index, event) in list.iter().enumerate() {
            // SAFETY: requires room for the event; holds because the caller has it for `room`.
            unsafe { events.wrapping_add(index).write(*event) };
        }
        // SAFETY: requires a writable number; holds because the caller was required one.
        unsafe { count.write(list.len() as u32) };
    }
    if let Some(told) = *COUNT.lock().unwrap() {
        // SAFETY: requires a writable number; holds as above.
        unsafe { count.write(told) };
    }
    answer
}

pub unsafe extern "C" fn cancel(batch: hipFileBatchHandle_t) -> hipFileError_t {
    // SAFETY: requires what the caller was required.
    decided(Function::BatchCancel).unwrap_or_else(|| unsafe { (Api::linked().hipFileBatchIOCancel)(batch) })
}

pub unsafe extern "C" fn destroy(batch: hipFileBatchHandle_t) {
    if decided(Function::BatchDestroy).is_none() {
        // SAFETY: requires what the caller was required.
        unsafe { (Api::linked().hipFileBatchIODestroy)(batch) }
    }
}
