//! Unit tests on a HIP of our own, which fails where a test wants it to.

mod buffers;
mod devices;
mod errors;
mod fake;
mod fake_handles;
mod fake_streams;
mod forks;
mod functions;
mod futures;
#[cfg(shuttle)]
mod interleavings;
#[cfg(feature = "tracing")]
mod leak_events;
mod operations;
mod owned_copies;
mod pinned;
mod places;
mod probe;
mod releasing;
mod scoped_copies;
mod scopes;
mod stream_ordered;
mod streams;
