//! What a subscriber is told of memory that is leaked.

use std::fmt;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::with_default;
use tracing::{Event, Metadata, Subscriber};

use super::fake;
use crate::{DeviceBuffer, leaked};

/// Remembers events, and may panic then.
#[derive(Clone, Default)]
struct Events {
    texts: Arc<Mutex<Vec<String>>>,
    panics: bool,
}

impl Subscriber for Events {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(format!("{} {}", event.metadata().level(), event.metadata().target()));
        event.record(&mut text);
        self.texts.lock().unwrap().push(text.0);
        assert!(!self.panics, "a subscriber that panics");
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0 += &format!(" {field}={value:?}");
    }
}

#[test]
fn a_leak_is_told_and_a_panic_at_that_goes_no_further() {
    let _alone = fake::leaking_alone();
    fake::install();
    for panics in [false, true] {
        let events = Events { panics, ..Events::default() };
        let buffer = DeviceBuffer::new(100).unwrap();
        let before = leaked();
        fake::fail("hipFree", 1, 17);
        with_default(events.clone(), || drop(buffer));
        let (allocations, together) = (before.allocations + 1, before.bytes + 100);
        assert_eq!((leaked().allocations, leaked().bytes), (allocations, together));
        let texts =
            events.texts.lock().map_or_else(|poisoned| poisoned.into_inner().clone(), |texts| texts.clone());
        let [text] = &texts[..] else { panic!("{texts:?}") };
        assert!(text.starts_with("WARN hip_alloc message=memory is leaked"), "{text}");
        assert!(
            text.ends_with(&format!(" bytes=100 allocations={allocations} together={together}")),
            "{text}"
        );
    }
}
