//! Builds, tests and runs the workspace
fn main() {}
