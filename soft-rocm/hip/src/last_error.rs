//! The last error of each thread.

use std::cell::Cell;

use crate::bindings::{hipError_t, hipSuccess};

thread_local! {
    static LAST: Cell<hipError_t> = const { Cell::new(hipSuccess) };
}

/// The code for a result; an error becomes the thread's last one, a success leaves it as it is.
#[inline]
pub(crate) fn answer(result: Result<(), hipError_t>) -> hipError_t {
    match result {
        Ok(()) => hipSuccess,
        Err(error) => {
            LAST.set(error);
            error
        }
    }
}

/// The last error.
pub(crate) fn peek() -> hipError_t {
    LAST.get()
}

/// The last error, forgotten with this.
pub(crate) fn take() -> hipError_t {
    LAST.replace(hipSuccess)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::{hipErrorInvalidValue, hipErrorOutOfMemory};

    #[test]
    fn errors_stay_until_they_are_taken() {
        assert_eq!(answer(Ok(())), hipSuccess);
        assert_eq!(peek(), hipSuccess);
        assert_eq!(answer(Err(hipErrorInvalidValue)), hipErrorInvalidValue);
        assert_eq!(answer(Err(hipErrorOutOfMemory)), hipErrorOutOfMemory);
        assert_eq!(answer(Ok(())), hipSuccess);
        assert_eq!(peek(), hipErrorOutOfMemory);
        assert_eq!(take(), hipErrorOutOfMemory);
        assert_eq!(take(), hipSuccess);
    }

    #[test]
    fn threads_have_their_own() {
        let _ = answer(Err(hipErrorInvalidValue));
        assert_eq!(std::thread::spawn(peek).join().unwrap(), hipSuccess);
        assert_eq!(take(), hipErrorInvalidValue);
    }
}
