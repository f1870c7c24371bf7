//! What the software library does where it is told to be an earlier release, or told something it does not know.

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::{self, Memory};
use crate::raw::{self, Moved, e};

use hipfile_tests::shim::{self, Action};

pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("HF-STATS-23 before 0.5 the statistics functions are E(5030)", || {
            if raw::api().hipFileGetStatsL1.is_some() {
                assert_eq!(raw::stats_of_null(), [e(5030); 3]);
            }
            assert_eq!(raw::count(), 0);
        })
        .until(0, 4),
        case("HF-PATH-18 after 0.2 FORCE and not ALLOW: a line of warning, and the fallback serves", || {
            let said = crate::output::captured(|| {
                let file = File::of(&pattern(PAGE, 1));
                let moved = raw::read(file.registered(), Memory::new(PAGE).at, PAGE, 0, 0);
                assert_eq!(moved, Moved::Number(PAGE as isize));
            });
            assert_eq!(said.lines().count(), 1, "{said}");
        })
        .fallback()
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false")
        .since(0, 4)
        .until(0, 4),
        case("HF-FALL-17 before 0.5 the fallback leaves the current device as it is", || {
            assert_eq!(hip::set_device(1), 0);
            let memory = Memory::of(&pattern(PAGE, 3));
            assert_eq!(hip::set_device(0), 0);
            let file = File::empty();
            let handle = file.registered();
            shim::always("hipSetDevice", Action::Error(101));
            assert_eq!(raw::write(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
            assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
            assert_eq!(shim::calls("hipSetDevice"), 0);
            assert!(file.bytes() == pattern(PAGE, 3));
        })
        .fallback()
        .needs(Need::SecondDevice)
        .env("SOFT_ROCM_DEVICE_COUNT", "2")
        .shim()
        .until(0, 4),
    ];
    cases.extend(wrong_values());
    cases.into_iter().map(|case| case.needs(Need::Ours)).collect()
}

fn wrong_values() -> impl Iterator<Item = Case> {
    let wrong = [
        ("SOFT_ROCM_HIPFILE_VERSION", "0.6", "give 0.2, 0.4, 0.5"),
        ("SOFT_ROCM_QUIRKS", "all", "give amd, or nothing"),
        ("SOFT_ROCM_EXTENSIONS", "properties;parameters", "give properties, parameters, host-memory"),
    ];
    wrong.into_iter().map(|(name, value, accepted)| {
        case(format!("HF-ENV-10 {name}={value} is reported once, every call fails"), every_call_fails)
            .env(name, value)
            .env("EXPECTED", format!("libhipfile: {name}={value:?} is not accepted: {accepted}"))
    })
}

fn every_call_fails() {
    let said = crate::output::captured(|| {
        assert_eq!(raw::driver_open(), e(5030));
        assert_eq!(raw::driver_close(), e(5030));
        assert_eq!(raw::count(), -1);
        assert_eq!(raw::register(0).0, e(5030));
        assert_eq!(raw::buffer_register(0, 0), e(5030));
        assert_eq!(raw::buffer_deregister(0), e(5030));
        assert_eq!(raw::read(0, 0, 0, 0, 0), Moved::Number(-5030));
        assert_eq!(raw::write(0, 0, 0, 0, 0), Moved::Number(-5030));
        raw::deregister(0);
    });
    assert_eq!(said.lines().count(), 1, "{said}");
    let expected = std::env::var("EXPECTED").unwrap();
    assert!(said.starts_with(&expected), "{said}");
}
