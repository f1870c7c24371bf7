//! Failures that a plan can give: every point × every code that it takes.

use std::ffi::CString;

use hipfile::OpError;
use hipfile::alloc::HipError;
use hipfile_tests::soft;
use soft_rocm_faults::{Owner, points};

use crate::system;

/// A function or system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub name: &'static str,
    pub place: Place,
}

/// Where calls come from, or go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    In(Library),
    /// System calls of the safe crates.
    Ours,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    Hip,
    Hipfile,
}

/// An answer in one of the three spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Hip(u32),
    Hipfile(u32),
    System(i32),
}

/// Which calls fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    First,
    All,
}

/// System errors that storage, memory and permissions give.
const SYSTEM: [i32; 14] = [
    libc::EPERM,
    libc::ENOENT,
    libc::EINTR,
    libc::EIO,
    libc::EBADF,
    libc::EAGAIN,
    libc::ENOMEM,
    libc::EACCES,
    libc::ENODEV,
    libc::EINVAL,
    libc::EMFILE,
    libc::EFBIG,
    libc::ENOSPC,
    libc::EOPNOTSUPP,
];

/// A code of HIP for each way in which it is taken.
const HIP_KINDS: [u32; 8] = [1, 2, 100, 500, 600, 719, 801, UNKNOWN];

/// A code of hipFile for each way in which it is taken.
const HIPFILE_KINDS: [u32; 12] =
    [5001, 5004, 5006, 5008, 5011, 5022, 5023, 5024, 5026, 5030, 5036, UNKNOWN_OF_HIPFILE];

/// Codes that no header has.
const UNKNOWN: u32 = 4242;
const UNKNOWN_OF_HIPFILE: u32 = 5999;

impl Library {
    const fn set_faults(self) -> &'static str {
        match self {
            Self::Hip => "softrocm_hip_set_faults",
            Self::Hipfile => "softrocm_hipfile_set_faults",
        }
    }

    fn takes(self, plan: &str) -> bool {
        let plan = CString::new(plan).expect("a plan");
        let taken = soft::set_faults(self.set_faults(), &plan, &mut [0; 300]) == 0;
        self.plan("");
        taken
    }

    /// Replaces its plan.
    pub fn plan(self, plan: &str) {
        match self {
            Self::Hip => soft::plan_hip(plan),
            Self::Hipfile => soft::plan_hipfile(plan),
        }
    }

    /// How many calls the entry of its plan has counted, by its number from 1.
    fn counted(self, entry: usize) -> usize {
        match self {
            Self::Hip => soft::counted_by_hip(entry),
            Self::Hipfile => soft::counted_by_hipfile(entry),
        }
    }

    const BOTH: [Self; 2] = [Self::Hip, Self::Hipfile];
}

impl Point {
    /// All that can fail.
    pub fn all() -> Vec<Self> {
        let both = |(name, owner)| match owner {
            Owner::Hip => vec![Self { name, place: Place::In(Library::Hip) }],
            Owner::Hipfile => vec![Self { name, place: Place::In(Library::Hipfile) }],
            Owner::Both => Library::BOTH.map(|library| Self { name, place: Place::In(library) }).into(),
        };
        points().flat_map(both).filter(|point| !point.codes().is_empty()).collect()
    }

    /// The first of each space, which says whether the point takes that space.
    fn codes(self) -> Vec<Code> {
        let spaces = [Code::Hip(999), Code::Hipfile(5030), Code::System(libc::EIO)];
        let takes = |code: &Code| match self.place {
            Place::In(library) => library.takes(&self.plan(*code, Calls::All)),
            Place::Ours => matches!(code, Code::System(_)),
        };
        spaces.into_iter().filter(takes).collect()
    }

    /// Has the failure happen from now on, to this thread if the calls are ours.
    pub fn begin(self, code: Code, calls: Calls) {
        match (self.place, code) {
            (Place::In(library), _) => library.plan(&self.plan(code, calls)),
            (Place::Ours, Code::System(code)) => system::refuse(self.name, code).expect("filters work here"),
            (Place::Ours, _) => {}
        }
    }

    /// No more failures of a library.
    pub fn end(self) {
        if let Place::In(library) = self.place {
            library.plan("");
        }
    }

    /// Every failure that it can be given: each code once, and one of each space again and again. Under a sanitizer, which
    /// looks for what no code makes a difference to, the codes are one of each kind.
    pub fn failures(self) -> Vec<(Code, Calls)> {
        let mut failures = Vec::new();
        if self.place == Place::Ours {
            // A filter does not count; and what is interrupted for good is tried again for good.
            let codes = SYSTEM.into_iter().filter(|code| *code != libc::EINTR);
            return codes.map(|code| (Code::System(code), Calls::All)).collect();
        }
        for space in self.codes() {
            failures.push((space, Calls::All));
            let codes: Vec<Code> = match space {
                Code::Hip(_) if soft::is_watched() => HIP_KINDS.map(Code::Hip).into(),
                Code::Hip(_) => hip_codes().map(Code::Hip).collect(),
                Code::Hipfile(_) if soft::is_watched() => HIPFILE_KINDS.map(Code::Hipfile).into(),
                Code::Hipfile(_) => hipfile_codes().map(Code::Hipfile).collect(),
                Code::System(_) => SYSTEM.map(Code::System).into(),
            };
            failures.extend(codes.into_iter().map(|code| (code, Calls::First)));
        }
        failures
    }

    /// The one with this plan.
    pub fn by_plan(plan: &str) -> Option<(Self, Code, Calls)> {
        let all = Self::all().into_iter();
        let mut failures =
            all.flat_map(|point| point.failures().into_iter().map(move |(code, calls)| (point, code, calls)));
        failures.find(|(point, code, calls)| point.plan(*code, *calls) == plan)
    }

    /// The plan that gives it this code.
    pub fn plan(self, code: Code, calls: Calls) -> String {
        let action = match code {
            Code::Hip(code) => format!("hip={code}"),
            Code::Hipfile(code) => format!("hipfile={code}"),
            Code::System(code) => format!("errno={code}"),
        };
        let condition = if calls == Calls::First { "@1" } else { "" };
        format!("{}:{action}{condition}", self.name)
    }
}

/// The points among `points` that are called meanwhile. Of the calls that it counts, none is changed.
pub fn called<T>(points: &[Point], meanwhile: impl FnOnce() -> T) -> (Vec<Point>, T) {
    let of = |library| points.iter().copied().filter(move |point| point.place == Place::In(library));
    for library in Library::BOTH {
        let plan: Vec<_> = of(library).map(|point| format!("{}:delay=0us", point.name)).collect();
        library.plan(&plan.join(";"));
    }
    let outcome = meanwhile();
    let counted = |library: Library| {
        let numbered = (1..).zip(of(library));
        let called: Vec<_> = numbered.filter(|(number, _)| library.counted(*number) > 0).collect();
        library.plan("");
        called.into_iter().map(|(_, point)| point)
    };
    (Library::BOTH.into_iter().flat_map(counted).collect(), outcome)
}

/// Every code of HIP that has a name, and one that has none.
fn hip_codes() -> impl Iterator<Item = u32> {
    let named = |code: &u32| {
        let name = HipError::from(*code).name();
        *code == 999 || name.is_some_and(|name| name != "hipErrorUnknown")
    };
    (1..2000).filter(named).chain([UNKNOWN])
}

fn hipfile_codes() -> impl Iterator<Item = u32> {
    OpError::ALL
        .iter()
        .copied()
        .filter(|code| *code != OpError::Success)
        .map(OpError::code)
        .chain([UNKNOWN_OF_HIPFILE])
}
