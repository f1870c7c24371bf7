//! What each action makes of the functions of libhipfile, and of what lies below them.

use std::time::{Duration, Instant};

use crate::scene::{
    LEN, Scene, api, codes, held_by_hipfile, pattern, plan_hip, plan_hipfile, planned, read, register,
};

const FALLBACK: [(&str, &str); 1] = [("HIPFILE_FORCE_COMPAT_MODE", "true")];
const FAST: [(&str, &str); 1] = [("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true")];

#[test]
fn each_kind_of_function_answers_in_its_own_way() {
    planned("scripts::each_kind_of_function_answers_in_its_own_way", "", &FALLBACK, || {
        let scene = Scene::new();
        for (plan, expected) in [
            ("hipFileRead:hipfile=5022", (-5022, 0)),
            ("hipFileRead:hipfile=hipFileInternalError", (-5030, 0)),
            ("hipFileRead:hip=hipErrorOutOfMemory", (-2, 0)),
            ("hipFileRead:errno=ENODEV", (-1, libc::ENODEV)),
            ("hipFileRead:short=5000", (5000, 0)),
            ("hipFileRead:short=1G", (LEN as isize, 0)),
            ("hipFileWrite:errno=EIO", (LEN as isize, 0)),
            ("hipFileRead:errno=EIO@2", (LEN as isize, 0)),
            ("hipFileRead:errno=EIO@size=64K", (-1, libc::EIO)),
            ("hipFileRead:errno=EIO@size=64K+,path=/no/such", (LEN as isize, 0)),
            ("hipFileRead:errno=EIO@path=tmp", (-1, libc::EIO)),
            ("pread:errno=EIO", (-1, libc::EIO)),
            ("pread:errno=EIO@2", (LEN as isize, 0)),
            ("pread:short=4K", (LEN as isize, 0)),
            ("pread:short=0", (0, 0)),
            ("pread:short=4K;pread:errno=EIO@3", (8192, 0)),
        ] {
            plan_hipfile(plan);
            assert_eq!(scene.read(LEN), expected, "{plan}");
        }
        plan_hipfile(
            "hipFileDriverOpen:hipfile=5001;hipFileBufRegister:hip=2;hipFileHandleRegister:errno=EMFILE",
        );
        // SAFETY: requires nothing.
        assert_eq!(codes(unsafe { (api().hipFileDriverOpen)() }), (5001, 0));
        // SAFETY: requires nothing of an address that is never looked at.
        assert_eq!(codes(unsafe { (api().hipFileBufRegister)(std::ptr::null(), 1, 0) }), (5011, 2));
        assert_eq!(register(-1).0, (5030, 0));
        plan_hipfile(
            "hipFileGetVersion:hipfile=5030;hipFileUseCount:delay=1ms;hipFileGetOpErrorString:delay=1ms",
        );
        let nowhere = std::ptr::null_mut();
        // SAFETY: requires places or NULL; holds.
        assert_eq!(codes(unsafe { (api().hipFileGetVersion)(nowhere, nowhere, nowhere) }), (5030, 0));
        // SAFETY: requires nothing.
        assert_eq!(unsafe { (api().hipFileUseCount)() }, 1);
    });
}

#[test]
fn system_errors_of_a_write_and_of_its_sync_are_reported() {
    planned("scripts::system_errors_of_a_write_and_of_its_sync_are_reported", "", &FALLBACK, || {
        let mut scene = Scene::new();
        scene.memory.copy_from_host(0, &pattern(1)).unwrap();
        for (plan, expected) in [
            ("pwrite:errno=ENOSPC", (-1, libc::ENOSPC)),
            ("pwrite:short=4096;pwrite:errno=ENOSPC@2", (4096, 0)),
            ("fdatasync:errno=EIO", (-1, libc::EIO)),
            ("pwrite:short=4096", (LEN as isize, 0)),
        ] {
            plan_hipfile(plan);
            assert_eq!(scene.write(LEN), expected, "{plan}");
        }
        assert_eq!(std::fs::read(scene.file.path()).unwrap(), pattern(1));
    });
}

#[test]
fn the_fast_path_falls_back_or_reports() {
    planned("scripts::the_fast_path_falls_back_or_reports", "", &FAST, || {
        let scene = Scene::new();
        let all = (LEN as isize, 0);
        for (plan, expected) in [
            ("hipAmdFileRead:errno=ENODEV", all),
            ("hipAmdFileRead:errno=EREMOTEIO", all),
            ("hipAmdFileRead:errno=EIO", (-1, libc::EIO)),
            ("hipAmdFileRead:errno=EINTR", (-1, libc::EINTR)),
            ("hipAmdFileRead:short=8K", (8192, 0)),
            ("hipAmdFileRead:hip=hipErrorInvalidValue", (-1, 0)),
            ("hipGetProcAddress:hip=1", all),
        ] {
            plan_hip(plan);
            assert_eq!(scene.read(LEN), expected, "{plan}");
        }
    });
}

#[test]
fn copies_that_are_planned_are_made() {
    planned("scripts::copies_that_are_planned_are_made", "", &FALLBACK, || {
        let scene = Scene::new();
        plan_hip("hipMemcpy:hip=hipErrorOutOfMemory@2");
        assert_eq!(scene.read(LEN), (LEN as isize, 0));
        assert_eq!(scene.read(LEN), (-2, 0));
        plan_hip("");
        assert_eq!(scene.memory.to_vec().unwrap(), pattern(0));
    });
}

#[test]
fn delays_hold_up_and_pauses_hold() {
    planned("scripts::delays_hold_up_and_pauses_hold", "hipFileRead:delay=50ms@1", &[], || {
        let scene = Scene::new();
        let started = Instant::now();
        assert_eq!(scene.read(LEN), (LEN as isize, 0));
        assert!(started.elapsed() >= Duration::from_millis(50));
        plan_hipfile("hipFileUseCount:pause");
        let counting = std::thread::spawn(|| {
            // SAFETY: requires nothing.
            unsafe { (api().hipFileUseCount)() }
        });
        while held_by_hipfile() == 0 {
            std::thread::yield_now();
        }
        assert_eq!(scene.read(LEN), (LEN as isize, 0), "other calls go on");
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
                let read = move || (0..5).filter(|_| read(handle, memory, 4096) == -1).count();
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
                        let moved = read(handle, memory, 4096);
                        assert!([4096, 100, -5022].contains(&moved), "{moved}");
                    }
                });
            }
            for plan in ["hipFileRead:short=100", "", "hipFileRead:hipfile=5022@2+", "hipFileRead:delay=10us"]
                .iter()
                .cycle()
                .take(2000)
            {
                plan_hipfile(plan);
                plan_hip(if plan.is_empty() { "hipGetDevice:delay=10us" } else { "" });
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    });
}

#[test]
fn a_plan_that_is_not_accepted_fails_every_call() {
    let test = "scripts::a_plan_that_is_not_accepted_fails_every_call";
    planned(test, "hipFileRaed:errno=EIO", &[], || {
        // SAFETY: requires nothing.
        assert_eq!(codes(unsafe { (api().hipFileDriverOpen)() }), (5030, 0));
        assert_eq!(register(0).0, (5030, 0));
        assert_eq!(read(0, 0, 1), -5030);
        // SAFETY: requires nothing.
        assert_eq!(unsafe { (api().hipFileUseCount)() }, -1);
    });
}
