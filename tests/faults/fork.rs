//! HF-THR-06: a forked child gets an error from every function, and never waits.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hipfile_tests::raw;
use soft_rocm_faults::Owner;

use crate::calls::{Function, functions};
use crate::scene::{ALL, LEN, Scene, StopAtEnd, plan_hip, plan_hipfile, planned, set_faults};

/// What a child can tell its parent: an answer for each function, and how many it has called.
struct Shared {
    done: *const AtomicU64,
    answers: *const AtomicU64,
}

impl Shared {
    fn new(count: usize) -> Self {
        let len = (count + 1) * size_of::<AtomicU64>();
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: requires that no mapping is replaced; holds, the system chooses a free address.
        let place = unsafe { libc::mmap(ptr::null_mut(), len, access, flags, -1, 0) };
        assert_ne!(place, libc::MAP_FAILED);
        let done: *const AtomicU64 = place.cast_const().cast();
        Self { done, answers: done.wrapping_add(1) }
    }

    fn done(&self) -> &AtomicU64 {
        // SAFETY: requires a live atomic; holds, the mapping is never removed.
        unsafe { &*self.done }
    }

    fn answer(&self, index: usize) -> &AtomicU64 {
        // SAFETY: requires a live atomic; holds for an index below the count.
        unsafe { &*self.answers.wrapping_add(index) }
    }
}

/// Forks, calls every function in the child, and gives the answers.
fn answers_in_a_child(functions: &[Function]) -> Vec<u64> {
    let shared = Shared::new(functions.len());
    // SAFETY: requires that the child does only what is safe after fork; holds as far as the libraries keep their
    // promise, which is what is tested.
    let pid = unsafe { libc::fork() };
    assert_ne!(pid, -1);
    if pid == 0 {
        // SAFETY: requires nothing: a hang ends with SIGALRM.
        unsafe { libc::alarm(20) };
        for (index, function) in functions.iter().enumerate() {
            shared.answer(index).store(function.call(), Ordering::Relaxed);
            shared.done().store(index as u64 + 1, Ordering::Relaxed);
        }
        // SAFETY: requires nothing; ends the child without exit handlers.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: requires a place for the status; holds, it is a local.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    let done = shared.done().load(Ordering::Relaxed) as usize;
    let at = functions.get(done).map_or("the end", |function| function.name);
    assert_eq!(status, 0, "the child ended with {status:#x} in {at}");
    (0..functions.len()).map(|index| shared.answer(index).load(Ordering::Relaxed)).collect()
}

/// Whether an answer is the error that a child gets.
fn is_refused(function: Function, answer: u64) -> bool {
    let code = answer as u32;
    match (function.owner, function.name) {
        // Texts need no state.
        (_, "hipGetErrorName" | "hipGetErrorString" | "hipFileGetOpErrorString" | "hipApiName") => {
            answer != 0
        }
        // The thread's own last error, the one before it, or none.
        (_, "hipGetLastError" | "hipPeekAtLastError" | "hipExtGetLastError") => [0, 3].contains(&code),
        // These answer nothing, or an address that is none.
        (_, "hipFileHandleDeregister" | "hipFileBatchIODestroy" | "hipFileStatsCloseContext") => true,
        (_, name) if name.starts_with("__hip") => true,
        (_, "hipFileGetVersion") => code == 0,
        (_, "hipFileUseCount") => answer == u64::MAX,
        (_, "hipFileRead" | "hipFileWrite") => answer as i64 == -5030,
        (_, name) if name.starts_with("hipFileStats") => code != 0,
        (Owner::Hipfile, _) => answer == 5030,
        _ => code != 0,
    }
}

fn check(functions: &[Function]) {
    for (function, answer) in functions.iter().zip(answers_in_a_child(functions)) {
        assert!(is_refused(*function, answer), "{} answered {answer:#x}", function.name);
    }
}

#[test]
fn every_function_refuses_a_child_of_a_quiet_process() {
    planned("fork::every_function_refuses_a_child_of_a_quiet_process", "", &[], || {
        let _scene = Scene::new();
        check(&functions());
    });
}

#[test]
fn a_child_is_told_why_it_cannot_set_a_plan() {
    planned("fork::a_child_is_told_why_it_cannot_set_a_plan", "", &[], || {
        let _scene = Scene::new();
        // SAFETY: requires that the child does only what is safe after fork; holds, it calls and compares.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            let told = ["softrocm_hip_set_faults", "softrocm_hipfile_set_faults"].iter().all(|function| {
                let mut error = [b'x'; 15];
                set_faults(function, c"", &mut error) == -1 && error == *b"a forked child\0"
            });
            // SAFETY: requires nothing; ends the child without exit handlers.
            unsafe { libc::_exit(if told { 7 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: requires a place for the status; holds, it is a local.
        assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
        assert_eq!(libc::WEXITSTATUS(status), 7);
    });
}

#[test]
fn every_function_refuses_a_child_of_a_process_whose_threads_hold_every_lock() {
    let test = "fork::every_function_refuses_a_child_of_a_process_whose_threads_hold_every_lock";
    planned(test, "hipFileUseCount:delay=1us", &[], || {
        let scene = Scene::new();
        let (handle, memory) = (scene.handle, scene.address());
        let stop = AtomicBool::new(false);
        let working = || !stop.load(Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while working() {
                    assert_eq!(raw::read_raw(handle, memory, LEN, 0, 0), LEN as isize);
                }
            });
            scope.spawn(|| {
                while working() {
                    drop(hip_alloc::DeviceBuffer::zeroed(1 << 16).unwrap());
                    assert_eq!(raw::buffer_register(memory, 1), raw::e(5023));
                }
            });
            scope.spawn(|| {
                while working() {
                    plan_hip("hipMalloc:delay=1us");
                    plan_hipfile("hipFileUseCount:delay=1us");
                }
            });
            let _stop = StopAtEnd(&stop);
            let functions = functions();
            for _ in 0..30 {
                check(&functions);
            }
        });
        assert_eq!(scene.read(), ALL, "the parent goes on");
    });
}
