//! A subscriber that remembers spans.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

/// What a subscriber was told of a span.
#[derive(Debug, Clone)]
pub struct Seen {
    pub name: &'static str,
    pub target: &'static str,
    pub level: Level,
    /// The index of the span that it was made in.
    pub parent: Option<usize>,
    pub fields: BTreeMap<&'static str, String>,
    /// How often a thread went into it.
    pub entered: usize,
    pub closed: bool,
    references: usize,
}

impl Seen {
    /// A field's text, empty if it was not told.
    pub fn get(&self, field: &str) -> &str {
        self.fields.get(field).map_or("", String::as_str)
    }

    /// Asserts all that it was told.
    pub fn has(&self, fields: &[(&'static str, &str)]) {
        let told: Vec<_> = self.fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut fields = fields.to_vec();
        fields.sort_unstable();
        assert_eq!(told, fields);
    }
}

/// The calls that can be made to panic.
pub const CALLS: [&str; 5] = ["new_span", "enter", "record", "exit", "try_close"];

#[derive(Clone)]
pub struct Recorder {
    state: Arc<Mutex<State>>,
    level: Level,
    /// Whether it says of each callsite that it wants nothing.
    deaf: bool,
    panics_in: Option<&'static str>,
}

#[derive(Default)]
struct State {
    seen: Vec<Seen>,
    inside: BTreeMap<String, Vec<usize>>,
    panics: usize,
}

impl Recorder {
    pub fn new(level: Level) -> Self {
        Self { state: Arc::default(), level, deaf: false, panics_in: None }
    }

    pub fn deaf() -> Self {
        Self { deaf: true, ..Self::new(Level::TRACE) }
    }

    pub fn panicking(call: &'static str) -> Self {
        Self { panics_in: Some(call), ..Self::new(Level::DEBUG) }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.lock().seen.clone()
    }

    pub fn panics(&self) -> usize {
        self.lock().panics
    }

    pub fn while_locked<T>(&self, code: impl FnOnce() -> T) -> T {
        let _held = self.lock();
        code()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn maybe_panic(&self, call: &str) {
        if self.panics_in == Some(call) {
            self.lock().panics += 1;
            panic!("a subscriber that panics in {call}");
        }
    }
}

fn index(id: &Id) -> usize {
    usize::try_from(id.into_u64()).unwrap() - 1
}

fn here() -> String {
    let id: ThreadId = thread::current().id();
    format!("{id:?}")
}

impl Subscriber for Recorder {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        if self.deaf { Interest::never() } else { Interest::sometimes() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        !self.deaf && *metadata.level() <= self.level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level.into())
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        self.maybe_panic("new_span");
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let mut state = self.lock();
        let parent = state.inside.get(&here()).and_then(|inside| inside.last()).copied();
        let metadata = attributes.metadata();
        state.seen.push(Seen {
            name: metadata.name(),
            target: metadata.target(),
            level: *metadata.level(),
            parent,
            fields: fields.0,
            entered: 0,
            closed: false,
            references: 1,
        });
        Id::from_u64(state.seen.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        self.maybe_panic("record");
        let mut fields = Fields::default();
        values.record(&mut fields);
        self.lock().seen[index(id)].fields.extend(fields.0);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, id: &Id) {
        self.maybe_panic("enter");
        let mut state = self.lock();
        state.seen[index(id)].entered += 1;
        state.inside.entry(here()).or_default().push(index(id));
    }

    fn exit(&self, id: &Id) {
        self.maybe_panic("exit");
        let left = self.lock().inside.get_mut(&here()).and_then(Vec::pop);
        assert_eq!(left, Some(index(id)), "spans are left in order");
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.lock().seen[index(id)].references += 1;
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        self.maybe_panic("try_close");
        let mut state = self.lock();
        let span = &mut state.seen[index(&id)];
        span.references -= 1;
        span.closed = span.references == 0;
        span.closed
    }
}

#[derive(Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}
