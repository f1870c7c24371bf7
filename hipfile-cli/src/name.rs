//! Names of files in the output. They may hold any bytes: line breaks, and what makes a terminal obey.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use serde::Serializer;

/// A name for people, in one line: control characters are shown as `\n` or `\u{1b}`, and what is no UTF-8 as `�`.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a>(pub &'a Path);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.0.to_string_lossy()))
    }
}

/// Text that may hold names, without control characters.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let escape = |one: char| {
        if one.is_control() { one.escape_default().to_string() } else { one.to_string() }
    };
    Cow::Owned(text.chars().map(escape).collect())
}

/// A name in JSON, which is UTF-8: what is none is `�`. For `serialize_with`.
pub fn in_json<S: Serializer>(name: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&name.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn names_keep_to_their_line() {
        let name = |bytes: &[u8]| Name(Path::new(OsStr::from_bytes(bytes))).to_string();
        assert_eq!(name(b"plain name"), "plain name");
        assert_eq!(name("größe".as_bytes()), "größe");
        assert_eq!(name(b"a\nb\x1b[31mc"), "a\\nb\\u{1b}[31mc");
        assert_eq!(name(b"\xff"), "\u{fffd}");
    }
}
