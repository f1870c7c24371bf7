//! What each failure must come to: the kinds, written down a second time, and where something else than an error with the
//! same code is right.

use crate::entry::{Entry, Failure};
use crate::script::{Code, Point};

/// The kind of an error with this code of HIP.
fn hip_kind(code: u32) -> &'static str {
    match code {
        1 => "InvalidInput",
        2 => "OutOfMemory",
        100 | 101 => "NoDevice",
        801 => "Unsupported",
        _ => "Hip",
    }
}

/// The kind of an error with this code of hipFile.
fn hipfile_kind(code: u32) -> &'static str {
    match code {
        5001 | 5006 => "NotInitialized",
        5002 | 5003 | 5012 | 5022 => "InvalidInput",
        5014 | 5016 | 5017 => "OutOfRange",
        5013 => "UnsupportedMemory",
        5008 | 5018 | 5019 | 5020 => "UnsupportedFile",
        5004 | 5007 | 5009 | 5038 => "Unsupported",
        5023 | 5028 => "AlreadyRegistered",
        5024 | 5027 => "NotRegistered",
        5025 | 5034 => "PermissionDenied",
        5036 => "OutOfMemory",
        5026 | 5037 => "Busy",
        5029 => "NoDevice",
        5011 | 5015 => "Hip",
        5005 | 5010 | 5030 | 5031 | 5033 | 5035 => "Internal",
        _ => "Unknown",
    }
}

fn system_kind(code: i32) -> &'static str {
    match code {
        libc::EINTR => "Interrupted",
        libc::EACCES | libc::EPERM => "PermissionDenied",
        libc::ENOMEM => "OutOfMemory",
        _ => "Os",
    }
}

/// Codes of hipFile that say more where they come from, and the kind there.
const SAYING_MORE: [(&str, u32, &str); 7] = [
    // What AMD's stubs answer.
    ("hipFileDriverGetProperties", 5030, "Unsupported"),
    ("hipFileDriverSet", 5030, "Unsupported"),
    ("hipFileGetParameter", 5030, "Unsupported"),
    ("hipFileSetParameter", 5030, "Unsupported"),
    // What memory in use gets.
    ("hipFileBufDeregister", 5030, "Busy"),
    // What an unknown batch gets.
    ("hipFileBatchIOGetStatus", 5022, "NotRegistered"),
    ("hipFileBatchIOCancel", 5022, "NotRegistered"),
];

/// The kind that an error must have, by the codes in it and what failed.
pub fn kind(failure: &Failure, point: Point) -> &'static str {
    let more = |(begin, code, _): &&(&str, u32, _)| {
        point.name.starts_with(begin) && failure.hipfile() == Some(*code)
    };
    if let Some((.., kind)) = SAYING_MORE.iter().find(more) {
        return kind;
    }
    let of_memory = matches!(failure, Failure::Memory(_));
    match (failure.system(), failure.hip(), failure.hipfile()) {
        (Some(code), None, None) => system_kind(code),
        (None, Some(code), None | Some(5011)) => hip_kind(code),
        (None, None, Some(code)) => hipfile_kind(code),
        (None, None, None) if failure.raw() == Some(-1) => "Os",
        // There is no device 1, or the stream is registered: what we know without a code.
        (None, None, None) if of_memory => "NoDevice",
        (None, None, None) => "AlreadyRegistered",
        _ => "no two codes",
    }
}

/// Whether the error has this code.
pub fn has(failure: &Failure, code: Code) -> bool {
    match code {
        Code::Hip(code) => failure.hip() == Some(code),
        Code::Hipfile(code) => failure.hipfile() == Some(code),
        Code::System(code) => failure.system() == Some(code),
    }
}

/// Failures that are to come to something else than an error with the same code.
pub struct Rule {
    /// How the names of the entry points begin.
    entries: &'static [&'static str],
    points: &'static [&'static str],
    codes: fn(Code) -> bool,
    pub why: &'static str,
}

const ANY: &[&str] = &[""];

const MOVING: &[&str] =
    &["hipFileRead", "hipFileWrite", "hipAmdFileRead", "hipAmdFileWrite", "pread", "pwrite", "fdatasync"];

/// How the names of entry points begin that must not go by way of host memory.
pub const DIRECT: &str = "DirectOnly: ";

/// Why failures of the direct path come to no error, elsewhere.
pub const BY_WAY_OF_HOST: &str = "libhipfile takes the way through host memory";

