use std::ptr;

use hipfile_sys::hipError_t;

use super::*;

/// What changes an entry, and what is said to it then.
type Refusal = (fn(&mut hipFileIOParams_t), Failure);

fn place(entry: &mut hipFileIOParams_t) -> &mut hipFileIOBatchParams_t {
    // SAFETY: requires initialised bytes; holds, the only member was written.
    unsafe { &mut entry.u.batch }
}

const REFUSALS: [Refusal; 10] = [
    (|entry| entry.fh = ptr::null_mut(), Failure::FILE_NOT_REGISTERED),
    (|entry| place(entry).devPtr_base = ptr::null_mut(), Failure::INVALID_VALUE),
    (|entry| place(entry).devPtr_base = ptr::dangling_mut(), Failure::MEMORY_TYPE),
    (|entry| place(entry).devPtr_offset = -1, Failure::INVALID_VALUE),
    (|entry| (place(entry).devPtr_offset, place(entry).size) = (LEN as i64, 0), Failure::INVALID_VALUE),
    (|entry| place(entry).size = LEN + 1, Failure::INVALID_VALUE),
    (|entry| place(entry).file_offset = -1, Failure::INVALID_VALUE),
    (|entry| entry.opcode = hipFileOpcode_t(2), Failure::INVALID_VALUE),
    (|entry| entry.mode = hipFileBatchMode_t(0), Failure::INVALID_VALUE),
    (|entry| entry.mode = hipFileBatchMode_t(2), Failure::INVALID_VALUE),
];

#[test]
fn one_bad_entry_refuses_all() {
    // HF-BATCH-05
    let mut case = Case::new(Version::V0_5);
    let handle = case.driver.set_up_batch(8);
    for (index, (change, failure)) in REFUSALS.iter().enumerate() {
        let mut entries = [case.read(1, 64, 0, 0); 3];
        change(&mut entries[index % 3]);
        assert_eq!(case.submit(handle, &entries), Err(*failure), "{index}");
        assert!(case.file_is_free(), "{index}");
    }
    assert_eq!(case.events(handle, 1), []);
    case.mock.fail("hipPointerGetAttributes", 719);
    let refused = case.submit(handle, &[case.read(1, 64, 0, 0)]);
    assert_eq!(refused, Err(Failure::Hip(hipError_t(719))));
}

#[test]
fn the_first_bad_entry_and_its_first_fault_decide() {
    let case = Case::new(Version::V0_5);
    let handle = case.driver.set_up_batch(1);
    let mut entries = [case.read(1, 64, 0, 0); 3];
    place(&mut entries[1]).devPtr_base = ptr::dangling_mut();
    (entries[1].mode, place(&mut entries[1]).file_offset) = (hipFileBatchMode_t(0), -1);
    entries[2].fh = ptr::null_mut();
    assert_eq!(case.submit(handle, &entries), Err(Failure::MEMORY_TYPE));
    place(&mut entries[1]).devPtr_base = ptr::null_mut();
    entries[1].fh = ptr::null_mut();
    assert_eq!(case.submit(handle, &entries), Err(Failure::FILE_NOT_REGISTERED));
}

#[test]
fn room_is_looked_at_last_and_counts_what_was_not_fetched() {
    // HF-BATCH-04
    let case = Case::new(Version::V0_5);
    let handle = case.driver.set_up_batch(3);
    let mut entries = [case.read(1, 64, 0, 0); 4];
    assert_eq!(case.submit(handle, &entries), Err(Failure::BATCH_FULL));
    entries[3].fh = ptr::null_mut();
    assert_eq!(case.submit(handle, &entries), Err(Failure::FILE_NOT_REGISTERED));
    assert_eq!(case.submit(handle, &entries[..2]), Ok(()));
    assert_eq!(case.submit(handle, &entries[..2]), Err(Failure::BATCH_FULL));
    let queue = case.driver.batch(handle).unwrap();
    queue.wait(&case.pool, 2, Patience::Forever, 1, |_| ());
    assert_eq!(case.submit(handle, &entries[..3]), Err(Failure::BATCH_FULL), "one was not fetched");
    assert_eq!(case.submit(handle, &entries[..2]), Ok(()));
    assert_eq!(case.events(handle, 3).len(), 3);
}

#[test]
fn nothing_and_nowhere() {
    // HF-BATCH-02, HF-BATCH-03
    let case = Case::new(Version::V0_5);
    let handle = case.driver.set_up_batch(1);
    let entry = case.read(1, 64, 0, 0);
    assert_eq!(case.submit(handle, &[]), Err(Failure::INVALID_VALUE));
    assert_eq!(case.submit_null(handle), Err(Failure::INVALID_VALUE));
    for unknown in [ptr::null_mut(), handle.wrapping_byte_add(1), case.handle] {
        assert_eq!(case.submit(unknown, &[entry]), Err(Failure::INVALID_VALUE));
    }
    case.driver.destroy_batch(ptr::null_mut());
    case.driver.destroy_batch(case.handle);
    case.driver.destroy_batch(handle);
    assert_eq!(case.submit(handle, &[entry]), Err(Failure::INVALID_VALUE));
    case.driver.destroy_batch(handle);
    assert_ne!(case.driver.set_up_batch(1), handle, "an old handle is no handle");
}

#[test]
fn a_closed_driver() {
    // HF-BATCH-06, HF-DRV-29, HF-DRV-30
    let case = Case::new(Version::V0_5);
    let old = case.driver.set_up_batch(1);
    let entry = case.read(1, 64, 0, 0);
    case.driver.close().unwrap();
    assert!(case.driver.batch(old).is_none());
    assert_eq!(case.submit(old, &[entry]), Err(Failure::INVALID_VALUE));
    let new = case.driver.set_up_batch(1);
    assert_eq!(case.driver.use_count(), 0, "not opened");
    assert_eq!(case.submit(new, &[entry]), Err(Failure::NOT_INITIALIZED));
    assert_eq!(case.submit(new, &[entry, entry]), Err(Failure::NOT_INITIALIZED), "before room");
    case.driver.open();
    assert!(case.driver.batch(new).is_some(), "kept by the open");
    assert_eq!(case.submit(new, &[entry]), Err(Failure::FILE_NOT_REGISTERED));
}
