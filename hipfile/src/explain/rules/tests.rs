use proptest::prelude::*;

use super::*;

const V0_2: Version = Version { major: 0, minor: 2, patch: 0 };
const V0_5: Version = Version { major: 0, minor: 5, patch: 0 };

/// A transfer that keeps every rule.
fn ideal() -> Facts {
    Facts {
        environment: Environment::DEFAULT,
        version: V0_5,
        file_functions: true,
        storage: ext4("ordered"),
        direct: Some(Alignment { memory: 4, offset: 512 }),
        offset: 512,
        len: 4096,
        address: 0x1_0004,
    }
}

fn ext4(journal: &str) -> Storage {
    Storage::Regular(FileSystem::Ext4 { journal: journal.to_owned() })
}

fn other() -> Storage {
    Storage::Regular(FileSystem::Other { name: "tmpfs".to_owned() })
}

/// One rule after the other is broken: the reason is named, with the text and nothing else.
#[test]
fn each_rule_alone() {
    type Break = fn(&mut Facts);
    let table: [(Break, &str); 12] = [
        (|f| f.environment.force_compat = true, "HIPFILE_FORCE_COMPAT_MODE=true switches the fast path off"),
        (|f| f.file_functions = false, "HIP has no hipAmdFileRead and hipAmdFileWrite"),
        (|f| f.direct = None, "the file can't be opened with O_DIRECT"),
        (|f| f.storage = Storage::Other, "the file is neither a regular file nor a block device"),
        (|f| f.storage = other(), "the file is on tmpfs, not on ext4 or xfs"),
        (
            |f| f.storage = Storage::Regular(FileSystem::Unknown),
            "the file is on a device that is not in the mount table",
        ),
        (|f| f.storage = ext4("journal"), "the file is on ext4 with data=journal"),
        (|f| f.storage = ext4("writeback"), "the file is on ext4 with data=writeback"),
        (|f| f.offset = 511, "offset 511 is no multiple of 512"),
        (|f| f.len = 1, "length 1 is no multiple of 512"),
        (|f| f.address = 0x1_0002, "device address 0x10002 is no multiple of 4"),
        (
            |f| f.direct = Some(Alignment { memory: 8, offset: 512 }),
            "device address 0x10004 is no multiple of 8",
        ),
    ];
    for (broken, text) in table {
        let mut facts = ideal();
        broken(&mut facts);
        let Explanation { path, reasons } = predict(&facts);
        let texts: Vec<_> = reasons.iter().map(Reason::to_string).collect();
        assert_eq!((path, texts), (Predicted::Fallback, vec![text.to_owned()]));
    }
}

/// What keeps every rule.
#[test]
fn the_fast_path() {
    type Change = fn(&mut Facts);
    let table: [Change; 7] = [
        |_| (),
        |f| f.storage = Storage::BlockDevice,
        |f| f.storage = Storage::Regular(FileSystem::Xfs),
        |f| (f.storage, f.environment.any_file_system) = (other(), true),
        |f| (f.storage, f.environment.any_file_system) = (ext4("journal"), true),
        |f| f.environment.allow_compat = false,
        |f| f.version = V0_2,
    ];
    for (row, change) in table.into_iter().enumerate() {
        let mut facts = ideal();
        change(&mut facts);
        let expected = Explanation { path: Predicted::FastPath, reasons: Vec::new() };
        assert_eq!(predict(&facts), expected, "row {row}");
    }
    let mut device = ideal();
    (device.storage, device.environment.any_file_system) = (Storage::Other, true);
    assert_eq!(predict(&device).reasons, [Reason::FileType], "the variable is about regular files");
}

/// The table of both variables: contract 6.5.
#[test]
fn the_environment() {
    use Predicted::{Fallback, FastPath, Refused};
    let table = [
        // force, allow, version: a transfer that keeps the rules, and one that does not
        (false, true, V0_2, FastPath, Fallback),
        (false, true, V0_5, FastPath, Fallback),
        (false, false, V0_2, FastPath, Refused),
        (false, false, V0_5, FastPath, Refused),
        (true, true, V0_2, Fallback, Fallback),
        (true, true, V0_5, Fallback, Fallback),
        (true, false, V0_2, Refused, Refused),
        (true, false, V0_5, Fallback, Fallback),
    ];
    for (force_compat, allow_compat, version, kept, broken) in table {
        let environment = Environment { force_compat, allow_compat, ..Environment::DEFAULT };
        let facts = Facts { environment, version, ..ideal() };
        assert_eq!(predict(&facts).path, kept, "{environment:?} {version}");
        assert_eq!(predict(&Facts { offset: 1, ..facts }).path, broken, "{environment:?} {version}");
    }
}

