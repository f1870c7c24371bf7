use std::io;
use std::os::unix::fs::FileExt;

use super::*;
use crate::batch::queue::Work;
use crate::hip::test::DEVICE;

#[test]
fn accepted_entries_run_and_yield_one_event_each() {
    // HF-BATCH-07, HF-BATCH-08, HF-BATCH-15
    let mut case = Case::new(Version::V0_5);
    let handle = case.driver.set_up_batch(8);
    let content = pattern(LEN);
    for round in 0..3 {
        let mut entries = [
            case.read(1, 512, 0, 0),
            case.read(2, 512, LEN as i64 - 100, 512),
            case.read(3, 512, LEN as i64, 1024),
            case.read(4, 0, 0, 1024),
            case.read(5, 512, 1000, 2048),
        ];
        assert_eq!(case.submit(handle, &entries), Ok(()));
        entries.fill(hipFileIOParams_t::default());
        let expected = [complete(1, 512), complete(2, 100), complete(3, 0), complete(4, 0), complete(5, 512)];
        assert_eq!(case.events(handle, 5), expected, "{round}");
    }
    let memory = case.mock.memory();
    assert_eq!(memory[..512], content[..512]);
    assert_eq!(memory[512..612], content[LEN - 100..]);
    assert!(memory[612..2048].iter().all(|byte| *byte == 0xee));
    assert_eq!(memory[2048..2560], content[1000..1512]);
    assert!(case.file_is_free());

    assert_eq!(case.submit(handle, &[case.write(6, 256, LEN as i64, 2048)]), Ok(()));
    assert_eq!(case.events(handle, 1), [complete(6, 256)]);
    let mut back = [0; 256];
    case.caller.read_exact_at(&mut back, LEN as u64).unwrap();
    assert_eq!(back, content[1000..1256]);
}

#[test]
fn full_batches_again_and_again() {
    let case = Case::new(Version::V0_5);
    let handle = case.driver.set_up_batch(128);
    let entries: Vec<_> = (0..128).map(|i| case.read(i, 32, 32 * i as i64, 32 * i as i64)).collect();
    for _ in 0..200 {
        assert_eq!(case.submit(handle, &entries), Ok(()));
        let events = case.events(handle, 128);
        assert!(events.iter().enumerate().all(|(i, event)| *event == complete(i, 32)));
    }
    assert_eq!(case.mock.memory(), pattern(LEN));
}

#[test]
fn an_operation_that_ended_holds_nothing_even_if_its_event_was_not_fetched() {
    let mut case = Case::new(Version::V0_5);
    case.driver.register_buffer(hip, case.base, LEN).unwrap();
    let handle = case.driver.set_up_batch(2);
    case.submit(handle, &[case.read(1, 64, 0, 0)]).unwrap();
    let queue = case.driver.batch(handle).unwrap();
    queue.wait(&case.pool, 1, Patience::Forever, 0, |_| panic!("not asked for"));
    assert!(case.file_is_free());
    assert_eq!(case.driver.deregister_buffer(case.base), Ok(()));
    assert_eq!(case.events(handle, 1), [complete(1, 64)]);
}

#[test]
fn failures() {
    let case = Case::new(Version::V0_5);
    let path = format!("/proc/self/fd/{}", case.caller.as_raw_fd());
    let reader = StdFile::open(path).unwrap();
    let fh = case.driver.register_file(File::new(reader.as_raw_fd()).unwrap()).unwrap();
    let entry = hipFileIOParams_t { fh, ..case.write(1, 64, 0, 0) };
    let handle = case.driver.set_up_batch(2);
    case.submit(handle, &[entry]).unwrap();
    let outcome = Outcome::Failed(-libc::EBADF as isize);
    assert_eq!(case.events(handle, 1), [Event { cookie: 1, outcome }]);

    // The mock's failures belong to this thread, so the operation runs on it.
    let run = || {
        let mut lookup = case.driver.look_up();
        let operation = Operation::new(&mut lookup, hip, &case.read(1, 64, 0, 0)).unwrap();
        drop(lookup);
        let mut ended = Vec::new();
        Operation::run(&mut vec![operation], &mut ended);
        ended[0].outcome
    };
    assert_eq!(run(), Outcome::Complete(64));
    assert!(case.mock.calls().contains(&format!("hipSetDevice {DEVICE}")));
    case.mock.fail("hipMemcpy", 1);
    assert_eq!(run(), Outcome::Failed(-5011));
    case.mock.fail("hipGetDevice", 719);
    assert_eq!(run(), Outcome::Failed(-5011));
}

#[test]
fn without_threads_everything_is_canceled() {
    let mut case = Case::new(Version::V0_5);
    case.pool = Arc::new(Pool::new(2, |_| Err(io::ErrorKind::WouldBlock.into())));
    let handle = case.driver.set_up_batch(3);
    for first in [1, 3] {
        let entries = [case.read(first, 64, 0, 0), case.read(first + 1, 64, 0, 0)];
        assert_eq!(case.submit(handle, &entries), Err(Failure::INTERNAL));
        assert!(case.file_is_free());
        let again = [case.read(first, 64, 0, 0), case.read(first + 1, 64, 0, 0)];
        assert_eq!(case.submit(handle, &again), Err(Failure::BATCH_FULL), "events hold slots");
        let canceled = |cookie| Event { cookie, outcome: Outcome::Canceled };
        assert_eq!(case.events(handle, 2), [canceled(first), canceled(first + 1)]);
    }
    case.pool = Arc::new(Pool::new(2, crate::batch::worker::start));
    case.submit(handle, &[case.read(1, 64, 0, 0)]).unwrap();
    assert_eq!(case.events(handle, 1), [complete(1, 64)], "a later try goes well");
}

#[test]
fn operations_in_one_go_end_as_they_would_alone() {
    let case = Case::on(Version::V0_5, Mock::with_alias(LEN));
    let operations = |places: &[(usize, i64)]| {
        let mut lookup = case.driver.look_up();
        let operation = |(cookie, (size, file_offset)): (usize, &(usize, i64))| {
            let entry = case.read(cookie, *size, *file_offset, 300 * cookie as i64);
            Operation::new(&mut lookup, hip, &entry).unwrap()
        };
        places.iter().enumerate().map(operation).collect::<Vec<_>>()
    };
    let end = LEN as i64;
    let mut group = operations(&[(200, end - 350), (100, end - 150), (100, end - 50), (100, end + 50)]);
    for pair in group.windows(2) {
        assert!(pair[0].work.joins(&pair[1].work));
    }
    let mut ended = Vec::new();
    Operation::run(&mut group, &mut ended);
    assert_eq!(ended, [complete(0, 200), complete(1, 100), complete(2, 50), complete(3, 0)]);
    assert!(group.is_empty());
    assert_eq!(case.mock.memory()[..200], pattern(LEN)[LEN - 350..LEN - 150]);
    assert_eq!(case.mock.memory()[600..650], pattern(LEN)[LEN - 50..]);
}
