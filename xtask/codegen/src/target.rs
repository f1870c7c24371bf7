//! What is generated from what, and how two versions of a file are compared.

use std::fmt;

/// One generated file. Paths are relative to the workspace.
#[derive(Debug)]
pub(crate) struct Target {
    /// The header that is translated.
    pub header: &'static str,
    /// The file that holds the result.
    pub output: &'static str,
    /// Names to translate, as a regular expression.
    pub allow: &'static str,
}

/// Every generated file.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        header: "soft-rocm/include/hipfile.h",
        output: "hipfile-sys/src/bindings.rs",
        allow: crate::translation::HIPFILE,
    },
    Target {
        header: "soft-rocm/include/hip/hip_runtime_api.h",
        output: "soft-rocm/hip/src/bindings.rs",
        allow: "(__)?hip.*|HIP_.*",
    },
];

/// The first line in which a file differs from what it should be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Number of the line, from 1.
    line: usize,
    /// The line found; none if the file is too short.
    found: Option<String>,
    /// The line wanted; none if the file is too long.
    wanted: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |line: &Option<String>| line.clone().unwrap_or_else(|| "(end of file)".into());
        writeln!(f, "{}: first difference", self.line)?;
        writeln!(f, "  checked in: {}", text(&self.found))?;
        write!(f, "  generated:  {}", text(&self.wanted))
    }
}

/// Compares two texts, line by line; line endings count.
pub(crate) fn first_difference(found: &str, wanted: &str) -> Option<Difference> {
    let (mut a, mut b) = (found.split('\n'), wanted.split('\n'));
    for line in 1.. {
        match (a.next(), b.next()) {
            (None, None) => break,
            (found, wanted) if found != wanted => {
                let (found, wanted) = (found.map(str::to_owned), wanted.map(str::to_owned));
                return Some(Difference { line, found, wanted });
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_do_not_differ() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
    }

    #[test]
    fn names_the_first_line_that_differs() {
        let difference = first_difference("a\nb\nc\n", "a\nB\nC\n").unwrap();
        assert_eq!(difference.to_string(), "2: first difference\n  checked in: b\n  generated:  B");
    }

    #[test]
    fn a_missing_end_is_a_difference() {
        let difference = first_difference("a", "a\nb").unwrap();
        assert_eq!(
            difference.to_string(),
            "2: first difference\n  checked in: (end of file)\n  generated:  b"
        );
        assert!(first_difference("a\n", "a").is_some());
    }
}
