//! Scripted faults of the software ROCm, and what the system does to a process that uses it: fork, exit, signals, no more
//! descriptors. AMD's libraries have no scripts; there these tests say so and pass.

mod calls;
mod descriptors;
mod engines;
mod exit;
mod fork;
mod page;
mod points;
mod scene;
mod scripts;
mod signals;
mod storms;
