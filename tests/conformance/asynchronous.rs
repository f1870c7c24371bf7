//! HF-ASYNC, HF-STREAM and HF-BATCH: what asynchronous and batch calls refuse, and streams that are registered.

use std::ptr;

use hipfile_sys::{
    hipFileBatchHandle_t, hipFileError_t, hipFileHandle_t, hipFileIOEvents_t, hipFileIOParams_t, hipStream_t,
};

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE};
use crate::hip::{self, Memory};
use crate::raw::{self, Answer, OK, api, e};

const SIZE: usize = 64 * 1024;

pub fn cases() -> Vec<Case> {
    [submissions(), streams(), batches()].into_iter().flatten().collect()
}

fn answer(error: hipFileError_t) -> Answer {
    (error.err.0, error.hip_drv_err.0)
}

/// What `hipFileReadAsync` and `hipFileWriteAsync` are given. The slots are ours; `absent` of them is NULL.
#[derive(Clone, Copy, Debug)]
struct Submission {
    handle: usize,
    base: usize,
    size: usize,
    file_offset: i64,
    buffer_offset: i64,
    absent: Option<usize>,
}

impl Submission {
    fn of(handle: usize, base: usize) -> Self {
        Self { handle, base, size: PAGE, file_offset: 0, buffer_offset: 0, absent: None }
    }

    /// Submits it to the NULL stream in both directions; every one must be refused, with `*bytes_p` as it was.
    fn refused(mut self, expected: Answer) {
        let mut bytes = 77_isize;
        let fh = self.handle as hipFileHandle_t;
        let base = self.base as *mut std::ffi::c_void;
        let size = if self.absent == Some(0) { ptr::null_mut() } else { &raw mut self.size };
        let file_offset = if self.absent == Some(1) { ptr::null_mut() } else { &raw mut self.file_offset };
        let buffer_offset =
            if self.absent == Some(2) { ptr::null_mut() } else { &raw mut self.buffer_offset };
        let bytes_p = if self.absent == Some(3) { ptr::null_mut() } else { &raw mut bytes };
        let (read, write) = (api().hipFileReadAsync, api().hipFileWriteAsync);
        // SAFETY: requires slots that live until the operation ends; holds because none begins.
        let read = unsafe { read(fh, base, size, file_offset, buffer_offset, bytes_p, ptr::null_mut()) };
        // SAFETY: requires slots that live until the operation ends; holds because none begins.
        let write = unsafe { write(fh, base, size, file_offset, buffer_offset, bytes_p, ptr::null_mut()) };
        assert_eq!((answer(read), answer(write)), (expected, expected), "{self:?}");
        assert_eq!(bytes, 77, "{self:?}");
    }
}

