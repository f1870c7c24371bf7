//! Operations on streams: what comes out of them, and what is asked of HIP.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use crate::tests::fake;
use crate::{Error, Operation, Payload, Result, Started, Stream, start};

/// Gives back what it is told.
struct Told(&'static str);

// SAFETY: requires that nothing in it is written by a stream; holds because nothing is.
unsafe impl Payload for Told {
    type Output = Result<&'static str>;

    fn finish(self, outcome: Result<()>) -> Self::Output {
        outcome.map(|()| self.0)
    }

    fn lost(error: Error) -> Self::Output {
        Err(error)
    }

    fn leaked_bytes(&self) -> usize {
        100
    }
}

fn told(stream: &Stream) -> Operation<Result<&'static str>> {
    // SAFETY: requires that no pointers are used; holds because none are taken.
    unsafe { start(stream, Told("told"), None, |_| Started::Enqueued) }
}

#[test]
fn a_finished_operation_gives_its_result_in_every_way() {
    fake::install();
    let stream = Stream::new().unwrap();
    fake::calls();
    let operation = told(&stream);
    assert_eq!(fake::calls(), ["hipGetDevice", "hipLaunchHostFunc"]);
    assert!(operation.is_complete());
    assert_eq!(operation.wait().unwrap(), "told");
    assert_eq!(told(&stream).try_wait().unwrap().unwrap(), "told");
    let mut operation = pin!(told(&stream));
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(operation.as_mut().poll(&mut context), Poll::Ready(Ok("told"))));
    assert!(operation.as_mut().poll(&mut context).is_pending());
    assert!(!operation.is_complete());
    drop(told(&stream));
    assert_eq!(fake::calls().iter().filter(|call| **call == "hipStreamQuery").count(), 0);
}
