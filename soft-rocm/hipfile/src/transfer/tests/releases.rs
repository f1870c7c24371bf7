//! Transfers as earlier releases do them, and as AMD's library does.

use super::*;

fn config(version: Version) -> Config {
    Config { behaviour: Behaviour { version, ..Behaviour::DEFAULT }, ..FALLBACK }
}

const AMD: Config = Config { behaviour: Behaviour { amd_quirks: true, ..Behaviour::DEFAULT }, ..FALLBACK };

#[test]
fn negative_offsets() {
    let (_caller, file) = direct_file();
    let mock = Mock::new(8192);
    let read = |version, fast_path, fallback, file_offset, buffer_offset| {
        let config = Config { fast_path, fallback, ..config(version) };
        let (result, stats) = run(&mock, &config, Direction::Read, &file, 512, file_offset, buffer_offset);
        assert_eq!(level_3(stats.shared().unwrap()).num_gpus, 0, "nothing is counted");
        result
    };
    for (file_offset, buffer_offset) in [(-512, 0), (0, -512), (-512, -512)] {
        for (fast_path, fallback, in_0_2) in [
            (true, true, Failure::INVALID_VALUE),
            (false, true, Failure::INVALID_VALUE),
            (true, false, Failure::INTERNAL),
            (false, false, Failure::INTERNAL),
        ] {
            let result = |version| read(version, fast_path, fallback, file_offset, buffer_offset);
            let einval = Err(Failure::Os(libc::EINVAL));
            assert_eq!(Version::ALL.map(result), [Err(in_0_2), einval, einval]);
        }
    }
}

#[test]
fn the_fallback_changes_the_device_from_0_5_on() {
    let (_caller, file) = file(&pattern(10));
    for (new, calls) in [
        (Mock::new as fn(usize) -> Mock, ["hipMemcpy 8 kind 1"]),
        (Mock::with_alias, ["hipStreamSynchronize"]),
    ] {
        for (version, switches) in [(Version::V0_2, false), (Version::V0_4, false), (Version::V0_5, true)] {
            let mock = new(64);
            run(&mock, &config(version), Direction::Read, &file, 8, 0, 0).0.unwrap();
            let expected = match switches {
                true => [&["hipGetDevice", "hipSetDevice 3"], &calls[..], &["hipSetDevice 0"]].concat(),
                false => calls.to_vec(),
            };
            assert_eq!(mock.calls(), expected, "{version:?}");
        }
    }
}

#[test]
fn amd_copies_in_chunks_of_16_mib() {
    let content = pattern(33 * MIB);
    let (caller, file) = file(&content);
    // The alias would save the copies, and is not used.
    let mock = Mock::with_alias(34 * MIB);
    assert_eq!(run(&mock, &AMD, Direction::Read, &file, 34 * MIB, 0, 0).0, Ok(33 * MIB));
    assert!(mock.memory()[..33 * MIB] == content);
    let large = "hipMemcpy 16777216 kind 1";
    assert_eq!(mock.calls()[2..5], [large, large, "hipMemcpy 1048576 kind 1"]);

    assert_eq!(run(&mock, &AMD, Direction::Write, &file, 17 * MIB, 1, 0).0, Ok(17 * MIB));
    let copies = ["hipMemcpy 16777216 kind 2", "hipStreamSynchronize"];
    let rest = ["hipMemcpy 1048576 kind 2", "hipStreamSynchronize"];
    assert_eq!(mock.calls()[2..6], [copies, rest].concat());
    let mut back = vec![0; 17 * MIB];
    caller.read_exact_at(&mut back, 1).unwrap();
    assert!(back == content[..17 * MIB]);

    assert_eq!(run(&mock, &AMD, Direction::Write, &file, 0, 0, 0).0, Ok(0));
    assert_eq!(mock.calls()[2..4], ["hipMemcpy 0 kind 2", "hipStreamSynchronize"]);
}

#[test]
fn amd_loses_the_count_before_an_error() {
    let (_caller, long) = file(&pattern(33 * MIB));
    let mock = Mock::new(33 * MIB);
    mock.fail_after(1, "hipMemcpy", 719);
    let read = run(&mock, &AMD, Direction::Read, &long, 33 * MIB, 0, 0).0;
    assert_eq!(read, Err(Failure::Hip(hipError_t(719))));
    assert!(mock.memory()[..16 * MIB] == pattern(16 * MIB), "the bytes are moved");
    assert_eq!(mock.memory()[16 * MIB], 0xee);

    let (_caller, mut sealed) = file(b"");
    let memfd = sealed_memfd(MIB + MIB / 2);
    sealed.buffered = memfd.as_raw_fd();
    let mock = Mock::with_alias(2 * MIB);
    let write = run(&mock, &AMD, Direction::Write, &sealed, MIB, MIB as i64, 0).0;
    assert_eq!(write, Err(Failure::Os(libc::EPERM)));
}

#[test]
fn amd_counts_the_fast_path_for_the_current_device() {
    let (_caller, file) = direct_file();
    let mock = Mock::new(8192);
    let counted = |config: &Config| {
        let (moved, stats) = run(&mock, config, Direction::Read, &file, 512, 0, 0);
        assert_eq!(moved, Ok(512));
        let gpus = level_3(stats.shared().unwrap()).per_gpu_stats;
        (gpus[0].n_nvfs_reads, gpus[DEVICE as usize].n_nvfs_reads)
    };
    assert_eq!(counted(&DEFAULT), (0, 1));
    assert_eq!(counted(&Config { fast_path: true, ..AMD }), (1, 0));
}
