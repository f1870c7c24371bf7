//! A library put before HIP and libc (`shim.c`): it counts, fails, shortens and holds calls.
//!
//! A process gets it by being started with [`environment`]; inside such a process [`attached`] says so and the
//! functions here tell it what to do. It works the same below any libhipfile, AMD's or ours, because it stands
//! where every libhipfile looks: in front of the real libamdhip64 and of libc's `pread`. `HFSHIM_HIDE=NAME` hides a
//! function from the start.

use std::ffi::{CString, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use std::{env, fs};

use crate::{compiler, rocm};

/// What to do to a call. The numbers are those of `shim.c`.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// HIP functions return this code, system calls −1 with this errno.
    Error(i64),
    /// `hipAmdFileRead`/`Write` succeed as calls and report this errno.
    Status(i64),
    /// As `Status`, with `hipErrorUnknown` as result of the call.
    StatusAndError(i64),
    /// At most so many bytes move.
    Short(i64),
    /// Nothing moves, so many bytes are reported; −1 for all that were asked for.
    Pretend(i64),
    /// The call waits until [`release`].
    Hold,
    /// `softrocm_host_address` and the alignment in `statx`: as if there were none.
    Hide,
}

impl Action {
    fn parts(self) -> (i32, i64) {
        match self {
            Action::Error(value) => (1, value),
            Action::Status(value) => (2, value),
            Action::StatusAndError(value) => (3, value),
            Action::Short(value) => (4, value),
            Action::Pretend(value) => (5, value),
            Action::Hold => (6, 0),
            Action::Hide => (7, 0),
        }
    }
}

