//! Tests to come.
fn main() {}
