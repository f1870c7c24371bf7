//! See `hipfile_fuzz::environment`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hipfile_fuzz::environment::run(data));