#[test]
fn explanations_are_one_line() {
    assert_eq!(predict(&ideal()).to_string(), "fast path");
    assert_eq!(predict(&Facts { len: 0, ..ideal() }).to_string(), "no path");
    assert_eq!(
        predict(&Facts { offset: 1, len: 10, ..ideal() }).to_string(),
        "fallback: offset 1 is no multiple of 512 (begin at a multiple: an earlier one, and skip the bytes before); \
         length 10 is no multiple of 512 (transfer a multiple, and the rest by a call of its own)"
    );
}

fn storages() -> impl Strategy<Value = Storage> {
    prop_oneof![
        Just(Storage::BlockDevice),
        Just(Storage::Other),
        Just(Storage::Regular(FileSystem::Xfs)),
        Just(Storage::Regular(FileSystem::Unknown)),
        Just(ext4("ordered")),
        Just(ext4("journal")),
        Just(other()),
    ]
}

prop_compose! {
    fn facts()(
        (force_compat, allow_compat, any_file_system, file_functions, has_direct) in any::<(bool, bool, bool, bool, bool)>(),
        storage in storages(),
        minor in 2..=5u32,
        (memory, block) in (0..13u32, 9..13u32),
        // Mostly multiples of something, else nothing would be aligned.
        (offset, len, address) in (0..1u64 << 20, 0..1u64 << 20, 0..1u64 << 20),
        (a, b, c) in (0..16u32, 0..16u32, 0..16u32),
    ) -> Facts {
        let direct = has_direct.then_some(Alignment { memory: 1 << memory, offset: 1 << block });
        Facts {
            environment: Environment { force_compat, allow_compat, any_file_system },
            version: Version { major: 0, minor, patch: 0 },
            file_functions,
            storage,
            direct,
            offset: offset << a,
            len: len << b,
            address: address << c,
        }
    }
}

/// What the facts are once a reason was taken away.
fn mend(facts: &mut Facts, reason: &Reason) {
    match reason {
        Reason::SwitchedOff => facts.environment.force_compat = false,
        Reason::NoFileFunctions => facts.file_functions = true,
        Reason::NoDirectIo => facts.direct = Some(Alignment { memory: 1, offset: 1 }),
        Reason::FileType | Reason::FileSystem { .. } | Reason::Journal { .. } => {
            facts.storage = Storage::Regular(FileSystem::Xfs);
        }
        Reason::Offset { alignment, .. } => facts.offset = facts.offset.next_multiple_of(*alignment),
        Reason::Length { alignment, .. } => facts.len = facts.len.next_multiple_of(*alignment),
        Reason::Address { alignment, .. } => facts.address = facts.address.next_multiple_of(*alignment),
    }
}

proptest! {
    /// The reasons are all there are, and each counts: with one left the transfer stays off the fast path, with none it takes
    /// it.
    #[test]
    fn mending_all_reasons_and_no_less_gives_the_fast_path(facts in facts()) {
        let found = predict(&facts);
        prop_assert_eq!(found.path == Predicted::Nothing, facts.len == 0);
        for left in 0..found.reasons.len() {
            let mut facts = facts.clone();
            let others = found.reasons.iter().enumerate().filter(|(nth, _)| *nth != left);
            others.for_each(|(_, reason)| mend(&mut facts, reason));
            let still = predict(&facts);
            prop_assert_eq!(still.reasons, &found.reasons[left..=left]);
            prop_assert!(matches!(still.path, Predicted::Fallback | Predicted::Refused));
        }
        if facts.len != 0 {
            let mut facts = facts.clone();
            found.reasons.iter().for_each(|reason| mend(&mut facts, reason));
            prop_assert_eq!(predict(&facts).path, Predicted::FastPath);
        }
    }

    /// Nothing is refused where the fallback is allowed, and nothing is fast where the fast path is switched off.
    #[test]
    fn the_environment_is_obeyed(facts in facts()) {
        let path = predict(&facts).path;
        prop_assert!(path != Predicted::Refused || !facts.environment.allow_compat);
        prop_assert!(path != Predicted::FastPath || !facts.environment.force_compat);
    }
}
