//! HF-FALL-03: interruptions, as many as a script wants, change nothing but the time.

use crate::scene::{LEN, Scene, pattern, planned};

const STORM: &str = "pread:errno=EINTR@p=0.5,seed=1;pread:short=4096@p=0.5,seed=2;pwrite:errno=EINTR@p=0.5,seed=3;\
                     pwrite:short=4096@p=0.5,seed=4;fdatasync:errno=EINTR@p=0.5,seed=5;read:errno=EINTR@p=0.5,seed=6";

fn go_through() {
    let mut scene = Scene::new();
    let mut moved = 0;
    for round in 0..200 {
        scene.memory.copy_from_host(0, &pattern(round)).unwrap();
        while moved < LEN {
            // A fast path reports what a short transfer moved.
            let (count, errno) = scene.write(LEN);
            assert!(count > 0 && count % 4096 == 0, "{count} {errno}");
            moved = count as usize;
        }
        assert_eq!(std::fs::read(scene.file.path()).unwrap(), pattern(round));
        scene.memory.fill(0).unwrap();
        moved = 0;
        while moved < LEN {
            let (count, errno) = scene.read(LEN);
            assert!(count > 0 && count % 4096 == 0, "{count} {errno}");
            moved = count as usize;
        }
        assert_eq!(scene.memory.to_vec().unwrap(), pattern(round));
        moved = 0;
    }
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
