//! What the rules say of a transfer.

use std::fmt;

use super::reason::Reason;

/// The path that a transfer will take by the library's rules, and why: see [`FileHandle::explain`](crate::FileHandle::explain).
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::{Driver, Explanation, OpenOptions, Predicted};
///
/// let file = OpenOptions::new().read(true).open(&Driver::open()?, "Cargo.toml")?;
/// let memory = DeviceBuffer::new(10)?;
/// let explanation: Explanation = file.explain(memory.slice(..)?, 0)?;
/// assert_eq!(explanation.path, Predicted::Fallback); // ten bytes are no whole block
/// println!("{explanation}");
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Explanation {
    /// The path.
    pub path: Predicted,
    /// Every rule that keeps the transfer off the fast path; none if it takes that.
    pub reasons: Vec<Reason>,
}

/// The path that the library's rules give a transfer. What it did take is [`Observed`](crate::Observed).
///
/// ```
/// use hipfile::Predicted;
///
/// assert_eq!(Predicted::FastPath.to_string(), "fast path");
/// assert_eq!(Predicted::Refused.to_string(), "refused");
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Predicted {
    /// There are no bytes to transfer, and the library is not called.
    Nothing,
    /// Between storage and GPU directly.
    FastPath,
    /// Through host memory.
    Fallback,
    /// Neither: the environment forbids the fallback, and the library will answer 5030.
    Refused,
}

impl fmt::Display for Predicted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "no path",
            Self::FastPath => "fast path",
            Self::Fallback => "fallback",
            Self::Refused => "refused",
        })
    }
}

impl fmt::Display for Explanation {
    /// One line: the path, then each reason with its advice.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.fmt(f)?;
        for (reason, before) in self.reasons.iter().zip(std::iter::once(": ").chain(std::iter::repeat("; ")))
        {
            write!(f, "{before}{reason} ({})", reason.advice())?;
        }
        Ok(())
    }
}
