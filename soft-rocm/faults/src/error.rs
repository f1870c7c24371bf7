//! Why a text is no plan.

use std::fmt;

/// A plan that is not accepted: which entry, what is wrong with it, what would be accepted.
#[derive(Debug, PartialEq, Eq)]
pub struct SpecError {
    /// Number of the entry, from 1, and its text; None if the text as a whole is wrong.
    entry: Option<(usize, String)>,
    message: String,
}

impl SpecError {
    pub(crate) fn whole(message: String) -> Self {
        Self { entry: None, message }
    }

    pub(crate) fn in_entry(number: usize, text: &str, message: String) -> Self {
        Self { entry: Some((number, shown(text))), message }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((number, text)) = &self.entry {
            write!(f, "entry {number}, {text}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for SpecError {}

/// A part of the text for a message: in quotes, short, control characters escaped.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let mut short: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    format!("`{short}`")
}

/// A list for a message: "a, b or c".
pub(crate) fn any_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        Some((last, _)) => (*last).to_owned(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_short_and_printable() {
        assert_eq!(shown("pread:errno=EIO"), "`pread:errno=EIO`");
        assert_eq!(shown("a\x1b[2Jb\n"), "`a\\u{1b}[2Jb\\n`");
        let long = shown(&"x".repeat(1 << 20));
        assert_eq!(long, format!("`{}…`", "x".repeat(60)));
    }

    #[test]
    fn lists_read_as_a_sentence() {
        assert_eq!(any_of(["a", "b", "c"]), "a, b or c");
        assert_eq!(any_of(["a"]), "a");
    }
}
