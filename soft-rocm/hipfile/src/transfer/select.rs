//! Which path a request takes.

use super::Request;
use crate::config::Config;
use crate::file::Kind;
use crate::hip::Hip;
use crate::mount::FileSystem;
use crate::stats::{Path, Stats};

/// Alignment by which requests on files without direct I/O are counted as unaligned.
const USUAL_ALIGNMENT: u32 = 4096;

/// The fast path if it accepts the request, else the fallback if it is allowed. The fallback takes anything.
#[inline]
pub(crate) fn select(hip: &Hip, config: &Config, stats: &Stats, request: &Request<'_>) -> Option<Path> {
    if takes_fast_path(hip, config, request) {
        return Some(Path::Fast);
    }
    stats.fast_path_declined();
    if config.fallback { Some(Path::Fallback) } else { None }
}

/// Whether a request is moved by HIP.
#[inline]
pub(super) fn takes_fast_path(hip: &Hip, config: &Config, request: &Request<'_>) -> bool {
    config.fast_path && accepts(config, request) && hip.ais().is_some()
}

/// Whether a request is fit for the fast path. That the memory is a device's holds for every buffer there is.
fn accepts(config: &Config, request: &Request<'_>) -> bool {
    let file = request.file;
    let permitted = match file.kind {
        Kind::BlockDevice => true,
        Kind::Regular => {
            config.any_file_system || matches!(file.file_system, FileSystem::Ext4Ordered | FileSystem::Xfs)
        }
        Kind::Other => false,
    };
    file.direct.is_some()
        && permitted
        && request.file_offset >= 0
        && request.buffer_offset >= 0
        && is_direct(request)
}

/// Whether the request has the alignment that its file's direct I/O needs.
pub(crate) fn is_direct(request: &Request<'_>) -> bool {
    let file = request.file;
    file.offset_alignment != 0
        && file.memory_alignment != 0
        && fits(request, file.offset_alignment, file.memory_alignment)
}

/// Whether the request has the alignment of its file, or the usual one where the file has none.
pub(super) fn is_aligned(request: &Request<'_>) -> bool {
    let or_usual = |alignment| if alignment == 0 { USUAL_ALIGNMENT } else { alignment };
    fits(request, or_usual(request.file.offset_alignment), or_usual(request.file.memory_alignment))
}

/// Alignments are powers of two, 0 excepted. The size is judged as asked for.
fn fits(request: &Request<'_>, offset_alignment: u32, memory_alignment: u32) -> bool {
    let address = request.address().addr();
    is_multiple(request.file_offset as u64, offset_alignment)
        && is_multiple(request.size as u64, offset_alignment)
        && is_multiple(address as u64, memory_alignment)
}

