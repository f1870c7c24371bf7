//! What the software library has and AMD's lacks, where it is asked for: `SOFT_ROCM_EXTENSIONS`.

use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;

use hipfile_sys::{
    self as sys, hipFileBoolConfigParameter_t, hipFileDriverProps_t, hipFileError_t,
    hipFileSizeTConfigParameter_t, hipFileStringConfigParameter_t,
};

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::Memory;
use crate::raw::{self, Answer, Moved, OK, api, e};

const EXTENSIONS: &str = "SOFT_ROCM_EXTENSIONS";

pub fn cases() -> Vec<Case> {
    let properties = properties().into_iter().map(|case| case.env(EXTENSIONS, "properties"));
    let parameters = parameters().into_iter().map(|case| case.env(EXTENSIONS, "parameters"));
    properties.chain(parameters).map(|case| case.needs(Need::Ours)).collect()
}

fn answer(error: hipFileError_t) -> Answer {
    (error.err.0, error.hip_drv_err.0)
}

fn get_properties() -> Result<hipFileDriverProps_t, Answer> {
    let mut room = MaybeUninit::<hipFileDriverProps_t>::zeroed();
    // SAFETY: requires room for the properties; holds because it is that.
    match answer(unsafe { (api().hipFileDriverGetProperties)(room.as_mut_ptr()) }) {
        // SAFETY: requires initialised properties; holds because they are integers and were zero before.
        OK => Ok(unsafe { room.assume_init() }),
        other => Err(other),
    }
}

fn poll_mode(poll: bool, threshold: usize) -> Answer {
    // SAFETY: requires nothing.
    answer(unsafe { (api().hipFileDriverSetPollMode)(poll, threshold) })
}