fn submissions() -> Vec<Case> {
    vec![
        case("HF-DRV-26 on a closed driver a submission opens it and is E(5022), whatever it says", || {
            let file = File::of(&[1; SIZE]);
            let memory = Memory::new(SIZE);
            let handle = file.registered();
            for submission in [Submission::of(0, 0), Submission::of(handle, memory.at), Submission::of(1, 1)]
            {
                for write in [false, true] {
                    while raw::count() > 0 {
                        assert_eq!(raw::driver_close(), OK);
                    }
                    assert_eq!(on_closed(submission, write), e(5022));
                    assert_eq!(raw::count(), 1);
                }
            }
        }),
        case("HF-ASYNC-01 HF-ASYNC-02 a NULL is E(5022) before an unknown handle is E(5027)", || {
            let file = File::of(&[1; SIZE]);
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            for fh in [handle, 0, usize::MAX] {
                Submission::of(fh, 0).refused(e(5022));
                for absent in 0..4 {
                    Submission { absent: Some(absent), ..Submission::of(fh, memory.at) }.refused(e(5022));
                }
            }
            for unknown in raw::unknown_handles(handle) {
                Submission::of(unknown, memory.at).refused(e(5027));
                Submission { size: SIZE * 2, ..Submission::of(unknown, memory.at) }.refused(e(5027));
            }
        }),
        case("HF-ASYNC-03 HF-ASYNC-07 unregistered memory that is not the device's is E(5030)", || {
            let file = File::of(&[1; SIZE]);
            let handle = file.registered();
            let host = vec![0_u8; SIZE];
            Submission::of(handle, host.as_ptr() as usize).refused(e(5030));
            Submission { file_offset: -1, ..Submission::of(handle, host.as_ptr() as usize) }.refused(e(5030));
        }),
        case("HF-ASYNC-04 HF-ASYNC-07 a range that does not fit is E(5022) at submission", || {
            let file = File::of(&[1; SIZE]);
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            let good = Submission::of(handle, memory.at);
            for (size, file_offset, buffer_offset) in [
                (SIZE + 1, 0, 0),
                (PAGE, -1, 0),
                (PAGE, 0, -1),
                (PAGE, 0, SIZE as i64),
                (0, 0, SIZE as i64),
                (2, 0, SIZE as i64 - 1),
            ] {
                Submission { size, file_offset, buffer_offset, ..good }.refused(e(5022));
            }
        }),
        case("HF-ASYNC-05 HF-ASYNC-07 a buffer and a stream of different GPUs are E(5022)", || {
            assert_eq!(hip::set_device(1), 0);
            let memory = Memory::new(SIZE).registered();
            assert_eq!(hip::set_device(0), 0);
            let file = File::of(&[1; SIZE]);
            Submission::of(file.registered(), memory.at).refused(e(5022));
        })
        .needs(Need::SecondDevice)
        .env("SOFT_ROCM_DEVICE_COUNT", "2"),
    ]
}

/// One submission whose slots are all there.
fn on_closed(mut submission: Submission, write: bool) -> Answer {
    let mut bytes = 0_isize;
    let call = if write { api().hipFileWriteAsync } else { api().hipFileReadAsync };
    // SAFETY: requires slots that live until the operation ends; holds because on a closed driver none begins.
    answer(unsafe {
        call(
            submission.handle as hipFileHandle_t,
            submission.base as *mut std::ffi::c_void,
            &mut submission.size,
            &mut submission.file_offset,
            &mut submission.buffer_offset,
            &mut bytes,
            ptr::null_mut(),
        )
    })
}

fn stream_register(stream: usize, flags: u32) -> Answer {
    // SAFETY: requires a stream, NULL, or flags that are refused before the stream is looked at.
    answer(unsafe { (api().hipFileStreamRegister)(stream as hipStream_t, flags) })
}

fn stream_deregister(stream: usize) -> Answer {
    // SAFETY: requires nothing; an unknown value is an error.
    answer(unsafe { (api().hipFileStreamDeregister)(stream as hipStream_t) })
}

fn streams() -> Vec<Case> {
    vec![
        case(
            "HF-STREAM-01 HF-STREAM-04 HF-DRV-27 any flags of the mask, on the NULL stream, at count 0",
            || {
                for flags in 0..=0xf {
                    assert_eq!(stream_register(0, flags), OK, "{flags:#x}");
                    assert_eq!(stream_deregister(0), OK);
                }
                assert_eq!(raw::count(), 0);
            },
        ),
        case("HF-STREAM-02 HF-STREAM-06 a bit outside the mask is E(5022), whatever the stream", || {
            for flags in [0x10, 0x1f, 0x8000_0000, u32::MAX] {
                assert_eq!(stream_register(0, flags), e(5022), "{flags:#x}");
                assert_eq!(stream_register(0x5a5a_5a50, flags), e(5022), "{flags:#x}");
            }
            assert_eq!(stream_deregister(0), e(5022), "nothing was registered");
        }),
        case("HF-STREAM-03 HF-STREAM-06 registering twice is E(5022), with bad flags too", || {
            assert_eq!(stream_register(0, 0), OK);
            assert_eq!(stream_register(0, 0), e(5022));
            assert_eq!(stream_register(0, 0x10), e(5022));
            assert_eq!(stream_deregister(0), OK);
        }),
        case("HF-STREAM-05 deregistering what is not registered is E(5022)", || {
            assert_eq!(stream_deregister(0), e(5022));
            assert_eq!(stream_deregister(0x5a5a_5a50), e(5022));
            assert_eq!(stream_register(0, 0), OK);
            assert_eq!(stream_deregister(0), OK);
            assert_eq!(stream_deregister(0), e(5022));
        }),
        case("HF-STREAM-07 a stream that HIP does not know is E(5011,h)", || {
            let (error, hip) = stream_register(0x5a5a_5a50, 0);
            assert_eq!(error, 5011);
            assert_ne!(hip, 0);
            assert_eq!(stream_deregister(0x5a5a_5a50), e(5022), "nothing was registered");
        })
        .needs(Need::Hip("hipStreamGetDevice")),
        case("HF-DRV-28 registered streams survive the close that reaches 0", || {
            assert_eq!(raw::driver_open(), OK);
            assert_eq!(stream_register(0, 0), OK);
            assert_eq!(raw::driver_close(), OK);
            assert_eq!(stream_register(0, 0), e(5022));
            assert_eq!(stream_deregister(0), OK);
        }),
    ]
}

