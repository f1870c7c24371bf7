//! Every exported function as a call with nothing but zeros: numbers are 0, pointers NULL.

use std::ffi::c_void;

use soft_rocm_faults::{Owner, points};

use crate::scene::symbol;

/// A function of either library. Zeros in all registers and on the stack are what any of them finds there.
#[derive(Clone, Copy)]
pub struct Function {
    pub name: &'static str,
    pub owner: Owner,
    address: *mut c_void,
}

/// Every function that is there.
pub fn functions() -> Vec<Function> {
    points()
        .filter(|(name, _)| name.contains("hip"))
        .map(|(name, owner)| Function { name, owner, address: symbol(name) })
        .filter(|function| !function.address.is_null())
        .collect()
}

type Zeros = unsafe extern "C" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> u64;

impl Function {
    /// What it answers; of what is shorter than 64 bits only the low bits mean anything.
    pub fn call(self) -> u64 {
        // SAFETY: requires an address of a function; holds, the loader gave it. All take integers and pointers.
        let call: Zeros = unsafe { std::mem::transmute(self.address) };
        // SAFETY: requires arguments that the function may use; holds because it refuses NULL, and in a forked child
        // looks at none.
        unsafe { call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) }
    }
}
