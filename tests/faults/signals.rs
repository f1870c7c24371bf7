//! Real signals, thousands a second, whose handler does not restart what it interrupts.

use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use hipfile_tests::raw;

use crate::scene::{ALL, Scene, pattern, planned};

static SIGNALS: AtomicU64 = AtomicU64::new(0);

extern "C" fn count(_signal: i32) {
    SIGNALS.fetch_add(1, Ordering::Relaxed);
}

/// SIGALRM every 200 µs from now on.
fn storm() {
    // SAFETY: requires a type for which zero bytes are valid; holds: no flags, so no SA_RESTART.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = count as *const () as usize;
    // SAFETY: requires a handler that does what is allowed in one; holds, it adds to an atomic.
    assert_eq!(unsafe { libc::sigaction(libc::SIGALRM, &action, ptr::null_mut()) }, 0);
    let often = libc::timeval { tv_sec: 0, tv_usec: 200 };
    let timer = libc::itimerval { it_interval: often, it_value: often };
    // SAFETY: requires a readable value; holds, it is a local.
    assert_eq!(unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, ptr::null_mut()) }, 0);
}

fn transfers() {
    let mut scene = Scene::new();
    storm();
    let mut round = 0;
    while SIGNALS.load(Ordering::Relaxed) < 500 {
        round += 1;
        scene.memory.copy_from_host(0, &pattern(round)).unwrap();
        assert_eq!(scene.write(), ALL);
        scene.memory.fill(0).unwrap();
        assert_eq!(scene.read(), ALL);
        assert_eq!(scene.memory.to_vec().unwrap(), pattern(round));
        raw::deregister(scene.handle);
        scene.handle = raw::registered(scene.file.as_file().as_raw_fd());
    }
}

#[test]
fn transfers_and_registrations_on_the_fallback() {
    let fallback = [("HIPFILE_FORCE_COMPAT_MODE", "true")];
    planned("signals::transfers_and_registrations_on_the_fallback", "", &fallback, transfers);
}

#[test]
fn transfers_and_registrations_on_the_fast_path() {
    let fast = [("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true")];
    planned("signals::transfers_and_registrations_on_the_fast_path", "", &fast, transfers);
}

/// A signal does not end a delay early.
#[test]
fn delays() {
    planned("signals::delays", "hipFileRead:delay=30ms", &[], || {
        let scene = Scene::new();
        storm();
        for _ in 0..5 {
            let started = std::time::Instant::now();
            assert_eq!(scene.read(), ALL);
            assert!(started.elapsed() >= std::time::Duration::from_millis(30));
        }
        assert!(SIGNALS.load(Ordering::Relaxed) > 0);
    });
}
