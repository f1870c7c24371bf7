//! A plan: entries, and how many calls each has seen.

use std::ffi::{CStr, OsStr, c_int};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::actions::Actions;
use crate::conditions::Conditions;
use crate::error::SpecError;
use crate::gate::Gate;
use crate::grammar;
use crate::points::Point;

/// How a call ends instead of well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A code of HIP.
    Hip(u32),
    /// A code of hipFile.
    Hipfile(u32),
    /// A system error.
    Errno(i32),
    /// At most so many bytes move.
    Short(u64),
}

/// What happens to a call: first the delay, then the pause, then the fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// How long it waits.
    pub delay: Duration,
    /// Whether it is held until the plan is replaced or resumed.
    pub pause: bool,
    /// How it ends.
    pub fault: Option<Fault>,
}

/// The file of a call, for filters by path.
#[derive(Clone, Copy)]
pub enum Subject<'a> {
    /// It has none.
    None,
    /// A descriptor.
    Descriptor(c_int),
    /// A path.
    Path(&'a CStr),
    /// Looked up if a filter asks; None if there is no such file.
    Lookup(&'a dyn Fn() -> Option<c_int>),
}

impl fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::None => f.write_str("None"),
            Subject::Descriptor(fd) => write!(f, "Descriptor({fd})"),
            Subject::Path(path) => write!(f, "Path({path:?})"),
            Subject::Lookup(_) => f.write_str("Lookup"),
        }
    }
}

impl Subject<'_> {
    fn path(&self) -> Option<PathBuf> {
        let fd = match self {
            Subject::None => return None,
            Subject::Path(path) => return Some(OsStr::from_bytes(path.to_bytes()).into()),
            Subject::Descriptor(fd) => *fd,
            Subject::Lookup(fd) => fd()?,
        };
        std::fs::read_link(format!("/proc/self/fd/{fd}")).ok()
    }
}

/// What filters ask about a call.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Its number of bytes, if it has one.
    pub size: u64,
    /// Its file, if it has one.
    pub subject: Subject<'a>,
}

impl Call<'_> {
    /// A call without size and file.
    pub const PLAIN: Call<'static> = Call { size: 0, subject: Subject::None };
}

/// One entry of a plan.
#[derive(Debug)]
pub(crate) struct Entry {
    point: Point,
    actions: Actions,
    conditions: Conditions,
    /// Calls that the filters let through so far.
    calls: AtomicU64,
}

impl Entry {
    pub(crate) fn new(point: Point, actions: Actions, conditions: Conditions) -> Self {
        Self { point, actions, conditions, calls: AtomicU64::new(0) }
    }

    #[cfg(test)]
    pub(crate) fn parts(&self) -> (&'static str, Actions, &Conditions) {
        (self.point.name(), self.actions, &self.conditions)
    }

    fn is_for(&self, call: &Call<'_>, path: &mut Option<Option<Vec<u8>>>) -> bool {
        if self.conditions.size.as_ref().is_some_and(|size| !size.contains(&call.size)) {
            return false;
        }
        if let Some(wanted) = &self.conditions.path {
            let path =
                path.get_or_insert_with(|| call.subject.path().map(|path| path.into_os_string().into_vec()));
            let holds = |path: &Vec<u8>| path.windows(wanted.len()).any(|part| part == wanted);
            if !path.as_ref().is_some_and(holds) {
                return false;
            }
        }
        // One addition gives each call a number of its own, whichever thread makes it.
        let number = self.calls.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        self.conditions.is_for(number)
    }
}

/// What `SOFT_ROCM_FAULTS` says.
#[derive(Debug)]
pub struct Plan {
    entries: Vec<Entry>,
    pub(crate) gate: Gate,
}

impl Plan {
    /// The plan that a text describes; without entries it does nothing.
    ///
    /// # Errors
    ///
    /// Which entry is not accepted, and what would be.
    pub fn parse(spec: &[u8]) -> Result<Plan, SpecError> {
        Ok(Plan { entries: grammar::parse(spec)?, gate: Gate::default() })
    }

    /// Whether it does nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The points it names.
    pub fn points(&self) -> impl Iterator<Item = Point> {
        self.entries.iter().map(|entry| entry.point)
    }

    /// How many calls an entry, by its number from 1, has counted; 0 if there is none.
    pub(crate) fn counted(&self, number: usize) -> u64 {
        let entry = number.checked_sub(1).and_then(|index| self.entries.get(index));
        entry.map_or(0, |entry| entry.calls.load(Ordering::Relaxed))
    }

    /// Counts a call and says what happens to it: of several entries the delays add up, the first error
    /// holds, and without one the shortest transfer does.
    #[must_use]
    pub fn ask(&self, point: Point, call: &Call<'_>) -> Effect {
        let mut effect = Effect::default();
        let mut path = None;
        for entry in self.entries.iter().filter(|entry| entry.point == point) {
            if entry.is_for(call, &mut path) {
                effect.delay += entry.actions.delay.unwrap_or_default();
                effect.pause |= entry.actions.pause;
                effect.fault = graver(effect.fault, entry.actions.fault);
            }
        }
        effect
    }
}

fn graver(one: Option<Fault>, other: Option<Fault>) -> Option<Fault> {
    match (one, other) {
        (Some(Fault::Short(a)), Some(Fault::Short(b))) => Some(Fault::Short(a.min(b))),
        (Some(Fault::Short(_)), Some(error)) => Some(error),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests;
