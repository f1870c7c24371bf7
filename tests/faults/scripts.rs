//! What each action makes of the functions of libhipfile, and of what lies below them.

use std::time::{Duration, Instant};

use hipfile_tests::raw::Moved::{Number, Os};
use hipfile_tests::raw::{self, e};

use crate::scene::{ALL, Scene, StopAtEnd, held_by_hipfile, pattern, plan_hip, plan_hipfile, planned};

const FALLBACK: [(&str, &str); 1] = [("HIPFILE_FORCE_COMPAT_MODE", "true")];
const FAST: [(&str, &str); 1] = [("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true")];

#[test]
fn each_kind_of_function_answers_in_its_own_way() {
    planned("scripts::each_kind_of_function_answers_in_its_own_way", "", &FALLBACK, || {
        let scene = Scene::new();
        for (plan, expected) in [
            ("hipFileRead:hipfile=5022", Number(-5022)),
            ("hipFileRead:hipfile=hipFileInternalError", Number(-5030)),
            ("hipFileRead:hip=hipErrorOutOfMemory", Number(-2)),
            ("hipFileRead:errno=ENODEV", Os(libc::ENODEV)),
            ("hipFileRead:short=5000", Number(5000)),
            ("hipFileRead:short=1G", ALL),
            ("hipFileWrite:errno=EIO", ALL),
            ("hipFileRead:errno=EIO@2", ALL),
            ("hipFileRead:errno=EIO@size=64K", Os(libc::EIO)),
            ("hipFileRead:errno=EIO@size=64K+,path=/no/such", ALL),
            ("hipFileRead:errno=EIO@path=tmp", Os(libc::EIO)),
            ("pread:errno=EIO", Os(libc::EIO)),
            ("pread:errno=EIO@2", ALL),
            ("pread:short=4K", ALL),
            ("pread:short=0", Number(0)),
            ("pread:short=4K;pread:errno=EIO@3", Number(8192)),
        ] {
            plan_hipfile(plan);
            assert_eq!(scene.read(), expected, "{plan}");
        }
        plan_hipfile(
            "hipFileDriverOpen:hipfile=5001;hipFileBufRegister:hip=2;hipFileHandleRegister:errno=EMFILE",
        );
        assert_eq!(raw::driver_open(), e(5001));
        assert_eq!(raw::buffer_register(0, 1), (5011, 2));
        assert_eq!(raw::register(-1).0, e(5030));
        plan_hipfile("hipFileGetVersion:hipfile=5030@1;hipFileUseCount:delay=1ms");
        let nowhere = std::ptr::null_mut();
        // SAFETY: requires places or NULL; holds.
        let refused = unsafe { (raw::api().hipFileGetVersion)(nowhere, nowhere, nowhere) };
        assert_eq!(raw::answer(refused), e(5030));
        assert_eq!(raw::version().0, 0);
        assert_eq!(raw::count(), 1);
    });
}

#[test]
fn system_errors_of_a_write_and_of_its_sync_are_reported() {
    planned("scripts::system_errors_of_a_write_and_of_its_sync_are_reported", "", &FALLBACK, || {
        let mut scene = Scene::new();
        scene.memory.copy_from_host(0, &pattern(1)).unwrap();
        for (plan, expected) in [
            ("pwrite:errno=ENOSPC", Os(libc::ENOSPC)),
            ("pwrite:short=4096;pwrite:errno=ENOSPC@2", Number(4096)),
            ("fdatasync:errno=EIO", Os(libc::EIO)),
            ("pwrite:short=4096", ALL),
        ] {
            plan_hipfile(plan);
            assert_eq!(scene.write(), expected, "{plan}");
        }
        assert_eq!(std::fs::read(scene.file.path()).unwrap(), pattern(1));
    });
}

