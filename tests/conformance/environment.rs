//! HF-ENV: environment variables. Each value gets a process of its own, since a process reads them once.

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::Memory;
use crate::output;
use crate::raw::{self, Moved, OK};
use crate::witness::{FALLBACK_READ, FAST_READ, paths_of};

const ALLOW: &str = "HIPFILE_ALLOW_COMPAT_MODE";
const FORCE: &str = "HIPFILE_FORCE_COMPAT_MODE";
const LEVEL: &str = "HIPFILE_STATS_LEVEL";

pub fn cases() -> Vec<Case> {
    let mut cases = booleans();
    cases.extend(integers());
    cases.extend(moments());
    cases
}

/// A read that the fast path can serve.
fn page_read() -> Moved {
    read(PAGE, 0)
}

/// A read that the fallback alone can serve.
fn odd_read() -> Moved {
    read(100, 1)
}

fn read(size: usize, offset: i64) -> Moved {
    let file = File::of(&pattern(2 * PAGE, 1));
    let memory = Memory::new(2 * PAGE);
    let handle = file.registered();
    let moved = raw::read(handle, memory.at, size, offset, 0);
    raw::deregister(handle);
    moved
}

fn booleans() -> Vec<Case> {
    let mut cases = Vec::new();
    for value in ["true", "TRUE", "True", "tRuE"] {
        let forced = case(format!("HF-ENV-01 {FORCE}={value} forces the fallback"), || {
            assert_eq!(paths_of(|| assert_eq!(page_read(), Moved::Number(PAGE as isize))), FALLBACK_READ);
        });
        cases.push(forced.fast().shim().env(FORCE, value));
    }
    for value in ["false", "FALSE", "False"] {
        let refused = case(format!("HF-ENV-01 {ALLOW}={value} disables the fallback"), || {
            assert_eq!(odd_read(), Moved::Number(-5030));
        });
        cases.push(refused.env(ALLOW, value));
    }
    for value in ["1", "yes", "on", "t", "", " true", "true ", "truee", "true\t", "0", "no", "2"] {
        let ignored = case(format!("HF-ENV-02 {FORCE}={value:?} counts as unset"), || {
            assert_eq!(paths_of(|| assert_eq!(page_read(), Moved::Number(PAGE as isize))), FAST_READ);
        });
        cases.push(ignored.fast().shim().env(FORCE, value));
    }
    for value in ["0", "no", "off", "f", "", " false", "false ", "1", "garbage"] {
        let ignored = case(format!("HF-ENV-02 {ALLOW}={value:?} counts as unset"), || {
            assert_eq!(odd_read(), Moved::Number(100));
        });
        cases.push(ignored.env(ALLOW, value));
    }
    cases
}

fn integers() -> Vec<Case> {
    let mut cases = Vec::new();
    let counts: fn() = || {
        assert_eq!(odd_read(), Moved::Number(100));
        assert_eq!(raw::stats1().read_ops.ok, 1);
    };
    let is_off: fn() = || {
        assert_eq!(odd_read(), Moved::Number(100));
        assert_eq!(raw::stats1().read_ops.ok, 0);
    };
    cases.push(case("HF-ENV-06 statistics are on when nothing is said", counts));
    for value in ["1", "2", "3", "4", "4294967295"] {
        cases.push(case(format!("HF-ENV-06 {LEVEL}={value} collects"), counts).env(LEVEL, value));
    }
    for value in ["99999999999", "99999999999999999999999999999999"] {
        cases.push(case(format!("HF-ENV-05 {LEVEL}={value} saturates"), counts).env(LEVEL, value));
    }
    for value in ["", "-1", "-0", "+0", "0x0", " 0", "0 ", "0.0", "zero", "off", "false"] {
        let name = format!("HF-ENV-05 {LEVEL}={value:?} counts as unset");
        cases.push(case(name, counts).env(LEVEL, value));
    }
    for value in ["0", "00"] {
        cases.push(case(format!("HF-ENV-05 HF-ENV-06 {LEVEL}={value} is off"), is_off).env(LEVEL, value));
    }
    cases.into_iter().map(|case| case.needs(Need::Stats)).collect()
}

/// Changes the environment of this process, as a program would that knows no better.
fn set(name: &str, value: &str) {
    // SAFETY: requires that no other thread reads the environment now; holds because the case has one thread.
    unsafe { std::env::set_var(name, value) };
}

fn moments() -> Vec<Case> {
    vec![
        case("HF-ENV-03 after the first transfer a change has no effect", || {
            assert_eq!(odd_read(), Moved::Number(100));
            set(ALLOW, "false");
            set(FORCE, "true");
            assert_eq!(odd_read(), Moved::Number(100));
            while raw::count() > 0 {
                assert_eq!(raw::driver_close(), OK);
            }
            assert_eq!(odd_read(), Moved::Number(100));
        }),
        case("HF-ENV-03 the same for the fast path", || {
            assert_eq!(paths_of(|| assert_eq!(page_read(), Moved::Number(PAGE as isize))), FAST_READ);
            set(FORCE, "true");
            assert_eq!(paths_of(|| assert_eq!(page_read(), Moved::Number(PAGE as isize))), FAST_READ);
        })
        .fast()
        .shim(),
        case("HF-ENV-04 a change between registration and first transfer counts", || {
            let file = File::of(&pattern(PAGE, 1));
            let handle = file.registered();
            let memory = Memory::new(PAGE).registered();
            set(ALLOW, "false");
            assert_eq!(raw::read(handle, memory.at, 100, 1, 0), Moved::Number(-5030));
        }),
        case("HF-ENV-08 nothing is printed and no configuration file is read", || {
            let before = output::captured(|| {
                assert_eq!(page_read(), Moved::Number(PAGE as isize));
                assert_eq!(odd_read(), Moved::Number(100));
                assert_eq!(raw::buffer_deregister(0), raw::e(5024));
                assert_eq!(raw::driver_close(), OK);
                if raw::has_stats() {
                    raw::stats3();
                }
            });
            assert_eq!(before, "");
        })
        .env("CUFILE_ENV_PATH_JSON", "/nonexistent/cufile.json"),
    ]
}
