//! Feature `bindgen`: declarations from the header that was found.

use std::path::Path;

use crate::found::Found;
use crate::header::NEWEST_TESTED;
use crate::translation;

/// Writes `out_dir/bindings.rs`.
pub(crate) fn generate(found: &Found, out_dir: &Path) -> Result<(), Vec<String>> {
    if NEWEST_TESTED.is_newer_release_than(found.version) {
        return Err(vec![
            format!("{} is of hipFile {}, but feature `bindgen`", found.header().display(), found.version),
            format!(
                "needs {NEWEST_TESTED} or newer; the declarations that come with the crate serve older ones"
            ),
        ]);
    }
    let output = out_dir.join("bindings.rs");
    translation::builder(translation::HIPFILE)
        .and_then(|builder| {
            let builder = builder
                .header(found.header().display().to_string())
                .clang_arg(format!("-I{}", found.include.display()))
                .parse_callbacks(Box::new(bindgen::CargoCallbacks::new()))
                .formatter(bindgen::Formatter::Prettyplease);
            builder.generate().map_err(|error| error.to_string())
        })
        .and_then(|bindings| bindings.write_to_file(&output).map_err(|error| error.to_string()))
        .map_err(|error| vec![format!("{}: {error}", found.header().display())])
}