/// What comes to no error.
pub const MADE_GOOD: &[Rule] = &[
    Rule { entries: &["drop of"], points: ANY, codes: any, why: "dropping tells nobody" },
    Rule {
        entries: &["Device::count", "Device::all"],
        points: &["hipGetDeviceCount"],
        codes: |code| code == Code::Hip(100),
        why: "no device is a count of 0",
    },
    Rule {
        entries: ANY,
        points: &["hipStreamQuery", "hipEventQuery"],
        codes: |code| matches!(code, Code::Hip(600 | 900..=908)),
        why: "work goes on, or a capture does: asked again",
    },
    Rule {
        entries: &[
            "Operation::",
            "Stream::copy",
            "Stream::fill",
            "FileHandle::read_owned",
            "FileHandle::write_owned",
            "Request::",
        ],
        points: &["hipStreamQuery"],
        codes: any,
        why: "the stream itself tells",
    },
    Rule { entries: ANY, points: &["hipLaunchHostFunc"], codes: any, why: "an event tells instead" },
    Rule { entries: ANY, points: &["hipInit"], codes: any, why: BY_WAY_OF_HOST },
    Rule {
        entries: ANY,
        points: &["madvise", "munmap"],
        codes: any,
        why: "memory of the software HIP that is given back; nobody has to know",
    },
    Rule {
        entries: ANY,
        points: MOVING,
        codes: |code| code == Code::System(libc::EINTR),
        why: "a signal came first: done again, by libhipfile or the exact forms",
    },
    Rule {
        entries: ANY,
        points: &["hipAmdFileRead", "hipAmdFileWrite", "pread", "pwrite"],
        codes: |code| matches!(code, Code::System(libc::ENODEV)),
        why: BY_WAY_OF_HOST,
    },
    Rule {
        entries: ANY,
        points: &["open"],
        codes: |code| matches!(code, Code::System(libc::EINVAL)),
        why: "the file can't be opened with O_DIRECT, so it is opened without",
    },
    Rule {
        entries: &["Request::submit with late values"],
        points: &["hipFileReadAsync"],
        codes: |code| matches!(code, Code::Hipfile(5022 | 5030) | Code::System(_)),
        why: "where the values came in time, a refusal may have been of a mixture: submitted again",
    },
    Rule {
        entries: ANY,
        points: &["hipFileBufRegister"],
        codes: |code| code == Code::Hipfile(5023),
        why: "an entry that a forgotten guard left is removed first",
    },
    Rule {
        entries: ANY,
        points: &["hipFileBufDeregister"],
        codes: |code| matches!(code, Code::Hipfile(5006 | 5024)),
        why: "the library has no such registration, or is closed: it is gone",
    },
    Rule { entries: ANY, points: &["hipFree"], codes: any, why: "what can't be freed is leaked and counted" },
    Rule {
        entries: &["supports(HostMemory)"],
        points: &["hipFileBufRegister", "hipPointerGetAttributes"],
        codes: any,
        why: "memory that is refused as the wrong kind is the answer that is asked for",
    },
    Rule {
        entries: &["FileHandle::preallocate"],
        points: &["sys fallocate"],
        codes: |code| matches!(code, Code::System(libc::EOPNOTSUPP | libc::EINVAL)),
        why: "a file system that can't reserve room: the file is made as long, and that is told",
    },
    Rule {
        entries: &["FileHandle::explain"],
        points: &["hipRuntimeGetVersion", "hipGetProcAddress"],
        codes: any,
        why: "a HIP that does not tell where its file functions are has no fast path: that is the answer",
    },
    Rule {
        entries: &["Batch::submit", "Batch::cancel"],
        points: ANY,
        codes: any,
        why: "the transfers' results are not taken here",
    },
    Rule {
        entries: &["supports"],
        points: &[
            "hipFileDriverGetProperties",
            "hipFileGetParameterBool",
            "hipHostFree",
            "hipFileBufDeregister",
            "hipFileDriverClose",
        ],
        codes: any,
        why: "any answer but that of a stub says that it is there",
    },
];

/// What comes to an error with another code.
pub const TRANSLATED: &[Rule] = &[
    Rule {
        entries: ANY,
        points: &["hipFile"],
        codes: |code| matches!(code, Code::System(_)),
        why: "functions that answer a code give 5030 for any system error",
    },
    Rule {
        entries: ANY,
        points: &["open", "statx", "fcntl", "fstatfs", "read"],
        codes: any,
        why: "registering a file answers 5030 for any system error",
    },
    Rule {
        entries: ANY,
        points: &["hipInit", "hipAmdFileRead", "hipAmdFileWrite", "pread", "pwrite"],
        codes: any,
        why: "on streams and in batches libhipfile keeps no code of HIP and no errno",
    },
    Rule {
        entries: ANY,
        points: &["mmap"],
        codes: any,
        why: "the software HIP answers hipErrorOutOfMemory when the system has none",
    },
    Rule {
        entries: ANY,
        points: &["hipPointerGetAttributes", "hipMemGetAddressRange"],
        codes: |code| matches!(code, Code::Hip(1 | 500)),
        why: "libhipfile answers 5022 for a pointer that HIP refuses",
    },
    Rule {
        entries: ANY,
        points: &["hipFileStreamRegister"],
        codes: |code| code == Code::Hipfile(5022),
        why: "all else that 5022 could mean is ruled out before: the stream is registered",
    },
    Rule {
        entries: &["Device::new"],
        points: &["hipGetDeviceCount"],
        codes: |code| code == Code::Hip(100),
        why: "no device of that number, since there is none",
    },
];

fn any(_: Code) -> bool {
    true
}

impl Rule {
    /// The one for this failure.
    pub fn find(rules: &'static [Self], entry: &Entry, point: Point, code: Code) -> Option<&'static Self> {
        let begins = |starts: &[&str], name: &str| starts.iter().any(|start| name.starts_with(start));
        let direct = entry.name.starts_with(DIRECT);
        let name = entry.name.strip_prefix(DIRECT).unwrap_or(entry.name);
        rules.iter().find(|rule| {
            !(direct && rule.why == BY_WAY_OF_HOST)
                && begins(rule.entries, name)
                && begins(rule.points, point.name)
                && (rule.codes)(code)
        })
    }
}

/// Entry points that wait for a stream in the caller's frame.
const SCOPED: [&str; 4] = ["Scope::copy", "Scope::fill", "FileHandle::read_at_in", "FileHandle::write_at_in"];

/// Whether the process must end: a scope can't wait for its stream.
pub fn aborts(entry: &Entry, point: Point) -> bool {
    point.name == "hipStreamSynchronize" && SCOPED.iter().any(|name| entry.name.starts_with(name))
}

/// Points whose failure may leak memory, counted: it can't be freed, or whether something still uses it can't be told.
pub const LEAKING: [&str; 8] = [
    "hipGetDevice",
    "hipSetDevice",
    "hipFree",
    "hipFreeAsync",
    "hipHostFree",
    "hipStreamQuery",
    "hipFileBufDeregister",
    "hipFileBatchIOCancel",
];
