//! Why a library could not be loaded.

use std::fmt;

/// One place that was tried, and what came of it.
///
/// ```
/// // SAFETY: requires that the library's initialisers may run; there is no such library.
/// let error = unsafe { rocm_loader::open_path("/nonexistent/libamdhip64.so".as_ref()) }.unwrap_err();
/// let attempt: &rocm_loader::Attempt = &error.attempts()[0];
/// assert_eq!(attempt.place(), "/nonexistent/libamdhip64.so");
/// assert!(attempt.reason().ends_with("No such file or directory"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    place: String,
    reason: String,
}

impl Attempt {
    pub(crate) fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { place: place.into(), reason: reason.into() }
    }

    /// The directory, file or loader that was asked.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Why that failed.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// A library could not be loaded. Says where it was looked for.
///
/// ```
/// // SAFETY: requires that the library's initialisers may run; there is no such library.
/// let error = unsafe { rocm_loader::open("libnonexistent.so", &["1"]) }.unwrap_err();
/// assert!(error.to_string().starts_with("cannot load libnonexistent.so"));
/// for attempt in error.attempts() {
///     println!("{}: {}", attempt.place(), attempt.reason());
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    name: String,
    attempts: Vec<Attempt>,
    searched: bool,
}

impl LoadError {
    /// A search failed.
    pub(crate) fn search(name: &str, attempts: Vec<Attempt>) -> Self {
        Self { name: name.to_owned(), attempts, searched: true }
    }

    /// The one file asked for could not be loaded.
    pub(crate) fn file(attempt: Attempt) -> Self {
        Self { name: attempt.place.clone(), attempts: vec![attempt], searched: false }
    }

    /// Every place that was tried, in order.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot load {}", self.name)?;
        for (index, Attempt { place, reason }) in self.attempts.iter().enumerate() {
            let separator = if index == 0 { ": " } else { "; " };
            match self.searched {
                true => write!(f, "{separator}{place}: {reason}")?,
                false => write!(f, "{separator}{reason}")?,
            }
        }
        if self.searched {
            write!(f, "; ROCM_PATH names the ROCm installation to use")?;
        }
        Ok(())
    }
}

impl std::error::Error for LoadError {}
