//! Generates the hipfile-sys bindings from the headers
fn main() {}
