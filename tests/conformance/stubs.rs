//! HF-PROP, HF-PARAM and HF-DRV-25: properties, setters and parameters, which no version implements.

use std::ffi::{c_char, c_void};
use std::ptr;

use hipfile_sys::{
    hipFileBoolConfigParameter_t, hipFileDriverProps_t, hipFileError_t, hipFileSizeTConfigParameter_t,
    hipFileStringConfigParameter_t,
};

use crate::case::{Case, case};
use crate::raw::{self, OK, api, e};

/// Parameters of each kind, and one that does not exist.
const NUMBERED: std::ops::RangeInclusive<u32> = 0..=12;

pub fn cases() -> Vec<Case> {
    vec![
        case("HF-PROP-01 the properties are E(5030) and nothing is written", || {
            in_both_states(|| {
                let mut properties = ones::<hipFileDriverProps_t>();
                // SAFETY: requires room for the properties or NULL; holds because it is ours.
                internal(unsafe { (api().hipFileDriverGetProperties)(properties.as_mut_ptr()) });
                // SAFETY: requires room for the properties or NULL.
                internal(unsafe { (api().hipFileDriverGetProperties)(ptr::null_mut()) });
                assert_untouched(&properties);
            });
        }),
        case("HF-PROP-02 HF-PROP-03 HF-PROP-04 HF-PROP-05 the setters are E(5030)", || {
            in_both_states(|| {
                for value in [0, 4, 1024, usize::MAX] {
                    // SAFETY: requires nothing.
                    internal(unsafe { (api().hipFileDriverSetPollMode)(value != 0, value) });
                    // SAFETY: requires nothing.
                    internal(unsafe { (api().hipFileDriverSetMaxDirectIOSize)(value) });
                    // SAFETY: requires nothing.
                    internal(unsafe { (api().hipFileDriverSetMaxCacheSize)(value) });
                    // SAFETY: requires nothing.
                    internal(unsafe { (api().hipFileDriverSetMaxPinnedMemSize)(value) });
                }
            });
        }),
        case("HF-PARAM-01 reading a size parameter is E(5030) and nothing is written", || {
            in_both_states(|| {
                for parameter in NUMBERED.map(hipFileSizeTConfigParameter_t) {
                    let mut value = ones::<usize>();
                    // SAFETY: requires room for the value or NULL; holds because it is ours.
                    internal(unsafe { (api().hipFileGetParameterSizeT)(parameter, value.as_mut_ptr()) });
                    // SAFETY: requires room for the value or NULL.
                    internal(unsafe { (api().hipFileGetParameterSizeT)(parameter, ptr::null_mut()) });
                    assert_untouched(&value);
                }
            });
        }),
        case("HF-PARAM-02 reading a bool parameter is E(5030) and nothing is written", || {
            in_both_states(|| {
                for parameter in NUMBERED.map(hipFileBoolConfigParameter_t) {
                    let mut value = ones::<bool>();
                    // SAFETY: requires room for the value or NULL; holds because it is ours.
                    internal(unsafe { (api().hipFileGetParameterBool)(parameter, value.as_mut_ptr()) });
                    // SAFETY: requires room for the value or NULL.
                    internal(unsafe { (api().hipFileGetParameterBool)(parameter, ptr::null_mut()) });
                    assert_untouched(&value);
                }
            });
        }),
        case("HF-PARAM-03 reading a string parameter is E(5030) and nothing is written", || {
            in_both_states(|| {
                for parameter in NUMBERED.map(hipFileStringConfigParameter_t) {
                    for length in [64, 0, -1] {
                        let mut value = ones::<[c_char; 64]>();
                        let room = value.as_mut_ptr().cast();
                        // SAFETY: requires room for the value or NULL; holds because it is ours.
                        internal(unsafe { (api().hipFileGetParameterString)(parameter, room, length) });
                        // SAFETY: requires room for the value or NULL.
                        internal(unsafe {
                            (api().hipFileGetParameterString)(parameter, ptr::null_mut(), length)
                        });
                        assert_untouched(&value);
                    }
                }
            });
        }),
        case("HF-PARAM-04 HF-PARAM-05 HF-PARAM-06 HF-DRV-25 setting a parameter is E(5030)", || {
            in_both_states(|| {
                for number in NUMBERED {
                    let size = hipFileSizeTConfigParameter_t(number);
                    // SAFETY: requires nothing.
                    internal(unsafe { (api().hipFileSetParameterSizeT)(size, 4096) });
                    let boolean = hipFileBoolConfigParameter_t(number);
                    // SAFETY: requires nothing.
                    internal(unsafe { (api().hipFileSetParameterBool)(boolean, true) });
                    let string = hipFileStringConfigParameter_t(number);
                    for text in [c"TRACE".as_ptr(), c"".as_ptr(), ptr::null()] {
                        // SAFETY: requires a terminated string or NULL.
                        internal(unsafe { (api().hipFileSetParameterString)(string, text) });
                    }
                }
            });
        }),
    ]
}

fn internal(error: hipFileError_t) {
    assert_eq!((error.err.0, error.hip_drv_err.0), e(5030));
}

/// Runs a check with the driver closed and open, and sees that the count stays.
fn in_both_states(check: fn()) {
    assert_eq!(raw::count(), 0);
    check();
    assert_eq!(raw::count(), 0);
    assert_eq!(raw::driver_open(), OK);
    check();
    assert_eq!(raw::count(), 1);
}

/// Room whose every byte is 0xff.
fn ones<T>() -> std::mem::MaybeUninit<T> {
    let mut room = std::mem::MaybeUninit::uninit();
    // SAFETY: requires room for one value; holds because it is one.
    unsafe { ptr::write_bytes(room.as_mut_ptr(), 0xff, 1) };
    room
}

fn assert_untouched<T>(room: &std::mem::MaybeUninit<T>) {
    let start = std::ptr::from_ref(room).cast::<c_void>().cast::<u8>();
    // SAFETY: requires that many initialised bytes; holds because `ones` set them and C writes none uninitialised.
    let bytes = unsafe { std::slice::from_raw_parts(start, size_of::<T>()) };
    assert!(bytes.iter().all(|byte| *byte == 0xff), "{bytes:x?}");
}
