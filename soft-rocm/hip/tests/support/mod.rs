//! What the tests of the exported functions share.
#![allow(dead_code, clippy::unwrap_used, reason = "no test file needs all of it; a panic is a failed test")]

pub mod gpus;
pub mod misuse;
pub mod streams;

use std::ffi::c_void;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::ptr;

use soft_rocm_hip::header::*;

/// Device memory of that many bytes.
pub fn device_memory(size: usize) -> *mut c_void {
    let mut pointer = ptr::null_mut();
    // SAFETY: requires a writable place; holds, it is a local.
    assert_eq!(unsafe { hipMalloc(&mut pointer, size) }, hipSuccess);
    pointer
}

/// Pinned memory of that many bytes.
pub fn pinned_memory(size: usize, flags: u32) -> *mut c_void {
    let mut pointer = ptr::null_mut();
    // SAFETY: requires a writable place; holds, it is a local.
    assert_eq!(unsafe { hipHostMalloc(&mut pointer, size, flags) }, hipSuccess);
    pointer
}

/// Device memory that holds these bytes.
pub fn device_bytes(bytes: &[u8]) -> *mut c_void {
    let device = device_memory(bytes.len());
    // SAFETY: requires a readable source; holds for the slice.
    let copied = unsafe { hipMemcpy(device, bytes.as_ptr().cast(), bytes.len(), hipMemcpyHostToDevice) };
    assert_eq!(copied, hipSuccess);
    device
}

/// The bytes of device memory.
pub fn host_bytes(device: *const c_void, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    // SAFETY: requires a writable destination; holds for the vector.
    let copied = unsafe { hipMemcpy(bytes.as_mut_ptr().cast(), device, len, hipMemcpyDeviceToHost) };
    assert_eq!(copied, hipSuccess);
    bytes
}

/// 64 bytes of the program's own, registered.
pub fn registered_memory() -> *mut c_void {
    let own: &'static mut [u8] = Box::leak(vec![0; 64].into_boxed_slice());
    let own = own.as_mut_ptr().cast();
    assert_eq!(hipHostRegister(own, 64, 0), hipSuccess);
    own
}

/// A pointer so many bytes on.
pub fn at(pointer: *mut c_void, offset: usize) -> *mut c_void {
    pointer.wrapping_byte_add(offset)
}

/// Bytes that differ from one another.
pub fn pattern(len: usize) -> Vec<u8> {
    (0..len as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

const CHILD: &str = "SOFT_ROCM_HIP_TEST_CHILD";

/// Runs `body` in a process of its own, with these variables set: a library that nobody has used yet. `test` is the
/// name of the calling test, which runs again in that process.
pub fn in_process(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Option<Output> {
    if std::env::var_os(CHILD).is_some_and(|name| name == test) {
        body();
        return None;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(CHILD, test);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SOFT_ROCM_")) {
        command.env_remove(name);
    }
    Some(command.envs(variables.iter().copied()).output().unwrap())
}

/// As [`in_process`], for a body that has to succeed.
pub fn passes_in_process(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if let Some(output) = in_process(test, variables, body) {
        assert!(output.status.success(), "{}", text(&output));
        assert!(text(&output).contains("1 passed"), "no test is called {test}:\n{}", text(&output));
    }
}

/// As [`in_process`], for a body that has to be killed by this signal.
pub fn dies_in_process(test: &str, variables: &[(&str, &str)], signal: i32, body: impl FnOnce()) {
    if let Some(output) = in_process(test, variables, body) {
        assert_eq!(output.status.signal(), Some(signal), "{}", text(&output));
    }
}

fn text(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{}\n{out}\n{err}", output.status)
}

/// What the library wrote to standard error, with every address written as `@`.
pub fn reports(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines = text.lines().filter_map(|line| line.strip_prefix("soft-rocm: "));
    let words = |line: &str| {
        let words = line.split_inclusive(' ').map(|word| {
            let digits = word.trim_end_matches([' ', ',', ';', ':']);
            if digits.starts_with("0x") { word.replacen(digits, "@", 1) } else { word.to_owned() }
        });
        words.collect::<String>()
    };
    lines.map(words).collect::<Vec<_>>().join("\n")
}
