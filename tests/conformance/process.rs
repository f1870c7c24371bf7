//! HF-THR-06, HF-STATS-21 and HF-HIP-27: other processes, and what the libraries are called.

use std::ffi::{c_int, c_void};
use std::process::{Command, Stdio};

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE};
use crate::hip::{self, Memory};
use crate::raw::{self, Moved, OK, e};

pub fn cases() -> Vec<Case> {
    vec![
        case("HF-THR-06 in a forked child every call answers an error, the parent goes on", || {
            let file = File::of(&[7; PAGE]);
            let handle = file.registered();
            let memory = Memory::new(PAGE).registered();
            let number = file.number();
            let wrong = in_child(|| {
                let answers = [
                    raw::driver_open() == e(5030),
                    raw::driver_close() == e(5030),
                    raw::register(number).0 == e(5030),
                    raw::buffer_register(memory.at, PAGE) == e(5030),
                    raw::buffer_deregister(memory.at) == e(5030),
                    raw::read(handle, memory.at, PAGE, 0, 0) == Moved::Number(-5030),
                    raw::write(handle, memory.at, PAGE, 0, 0) == Moved::Number(-5030),
                    raw::count() == -1,
                    raw::string(5022).0 == "One or more arguments have an invalid value",
                    raw::version() >= (0, 2, 0),
                ];
                raw::deregister(handle);
                answers.iter().position(|right| !right).map_or(0, |which| which as c_int + 1)
            });
            assert_eq!(wrong, 0, "the number of the first wrong answer");
            assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
            assert_eq!((raw::count(), raw::buffer_deregister(memory.at)), (1, OK));
        })
        .needs(Need::Ours)
        .since(0, 5),
        case("HF-STATS-21 a context watches a process, its arguments are checked", watching)
            .needs(Need::Ours),
        case("HF-HIP-27 the software HIP has the name of AMD's", || {
            let library = hipfile_tests::rocm::lib_dir().join("libamdhip64.so").canonicalize().unwrap();
            let output = Command::new("readelf").args(["-dW"]).arg(&library).output().unwrap();
            let dynamic = String::from_utf8(output.stdout).unwrap();
            let name = format!("[{}]", library.file_name().unwrap().to_str().unwrap());
            assert!(
                dynamic.lines().any(|line| line.contains("SONAME") && line.ends_with(&name)),
                "{dynamic}"
            );
            assert!(name.starts_with("[libamdhip64.so."), "{name}");
        })
        .needs(Need::OurHip),
    ]
}

/// Runs `check` in a child of this process and gives its status.
fn in_child(check: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: requires that the child runs nothing that needs other threads; holds, this process has none.
    let pid = unsafe { libc::fork() };
    assert_ne!(pid, -1);
    if pid == 0 {
        let status = check();
        // SAFETY: requires nothing; ends the child without exit handlers.
        unsafe { libc::_exit(status) };
    }
    let mut status = 0;
    // SAFETY: requires a place for the status; holds because `status` is one.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    assert!(libc::WIFEXITED(status), "the child ended with {status:#x}");
    libc::WEXITSTATUS(status)
}

pub type Create = unsafe extern "C" fn(*mut *mut c_void, c_int) -> c_int;
pub type WithContext = unsafe extern "C" fn(*mut c_void) -> c_int;
pub type Poll = unsafe extern "C" fn(*mut c_void, bool) -> c_int;
pub type Report = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

/// One of the functions that the header does not declare.
pub fn internal<F: Copy>(name: &str) -> F {
    // What brings the library into this process.
    raw::count();
    let address = hip::symbol(name).expect(name);
    assert_eq!(size_of::<F>(), size_of_val(&address));
    // SAFETY: requires a function of that type; holds because the contract gives these.
    unsafe { std::mem::transmute_copy(&address) }
}

fn watching() {
    let create: Create = internal("hipFileStatsCreateContext");
    let poll: Poll = internal("hipFileStatsPollTargetProcess");
    let connect: WithContext = internal("hipFileStatsConnectToTargetProcess");
    let close: WithContext = internal("hipFileStatsCloseContext");
    let report: Report = internal("hipFileStatsGenerateReport");
    let none = std::ptr::null_mut();
    let mut context = none;
    // SAFETY: requires room for a context or NULL, as all calls of this function.
    assert_eq!(unsafe { create(std::ptr::null_mut(), 1) }, 1);
    for (pid, answer) in [(0, 1), (-1, 1), (c_int::MAX, 2)] {
        // SAFETY: as above.
        assert_eq!(unsafe { create(&mut context, pid) }, answer, "{pid}");
    }
    assert_eq!(context, none);
    // SAFETY: requires a context or NULL, as all that follow.
    assert_eq!(unsafe { connect(none) }, 1);
    // SAFETY: as above.
    assert_eq!(unsafe { poll(none, false) }, 1);
    // SAFETY: as above.
    assert_eq!(unsafe { report(none, 1) }, 1);
    // SAFETY: as above.
    unsafe { close(none) };

    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    // SAFETY: as above.
    assert_eq!(unsafe { create(&mut context, child.id() as c_int) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { connect(context) }, 3, "it has no statistics");
    // SAFETY: as above.
    assert_eq!(unsafe { poll(context, false) }, 3, "it runs");
    // SAFETY: as above.
    assert_eq!(unsafe { report(context, -1) }, 1);
    drop(child.stdin.take());
    // SAFETY: as above.
    assert_eq!(unsafe { poll(context, true) }, 0, "it ended");
    child.wait().unwrap();
    // SAFETY: as above.
    assert_eq!(unsafe { report(context, 1) }, 4, "nothing was connected");
    // SAFETY: as above.
    unsafe { close(context) };
}