fn is_multiple(value: u64, power: u32) -> bool {
    value & u64::from(power).wrapping_sub(1) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviour::{Behaviour, Version};
    use crate::buffer::Buffer;
    use crate::file::File;
    use crate::hip::test::Mock;
    use crate::stats::Direction;
    use std::os::fd::AsRawFd;

    const DEFAULT: Config =
        Config { fast_path: true, fallback: true, any_file_system: false, behaviour: Behaviour::DEFAULT };

    /// A request that the fast path takes, until a rule is broken.
    struct Case {
        mock: Mock,
        config: Config,
        file: File,
        buffer: Buffer,
        size: usize,
        file_offset: i64,
        buffer_offset: i64,
    }

    impl Case {
        fn new() -> Self {
            let caller = std::fs::File::open("/dev/null").unwrap();
            let mut file = File::new(caller.as_raw_fd()).unwrap();
            file.direct = Some(99);
            file.kind = Kind::Regular;
            file.file_system = FileSystem::Ext4Ordered;
            file.offset_alignment = 512;
            file.memory_alignment = 4;
            Self {
                mock: Mock::new(1),
                config: DEFAULT,
                file,
                buffer: Buffer { base: 0x10000, len: 0x10000, device: 0, host: false },
                size: 4096,
                file_offset: 512,
                buffer_offset: 4,
            }
        }

        fn request(&self) -> Request<'_> {
            let Self { file, buffer, size, file_offset, buffer_offset, .. } = self;
            let (size, file_offset, buffer_offset) = (*size, *file_offset, *buffer_offset);
            Request { direction: Direction::Read, file, buffer, size, file_offset, buffer_offset }
        }

        fn path(&self) -> Option<Path> {
            select(&self.mock.hip, &self.config, &Stats::new(Version::V0_5, 0).0, &self.request())
        }
    }

    #[test]
    fn without_direct_io_the_usual_alignment_counts() {
        let aligned = |change: fn(&mut Case)| {
            let mut case = Case::new();
            change(&mut case);
            is_aligned(&case.request())
        };
        assert!(aligned(|_| ()));
        assert!(!aligned(|case| case.file_offset = 256));
        let usual = |case: &mut Case| {
            (case.file.offset_alignment, case.file.memory_alignment) = (0, 0);
            (case.file_offset, case.buffer_offset) = (4096, 4096);
        };
        assert!(aligned(usual));
        assert!(!aligned(|case| (case.file.offset_alignment, case.size) = (0, 512)));
        assert!(!aligned(|case| (case.file.memory_alignment, case.buffer_offset) = (0, 512)));
    }

    fn path(change: impl FnOnce(&mut Case)) -> Option<Path> {
        let mut case = Case::new();
        change(&mut case);
        case.path()
    }

    #[test]
    fn each_rule_of_the_fast_path() {
        assert_eq!(path(|_| ()), Some(Path::Fast));
        type Change = fn(&mut Case);
        let refused: [(&str, Change); 14] = [
            ("compat mode forced", |case| case.config.fast_path = false),
            ("no file functions", |case| case.mock.hip.get_proc_address = None),
            ("file functions not found", |case| case.mock.fail("hipGetProcAddress", 1)),
            ("only one file function", |case| case.mock.fail_after(1, "hipGetProcAddress", 1)),
            ("no direct descriptor", |case| case.file.direct = None),
            ("negative file offset", |case| case.file_offset = -512),
            ("negative buffer offset", |case| case.buffer_offset = -4),
            ("other kind of file", |case| case.file.kind = Kind::Other),
            ("other mode of ext4", |case| case.file.file_system = FileSystem::Ext4Other),
            ("other file system", |case| case.file.file_system = FileSystem::Other),
            ("no direct offsets", |case| case.file.offset_alignment = 0),
            ("no direct memory", |case| case.file.memory_alignment = 0),
            ("unaligned file offset", |case| case.file_offset = 256),
            ("unaligned size", |case| case.size = 4095),
        ];
        for (rule, change) in refused {
            assert_eq!(path(change), Some(Path::Fallback), "{rule}");
        }
        assert_eq!(path(|case| case.buffer_offset = 2), Some(Path::Fallback), "unaligned address");
        assert_eq!(path(|case| case.buffer.base += 2), Some(Path::Fallback), "unaligned base");
        assert_eq!(
            path(|case| (case.buffer.base, case.buffer_offset) = (0x10002, 2)),
            Some(Path::Fast),
            "the sum counts"
        );
    }

    #[test]
    fn what_else_the_fast_path_takes() {
        assert_eq!(path(|case| case.file.file_system = FileSystem::Xfs), Some(Path::Fast));
        assert_eq!(path(|case| case.size = 0), Some(Path::Fast));
        let block = |case: &mut Case| {
            (case.file.kind, case.file.file_system) = (Kind::BlockDevice, FileSystem::Other);
        };
        assert_eq!(path(block), Some(Path::Fast));
        let anywhere = |case: &mut Case| {
            (case.config.any_file_system, case.file.file_system) = (true, FileSystem::Other);
        };
        assert_eq!(path(anywhere), Some(Path::Fast));
        let not_even_anywhere = |case: &mut Case| {
            (case.config.any_file_system, case.file.kind) = (true, Kind::Other);
        };
        assert_eq!(path(not_even_anywhere), Some(Path::Fallback));
    }

    #[test]
    fn without_the_fallback() {
        assert_eq!(path(|case| case.config.fallback = false), Some(Path::Fast));
        assert_eq!(path(|case| (case.config.fallback, case.size) = (false, 1)), None);
    }

    #[test]
    fn the_size_is_judged_before_it_is_cut() {
        assert_eq!(path(|case| case.size = (1 << 32) + 1), Some(Path::Fallback));
        assert_eq!(path(|case| case.size = 1 << 32), Some(Path::Fast));
    }
}
