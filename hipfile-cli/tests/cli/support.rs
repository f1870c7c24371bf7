//! A place to run the program in, and sessions in pages.

mod page;
mod stage;

pub use page::Page;
pub use stage::{Ran, Stage, program};
