//! Values of the variables that both libraries read: each is a setting or an error of one line.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use crate::bytes::Bytes;

/// Every variable gets the same value, and then each a value of its own.
pub fn run(data: &[u8]) {
    let value = OsString::from_vec(data.to_vec());
    read(|_| Some(value.clone()));
    let mut bytes = Bytes::new(data);
    let mut values = Vec::new();
    while !bytes.is_empty() && values.len() < 16 {
        values.push(OsString::from_vec(bytes.word().to_vec()));
    }
    // Which variable gets which value is settled by the length of its name, which differs enough.
    read(|name| values.get(name.len() % 16).cloned());
}

fn read(variable: impl Fn(&str) -> Option<OsString>) {
    let hip = soft_rocm_hip::fuzzing::environment(&variable);
    let hipfile = soft_rocm_hipfile::fuzzing::environment(&variable);
    for text in [hip, hipfile].into_iter().flatten() {
        assert!(!text.is_empty() && !text.contains('\n'), "one line: {text:?}");
    }
}
