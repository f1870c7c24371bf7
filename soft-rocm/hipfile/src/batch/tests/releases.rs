//! Before 0.5: accepted and never run.

use std::ptr;

use super::*;

#[test]
fn what_is_accepted_is_kept_for_good_and_never_run() {
    // HF-BATCH-16
    for version in [Version::V0_2, Version::V0_4] {
        let mut case = Case::new(version);
        let handle = case.driver.set_up_batch(2);
        case.driver.register_buffer(hip, case.base, LEN).unwrap();
        assert_eq!(case.submit(handle, &[]), Ok(()));
        assert_eq!(case.submit(handle, &[case.read(1, 64, 0, 0)]), Ok(()));
        assert!(!case.file_is_free());
        assert_eq!(case.driver.deregister_buffer(case.base), Err(Failure::INTERNAL));
        assert_eq!(case.submit(handle, &[case.read(2, 64, 0, 0)]), Ok(()));
        assert_eq!(case.submit(handle, &[case.read(3, 64, 0, 0)]), Err(Failure::INVALID_VALUE), "full");
        let queue = case.driver.batch(handle).unwrap();
        queue.wait(&case.pool, 2, Patience::None, 2, |_| panic!("an event"));
        assert!(case.mock.memory().iter().all(|byte| *byte == 0xee));
    }
}

#[test]
fn refusals_and_their_order() {
    for version in [Version::V0_2, Version::V0_4] {
        let case = Case::new(version);
        let handle = case.driver.set_up_batch(2);
        let good = case.read(1, 64, 0, 0);
        let at = |base| hipFileIOParams_t {
            u: hipFileIOParamsUnion_t {
                batch: hipFileIOBatchParams_t {
                    devPtr_base: base,
                    file_offset: 0,
                    devPtr_offset: 0,
                    size: 64,
                },
            },
            ..good
        };
        let (host, null) = (at(ptr::dangling_mut()), at(ptr::null_mut()));
        let nobody = hipFileIOParams_t { fh: ptr::null_mut(), ..null };
        let bad_mode = hipFileIOParams_t { mode: hipFileBatchMode_t(0), ..host };
        assert_eq!(case.submit(handle, &[nobody; 3]), Err(Failure::INVALID_VALUE), "room first");
        assert_eq!(case.submit(handle, &[nobody]), Err(Failure::INTERNAL));
        assert_eq!(case.submit(handle, &[null]), Err(Failure::INVALID_VALUE));
        assert_eq!(case.submit(handle, &[bad_mode]), Err(Failure::INTERNAL));
        assert_eq!(case.submit(ptr::null_mut(), &[]), Err(Failure::INVALID_VALUE));
        assert_eq!(case.submit_null(handle), Err(Failure::INVALID_VALUE));
        assert_eq!(case.submit(handle, &[good, good]), Ok(()), "what was refused took no room");

        case.driver.close().unwrap();
        let other = case.driver.set_up_batch(2);
        assert_eq!(case.submit(other, &[good]), Err(Failure::INTERNAL));
        assert_eq!(case.submit(other, &[]), Ok(()));
        assert_eq!(case.submit(other, &[good; 3]), Err(Failure::INVALID_VALUE));
    }
}