#[test]
fn the_fast_path_falls_back_or_reports() {
    planned("scripts::the_fast_path_falls_back_or_reports", "", &FAST, || {
        let scene = Scene::new();
        for (plan, expected) in [
            ("hipAmdFileRead:errno=ENODEV", ALL),
            ("hipAmdFileRead:errno=EREMOTEIO", ALL),
            ("hipAmdFileRead:errno=EIO", Os(libc::EIO)),
            ("hipAmdFileRead:errno=EINTR", Os(libc::EINTR)),
            ("hipAmdFileRead:short=8K", Number(8192)),
            ("hipAmdFileRead:hip=hipErrorInvalidValue", Number(-1)),
            ("hipGetProcAddress:hip=1", ALL),
        ] {
            plan_hip(plan);
            assert_eq!(scene.read(), expected, "{plan}");
        }
    });
}

#[test]
fn copies_that_are_planned_are_made() {
    planned("scripts::copies_that_are_planned_are_made", "", &FALLBACK, || {
        let scene = Scene::new();
        plan_hip("hipMemcpy:hip=hipErrorOutOfMemory@2");
        assert_eq!(scene.read(), ALL);
        assert_eq!(scene.read(), Number(-2));
        plan_hip("");
        assert_eq!(scene.memory.to_vec().unwrap(), pattern(0));
    });
}

#[test]
fn delays_hold_up_and_pauses_hold() {
    planned("scripts::delays_hold_up_and_pauses_hold", "hipFileRead:delay=50ms@1", &[], || {
        let scene = Scene::new();
        let started = Instant::now();
        assert_eq!(scene.read(), ALL);
        assert!(started.elapsed() >= Duration::from_millis(50));
        plan_hipfile("hipFileUseCount:pause");
        let counting = std::thread::spawn(raw::count);
        while held_by_hipfile() == 0 {
            std::thread::yield_now();
        }
        assert_eq!(scene.read(), ALL, "other calls go on");
        assert!(!counting.is_finished());
        plan_hipfile("");
        assert_eq!(counting.join().unwrap(), 1);
    });
}

#[test]
fn exactly_one_of_many_threads_gets_the_third_call() {
    planned("scripts::exactly_one_of_many_threads_gets_the_third_call", "", &FALLBACK, || {
        let scene = Scene::new();
        let (handle, memory) = (scene.handle, scene.address());
        for _ in 0..20 {
            plan_hipfile("pread:errno=EIO@3");
            let failed: usize = std::thread::scope(|scope| {
                let read = move || (0..5).filter(|_| raw::read_raw(handle, memory, 4096, 0, 0) == -1).count();
                let threads: Vec<_> = (0..6).map(|_| scope.spawn(read)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).sum()
            });
            assert_eq!(failed, 1);
        }
    });
}

#[test]
fn plans_can_be_replaced_while_calls_are_made() {
    planned("scripts::plans_can_be_replaced_while_calls_are_made", "", &[], || {
        let scene = Scene::new();
        let (handle, memory) = (scene.handle, scene.address());
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        let moved = raw::read_raw(handle, memory, 4096, 0, 0);
                        assert!([4096, 100, -5022].contains(&moved), "{moved}");
                    }
                });
            }
            let _stop = StopAtEnd(&stop);
            for plan in ["hipFileRead:short=100", "", "hipFileRead:hipfile=5022@2+", "hipFileRead:delay=10us"]
                .iter()
                .cycle()
                .take(2000)
            {
                plan_hipfile(plan);
                plan_hip(if plan.is_empty() { "hipGetDevice:delay=10us" } else { "" });
            }
        });
    });
}

#[test]
fn a_plan_that_is_not_accepted_fails_every_call() {
    let test = "scripts::a_plan_that_is_not_accepted_fails_every_call";
    planned(test, "hipFileRaed:errno=EIO", &[], || {
        assert_eq!(raw::driver_open(), e(5030));
        assert_eq!(raw::register(0).0, e(5030));
        assert_eq!(raw::read(0, 0, 1, 0, 0), Number(-5030));
        assert_eq!(raw::count(), -1);
    });
}
