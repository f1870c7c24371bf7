use super::*;
use crate::points::point;
use std::ffi::CString;
use std::os::fd::AsRawFd;
use std::thread;

fn plan(text: &str) -> Plan {
    Plan::parse(text.as_bytes()).unwrap()
}

fn faults(plan: &Plan, point: Point, calls: usize) -> Vec<bool> {
    (0..calls).map(|_| plan.ask(point, &Call::PLAIN).fault.is_some()).collect()
}

#[test]
fn calls_are_counted_from_one() {
    assert_eq!(faults(&plan("pread:errno=EIO@3"), point::pread, 5), [false, false, true, false, false]);
    assert_eq!(faults(&plan("pread:errno=EIO@3+"), point::pread, 5), [false, false, true, true, true]);
    assert_eq!(faults(&plan("pread:errno=EIO@2-3"), point::pread, 5), [false, true, true, false, false]);
    assert_eq!(faults(&plan("pread:errno=EIO"), point::pread, 2), [true, true]);
    assert_eq!(faults(&plan("pread:errno=EIO"), point::pwrite, 2), [false, false]);
}

#[test]
fn exactly_one_call_is_the_third_whatever_the_threads_do() {
    for _ in 0..50 {
        let plan = plan("pread:errno=EIO@3");
        let hits: usize = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| faults(&plan, point::pread, 20))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).filter(|hit| *hit).count()
        });
        assert_eq!(hits, 1);
    }
}

#[test]
fn entries_of_one_point_work_together() {
    let plan = plan(
        "pread:delay=1ms;pread:delay=2ms:short=2@2;pread:short=1@2;pread:pause@3;pread:short=9@4;pread:errno=EIO@4;\
         pread:errno=EINTR@4",
    );
    let ask = || plan.ask(point::pread, &Call::PLAIN);
    let effect = |millis, pause, fault| Effect { delay: Duration::from_millis(millis), pause, fault };
    assert_eq!(ask(), effect(1, false, None));
    assert_eq!(ask(), effect(3, false, Some(Fault::Short(1))));
    assert_eq!(ask(), effect(1, true, None));
    assert_eq!(
        ask(),
        effect(1, false, Some(Fault::Errno(libc::EIO))),
        "the first error, and not a short transfer"
    );
}

#[test]
fn only_calls_that_the_filters_let_through_count() {
    let plan = plan("pread:errno=EIO@2,size=4K-8K");
    let ask = |size| plan.ask(point::pread, &Call { size, subject: Subject::None }).fault.is_some();
    assert_eq!(
        [1, 4096, 4095, 8193, 8192, 5000].map(ask),
        [false, false, false, false, true, false],
        "8192 is the second that fits"
    );
}

#[test]
fn paths_are_those_of_descriptors_and_of_names() {
    let plan = plan("open:errno=EIO@path=/dev/nu;pread:errno=EIO@path=null");
    let open = |path: &str| {
        let path = CString::new(path).unwrap();
        plan.ask(point::open, &Call { size: 0, subject: Subject::Path(&path) }).fault.is_some()
    };
    assert!(open("/dev/null"));
    assert!(!open("/dev/zero"));
    let files = ["/dev/null", "/dev/zero"].map(|path| std::fs::File::open(path).unwrap());
    let fds = files.each_ref().map(AsRawFd::as_raw_fd);
    fn read(plan: &Plan, subject: Subject<'_>) -> bool {
        plan.ask(point::pread, &Call { size: 0, subject }).fault.is_some()
    }
    assert_eq!(fds.map(|fd| read(&plan, Subject::Descriptor(fd))), [true, false]);
    assert_eq!(fds.map(|fd| read(&plan, Subject::Lookup(&|| Some(fd)))), [true, false]);
    assert!(!read(&plan, Subject::Lookup(&|| None)));
    assert!(!read(&plan, Subject::Descriptor(-1)));
    assert!(!read(&plan, Subject::None));
}
