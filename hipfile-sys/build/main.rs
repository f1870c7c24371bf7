//! Finds libhipfile.
fn main() {}
