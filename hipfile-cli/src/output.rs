//! Where text goes, and how it looks.
//!
//! Results go to standard output, as text or, under `--json`, as one JSON document. Everything else goes to standard error:
//! notes under `--verbose`, errors always.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::args::{Colour, Common};
use crate::failure::Failure;
use crate::name::one_line;

/// The program's output.
#[derive(Debug, Clone)]
pub struct Output {
    json: bool,
    quiet: bool,
    verbose: bool,
    colour: bool,
}

/// How a piece of text looks where there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Good,
    Warning,
    Bad,
    Heading,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Warning => "33",
            Self::Bad => "31",
            Self::Heading => "1",
        }
    }
}

impl Output {
    /// As the command line and the environment have it.
    pub fn new(common: &Common) -> Self {
        let Common { json, quiet, verbose, color, .. } = *common;
        let colour = match color {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => {
                io::stdout().is_terminal() && !colours_are_unwanted(|name| std::env::var_os(name))
            }
        };
        Self { json, quiet, verbose, colour }
    }

    /// Whether the result is to be one JSON document.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Whether more was asked for than the result alone.
    pub fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Whether progress is shown: to people, on standard error.
    pub fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// A line of the result; nothing under `--json` or `--quiet`.
    pub fn line(&self, text: impl Display) -> io::Result<()> {
        if self.json || self.quiet { Ok(()) } else { writeln!(io::stdout(), "{text}") }
    }

    /// The result as a JSON document; nothing without `--json`.
    pub fn document(&self, value: &impl Serialize) -> Result<(), Failure> {
        if self.json {
            let text = serde_json::to_string_pretty(value)?;
            writeln!(io::stdout(), "{text}")?;
        }
        Ok(())
    }

    /// A line about what is being done, on standard error; nothing without `--verbose`.
    pub fn note(&self, text: impl Display) {
        if self.verbose {
            to_stderr(format_args!("hipfile: {}", one_line(&text.to_string())));
        }
    }

    /// A line about something that is not as it should be, on standard error; nothing under `--quiet`.
    pub fn warning(&self, text: impl Display) {
        if !self.quiet {
            to_stderr(format_args!("hipfile: {}", one_line(&text.to_string())));
        }
    }

    /// Text in a style, where there are colours.
    pub fn paint(&self, style: Style, text: &str) -> String {
        if self.colour { format!("\x1b[{}m{text}\x1b[0m", style.code()) } else { text.to_owned() }
    }

    /// A line about a failure, on standard error.
    pub fn error(&self, failure: &Failure) {
        error_line(failure);
    }

    /// Reports a failure: a line on standard error, and a JSON document under `--json`. Returns the exit status.
    pub fn failure(&self, failure: &Failure) -> ExitCode {
        if !failure.is_silent() {
            self.error(failure);
            if self.json {
                error_document(failure);
            }
        }
        ExitCode::from(failure.exit_code())
    }
}

/// A failure as a line on standard error.
pub fn error_line(failure: &Failure) {
    to_stderr(format_args!("error: {failure}"));
}

/// A line on standard error. Where that takes none, as on a full disk, there is nobody to tell, and what is being done goes on.
fn to_stderr(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// A failure as a JSON document. Whether it can be written or not, a line on standard error says the same, and the exit status.
pub fn error_document(failure: &Failure) {
    if let Ok(text) = serde_json::to_string_pretty(&ErrorDocument { error: failure }) {
        let _ = writeln!(io::stdout(), "{text}");
    }
}

/// A failure under `--json`.
#[derive(Serialize)]
struct ErrorDocument<'f> {
    error: &'f Failure,
}

/// By the conventions of NO_COLOR and of terminals without colours.
fn colours_are_unwanted(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> bool {
    variable("NO_COLOR").is_some_and(|value| !value.is_empty())
        || variable("TERM").is_some_and(|term| term == "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(colour: bool) -> Output {
        Output { json: false, quiet: false, verbose: false, colour }
    }

    #[test]
    fn colours_come_and_go() {
        assert_eq!(output(true).paint(Style::Good, "yes"), "\x1b[32myes\x1b[0m");
        assert_eq!(output(false).paint(Style::Good, "yes"), "yes");
    }

    #[test]
    fn variables_switch_colours_off() {
        let unwanted = |set: (&str, &str)| colours_are_unwanted(|name| (name == set.0).then(|| set.1.into()));
        assert!(unwanted(("NO_COLOR", "1")) && unwanted(("TERM", "dumb")));
        assert!(!unwanted(("NO_COLOR", "")) && !unwanted(("TERM", "xterm")));
    }
}
