//! Without feature `link`: HIP is found at run time, or an error says where it was not. Each test runs in a process of its
//! own, since the search happens once in a process and depends on its environment.
#![cfg(not(feature = "link"))]
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use hip_alloc::{Device, DeviceBuffer, ErrorKind, Event, PinnedBuffer, Stream};

const CASE: &str = "HIP_ALLOC_TEST_CASE";

/// Runs `body` in this executable once more, with `ROCM_PATH` set to `rocm` and no other hint where HIP is.
fn alone(test: &str, rocm: &Path, body: impl FnOnce()) {
    alone_with(test, rocm, None, body);
}

/// The same where the loader looks for what HIP itself needs in `libraries`.
fn alone_with(test: &str, rocm: &Path, libraries: Option<&Path>, body: impl FnOnce()) {
    if env::var_os(CASE).is_some_and(|case| case == test) {
        body();
        println!("{test} ran to its end");
        return;
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env("ROCM_PATH", rocm).env(CASE, test);
    match libraries {
        Some(libraries) => command.env("LD_LIBRARY_PATH", libraries),
        None => command.env_remove("LD_LIBRARY_PATH"),
    };
    let output = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && stdout.contains("ran to its end"), "{stdout}{stderr}");
}

/// The prefix that the tests run with.
fn prefix() -> PathBuf {
    let chosen = env::var_os("HIPFILE_LIB_DIR").map(|lib| Path::new(&lib).join(".."));
    chosen.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/soft-rocm"))
}

#[test]
fn hip_is_found_on_first_use() {
    alone("hip_is_found_on_first_use", &prefix(), || {
        assert_eq!(DeviceBuffer::from_host(b"loaded").unwrap().to_vec().unwrap(), b"loaded");
        // SAFETY: requires that a library may be loaded; none is, since HIP is in use.
        let error = unsafe { hip_alloc::load("/nonexistent/libamdhip64.so") }.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Busy);
    });
}

#[test]
fn where_hip_is_not_found_the_places_are_named_and_load_still_works() {
    let nowhere = Path::new("/nonexistent/rocm");
    alone("where_hip_is_not_found_the_places_are_named_and_load_still_works", nowhere, || {
        let error = match Device::count() {
            Ok(_) => {
                println!("skipped: this machine has a HIP where none is named");
                return;
            }
            Err(error) => error,
        };
        assert_eq!(error.kind(), ErrorKind::NotLoaded);
        let text = error.to_string();
        assert!(text.starts_with("Device::count: "), "{text}");
        for place in [
            "/nonexistent/rocm/lib",
            "/opt/rocm/lib",
            "libamdhip64.so.7",
            "libamdhip64.so.5",
            "system loader",
        ] {
            assert!(text.contains(place), "{place} is not in {text}");
        }
        assert_eq!(DeviceBuffer::new(1).unwrap_err().kind(), ErrorKind::NotLoaded);
        assert_eq!(hip_alloc::HipError::from(2).to_string(), "HIP error 2");
        // SAFETY: requires a HIP runtime; holds because this is the one that the tests run with.
        unsafe { hip_alloc::load(prefix().join("lib/libamdhip64.so")) }.unwrap();
        assert_eq!(DeviceBuffer::from_host(b"named").unwrap().to_vec().unwrap(), b"named");
    });
}

/// AMD's own HIP on a machine without a GPU, where `HIP_WITHOUT_GPU` names a prefix that has it.
#[test]
fn a_real_hip_without_a_gpu_has_no_device() {
    let Some(prefix) = env::var_os("HIP_WITHOUT_GPU").map(PathBuf::from) else {
        println!("skipped: HIP_WITHOUT_GPU names no prefix with AMD's libamdhip64");
        return;
    };
    if Path::new("/dev/kfd").exists() {
        println!("skipped: this machine has a GPU");
        return;
    }
    let test = "a_real_hip_without_a_gpu_has_no_device";
    alone_with(test, &prefix, Some(&prefix.join("lib")), || {
        assert_eq!(Device::count().ok(), Some(0));
        let refused = [
            Device::new(0).map(drop).unwrap_err(),
            Device::current().map(drop).unwrap_err(),
            DeviceBuffer::new(4096).map(drop).unwrap_err(),
            DeviceBuffer::from_host(b"no").map(drop).unwrap_err(),
            Stream::new().map(drop).unwrap_err(),
            Event::new().map(drop).unwrap_err(),
            PinnedBuffer::zeroed(4096).map(drop).unwrap_err(),
        ];
        for error in refused {
            assert_eq!(error.kind(), ErrorKind::NoDevice, "{error}");
        }
    });
}
