//! Rules for Rust sources.

use super::Finding;
use super::tree::{File, Tree};

/// The packages that others build, with the oldest supported compiler.
pub const PUBLISHED: &[&str] = &["rocm-loader/", "hipfile-sys/", "hip-alloc/", "hipfile/"];

fn published(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.rust().filter(|file| PUBLISHED.iter().any(|package| file.path.starts_with(package)))
}

/// hip-runtime-sys gives us the link line and nothing else: a value of one of its Rust enums that C produced would be
/// undefined behaviour as soon as a newer HIP returns a number the enum does not know.
pub fn hip_runtime_sys(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in published(tree) {
        for (number, line) in file.lines() {
            let code = line.trim();
            if !code.starts_with("//")
                && code.contains("hip_runtime_sys")
                && code != "use hip_runtime_sys as _;"
            {
                let message =
                    "hip-runtime-sys is there to be linked: declare what is called, with integer types";
                findings.push(Finding::new(&file.path, number, message));
            }
        }
    }
    findings
}

/// The modules of hipfile that call C, and so read errno right after the call that set it.
const CALLS_C: &[&str] = &["hipfile/src/ffi.rs", "hipfile/src/system.rs"];

/// errno is read next to the call that set it, and nowhere else.
pub fn errno(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let others = |path: &str| path.starts_with("hipfile/src/") && !CALLS_C.contains(&path);
    for file in tree.rust().filter(|file| others(&file.path)) {
        for (number, line) in file.lines() {
            if line.contains("__errno_location") || line.contains("last_os_error") {
                let message = format!("errno is read in {} alone", CALLS_C.join(" and "));
                findings.push(Finding::new(&file.path, number, message));
            }
        }
    }
    findings
}

/// `if let … && …` needs Rust 1.88, and no lint tells.
pub fn let_chains(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| !file.path.starts_with("tests/")) {
        let mut open = false;
        for (number, line) in file.lines() {
            let code = line.trim();
            let starts =
                ["if let ", "while let ", "} else if let "].iter().any(|start| code.starts_with(start));
            let goes_on = code.starts_with("&& ");
            if code.starts_with("&& let ") || (starts && chained(code)) || (open && goes_on) {
                findings.push(Finding::new(
                    &file.path,
                    number,
                    "a chain with `let` needs Rust 1.88; nest or match",
                ));
            }
            open = starts && !code.ends_with('{');
        }
    }
    findings
}

/// Whether `&&` joins the parts of a condition: outside parentheses, brackets and braces.
fn chained(code: &str) -> bool {
    let mut depth = 0;
    let bytes = code.as_bytes();
    bytes.iter().zip(bytes.iter().skip(1)).any(|pair| {
        match pair.0 {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        depth == 0 && pair == (&b'&', &b'&') && code.contains(" && ")
    })
}

/// A comment on an unsafe operation says what the operation requires, before it says why that holds.
pub fn safety_comments(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let soft = tree.rust().filter(|file| file.path.starts_with("soft-rocm/"));
    for file in published(tree).chain(soft).filter(|file| !file.is_test()) {
        let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
        for (index, _) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("// SAFETY:")) {
            let comment: Vec<&str> =
                lines.iter().skip(index).take_while(|line| line.starts_with("//")).copied().collect();
            let comment = comment.join(" ").replace(" // ", " ");
            if !comment.contains("require") && !comment.starts_with("// SAFETY: as ") {
                let message = "write `SAFETY: requires …; holds because …`";
                findings.push(Finding::new(&file.path, index + 1, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(rule: fn(&Tree) -> Vec<Finding>, path: &str, text: &str) -> Vec<usize> {
        rule(&Tree::of(&[(path, text)])).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn hip_runtime_sys_is_only_linked() {
        let text = "use hip_runtime_sys as _;\n// hip_runtime_sys::x\nuse hip_runtime_sys::hipError_t;\n";
        assert_eq!(lines(hip_runtime_sys, "hip-alloc/src/ffi.rs", text), [3]);
    }

    #[test]
    fn errno_has_one_reader() {
        let text = "let e = io::Error::last_os_error();\n";
        assert_eq!(lines(errno, "hipfile/src/file.rs", text), [1]);
        assert_eq!(lines(errno, "hipfile/src/ffi.rs", text), [0; 0]);
        assert_eq!(lines(errno, "rocm-loader/src/lib.rs", text), [0; 0]);
    }

    #[test]
    fn let_chains_are_found() {
        let text = "if let Some(x) = y && x > 1 {\nif let Some(x) = f(a && b) {\nif let Some(x) = y {\n    && z\nif let Some(x) = y\n    && x\nif a\n    && let Some(x) = y\n";
        assert_eq!(lines(let_chains, "hipfile/src/a.rs", text), [1, 6, 8]);
    }

    #[test]
    fn a_safety_comment_says_what_is_required() {
        let text = "// SAFETY: requires a; holds because b.\n\n// SAFETY: requires a;\n// holds because b.\n\n// SAFETY: fine.\n\n\
            // SAFETY: requires nothing.\n\n// SAFETY: as for Send.\n";
        assert_eq!(lines(safety_comments, "hipfile/src/a.rs", text), [6]);
    }
}