/// Looks up one of the shim's own functions.
fn function(name: &str) -> Option<*mut libc::c_void> {
    let name = CString::new(name).ok()?;
    // SAFETY: requires a terminated name; holds because it comes from a CString.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// Whether the shim is in this process.
pub fn attached() -> bool {
    function("hfshim_rule").is_some()
}

macro_rules! call {
    ($name:literal, fn($($type:ty),*) $(-> $result:ty)?, $($argument:expr),*) => {{
        let address = function($name).expect("the shim is attached");
        // SAFETY: requires a function of that type; holds because shim.c defines it so.
        let call: unsafe extern "C" fn($($type),*) $(-> $result)? = unsafe { std::mem::transmute(address) };
        // SAFETY: requires terminated strings that live through the call; holds because the callers own them.
        unsafe { call($($argument),*) }
    }};
}

/// Applies `action` to every call of `name` from now on.
pub fn always(name: &str, action: Action) {
    rule(name, action, 1, 0);
}

/// Applies `action` to the next call of `name` alone.
pub fn once(name: &str, action: Action) {
    rule(name, action, 1, 1);
}

/// Applies `action` to `count` calls of `name`, the first of them being the `first` from now on; a `count` of 0
/// means all that follow. The count of [`calls`] starts again.
pub fn rule(name: &str, action: Action, first: u64, count: u64) {
    let name = CString::new(name).expect("a function name");
    let (number, value) = action.parts();
    call!(
        "hfshim_rule",
        fn(*const libc::c_char, i32, i64, u64, u64),
        name.as_ptr(),
        number,
        value,
        first,
        count
    );
}

/// Forgets the rules of `name`; calls held there go on.
pub fn release(name: &str) {
    let name = CString::new(name).expect("a function name");
    call!("hfshim_release", fn(*const libc::c_char), name.as_ptr());
}

/// How often `name` was called since its last rule was made.
pub fn calls(name: &str) -> u64 {
    let name = CString::new(name).expect("a function name");
    call!("hfshim_calls", fn(*const libc::c_char) -> u64, name.as_ptr())
}

/// How often `name` was called in this process, calls inside HIP's own file functions left out.
pub fn outer_calls(name: &str) -> u64 {
    let name = CString::new(name).expect("a function name");
    call!("hfshim_outer", fn(*const libc::c_char) -> u64, name.as_ptr())
}

/// The arguments of the last call of `name`: descriptor, size and offset for transfers.
pub fn last(name: &str) -> [i64; 3] {
    let name = CString::new(name).expect("a function name");
    [0, 1, 2]
        .map(|index: i32| call!("hfshim_last", fn(*const libc::c_char, i32) -> i64, name.as_ptr(), index))
}

/// Waits until a call of `name` is held.
pub fn wait_until_held(name: &str) {
    wait_until_held_times(name, 1);
}

/// Waits until so many calls of `name` are held.
pub fn wait_until_held_times(name: &str, times: u64) {
    let c_name = CString::new(name).expect("a function name");
    let started = Instant::now();
    while call!("hfshim_waiting", fn(*const libc::c_char) -> u64, c_name.as_ptr()) < times {
        assert!(started.elapsed() < Duration::from_secs(20), "no call of {name} came to be held");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The variables that put the shim into a process, or the reason why there can be none here.
///
/// # Errors
///
/// A sentence, where the machine or the installation does not allow it.
pub fn environment() -> Result<Vec<(&'static str, OsString)>, String> {
    static BUILT: OnceLock<Result<(PathBuf, PathBuf), String>> = OnceLock::new();
    let (shim, hip) = BUILT.get_or_init(build).clone()?;
    Ok(vec![("LD_PRELOAD", shim.into()), ("HFSHIM_REAL_HIP", hip.into())])
}

/// Builds the shim for the HIP under test, beside this executable.
fn build() -> Result<(PathBuf, PathBuf), String> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Err("the shim is written for x86-64 Linux".into());
    }
    let hip = ["HIP_PATH", "ROCM_PATH"]
        .iter()
        .filter_map(env::var_os)
        .map(|prefix| PathBuf::from(prefix).join("lib"))
        .chain([rocm::lib_dir()])
        .find_map(|dir| dir.join("libamdhip64.so").canonicalize().ok())
        .ok_or("no libamdhip64.so found")?;
    let place = env::current_exe()
        .ok()
        .and_then(|exe| Some(exe.parent()?.join(format!("hfshim-{}", std::process::id()))))
        .ok_or("this executable has no path")?;
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let built = compile(&place, &hip);
    let kept = place.with_file_name(format!("hfshim-{:016x}.so", fingerprint(&hip)));
    let result = built.and_then(|library| {
        fs::rename(&library, &kept).map_err(|error| format!("{}: {error}", kept.display()))?;
        Ok((kept, hip))
    });
    // Left-over object files are no reason to fail.
    let _ = fs::remove_dir_all(&place);
    result
}

/// One file name for each HIP, so that test executables running at once may share it.
fn fingerprint(hip: &Path) -> u64 {
    hip.as_os_str()
        .as_encoded_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn compile(place: &Path, hip: &Path) -> Result<PathBuf, String> {
    let listing = Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(hip)
        .output()
        .map_err(|error| format!("nm does not start: {error}"))?;
    let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
    let forwards = place.join("forwards.s");
    fs::write(&forwards, assembly(&listing)).map_err(|error| error.to_string())?;
    let library = place.join("hfshim.so");
    // `libamdhip64.so.7.0.1` is known to programs as `libamdhip64.so.7`.
    let name = hip.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let soname: Vec<&str> = name.split('.').take(3).collect();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/shim.c");
    let mut command = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    command.args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-shared", "-fPIC"]);
    command.arg(format!("-Wl,-soname,{}", soname.join(".")));
    command.arg("-o").arg(&library).arg(source).arg(&forwards).args(["-ldl", "-lpthread"]);
    compiler::must_run(&mut command);
    Ok(library)
}

/// A jump for each function of the real library. They are weak: what shim.c defines wins.
fn assembly(listing: &str) -> String {
    let names: Vec<&str> = listing
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace().skip(1);
            let kind = words.next()?;
            let name = words.next()?;
            matches!(kind, "T" | "W" | "i").then(|| name.split('@').next().unwrap_or(name))
        })
        .collect();
    let mut text = String::from("    .text\n");
    for (index, name) in names.iter().enumerate() {
        let _ = writeln!(text, "    .weak {name}\n    .type {name}, @function\n{name}:");
        let _ = writeln!(text, "    jmp *hfshim_slots+{}(%rip)", index * 8);
    }
    text.push_str("    .section .rodata\n");
    for (index, name) in names.iter().enumerate() {
        let _ = writeln!(text, ".Lname{index}:\n    .asciz \"{name}\"");
    }
    text.push_str("    .section .data.rel.ro,\"aw\"\n    .balign 8\n    .globl hfshim_names\n");
    text.push_str("    .hidden hfshim_names\nhfshim_names:\n");
    for index in 0..names.len() {
        let _ = writeln!(text, "    .quad .Lname{index}");
    }
    text.push_str(
        "    .quad 0\n    .bss\n    .balign 8\n    .globl hfshim_slots\n    .hidden hfshim_slots\n",
    );
    let _ = writeln!(text, "hfshim_slots:\n    .zero {}", (names.len() + 1) * 8);
    text.push_str("    .section .note.GNU-stack,\"\",@progbits\n");
    text
}
