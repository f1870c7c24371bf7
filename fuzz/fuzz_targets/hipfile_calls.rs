//! See `hipfile_fuzz::hipfile_calls`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hipfile_fuzz::hipfile_calls::run(data));
