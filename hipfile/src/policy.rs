//! Which paths a program insists on.

use crate::cause::Cause;
use crate::explain::Environment;

/// The path that transfers of a file must take.
///
/// The library has no such choice for one file: the environment makes it, for the whole process. So a file opens with
/// [`DirectOnly`](Self::DirectOnly) or [`HostOnly`](Self::HostOnly) only where the environment, as it was when a driver was
/// first opened, makes that true; the error names the variable otherwise.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hipfile::{Driver, ErrorKind, OpenOptions, Policy};
///
/// let driver = Driver::open()?;
/// let error = OpenOptions::new().read(true).policy(Policy::DirectOnly).open(&driver, "Cargo.toml").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Unsupported);
/// assert!(error.to_string().contains("start the program with HIPFILE_ALLOW_COMPAT_MODE=false"));
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// Whatever the library chooses.
    #[default]
    Auto,
    /// The fast path or error 5030. Takes `HIPFILE_ALLOW_COMPAT_MODE=false` without `HIPFILE_FORCE_COMPAT_MODE=true`.
    ///
    /// It does not hold for transfers on streams before hipFile 0.5, which ignore the variables.
    DirectOnly,
    /// Through host memory. Takes `HIPFILE_FORCE_COMPAT_MODE=true` without `HIPFILE_ALLOW_COMPAT_MODE=false`.
    HostOnly,
}

impl Policy {
    /// Whether this environment makes it true, else how the variable that is in the way has to be.
    pub(crate) fn check(self, environment: Environment) -> Result<(), Cause> {
        let Environment { force_compat, allow_compat, .. } = environment;
        match self {
            Self::DirectOnly if allow_compat => Err(Cause::Policy("with HIPFILE_ALLOW_COMPAT_MODE=false")),
            Self::DirectOnly if force_compat => Err(Cause::Policy("without HIPFILE_FORCE_COMPAT_MODE=true")),
            Self::HostOnly if !force_compat => Err(Cause::Policy("with HIPFILE_FORCE_COMPAT_MODE=true")),
            Self::HostOnly if !allow_compat => Err(Cause::Policy("without HIPFILE_ALLOW_COMPAT_MODE=false")),
            Self::Auto | Self::DirectOnly | Self::HostOnly => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_decides() {
        let (direct, host) = (Policy::DirectOnly, Policy::HostOnly);
        let table = [
            // policy, force, allow, what to change
            (direct, false, true, Some("with HIPFILE_ALLOW_COMPAT_MODE=false")),
            (direct, false, false, None),
            (direct, true, true, Some("with HIPFILE_ALLOW_COMPAT_MODE=false")),
            (direct, true, false, Some("without HIPFILE_FORCE_COMPAT_MODE=true")),
            (host, false, true, Some("with HIPFILE_FORCE_COMPAT_MODE=true")),
            (host, false, false, Some("with HIPFILE_FORCE_COMPAT_MODE=true")),
            (host, true, true, None),
            (host, true, false, Some("without HIPFILE_ALLOW_COMPAT_MODE=false")),
        ];
        for (policy, force_compat, allow_compat, change) in table {
            let environment = Environment { force_compat, allow_compat, any_file_system: false };
            let text = policy.check(environment).err().map(|cause| cause.to_string());
            let expected = change.map(|change| {
                format!("the environment does not make the policy true; start the program {change}")
            });
            assert_eq!(text, expected, "{policy:?} {environment:?}");
            assert!(Policy::Auto.check(environment).is_ok());
        }
    }
}
