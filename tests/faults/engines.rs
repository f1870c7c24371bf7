//! Scripts below asynchronous and batch I/O: one operation fails and the others don't, and a storm changes nothing.

use std::time::Duration;

use hipfile_tests::engine::{self, Entry, Slot, Stream, UNWRITTEN, Wait};
use hipfile_tests::raw::{self, OK, e};

use crate::scene::{LEN, Scene, held_by_hip, held_by_hipfile, pattern, plan_hip, plan_hipfile, planned};

const FALLBACK: [(&str, &str); 1] = [("HIPFILE_FORCE_COMPAT_MODE", "true")];
const PART: usize = 4096;
const PARTS: usize = LEN / PART;

fn streams() -> (Scene, Stream) {
    (Scene::new(), Stream::new().expect("the software HIP has streams"))
}

fn read_parts(scene: &Scene, stream: &Stream) -> Vec<Slot> {
    let mut slots: Vec<_> =
        (0..PARTS).map(|part| *Slot::new(PART, (part * PART) as i64, (part * PART) as i64)).collect();
    for slot in &mut slots {
        assert_eq!(engine::submit(false, scene.handle, scene.address(), slot, None, stream.raw()), OK);
    }
    slots
}

#[test]
fn one_asynchronous_read_fails() {
    planned("engines::one_asynchronous_read_fails", "", &FALLBACK, || {
        let (scene, stream) = streams();
        plan_hipfile("pread:errno=EIO@3");
        let slots = read_parts(&scene, &stream);
        stream.synchronize();
        let expected: Vec<_> =
            (1..=PARTS).map(|number| if number == 3 { -1 } else { PART as isize }).collect();
        assert_eq!(slots.iter().map(|slot| slot.bytes).collect::<Vec<_>>(), expected);
    });
}

#[test]
fn a_refused_submission_leaves_everything_alone() {
    planned("engines::a_refused_submission_leaves_everything_alone", "", &FALLBACK, || {
        let (scene, stream) = streams();
        let mut slot = Slot::new(PART, 0, 0);
        for (hipfile, hip, expected) in [
            ("hipFileReadAsync:hipfile=5022", "", e(5022)),
            ("hipFileReadAsync:errno=EIO", "", e(5030)),
            ("hipFileReadAsync:errno=EIO@path=tmp", "", e(5030)),
            ("", "hipLaunchHostFunc:hip=hipErrorOutOfMemory", (5011, 2)),
        ] {
            plan_hipfile(hipfile);
            plan_hip(hip);
            let answer = engine::submit(false, scene.handle, scene.address(), &mut slot, None, stream.raw());
            assert_eq!(answer, expected, "{hipfile}{hip}");
        }
        plan_hip("");
        stream.synchronize();
        assert!([0, UNWRITTEN].contains(&slot.bytes), "{}", slot.bytes);
        assert_eq!(scene.memory.to_vec().unwrap(), vec![0; LEN]);
    });
}

#[test]
fn a_paused_stream_holds_an_operation() {
    planned("engines::a_paused_stream_holds_an_operation", "stream:pause@1", &FALLBACK, || {
        let (scene, stream) = streams();
        let slots = read_parts(&scene, &stream);
        while held_by_hip() == 0 {
            std::thread::yield_now();
        }
        // The count is 0 from the submission on.
        assert!(slots.iter().all(|slot| slot.bytes == 0));
        plan_hip("");
        stream.synchronize();
        assert!(slots.iter().all(|slot| slot.bytes == PART as isize));
        assert_eq!(scene.memory.to_vec().unwrap(), pattern(0));
    });
}

/// HF-ASYNC-45: as the process ends, one operation is inside a read and others wait.
#[test]
fn a_process_ends_with_operations_in_flight() {
    planned("engines::a_process_ends_with_operations_in_flight", "pread:pause", &FALLBACK, || {
        let (scene, stream) = streams();
        let slots = read_parts(&scene, &stream);
        let (answer, batch) = engine::batch_set_up(PARTS as u32);
        assert_eq!(answer, OK);
        assert_eq!(engine::batch_submit(batch, PARTS as u32, Some(&entries(&scene))), OK);
        // The operations of the batch wait for the stream, or are inside a read as well.
        while held_by_hipfile() == 0 {
            std::thread::yield_now();
        }
        std::mem::forget((scene, stream, slots));
    });
}

fn entries(scene: &Scene) -> Vec<Entry> {
    (0..PARTS)
        .map(|part| Entry {
            write: false,
            handle: scene.handle,
            base: scene.address(),
            size: PART,
            file_offset: (part * PART) as i64,
            buffer_offset: (part * PART) as i64,
            mode: 1,
            opcode: None,
            cookie: part,
        })
        .collect()
}

/// The results of a batch that reads all parts.
fn batch(scene: &Scene) -> Vec<isize> {
    let (answer, batch) = engine::batch_set_up(PARTS as u32);
    assert_eq!(answer, OK);
    assert_eq!(engine::batch_submit(batch, PARTS as u32, Some(&entries(scene))), OK);
    let (answer, count, mut events) =
        engine::batch_status(batch, PARTS as u32, PARTS as u32, Wait::For(Duration::from_secs(60)));
    assert_eq!((answer, count), (OK, PARTS as u32));
    engine::batch_destroy(batch);
    events.sort();
    events.iter().map(|event| event.ret).collect()
}

#[test]
fn one_operation_of_a_batch_fails() {
    planned("engines::one_operation_of_a_batch_fails", "", &FALLBACK, || {
        let scene = Scene::new();
        plan_hipfile("pread:errno=EIO@3");
        let results = batch(&scene);
        assert_eq!(
            results.iter().filter(|result| **result == PART as isize).count(),
            PARTS - 1,
            "{results:?}"
        );
        plan_hipfile("hipFileBatchIOSubmit:hipfile=5030;hipFileBatchIOSetUp:errno=ENOMEM@2");
        let (answer, batch) = engine::batch_set_up(1);
        assert_eq!(answer, OK);
        assert_eq!(engine::batch_submit(batch, 1, Some(&entries(&scene))), e(5030));
        assert_eq!(engine::batch_set_up(1).0, e(5030));
    });
}

#[test]
fn a_storm_changes_nothing() {
    let storm = "pread:errno=EINTR@p=0.5,seed=1;pread:short=512@p=0.5,seed=2;hipLaunchHostFunc:delay=10us";
    planned("engines::a_storm_changes_nothing", storm, &FALLBACK, || {
        let (mut scene, stream) = streams();
        for _ in 0..20 {
            scene.memory.fill(0).unwrap();
            let slots = read_parts(&scene, &stream);
            stream.synchronize();
            assert!(slots.iter().all(|slot| slot.bytes == PART as isize));
            assert_eq!(scene.memory.to_vec().unwrap(), pattern(0));
            scene.memory.fill(0).unwrap();
            assert!(batch(&scene).iter().all(|result| *result == PART as isize));
            assert_eq!(scene.memory.to_vec().unwrap(), pattern(0));
        }
        assert_eq!(raw::count(), 1);
    });
}
