//! Why a subcommand could not do what it was asked, in one line, and what to do about it.

use std::fmt;
use std::io;

use hipfile::ErrorKind;
use serde::Serialize;

use crate::name::one_line;

/// Exit status where something failed, or a check did.
pub const FAILED: u8 = 1;

/// Exit status of a wrong command line, as clap's.
pub const USAGE: u8 = 2;

/// Exit status where no ROCm with libhipfile was found.
pub const NO_RUNTIME: u8 = 3;

/// One line: what happened, then what to do about it where that is known.
#[derive(Debug, Serialize)]
pub struct Failure {
    message: String,
    advice: Option<String>,
    #[serde(rename = "exit_status")]
    code: u8,
    #[serde(skip)]
    silent: bool,
}

impl Failure {
    /// A failure with exit status [`FAILED`].
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), advice: None, code: FAILED, silent: false }
    }

    /// With what to do about it: a clause that follows the message.
    #[must_use]
    pub fn advice(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }

    /// With another exit status.
    #[must_use]
    pub fn code(self, code: u8) -> Self {
        Self { code, ..self }
    }

    /// The exit status.
    pub fn exit_code(&self) -> u8 {
        self.code
    }

    /// What happened, without what to do about it.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether nobody listens any more: standard output is a pipe whose reader has gone.
    pub fn is_silent(&self) -> bool {
        self.silent
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.message))?;
        match &self.advice {
            Some(advice) => write!(f, "; {}", one_line(advice)),
            None => Ok(()),
        }
    }
}

/// Standard output could not be written.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let silent = error.kind() == io::ErrorKind::BrokenPipe;
        Self { silent, ..Self::new(format!("cannot write to standard output: {error}")) }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}

impl From<hipfile::Error> for Failure {
    fn from(error: hipfile::Error) -> Self {
        let failure = Self::new(error.to_string());
        match (error.kind(), advice(&error)) {
            (ErrorKind::NotLoaded, _) => failure.advice(INSTALL).code(NO_RUNTIME),
            (_, Some(advice)) => failure.advice(advice),
            (_, None) => failure,
        }
    }
}

impl From<hipfile::alloc::Error> for Failure {
    fn from(error: hipfile::alloc::Error) -> Self {
        hipfile::Error::from(error).into()
    }
}

/// What to do where no ROCm with libhipfile was found.
pub const INSTALL: &str = "install ROCm with hipfile, name its folder with --rocm DIR or ROCM_PATH, or run the software ROCm with --rocm soft";

fn advice(error: &hipfile::Error) -> Option<&'static str> {
    match (error.kind(), error.path()) {
        (ErrorKind::NoDevice, _) => Some("see `hipfile info`; --rocm soft needs no GPU"),
        (ErrorKind::PermissionDenied, Some(_)) => Some("ask for permission, or be another user"),
        (ErrorKind::PermissionDenied, None) => Some("on /dev/kfd: join the groups render and video"),
        (ErrorKind::OutOfMemory, _) => Some("use less memory, or end what else uses the GPU"),
        _ if error.os_error() == Some(libc::ENOENT) => Some("is the name right?"),
        _ if error.os_error() == Some(libc::ENOSPC) => Some("make room on the file system"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_with_what_to_do() {
        let failure = Failure::new("cannot open x").advice("give it a name that exists");
        assert_eq!(failure.to_string(), "cannot open x; give it a name that exists");
        assert_eq!((failure.exit_code(), failure.is_silent()), (FAILED, false));
        assert_eq!(Failure::new("it is over").to_string(), "it is over");
        assert_eq!(Failure::new("no\x1b[2J").advice("a\nb").to_string(), "no\\u{1b}[2J; a\\nb");
        assert_eq!(Failure::new("nothing here").code(NO_RUNTIME).exit_code(), 3);
    }

    #[test]
    fn a_reader_that_went_is_no_news() {
        assert!(Failure::from(io::Error::from(io::ErrorKind::BrokenPipe)).is_silent());
        let full = Failure::from(io::Error::from_raw_os_error(libc::ENOSPC));
        assert_eq!(
            full.to_string(),
            "cannot write to standard output: No space left on device (os error 28)"
        );
        assert!(!full.is_silent());
    }
}
