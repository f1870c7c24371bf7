//! Measurements to come.
fn main() {}
