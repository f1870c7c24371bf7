//! The processor's time that this process has had.
#![allow(unsafe_code, reason = "asks the system")]

use std::mem::MaybeUninit;
use std::time::Duration;

/// Time in the program and its libraries, and in the system on their behalf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub user: Duration,
    pub system: Duration,
}

impl Usage {
    /// Of all threads so far.
    pub fn now() -> Self {
        let mut answer = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: requires a pointer to room for the answer; holds because `answer` is that. With this argument it can't fail.
        unsafe { libc::getrusage(libc::RUSAGE_SELF, answer.as_mut_ptr()) };
        // SAFETY: requires a value; holds because it was written, and zeros are one.
        let answer = unsafe { answer.assume_init() };
        Self { user: duration(answer.ru_utime), system: duration(answer.ru_stime) }
    }

    /// Both.
    pub fn total(self) -> Duration {
        self.user + self.system
    }

    /// Since then.
    pub fn since(self, then: Self) -> Self {
        Self { user: self.user.saturating_sub(then.user), system: self.system.saturating_sub(then.system) }
    }
}

fn duration(time: libc::timeval) -> Duration {
    let part = |part| u64::try_from(part).unwrap_or(0);
    Duration::from_secs(part(time.tv_sec)) + Duration::from_micros(part(time.tv_usec))
}
