//! Values of parameters, and how they are spelled in C.

use std::ffi::{CString, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use super::Parameter;
use crate::error::{Cause, Result};
use crate::ffi::settings;
use crate::quantity;

/// Values that can be asked for and set. Out of reach for other crates, which seals the trait below.
pub trait Value: Sized + fmt::Debug {
    #[doc(hidden)]
    fn get(parameter: Parameter<Self>) -> Result<Self>;
    #[doc(hidden)]
    fn set(&self, parameter: Parameter<Self>) -> Result<()>;
}

/// The value of a [`Parameter`](crate::Parameter): `u64`, `bool`, [`Duration`] or [`OsString`].
///
/// ```
/// use hipfile::{ErrorKind, Parameter, ParameterValue};
///
/// /// The value, if the library has parameters.
/// fn find<T: ParameterValue>(parameter: Parameter<T>) -> hipfile::Result<Option<T>> {
///     match parameter.get() {
///         Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
///         answer => answer.map(Some),
///     }
/// }
///
/// # fn main() -> hipfile::Result<()> {
/// println!("{:?} in {:?}", find(Parameter::LOG_LEVEL)?, find(Parameter::LOG_DIR)?);
/// # Ok(())
/// # }
/// ```
pub trait ParameterValue: Value {}

impl ParameterValue for u64 {}
impl ParameterValue for Duration {}
impl ParameterValue for bool {}
impl ParameterValue for OsString {}

impl Value for u64 {
    fn get(parameter: Parameter<Self>) -> Result<Self> {
        parameter.ask(settings::size).map(|value| parameter.unit.ours(value as Self))
    }

    fn set(&self, parameter: Parameter<Self>) -> Result<()> {
        parameter.tell(self, |api, number| settings::set_size(api, number, parameter.unit.theirs(*self)?))
    }
}

impl Value for Duration {
    fn get(parameter: Parameter<Self>) -> Result<Self> {
        parameter.ask(settings::size).map(|value| Self::from_millis(value as u64))
    }

    fn set(&self, parameter: Parameter<Self>) -> Result<()> {
        parameter.tell(self, |api, number| settings::set_size(api, number, quantity::milliseconds(*self)?))
    }
}

impl Value for bool {
    fn get(parameter: Parameter<Self>) -> Result<Self> {
        parameter.ask(settings::flag)
    }

    fn set(&self, parameter: Parameter<Self>) -> Result<()> {
        parameter.tell(self, |api, number| settings::set_flag(api, number, *self))
    }
}

impl Value for OsString {
    fn get(parameter: Parameter<Self>) -> Result<Self> {
        parameter.ask(settings::text)
    }

    fn set(&self, parameter: Parameter<Self>) -> Result<()> {
        let zero = |_| Cause::InvalidArgument("a text for the library can't have a zero byte inside".into());
        parameter.tell(self, |api, number| {
            settings::set_text(api, number, &CString::new(self.as_bytes()).map_err(zero)?)
        })
    }
}
