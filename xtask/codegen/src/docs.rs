//! Documentation of generated code: from the form bindgen writes to the form people write.

/// Turns each `#[doc = "…"]` line into `///` lines.
///
/// A C comment that says "Errors: …" gets the heading Rust readers look for.
pub(crate) fn as_comments(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    for line in code.lines() {
        let text = line.trim_start();
        let indent = &line[..line.len() - text.len()];
        match text.strip_prefix("#[doc = \"").and_then(|rest| rest.strip_suffix("\"]")) {
            Some(escaped) => push_comment(&mut out, indent, &unescape(escaped)),
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}

/// Documents constants made from macros, for which bindgen keeps no comment: it is the one in front of their
/// `#define` in the header.
pub(crate) fn of_macros(code: &str, header: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut documented = false;
    for line in code.lines() {
        let name = line.strip_prefix("pub const ").and_then(|rest| rest.split(':').next());
        if let Some(text) = name.filter(|_| !documented).and_then(|name| comment_of_define(header, name)) {
            push_comment(&mut out, "", &text);
        }
        out.push_str(line);
        out.push('\n');
        documented = line.starts_with("///");
    }
    out
}

/// The text of the `/** … */` comment right in front of `#define name`.
fn comment_of_define(header: &str, name: &str) -> Option<String> {
    let define = header.match_indices("#define ").map(|(at, _)| at).find(|at| {
        let rest = &header[at + "#define ".len()..];
        rest.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '\t', '\n']))
    })?;
    let before = header[..define].trim_end().strip_suffix("*/")?;
    let comment = &before[before.rfind("/**")? + "/**".len()..];
    let lines = comment.lines().map(|line| line.trim().trim_start_matches("* ").trim_start_matches('*'));
    Some(lines.collect::<Vec<_>>().join("\n").trim().to_owned())
}

fn push_comment(out: &mut String, indent: &str, text: &str) {
    // `/**< … */` documents what stands before it; bindgen leaves the arrow.
    let text = text.trim();
    let text = text.strip_prefix('<').unwrap_or(text).trim_start();
    for line in text.lines() {
        let line = line.trim_end();
        let line = match line.trim_start().strip_prefix("Errors: ") {
            Some(rest) => {
                out.push_str(&format!("{indent}/// # Errors\n{indent}///\n"));
                capitalised(rest)
            }
            None => line.trim_start().to_owned(),
        };
        let line = format!("{indent}/// {line}");
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// Begins with a capital letter, unless the first word is a name that has capitals of its own.
fn capitalised(text: &str) -> String {
    let name = text.split(' ').next().is_some_and(|word| word.contains(char::is_uppercase));
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if !name => first.to_uppercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// Undoes the escapes of a Rust string literal that occur in text.
fn unescape(literal: &str) -> String {
    let mut out = String::with_capacity(literal.len());
    let mut letters = literal.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (_, true) => match letters.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => {}
            },
            (other, false) => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_become_comments_at_their_indentation() {
        let code = "    #[doc = \" One.\\n\\n Two \\\"quoted\\\".\"]\n    pub x: u8,\n";
        assert_eq!(as_comments(code), "    /// One.\n    ///\n    /// Two \"quoted\".\n    pub x: u8,\n");
    }

    #[test]
    fn trailing_comments_lose_their_arrow() {
        assert_eq!(as_comments("#[doc = \"< The value.\"]\n"), "/// The value.\n");
    }

    #[test]
    fn errors_get_their_heading() {
        let code = "#[doc = \" Does it.\\n\\n Errors: none\\n at all.\"]\n";
        assert_eq!(as_comments(code), "/// Does it.\n///\n/// # Errors\n///\n/// None\n/// at all.\n");
    }

    #[test]
    fn names_keep_their_spelling() {
        let code = "#[doc = \" Errors: hipErrorNotFound\"]\n";
        assert_eq!(as_comments(code), "/// # Errors\n///\n/// hipErrorNotFound\n");
    }

    #[test]
    fn macros_are_documented_from_the_header() {
        let header =
            "/** Not this. */\n#define MAX_SIZE 1\n/**\n * The most\n * there is.\n */\n#define MAX 2\n";
        let code = "pub const MAX: u32 = 2;\n";
        assert_eq!(of_macros(code, header), "/// The most\n/// there is.\npub const MAX: u32 = 2;\n");
    }

    #[test]
    fn a_comment_elsewhere_does_not_document_a_macro() {
        let header = "/** Text. */\nint f(void);\n#define MAX 2\n";
        assert_eq!(of_macros("pub const MAX: u32 = 2;\n", header), "pub const MAX: u32 = 2;\n");
    }

    #[test]
    fn documented_constants_are_left_alone() {
        let header = "/** From the header. */\n#define MAX 2\n";
        let code = "/// Kept.\npub const MAX: u32 = 2;\n";
        assert_eq!(of_macros(code, header), code);
    }
}
