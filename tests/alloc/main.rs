//! Device memory through hip-alloc's public interface, on whatever HIP the tests run with.

mod auto_traits;
mod devices;
mod fat_lto;
mod forgotten;
mod memory;
mod model;
mod owned_copies;
mod process;
mod ranges;
mod scopes;
mod stream_ordered;
mod threads;
