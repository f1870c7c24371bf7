//! The ABI: headers against the independently typed table of `abi.c`, and hipfile-sys against both.

mod bindings;
mod headers;
mod symbols;
