//! See `hipfile_fuzz::fault_grammar`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hipfile_fuzz::fault_grammar::run(data));
