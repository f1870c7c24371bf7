//! SND-02, SND-20: the wait at the end of a scope, and what is kept until then.

use core::any::Any;
use core::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use super::fake;
use crate::{Device, ErrorKind, Scope, Stream, StreamRef};

/// Notes the calls that HIP had seen when it was dropped.
struct Kept(Rc<RefCell<Vec<&'static str>>>);

impl Drop for Kept {
    fn drop(&mut self) {
        self.0.borrow_mut().extend(fake::calls());
    }
}

fn keep(scope: &Scope<'_, '_>) -> Rc<RefCell<Vec<&'static str>>> {
    let seen = Rc::new(RefCell::new(Vec::new()));
    scope.keep(Box::new(Kept(seen.clone())) as Box<dyn Any>);
    seen
}

#[test]
fn what_is_kept_is_dropped_after_the_closing_wait() {
    fake::install();
    let stream = Stream::new().unwrap();
    fake::calls();
    let seen = stream.scope(|scope| {
        let seen = keep(scope);
        assert_eq!(Rc::strong_count(&seen), 2);
        seen
    });
    assert_eq!(*seen.borrow(), ["hipGetDevice", "hipStreamSynchronize"]);
    assert_eq!(Rc::strong_count(&seen), 1);
}

#[test]
fn the_closing_wait_happens_on_unwind() {
    fake::install();
    let stream = Stream::new().unwrap();
    fake::calls();
    let mut seen = None;
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        stream.scope(|scope| {
            seen = Some(keep(scope));
            panic!("as planned");
        })
    }));
    assert_eq!(unwound.unwrap_err().downcast_ref(), Some(&"as planned"));
    assert_eq!(*seen.unwrap().borrow(), ["hipGetDevice", "hipStreamSynchronize"]);
}

#[test]
fn a_scope_that_put_nothing_into_the_stream_calls_nothing() {
    fake::install();
    let stream = Stream::new().unwrap();
    fake::calls();
    assert_eq!(stream.scope(|_| 7), 7);
    assert_eq!(fake::calls(), [""; 0]);
}

#[test]
fn a_wait_in_the_middle_ends_what_was_kept_and_one_that_fails_does_not() {
    fake::install();
    let stream = Stream::new().unwrap();
    stream.scope(|scope| {
        let first = keep(scope);
        fake::fail("hipStreamSynchronize", 1, 719);
        let error = scope.synchronize().unwrap_err();
        assert_eq!((error.kind(), error.operation()), (ErrorKind::Hip, "Scope::synchronize"));
        assert_eq!(Rc::strong_count(&first), 2, "nobody knows whether it is still used");
        scope.synchronize().unwrap();
        assert_eq!(Rc::strong_count(&first), 1);
        fake::calls();
    });
    assert_eq!(fake::calls(), [""; 0], "nothing was left to wait for");
    stream.scope(|scope| scope.synchronize()).unwrap();
    assert_eq!(fake::calls(), ["hipGetDevice", "hipStreamSynchronize"], "the stream may hold work of others");
}

#[test]
fn the_closing_wait_is_for_the_stream_of_its_device() {
    fake::install();
    let stream = StreamRef::default_of(Device::new(1).unwrap());
    fake::calls();
    let seen = stream.scope(|scope| {
        assert_eq!(scope.stream().device(), stream.device());
        keep(scope)
    });
    assert_eq!(*seen.borrow(), ["hipGetDevice", "hipSetDevice", "hipStreamSynchronize", "hipSetDevice"]);
    assert_eq!(fake::current_device(), 0);
}

#[test]
fn scopes_nest_and_show_what_they_are() {
    fake::install();
    let (outer, inner) = (Stream::new().unwrap(), Stream::new().unwrap());
    outer.scope(|outer| {
        keep(outer);
        let seen = inner.scope(|inner| keep(inner));
        assert_eq!(Rc::strong_count(&seen), 1);
        assert!(format!("{outer:?}").contains("pending: true"), "{outer:?}");
    });
}
