//! Makes sure that libclang is there before bindgen needs it, since bindgen would panic, and that whoever lacks its
//! headers learns how to get them.

use std::panic;

const HELP: &str = "\
only generating code needs libclang. Either
  apt-get install libclang1-14 libclang-common-14-dev
or, without root,
  pip install libclang
  export LIBCLANG_PATH=<site-packages>/clang/native
  export BINDGEN_EXTRA_CLANG_ARGS=\"-isystem $(gcc -print-file-name=include)\"";

/// Loads libclang.
pub(crate) fn require() -> Result<(), String> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let version = panic::catch_unwind(bindgen::clang_version);
    panic::set_hook(hook);
    version.map(|_| ()).map_err(|_| format!("libclang cannot be loaded; {HELP}"))
}

/// What clang found wrong with a header, and the cure where its own headers are missing.
pub(crate) fn explain(error: &str) -> String {
    let error = error.trim_end();
    if error.contains("file not found") { format!("{error}\n{HELP}") } else { error.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_header_of_clang_comes_with_its_cure() {
        let text = explain("a.h:1:10: fatal error: 'stddef.h' file not found\n");
        assert!(text.contains("'stddef.h' file not found\nonly generating code needs libclang"), "{text}");
        assert!(
            text.contains("libclang-common-14-dev") && text.contains("BINDGEN_EXTRA_CLANG_ARGS"),
            "{text}"
        );
    }

    #[test]
    fn other_errors_are_left_as_they_are() {
        assert_eq!(
            explain("a.h:1:1: error: unknown type name 'x'\n"),
            "a.h:1:1: error: unknown type name 'x'"
        );
    }
}
