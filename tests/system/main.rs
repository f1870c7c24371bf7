//! The safe interface on real files, on whatever ROCm the tests run with.

mod batch_ends;
mod batch_errors;
mod batch_stage;
mod batches;
mod bulk;
mod common;
mod driver;
mod errors;
mod faults;
mod features;
mod files;
mod jobs;
mod kinds;
mod large;
mod paths;
mod pool;
mod process;
mod ranges;
mod registered;
mod releases;
mod settings;
mod sizes;
mod stats;
mod streams;
mod threads;
mod transfers;
