//! Host memory, of which there may be too little: that is a failure, and not the end of the program with what it would leave.
#![allow(unsafe_code, reason = "asks the system")]

use crate::failure::Failure;
use crate::size::Size;

/// Gives memory a length; what is new of it are zeros.
pub fn fit(memory: &mut Vec<u8>, len: usize) -> Result<(), Failure> {
    if memory.try_reserve_exact(len.saturating_sub(memory.len())).is_err() {
        return Err(Failure::new(format!("there is no room for {} of host memory", Size(len as u64))));
    }
    memory.resize(len, 0);
    Ok(())
}

/// Zeros.
pub fn zeroed(len: usize) -> Result<Vec<u8>, Failure> {
    let mut memory = Vec::new();
    fit(&mut memory, len)?;
    Ok(memory)
}

/// Bytes of a page of memory.
pub fn page_size() -> u64 {
    // SAFETY: requires nothing; asks for a number.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(size).ok().filter(|size| *size > 0).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_a_failure() {
        let mut memory = zeroed(3).unwrap();
        assert_eq!(memory, [0; 3]);
        memory.fill(1);
        fit(&mut memory, 4).unwrap();
        assert_eq!(memory, [1, 1, 1, 0]);
        fit(&mut memory, 1).unwrap();
        assert_eq!(memory, [1]);
        let failure = fit(&mut memory, usize::MAX).unwrap_err();
        assert_eq!(failure.to_string(), "there is no room for 16384 PiB of host memory");
        assert_eq!(memory, [1]);
    }
}
