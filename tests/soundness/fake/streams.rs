//! Transfers on streams, whose submission, end and result tests decide.

use std::ffi::{c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicIsize, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use hipfile::sys::*;
use hipfile_tests::soft;

use super::{Function, coded, decided};

/// What becomes of a transfer that is to be put on a stream.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    /// The linked library does it.
    Honest,
    /// The submission fails with these codes and nothing is on the stream.
    Refused(u32, u32),
    /// The submission fails with these codes, yet the stream comes to a step that leaves this number in the result slot, 50 ms
    /// after it came there. That is what the library's cleaning up after a failure half-way looks like.
    RefusedAndWritten(u32, u32, isize),
    /// The stream comes to a step that leaves this number as the result; nothing moves.
    Ends(isize),
    /// The same, 50 ms after it came there.
    EndsLate(isize),
}

const LATE: Duration = Duration::from_millis(50);

/// What the stream found in the slots when it came to the last made-up step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    pub size: usize,
    pub file_offset: i64,
    pub buffer_offset: i64,
}

type Decide = Box<dyn FnMut() -> Fate + Send>;
static FATES: Mutex<Option<Decide>> = Mutex::new(None);
static STEPS: AtomicU64 = AtomicU64::new(0);
static LAST: Mutex<Option<Values>> = Mutex::new(None);

/// From now on `decide` says what becomes of transfers on streams.
pub fn fates(decide: impl FnMut() -> Fate + Send + 'static) {
    *FATES.lock().unwrap() = Some(Box::new(decide));
}

/// How many made-up steps have left their result.
pub fn steps() -> u64 {
    STEPS.load(Ordering::SeqCst)
}

/// What the last made-up step found.
pub fn last_values() -> Option<Values> {
    *LAST.lock().unwrap()
}

/// The pointers of a transfer, and what is to be left where the last one leads.
struct Step {
    size: usize,
    file_offset: usize,
    buffer_offset: usize,
    bytes: usize,
    result: isize,
    after: Duration,
}

/// What the stream calls.
extern "C" fn take_step(step: *mut c_void) {
    // SAFETY: requires a box that nobody else takes; holds because `submit` gave it to the stream, which calls once.
    let step = unsafe { Box::from_raw(step.cast::<Step>()) };
    std::thread::sleep(step.after);
    // SAFETY: requires a live slot; that it lives until the stream has passed is what is tested.
    let size = unsafe { AtomicUsize::from_ptr(std::ptr::with_exposed_provenance_mut(step.size)) };
    // SAFETY: as above.
    let file_offset = unsafe { AtomicI64::from_ptr(std::ptr::with_exposed_provenance_mut(step.file_offset)) };
    // SAFETY: as above.
    let buffer_offset =
        unsafe { AtomicI64::from_ptr(std::ptr::with_exposed_provenance_mut(step.buffer_offset)) };
    // SAFETY: as above.
    let bytes = unsafe { AtomicIsize::from_ptr(std::ptr::with_exposed_provenance_mut(step.bytes)) };
    *LAST.lock().unwrap() = Some(Values {
        size: size.load(Ordering::Relaxed),
        file_offset: file_offset.load(Ordering::Relaxed),
        buffer_offset: buffer_offset.load(Ordering::Relaxed),
    });
    bytes.store(step.result, Ordering::Relaxed);
    STEPS.fetch_add(1, Ordering::SeqCst);
}

type LaunchHostFunc = unsafe extern "C" fn(hipStream_t, extern "C" fn(*mut c_void), *mut c_void) -> c_int;

/// Puts a made-up step on the stream.
fn enqueue(stream: hipStream_t, step: Step) {
    // SAFETY: requires a function of that type; holds, HIP's header declares it so.
    let launch: LaunchHostFunc = unsafe { std::mem::transmute(soft::symbol("hipLaunchHostFunc")) };
    let step = Box::into_raw(Box::new(step));
    // SAFETY: requires a stream, and what the function takes; holds, as the caller of the library promises and as just made.
    assert_eq!(unsafe { launch(stream, take_step, step.cast()) }, 0, "hipLaunchHostFunc");
}

macro_rules! transfers {
    ($($name:ident = $function:ident($field:ident);)*) => {
        $(pub unsafe extern "C" fn $name(
            fh: hipFileHandle_t,
            base: *mut c_void,
            size: *mut usize,
            file_offset: *mut hoff_t,
            buffer_offset: *mut hoff_t,
            bytes: *mut isize,
            stream: hipStream_t,
        ) -> hipFileError_t {
            if let Some(answer) = decided(Function::$function) {
                return answer;
            }
            let fate = FATES.lock().unwrap().as_mut().map_or(Fate::Honest, |decide| decide());
            let step = |result, after| Step {
                size: size.expose_provenance(),
                file_offset: file_offset.expose_provenance(),
                buffer_offset: buffer_offset.expose_provenance(),
                bytes: bytes.expose_provenance(),
                result,
                after,
            };
            match fate {
                Fate::Honest => {
                    let submit = Api::linked().$field;
                    // SAFETY: requires what the caller was required.
                    unsafe { submit(fh, base, size, file_offset, buffer_offset, bytes, stream) }
                }
                Fate::Refused(err, hip) => coded(err, hip),
                Fate::RefusedAndWritten(err, hip, result) => {
                    enqueue(stream, step(result, LATE));
                    coded(err, hip)
                }
                Fate::Ends(result) => {
                    enqueue(stream, step(result, Duration::ZERO));
                    coded(0, 0)
                }
                Fate::EndsLate(result) => {
                    enqueue(stream, step(result, LATE));
                    coded(0, 0)
                }
            }
        })*
    };
}

transfers! {
    read = ReadAsync(hipFileReadAsync);
    write = WriteAsync(hipFileWriteAsync);
}

pub unsafe extern "C" fn register(stream: hipStream_t, flags: u32) -> hipFileError_t {
    decided(Function::RegisterStream)
        // SAFETY: requires what the caller was required.
        .unwrap_or_else(|| unsafe { (Api::linked().hipFileStreamRegister)(stream, flags) })
}

pub unsafe extern "C" fn deregister(stream: hipStream_t) -> hipFileError_t {
    decided(Function::DeregisterStream)
        // SAFETY: requires what the caller was required.
        .unwrap_or_else(|| unsafe { (Api::linked().hipFileStreamDeregister)(stream) })
}