/// The three setters of sizes.
fn limits() -> [(&'static str, unsafe extern "C" fn(usize) -> hipFileError_t); 3] {
    [
        ("direct", api().hipFileDriverSetMaxDirectIOSize),
        ("cache", api().hipFileDriverSetMaxCacheSize),
        ("pinned", api().hipFileDriverSetMaxPinnedMemSize),
    ]
}

fn properties() -> Vec<Case> {
    vec![
        case("HF-PROP-06 the properties say what the library does", || {
            assert_eq!(raw::driver_open(), OK);
            let found = get_properties().unwrap();
            assert_eq!((found.nvfs.major_version, found.nvfs.minor_version), (0, 0));
            assert_eq!(found.nvfs.max_direct_io_size, 0x7fff_f000 / 1024);
            assert_eq!(found.nvfs.driver_control_flags, 1 << sys::hipFileAllowCompatMode.0);
            let features = [sys::hipFileBatchIOSupported.0, sys::hipFileStreamsSupported.0];
            assert_eq!(found.feature_flags, features.iter().fold(0, |all, bit| all | 1 << bit));
            assert_eq!((found.max_device_cache_size, found.per_buffer_cache_size), (0, 0));
            assert_eq!((found.max_batch_io_count, found.max_batch_io_timeout_msecs), (128, 0));
            assert_eq!(raw::count(), 1);
        })
        .since(0, 5),
        case("HF-PROP-06 without the fallback the properties do not allow compat mode", || {
            assert_eq!(raw::driver_open(), OK);
            assert_eq!(get_properties().unwrap().nvfs.driver_control_flags, 0);
        })
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false"),
        case(
            "HF-PROP-07 with the driver closed properties and setters are E(5001), with NULL E(5022)",
            || {
                assert_eq!(get_properties().unwrap_err(), e(5001));
                assert_eq!(poll_mode(true, 4), e(5001));
                for (name, set) in limits() {
                    // SAFETY: requires nothing.
                    assert_eq!(answer(unsafe { set(64) }), e(5001), "{name}");
                }
                // SAFETY: requires room or NULL.
                let of_null = unsafe { (api().hipFileDriverGetProperties)(std::ptr::null_mut()) };
                assert_eq!(answer(of_null), e(5022));
                assert_eq!(raw::count(), 0);
            },
        ),
        case("HF-PROP-08 what is set shows in the properties until the close", || {
            assert_eq!(raw::driver_open(), OK);
            let before = get_properties().unwrap();
            assert_eq!(poll_mode(true, 64), OK);
            for (value, (name, set)) in (1..).map(|step| 128 * step).zip(limits()) {
                // SAFETY: requires nothing.
                assert_eq!(answer(unsafe { set(value) }), OK, "{name}");
            }
            let after = get_properties().unwrap();
            assert_eq!(after.nvfs.poll_thresh_size, 64);
            assert_ne!(after.nvfs.driver_control_flags & 1 << sys::hipFileUsePollMode.0, 0);
            assert_eq!(after.nvfs.max_direct_io_size, 128);
            assert_eq!((after.max_device_cache_size, after.max_device_pinned_mem_size), (256, 384));
            assert_eq!((raw::driver_close(), raw::driver_open()), (OK, OK));
            assert!(bytes(&get_properties().unwrap()) == bytes(&before));
        }),
        case("HF-PROP-09 sizes that are no whole pages, or direct I/O beyond one call, are E(5003)", || {
            assert_eq!(raw::driver_open(), OK);
            let before = get_properties().unwrap();
            assert_eq!(poll_mode(true, 3), e(5003));
            for (name, set) in limits() {
                for value in [1, 6, usize::MAX] {
                    // SAFETY: requires nothing.
                    assert_eq!(answer(unsafe { set(value) }), e(5003), "{name} {value}");
                }
            }
            for value in [0, 0x7fff_f000 / 1024 + 4] {
                // SAFETY: requires nothing.
                assert_eq!(answer(unsafe { (api().hipFileDriverSetMaxDirectIOSize)(value) }), e(5003));
            }
            assert!(bytes(&get_properties().unwrap()) == bytes(&before));
        }),
        case("HF-PROP-10 an extension brings its own functions alone", || {
            assert_eq!(get_size(0), Err(e(5030)));
            assert_eq!(raw::driver_open(), OK);
            assert!(get_properties().is_ok());
        }),
    ]
}

fn bytes(properties: &hipFileDriverProps_t) -> Vec<u64> {
    let nvfs = &properties.nvfs;
    vec![
        nvfs.poll_thresh_size,
        nvfs.max_direct_io_size,
        nvfs.driver_status_flags.into(),
        nvfs.driver_control_flags.into(),
        properties.feature_flags.into(),
        properties.max_device_cache_size,
        properties.per_buffer_cache_size,
        properties.max_device_pinned_mem_size,
        properties.max_batch_io_count.into(),
    ]
}

fn get_size(number: u32) -> Result<usize, Answer> {
    let mut value = 0;
    let parameter = hipFileSizeTConfigParameter_t(number);
    // SAFETY: requires room for the value; holds because it is ours.
    let answer = answer(unsafe { (api().hipFileGetParameterSizeT)(parameter, &mut value) });
    if answer == OK { Ok(value) } else { Err(answer) }
}

fn set_size(number: u32, value: usize) -> Answer {
    // SAFETY: requires nothing.
    answer(unsafe { (api().hipFileSetParameterSizeT)(hipFileSizeTConfigParameter_t(number), value) })
}

fn get_flag(number: u32) -> Result<bool, Answer> {
    let mut value = false;
    let parameter = hipFileBoolConfigParameter_t(number);
    // SAFETY: requires room for the value; holds because it is ours.
    let answer = answer(unsafe { (api().hipFileGetParameterBool)(parameter, &mut value) });
    if answer == OK { Ok(value) } else { Err(answer) }
}

fn set_flag(number: u32, value: bool) -> Answer {
    // SAFETY: requires nothing.
    answer(unsafe { (api().hipFileSetParameterBool)(hipFileBoolConfigParameter_t(number), value) })
}

fn get_text(number: u32, room: usize) -> Result<Vec<u8>, Answer> {
    let mut text = vec![0xff_u8; room];
    let parameter = hipFileStringConfigParameter_t(number);
    let (at, len) = (text.as_mut_ptr().cast::<c_char>(), room as i32);
    // SAFETY: requires that many bytes; holds because they are ours.
    let answer = answer(unsafe { (api().hipFileGetParameterString)(parameter, at, len) });
    if answer != OK {
        assert!(text.iter().all(|byte| *byte == 0xff), "nothing is written");
        return Err(answer);
    }
    text.truncate(text.iter().position(|byte| *byte == 0).unwrap());
    Ok(text)
}

fn set_text(number: u32, text: &str) -> Answer {
    let text = CString::new(text).unwrap();
    let parameter = hipFileStringConfigParameter_t(number);
    // SAFETY: requires a terminated string; holds.
    answer(unsafe { (api().hipFileSetParameterString)(parameter, text.as_ptr()) })
}

fn read(size: usize) -> Moved {
    let file = File::of(&pattern(PAGE, 1));
    let handle = file.registered();
    let moved = raw::read(handle, Memory::new(PAGE).at, size, 0, 0);
    raw::deregister(handle);
    moved
}

fn parameters() -> Vec<Case> {
    vec![
        case("HF-PARAM-07 HF-PARAM-08 sizes are staged, applied at open and forgotten at the close", || {
            for number in 0..12 {
                let (default, value) = (get_size(number).unwrap(), if number == 0 { 3 } else { 64 });
                assert_eq!((set_size(number, value), get_size(number)), (OK, Ok(value)), "staged {number}");
                assert_eq!(raw::driver_open(), OK);
                assert_eq!(
                    (set_size(number, value), get_size(number)),
                    (e(5026), Ok(value)),
                    "applied {number}"
                );
                assert_eq!((raw::driver_close(), get_size(number)), (OK, Ok(default)), "forgotten {number}");
            }
        }),
        case("HF-PARAM-07 HF-PARAM-08 so are flags", || {
            for number in 0..12 {
                let default = get_flag(number).unwrap();
                assert_eq!(
                    (set_flag(number, !default), get_flag(number)),
                    (OK, Ok(!default)),
                    "staged {number}"
                );
                assert_eq!(raw::driver_open(), OK);
                assert_eq!(
                    (set_flag(number, default), get_flag(number)),
                    (e(5026), Ok(!default)),
                    "{number}"
                );
                assert_eq!((raw::driver_close(), get_flag(number)), (OK, Ok(default)), "forgotten {number}");
            }
        }),
        case("HF-PARAM-07 HF-PARAM-08 so are strings", || {
            for number in 0..3 {
                assert_eq!(get_text(number, 1), Ok(Vec::new()));
                assert_eq!((set_text(number, "TRACE"), get_text(number, 6)), (OK, Ok(b"TRACE".to_vec())));
                assert_eq!(raw::driver_open(), OK);
                assert_eq!(
                    (set_text(number, "INFO"), get_text(number, 99)),
                    (e(5026), Ok(b"TRACE".to_vec()))
                );
                assert_eq!((raw::driver_close(), get_text(number, 1)), (OK, Ok(Vec::new())));
            }
        }),
        case("HF-PARAM-09 NULL, no such parameter, no such value, too little room: E(5022)", || {
            for number in [12, 99, u32::MAX] {
                assert_eq!((get_size(number), set_size(number, 0)), (Err(e(5022)), e(5022)));
                assert_eq!((get_flag(number), set_flag(number, true)), (Err(e(5022)), e(5022)));
                assert_eq!((get_text(number, 9), set_text(number, "")), (Err(e(5022)), e(5022)));
            }
            let (size, flag) = (hipFileSizeTConfigParameter_t(0), hipFileBoolConfigParameter_t(0));
            let (text, null) = (hipFileStringConfigParameter_t(0), std::ptr::null_mut());
            // SAFETY: requires room or NULL.
            let of_null = unsafe { (api().hipFileGetParameterSizeT)(size, std::ptr::null_mut()) };
            assert_eq!(answer(of_null), e(5022));
            // SAFETY: requires room or NULL.
            let of_null = unsafe { (api().hipFileGetParameterBool)(flag, std::ptr::null_mut()) };
            assert_eq!(answer(of_null), e(5022));
            // SAFETY: requires room or NULL.
            assert_eq!(answer(unsafe { (api().hipFileGetParameterString)(text, null, 9) }), e(5022));
            // SAFETY: requires a terminated string or NULL.
            assert_eq!(answer(unsafe { (api().hipFileSetParameterString)(text, null) }), e(5022));
            assert_eq!(set_text(0, "DEBUG"), OK);
            for room in [0, 1, 5] {
                assert_eq!(get_text(0, room), Err(e(5022)), "{room} bytes");
            }
            let mut room = [0_u8; 9];
            // SAFETY: requires that many bytes, or a length that is none.
            let negative = unsafe { (api().hipFileGetParameterString)(text, room.as_mut_ptr().cast(), -1) };
            assert_eq!(answer(negative), e(5022));
            assert_eq!((set_size(9, 129), set_size(5, 6), set_size(0, 4)), (e(5022), e(5022), e(5022)));
            assert_eq!(set_text(0, &"x".repeat(4096)), e(5022));
            assert_eq!(raw::count(), 0);
        }),
        case("HF-PARAM-10 forcing and forbidding compat mode takes effect while the driver is open", || {
            let allow = sys::hipFileParamPropertiesAllowCompatMode.0;
            let force = sys::hipFileParamForceCompatMode.0;
            assert_eq!((get_flag(allow), get_flag(force)), (Ok(true), Ok(false)));
            assert_eq!(read(100), Moved::Number(100));
            assert_eq!((raw::driver_close(), set_flag(allow, false), raw::driver_open()), (OK, OK, OK));
            assert_eq!(read(100), Moved::Number(-5030));
            assert_eq!((raw::driver_close(), raw::driver_open()), (OK, OK));
            assert_eq!(read(100), Moved::Number(100), "forgotten");
            assert_eq!((raw::driver_close(), set_flag(force, true)), (OK, OK));
            let paths = crate::witness::paths_of(|| assert_eq!(read(PAGE), Moved::Number(PAGE as isize)));
            assert_eq!(paths, crate::witness::FALLBACK_READ);
        })
        .fast()
        .shim()
        .needs(Need::Stats),
    ]
}
