//! A process ends well whatever is open and whoever is inside a call.

use std::time::{Duration, Instant};

use crate::scene::{ALL, Scene, held_by_hipfile, planned};

#[test]
fn everything_open() {
    planned("exit::everything_open", "", &[], || {
        let scene = Scene::new();
        assert_eq!(scene.read(), ALL);
        std::mem::forget(scene);
        std::mem::forget(std::thread::spawn(|| std::mem::forget(hip_alloc::DeviceBuffer::zeroed(1 << 20))));
    });
}

/// HF-DRV-24: the thread inside the call does not keep the process.
#[test]
fn a_thread_inside_a_call() {
    let started = Instant::now();
    planned("exit::a_thread_inside_a_call", "pread:pause", &[("HIPFILE_FORCE_COMPAT_MODE", "true")], || {
        let scene = Scene::new();
        std::thread::spawn(move || scene.read());
        while held_by_hipfile() == 0 {
            std::thread::yield_now();
        }
    });
    assert!(started.elapsed() < Duration::from_secs(60));
}
