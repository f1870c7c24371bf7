//! A program that calls HIP through a Rust enum, beside a crate that calls it through integers.

fn main() {
    // The enum's declaration tells the compiler that results are below 1055. With all code in one module, that would hold
    // for the other crate's calls of the same function too.
    let mut count = 7;
    // SAFETY: requires a pointer to an int and a HIP that answers a code of the enum; holds because the stub does for 7.
    let code = unsafe { hip_runtime_sys::hipGetDeviceCount(&mut count) };
    println!("enum: {code:?}");

    let code = probe::device_count();
    println!("code: {code}, is 2000: {}, above 1500: {}", code == 2000, code > 1500);
}
