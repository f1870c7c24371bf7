//! The steps of the search, in order.

use std::path::Path;

use crate::env::Env;
use crate::found::Found;
use crate::header::NEWEST_TESTED;
use crate::pkg_config::Answer;
use crate::report::Attempts;
use crate::{explicit, pkg_config, prefixes};

/// Finds libhipfile on the system whose root directory is `root`, or says line by line why not and how to go on.
pub(crate) fn discover(
    env: &Env<'_>,
    root: &Path,
    probe: &dyn Fn() -> Result<Answer, String>,
) -> Result<Found, Vec<String>> {
    let mut found = match explicit::find(env) {
        Some(result) => result?,
        None => {
            let mut attempts = Attempts::default();
            attempts.failed("HIPFILE_LIB_DIR and HIPFILE_INCLUDE_DIR", "not set".into());
            let found = pkg_config::find(env, probe, &mut attempts);
            match found.or_else(|| prefixes::find(env, root, &mut attempts)) {
                Some(found) => found,
                None => return Err(attempts.into_error()),
            }
        }
    };
    if found.version.is_newer_release_than(NEWEST_TESTED) {
        let (header, version) = (found.header(), found.version);
        let text = format!(
            "{} is of hipFile {version}; this crate was tested up to {NEWEST_TESTED}",
            header.display()
        );
        found.warnings.push(text);
    }
    Ok(found)
}
