//! Which operations are put on a stream so that they may run side by side.

use super::*;

const FIXED: u32 = 7;

/// The values of a submission and its result.
struct Slots {
    size: usize,
    file_offset: hoff_t,
    buffer_offset: hoff_t,
    result: isize,
}

impl Slots {
    fn pointers(&mut self) -> Pointers {
        Pointers {
            size: &mut self.size,
            file_offset: &mut self.file_offset,
            buffer_offset: &mut self.buffer_offset,
            result: &mut self.result,
        }
    }
}

/// Submissions of a case, one after the other.
struct Row {
    case: Case,
    /// Never more than there is room for, so that they stay where they are.
    slots: Vec<Slots>,
}

impl Row {
    fn new(flags: u32) -> Self {
        let mut mock = Mock::with_alias(LEN);
        mock.runs_side_by_side();
        let row = Self { case: Case::on(mock, |_| ()), slots: Vec::with_capacity(16) };
        row.case.register_stream(flags).unwrap();
        row.case.mock.calls();
        row
    }

    fn submit(&mut self, direction: Direction, size: usize, buffer_offset: usize) -> bool {
        assert!(self.slots.len() < self.slots.capacity());
        self.slots.push(Slots { size, file_offset: 0, buffer_offset: buffer_offset as hoff_t, result: 77 });
        let pointers = self.slots.last_mut().unwrap().pointers();
        self.submit_to(direction, pointers)
    }

    /// Whether it may run beside its neighbours.
    fn submit_to(&mut self, direction: Direction, pointers: Pointers) -> bool {
        self.case.submit_with(direction, pointers).unwrap();
        let call = self.case.mock.calls().pop().unwrap();
        let beside = call.starts_with("softrocm_launch_concurrent");
        assert!(beside || call.starts_with("hipLaunchHostFunc"), "{call}");
        beside
    }

    fn read(&mut self, size: usize, buffer_offset: usize) -> bool {
        self.submit(Read, size, buffer_offset)
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        self.case.finish();
    }
}

#[test]
fn fixed_reads_to_different_places_run_side_by_side() {
    let mut row = Row::new(FIXED);
    assert!(!row.read(10, 0), "nobody knows what is on the stream");
    assert!(row.read(10, 0));
    assert!(row.read(10, 10));
    assert!(row.read(10, 30));
    assert!(!row.read(11, 20), "memory in common");
    assert!(row.read(10, 0), "which waits, so all begins again");
    assert!(!row.submit(ToFile, 10, 100), "writes are in order");
    assert!(row.read(10, 0));
    row.case.finish();
    assert!(row.slots.iter().all(|slots| slots.result == slots.size as isize));
}

#[test]
fn what_shares_a_result_is_in_order() {
    let mut row = Row::new(FIXED);
    row.read(10, 0);
    assert!(row.read(10, 0));
    let slots = row.slots.last_mut().unwrap();
    slots.buffer_offset = 50;
    let pointers = slots.pointers();
    assert!(!row.submit_to(Read, pointers));
}

#[test]
fn a_flag_missing_means_in_order() {
    for flags in 0..FIXED {
        let mut row = Row::new(flags);
        assert!(!row.read(10, 0));
        assert!(!row.read(10, 10));
    }
    let mut row = Row::new(FIXED);
    row.case.driver.deregister_stream(STREAM).unwrap();
    assert!(!row.read(10, 0));
    assert!(!row.read(10, 10), "not registered");
}

#[test]
fn a_stream_registered_again_begins_again() {
    let mut row = Row::new(FIXED);
    row.read(10, 0);
    assert!(row.read(10, 0));
    row.case.driver.deregister_stream(STREAM).unwrap();
    row.case.register_stream(FIXED).unwrap();
    assert!(!row.read(10, 0), "the read before may still be on the stream");
    assert!(row.read(10, 0));
}

#[test]
fn a_registration_that_is_gone_lets_nothing_join() {
    // Another thread may have looked it up before.
    let mut row = Row::new(FIXED);
    row.read(10, 0);
    let old = row.case.driver.stream(STREAM).unwrap();
    assert!(old.order().join(100..110, 1000..1008));
    row.case.driver.deregister_stream(STREAM).unwrap();
    assert!(!old.order().join(200..210, 2000..2008));
}

#[test]
fn what_was_refused_is_no_barrier() {
    let mut row = Row::new(FIXED);
    row.read(10, 0);
    assert!(row.read(10, 0));
    row.case.mock.fail("hipLaunchHostFunc", 1);
    let mut slots = Slots { size: 10, file_offset: 0, buffer_offset: 0, result: 0 };
    assert!(row.case.submit_with(Read, slots.pointers()).is_err());
    row.case.mock.fail_after(usize::MAX, "hipLaunchHostFunc", 1);
    assert!(!row.read(10, 0), "the first read is still there");
}

#[test]
fn streams_without_a_handle_are_in_order() {
    for special in 0..=2 {
        let mut row = Row::new(FIXED);
        row.case.stream = ptr::without_provenance_mut(special);
        row.case.register_stream(FIXED).unwrap();
        assert!(!row.read(10, 0));
        assert!(!row.read(10, 10));
    }
}

#[test]
fn amds_quirks_mean_in_order() {
    let mut row = Row::new(FIXED);
    row.case.behaviour = Box::leak(Box::new(Behaviour { amd_quirks: true, ..Behaviour::DEFAULT }));
    assert!(!row.read(10, 0));
    assert!(!row.read(10, 10));
}
