//! HF-VER, HF-STR and HF-ERR: version, error strings, and the spaces of error numbers.

use crate::case::{Case, case};
use crate::raw::{self, Answer, OK};

/// The string of each code.
const STRINGS: [(u32, &str); 38] = [
    (0, "hipFile success"),
    (5001, "GPU IO driver is not loaded"),
    (5002, "Invalid GPU IO driver property provided"),
    (5003, "GPU IO Driver property value is unsupported"),
    (5004, "hipFile version does not match GPU IO driver version"),
    (5005, "Unable to read the GPU IO driver version"),
    (5006, "GPU IO driver is closing and not accepting new requests"),
    (5007, "hipFile is not supported on the current platform"),
    (5008, "hipFile is not supported on the selected file"),
    (5009, "The selected GPU does not support hipFile"),
    (5010, "GPU IO driver error"),
    (5011, "GPU driver error: Inspect hip_drv_err for additional information"),
    (5012, "Invalid GPU pointer"),
    (5013, "Memory type backing pointer is incompatible with hipFile"),
    (5014, "Pointer range exceeds allocated memory region"),
    (5015, "GPU driver context mismatch"),
    (5016, "Accessing memory beyond pinned memory buffer"),
    (5017, "Accessing memory beyond mapped memory region"),
    (5018, "Unsupported file type"),
    (5019, "Unsupported file open flags"),
    (5020, "O_DIRECT flag not set"),
    (5022, "One or more arguments have an invalid value"),
    (5023, "Device pointer is already registered"),
    (5024, "Device pointer is not registered"),
    (5025, "Permission error on device or file access"),
    (5026, "GPU IO driver is already open"),
    (5027, "File handle for GPU IO is not registered"),
    (5028, "File handle for GPU IO is already registered"),
    (5029, "Selected device not found"),
    (5030, "Internal GPU IO library error"),
    (5031, "Unable to obtain a new file descriptor"),
    (5033, "GPU IO Driver initialization error"),
    (5034, "GPU IO config file prohibits GPU IO on specified file"),
    (5035, "Failed to submit request for batch operation"),
    (5036, "Failed to allocated pinned device memory"),
    (5037, "Batch operation queue is full"),
    (5038, "hipFile async IO is not supported"),
    (5039, "Internal flag to mark largest hipFile error code"),
];

const UNKNOWN: &str = "Unknown hipFile error";

pub fn cases() -> Vec<Case> {
    vec![
        case("HF-VER-01 HF-VER-03 the version is a release that exists, and asking opens nothing", || {
            let releases = [(0, 2, 0), (0, 3, 0), (0, 4, 0), (0, 5, 0)];
            assert!(releases.contains(&raw::version()), "{:?}", raw::version());
            assert_eq!(raw::count(), 0);
        }),
        case("HF-VER-02 each pointer may be NULL", || {
            let version = raw::version();
            for mask in 0..8 {
                let mut parts = [77_u32; 3];
                let answer = version_into(&mut parts, mask);
                assert_eq!(answer, OK);
                let expected: [u32; 3] = version.into();
                for (index, part) in parts.into_iter().enumerate() {
                    let written = if mask & (1 << index) != 0 { expected[index] } else { 77 };
                    assert_eq!(part, written, "part {index}, mask {mask}");
                }
            }
        }),
        case("HF-STR-01 the 38 strings, byte for byte", || {
            for (code, expected) in STRINGS {
                assert_eq!(raw::string(code).0, expected, "{code}");
            }
        }),
        case("HF-STR-02 HF-STR-03 every other number has one string", || {
            let known: Vec<u32> = STRINGS.iter().map(|(code, _)| *code).collect();
            let near = (4900..5200).chain(1..1100);
            let far = [-1_i32, -5022, -999, i32::MIN, i32::MAX].into_iter().map(|code| code as u32);
            for code in near.chain(far).filter(|code| !known.contains(code)) {
                assert_eq!(raw::string(code).0, UNKNOWN, "{}", code as i32);
            }
        }),
        case("HF-STR-04 HF-STR-05 strings are static and asking opens nothing", || {
            let before: Vec<_> = STRINGS.iter().map(|(code, _)| raw::string(*code)).collect();
            assert_eq!(raw::count(), 0);
            assert_eq!(raw::driver_open(), OK);
            assert_eq!(raw::driver_close(), OK);
            let after: Vec<_> = STRINGS.iter().map(|(code, _)| raw::string(*code)).collect();
            assert_eq!(before, after);
        }),
        case("HF-ERR-01 only err 5011 comes with a HIP code", || {
            let host = [0_u8; 16];
            let answers: [Answer; 9] = [
                raw::driver_close(),
                raw::buffer_deregister(0),
                raw::register(-1).0,
                raw::buffer_register(0, 1),
                raw::buffer_register(host.as_ptr() as usize, 16),
                raw::buffer_deregister(1),
                raw::driver_open(),
                raw::driver_close(),
                raw::register_at(std::ptr::null_mut(), std::ptr::null_mut()),
            ];
            for (err, hip) in answers {
                assert!(err == 0 || (5001..=5039).contains(&err), "{err}");
                assert_eq!(hip != 0, err == 5011, "{err}, {hip}");
            }
        }),
    ]
}

/// `hipFileGetVersion` with NULL for each part whose bit is not set.
fn version_into(parts: &mut [u32; 3], mask: u32) -> Answer {
    let [major, minor, patch] = parts.each_mut().map(std::ptr::from_mut);
    let given = |index: u32, part| if mask & (1 << index) != 0 { part } else { std::ptr::null_mut() };
    let (major, minor, patch) = (given(0, major), given(1, minor), given(2, patch));
    // SAFETY: requires pointers to integers or NULL; holds because they point into our array.
    let error = unsafe { (raw::api().hipFileGetVersion)(major, minor, patch) };
    (error.err.0, error.hip_drv_err.0)
}
