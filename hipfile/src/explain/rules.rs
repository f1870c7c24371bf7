//! The library's rules for choosing a path, as a function of facts.

use super::environment::Environment;
use super::explanation::{Explanation, Predicted};
use super::reason::Reason;
use super::storage::{FileSystem, Storage};
use crate::alignment::Alignment;
use crate::version::Version;

/// All that the choice depends on. That memory is a device's and that offsets are not negative holds by their types.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) environment: Environment,
    pub(crate) version: Version,
    /// Whether HIP has both file functions.
    pub(crate) file_functions: bool,
    pub(crate) storage: Storage,
    /// What direct I/O asks for; `None` if the file has none.
    pub(crate) direct: Option<Alignment>,
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) address: u64,
}

/// The path, and every rule that keeps the transfer off the fast one.
pub(crate) fn predict(facts: &Facts) -> Explanation {
    if facts.len == 0 {
        return Explanation { path: Predicted::Nothing, reasons: Vec::new() };
    }
    let environment = facts.environment;
    let switched_off = environment.force_compat.then_some(Reason::SwitchedOff);
    let functions = (!facts.file_functions).then_some(Reason::NoFileFunctions);
    let direct = facts.direct.is_none().then_some(Reason::NoDirectIo);
    let storage = of_storage(&facts.storage, environment.any_file_system);
    let alignment = facts.direct.map(|direct| of_alignment(facts, direct)).into_iter().flatten().flatten();
    let reasons: Vec<_> =
        [switched_off, functions, direct, storage].into_iter().flatten().chain(alignment).collect();

    // Told to take neither path, libraries after 0.2 take the fallback.
    let fallback = environment.allow_compat || (environment.force_compat && facts.version >= AFTER_0_2);
    let path = match reasons.is_empty() {
        true => Predicted::FastPath,
        false if fallback => Predicted::Fallback,
        false => Predicted::Refused,
    };
    Explanation { path, reasons }
}

const AFTER_0_2: Version = Version { major: 0, minor: 3, patch: 0 };

fn of_storage(storage: &Storage, any_file_system: bool) -> Option<Reason> {
    match storage {
        Storage::BlockDevice => None,
        Storage::Other => Some(Reason::FileType),
        Storage::Regular(_) if any_file_system => None,
        Storage::Regular(FileSystem::Xfs) => None,
        Storage::Regular(FileSystem::Ext4 { journal }) if journal == "ordered" => None,
        Storage::Regular(FileSystem::Ext4 { journal }) => Some(Reason::Journal { mode: journal.clone() }),
        Storage::Regular(FileSystem::Other { name }) => Some(Reason::FileSystem { name: Some(name.clone()) }),
        Storage::Regular(FileSystem::Unknown) => Some(Reason::FileSystem { name: None }),
    }
}

fn of_alignment(facts: &Facts, direct: Alignment) -> [Option<Reason>; 3] {
    let Facts { offset, len, address, .. } = *facts;
    let unless = |value: u64, alignment, reason| (value.checked_rem(alignment) != Some(0)).then_some(reason);
    [
        unless(offset, direct.offset, Reason::Offset { offset, alignment: direct.offset }),
        unless(len, direct.offset, Reason::Length { len, alignment: direct.offset }),
        unless(address, direct.memory, Reason::Address { address, alignment: direct.memory }),
    ]
}

#[cfg(test)]
mod tests;
