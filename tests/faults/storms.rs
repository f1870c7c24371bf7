//! HF-FALL-03: interruptions, as many as a script wants, change nothing but the time.

use hipfile_tests::raw::Moved;

use crate::scene::{LEN, Scene, pattern, planned};

const STORM: &str = "pread:errno=EINTR@p=0.5,seed=1;pread:short=4096@p=0.5,seed=2;pwrite:errno=EINTR@p=0.5,seed=3;\
                     pwrite:short=4096@p=0.5,seed=4;fdatasync:errno=EINTR@p=0.5,seed=5;read:errno=EINTR@p=0.5,seed=6";

fn go_through() {
    let mut scene = Scene::new();
    for round in 0..200 {
        scene.memory.copy_from_host(0, &pattern(round)).unwrap();
        until_all(|| scene.write());
        assert_eq!(std::fs::read(scene.file.path()).unwrap(), pattern(round));
        scene.memory.fill(0).unwrap();
        until_all(|| scene.read());
        assert_eq!(scene.memory.to_vec().unwrap(), pattern(round));
    }
}

/// The fast path reports what a short transfer moved; the others go on by themselves.
fn until_all(transfer: impl Fn() -> Moved) {
    while let Moved::Number(count @ 1..) = transfer() {
        assert_eq!(count % 4096, 0);
        if count == LEN as isize {
            return;
        }
    }
    panic!("a transfer failed");
}

#[test]
fn the_fallback_goes_through_a_storm() {
    let fallback = [("HIPFILE_FORCE_COMPAT_MODE", "true")];
    planned("storms::the_fallback_goes_through_a_storm", STORM, &fallback, go_through);
}

#[test]
fn the_bounce_buffer_goes_through_a_storm() {
    let plan = format!("{STORM};hipMemcpy:delay=1us");
    let fallback = [("HIPFILE_FORCE_COMPAT_MODE", "true")];
    planned("storms::the_bounce_buffer_goes_through_a_storm", &plan, &fallback, go_through);
}

#[test]
fn the_fast_path_goes_through_a_storm() {
    let fast = [("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true")];
    planned("storms::the_fast_path_goes_through_a_storm", STORM, &fast, go_through);
}
