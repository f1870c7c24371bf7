//! Environment variables, read and registered in one step so that neither can be forgotten.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

/// Where variables come from, and which were asked for.
pub(crate) struct Env<'a> {
    lookup: &'a dyn Fn(&str) -> Option<OsString>,
    target: String,
    read: RefCell<BTreeSet<String>>,
}

/// A variable that is set, to something other than nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    /// The name it was found under.
    pub name: String,
    /// Its value.
    pub value: OsString,
}

impl Variable {
    /// The value as a path.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(&self.value)
    }
}

impl<'a> Env<'a> {
    /// Variables from `lookup`, which also has cargo's `TARGET`.
    pub(crate) fn new(lookup: &'a dyn Fn(&str) -> Option<OsString>) -> Self {
        let target = lookup("TARGET").and_then(|target| target.into_string().ok()).unwrap_or_default();
        Self { lookup, target, read: RefCell::default() }
    }

    /// The target triple.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// The variable of exactly this name.
    pub(crate) fn plain(&self, name: &str) -> Option<Variable> {
        self.read.borrow_mut().insert(name.to_owned());
        let value = (self.lookup)(name).filter(|value| !value.is_empty())?;
        Some(Variable { name: name.to_owned(), value })
    }

    /// The variable for the target at hand, such as `X86_64_UNKNOWN_LINUX_GNU_HIPFILE_LIB_DIR`, or else the plain one: a
    /// cross build can have its own paths beside the host's.
    pub(crate) fn for_target(&self, name: &str) -> Option<Variable> {
        let prefix = self.target.to_uppercase().replace(['-', '.'], "_");
        // Both are registered, whichever is set today.
        let (special, plain) = (self.plain(&format!("{prefix}_{name}")), self.plain(name));
        special.or(plain)
    }

    /// Every name that was asked for.
    pub(crate) fn names_read(&self) -> Vec<String> {
        self.read.borrow().iter().cloned().collect()
    }
}
