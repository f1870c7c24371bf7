//! Makes sure that libclang is there before bindgen needs it, since bindgen would panic.

use std::panic;

const HELP: &str = "\
libclang cannot be loaded; only generating code needs it. Either
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
    version.map(|_| ()).map_err(|_| HELP.to_owned())
}