fn batches() -> Vec<Case> {
    vec![
        case("HF-BATCH-01 no place for the handle, no capacity or too much of it is E(5022)", || {
            for open in [false, true] {
                let mut handle = ptr::dangling_mut();
                let untouched = handle;
                for capacity in [0, 129, 1000, u32::MAX] {
                    // SAFETY: requires room for a handle; holds because it is ours.
                    let error = unsafe { (api().hipFileBatchIOSetUp)(&mut handle, capacity) };
                    assert_eq!(answer(error), e(5022), "{capacity}");
                    assert_eq!(handle, untouched);
                }
                // SAFETY: requires room for a handle or NULL.
                assert_eq!(answer(unsafe { (api().hipFileBatchIOSetUp)(ptr::null_mut(), 1) }), e(5022));
                assert_eq!(raw::count(), i64::from(open));
                let _ = raw::driver_open();
            }
        }),
        case("HF-BATCH-02 submitting nothing is E(5022)", || {
            for batch in UNKNOWN {
                assert_eq!(submit(batch, 0, true), e(5022));
                assert_eq!(submit(batch, 1, false), e(5022));
                assert_eq!(submit(batch, 0, false), e(5022));
            }
        })
        .since(0, 5),
        case("HF-BATCH-03 an unknown handle is E(5022) for submit, status and cancel", || {
            for _ in 0..2 {
                for batch in UNKNOWN {
                    assert_eq!(submit(batch, 1, true), e(5022));
                    assert_eq!(status(batch), e(5022));
                    let handle = batch as hipFileBatchHandle_t;
                    // SAFETY: requires nothing; an unknown handle is an error.
                    assert_eq!(answer(unsafe { (api().hipFileBatchIOCancel)(handle) }), e(5022));
                    // SAFETY: requires nothing; an unknown handle is ignored.
                    unsafe { (api().hipFileBatchIODestroy)(handle) };
                }
                assert_eq!(raw::driver_open(), OK);
            }
        })
        .since(0, 5),
    ]
}

/// Values that are no batch.
const UNKNOWN: [usize; 3] = [0, 1, 0x5a5a_5a50];

fn submit(batch: usize, count: u32, with_array: bool) -> Answer {
    // SAFETY: requires a type for which zero bytes are valid; holds because it has integers and pointers alone.
    let mut entry: hipFileIOParams_t = unsafe { std::mem::zeroed() };
    let entries = if with_array { &raw mut entry } else { ptr::null_mut() };
    // SAFETY: requires `count` entries or NULL; holds because no case says more than 1.
    answer(unsafe { (api().hipFileBatchIOSubmit)(batch as hipFileBatchHandle_t, count, entries, 0) })
}

fn status(batch: usize) -> Answer {
    // SAFETY: requires a type for which zero bytes are valid; holds because it has integers and a pointer alone.
    let mut event: hipFileIOEvents_t = unsafe { std::mem::zeroed() };
    let mut count = 1;
    let (batch, none) = (batch as hipFileBatchHandle_t, ptr::null_mut());
    // SAFETY: requires room for `count` events; holds because it is 1.
    let error = unsafe { (api().hipFileBatchIOGetStatus)(batch, 0, &mut count, &mut event, none) };
    assert_eq!(count, 1, "left as it was");
    answer(error)
}
