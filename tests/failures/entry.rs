//! An entry point, and how it fails.

use crate::stage::Stage;

/// A safe entry point.
#[derive(Clone, Copy)]
pub struct Entry {
    pub name: &'static str,
    pub about: About,
    /// Puts more on the stage, or takes something away, before anything fails.
    pub prepare: fn(&mut Stage),
    /// Calls it with what is on the stage. What it gives back goes back to the stage, so that only the entry point itself
    /// meets the failure.
    pub call: fn(&mut Stage) -> Outcome,
}

pub type Outcome = Result<(), Failure>;

/// The name of an entry point, and how it is called.
pub type Named = (&'static str, fn(&mut Stage) -> Outcome);

/// It went well, and what it gave matters to nobody.
pub fn done<T>(_: T) -> Outcome {
    Ok(())
}

/// It went well, and what it gave is dropped when nothing fails any more.
pub fn kept(stage: &mut Stage, made: impl Send + 'static) -> Outcome {
    stage.made.push(Box::new(made));
    Ok(())
}

/// It went well, or what it was given came back: either is kept.
pub fn given_back<T: Send + 'static, U: Send + 'static>(
    stage: &mut Stage,
    ended: Result<T, hipfile::Failed<U>>,
) -> Outcome {
    match ended.map_err(hipfile::Failed::into_parts) {
        Ok(made) => kept(stage, made),
        Err((error, value)) => {
            kept(stage, value)?;
            Err(error.into())
        }
    }
}

/// What its errors must name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The operation alone.
    Operation,
    /// The file by its path.
    File,
    /// The file, the offset and the length.
    Transfer,
    /// As [`Transfer`](Self::Transfer), for errors of transfers; it fails in other ways too.
    Transfers,
}

impl Entry {
    pub const fn new(name: &'static str, about: About, call: fn(&mut Stage) -> Outcome) -> Self {
        Self { name, about, prepare: |_| (), call }
    }

    pub const fn prepared(self, prepare: fn(&mut Stage)) -> Self {
        Self { prepare, ..self }
    }
}

/// Entry points whose errors are about the same.
pub fn all(about: About, named: &[Named]) -> impl Iterator<Item = Entry> {
    named.iter().map(move |(name, call)| Entry::new(name, about, *call))
}

/// An error of either crate.
#[derive(Debug)]
pub enum Failure {
    Memory(hip_alloc::Error),
    File(hipfile::Error),
}

impl<T> From<hip_alloc::Failed<T>> for Failure {
    fn from(failed: hip_alloc::Failed<T>) -> Self {
        Self::Memory(failed.into_error())
    }
}

impl<T> From<hipfile::Failed<T>> for Failure {
    fn from(failed: hipfile::Failed<T>) -> Self {
        Self::File(failed.into_error())
    }
}

macro_rules! failures {
    ($($error:ty => $kind:ident;)*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::$kind(error.into())
            }
        })*
    };
}

failures! {
    hip_alloc::Error => Memory;
    hipfile::Error => File;
    hipfile::TransferError => File;
    hipfile::transfer::Stopped => File;
}

impl Failure {
    /// The kind as it is spelled.
    pub fn kind(&self) -> String {
        match self {
            Self::Memory(error) => format!("{:?}", error.kind()),
            Self::File(error) => format!("{:?}", error.kind()),
        }
    }

    pub fn operation(&self) -> &'static str {
        match self {
            Self::Memory(error) => error.operation(),
            Self::File(error) => error.operation(),
        }
    }

    pub fn hip(&self) -> Option<u32> {
        match self {
            Self::Memory(error) => error.hip_error(),
            Self::File(error) => error.hip_error(),
        }
        .map(|code| code.code())
    }

    pub fn hipfile(&self) -> Option<u32> {
        match self {
            Self::Memory(_) => None,
            Self::File(error) => error.op_error().map(|code| code.code()),
        }
    }

    pub fn system(&self) -> Option<i32> {
        match self {
            Self::Memory(_) => None,
            Self::File(error) => error.os_error(),
        }
    }

    pub fn raw(&self) -> Option<i64> {
        match self {
            Self::Memory(error) => error.hip_error().map(|code| code.code().into()),
            Self::File(error) => error.raw_code(),
        }
    }

    pub fn text(&self) -> String {
        match self {
            Self::Memory(error) => error.to_string(),
            Self::File(error) => error.to_string(),
        }
    }

    /// Whether it names what its entry point is about.
    pub fn names(&self, about: About) -> bool {
        let Self::File(error) = self else { return matches!(about, About::Operation | About::Transfers) };
        let transfer = error.path().is_some() && error.offset().is_some() && error.requested().is_some();
        match about {
            About::Operation => true,
            About::File => error.path().is_some(),
            About::Transfer => transfer,
            About::Transfers => transfer || !["read", "write"].contains(&error.operation()),
        }
    }
}
