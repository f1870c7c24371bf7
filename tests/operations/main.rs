//! Operations that own what they use, by the thousand: waited for in any order, awaited, dropped, cancelled. What is checked
//! besides the bytes is that nothing is left behind, and what it costs.

mod block_on;
mod counting;
mod many;
mod scene;
mod tasks;
