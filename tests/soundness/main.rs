//! What safe code can do to bring memory, descriptors or counts out of step with the library, and what a library can
//! do to a program by its answers: docs/src/soundness.md, trap by trap, on the whole stack.

mod answers;
mod batch_answers;
mod batches;
mod descriptors;
mod devices;
mod ends;
mod fake;
mod forgetting;
mod interleavings;
mod late;
mod lost;
mod operations;
mod ordering;
mod scopes;
mod sharing;
mod short;
mod support;
mod use_in_flight;
mod values;
