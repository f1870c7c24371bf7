//! See `hipfile_fuzz::hip_calls`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hipfile_fuzz::hip_calls::run(data));
