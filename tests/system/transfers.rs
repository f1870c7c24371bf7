//! Bytes through device memory and back.

use std::fs;

use hipfile::alloc::{Device, DeviceBuffer};
use hipfile::{Driver, ErrorKind};
use hipfile_tests::isolate::isolated;
use hipfile_tests::library;

use crate::common::{Scratch, filled, open, pattern, software_devices};

const SIZES: [usize; 7] = [0, 1, 4095, 4096, 4097, 10_007, 1 << 20];

/// HF-READ-21, HF-READ-22, HF-READ-40: the same for registered and for plain memory.
#[test]
fn files_of_all_sizes_round_trip() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    for (seed, size) in (1..).zip(SIZES) {
        let content = pattern(size, seed);
        let input = open(&driver, &scratch.file(&format!("in-{size}"), &content));
        for registered in [true, false] {
            let target = scratch.file(&format!("out-{size}-{registered}"), b"");
            let output = open(&driver, &target);
            // One byte more than the file has, so that its end shows; never an empty buffer.
            let mut memory = filled(size + 1, 0xa5);
            if registered {
                let mut memory = driver.register(&mut memory).unwrap();
                assert_eq!(input.read_at(memory.slice_mut(..).unwrap(), 0).unwrap(), size);
                input.read_exact_at(memory.slice_mut(..size).unwrap(), 0).unwrap();
                output.write_all_at(memory.slice(..size).unwrap(), 0).unwrap();
            } else {
                assert_eq!(input.read_at(memory.slice_mut(..).unwrap(), 0).unwrap(), size);
                input.read_exact_at(memory.slice_mut(..size).unwrap(), 0).unwrap();
                assert_eq!(output.write_at(memory.slice(..size).unwrap(), 0).unwrap(), size);
            }
            assert!(memory.to_vec().unwrap()[..size] == content, "{size} registered: {registered}");
            assert!(fs::read(&target).unwrap() == content, "{size} registered: {registered}");
        }
    }
}

/// HF-READ-25, HF-READ-26, HF-READ-27, HF-FAST-10: the numbers of a file of 10,007 bytes.
#[test]
fn the_end_of_a_file_is_short_and_then_zero() {
    let scratch = Scratch::new();
    let content = pattern(10_007, 2);
    let driver = Driver::open().unwrap();
    let file = open(&driver, &scratch.file("data", &content));
    let mut memory = driver.register(filled(65_536, 0)).unwrap();
    assert_eq!(file.read_at(memory.slice_mut(..).unwrap(), 0).unwrap(), 10_007);
    assert_eq!(file.read_at(memory.slice_mut(..4096).unwrap(), 8192).unwrap(), 1815);
    assert_eq!(memory.slice(..1815).unwrap().as_device().to_vec().unwrap(), content[8192..]);
    assert_eq!(file.read_at(memory.slice_mut(..4096).unwrap(), 12_288).unwrap(), 0);
    assert_eq!(file.read_at(memory.slice_mut(..4096).unwrap(), 10_007).unwrap(), 0);
    assert_eq!(file.read_at(memory.slice_mut(..1).unwrap(), 10_006).unwrap(), 1);
    let empty = open(&driver, &scratch.file("empty", b""));
    assert_eq!(empty.read_at(memory.slice_mut(..).unwrap(), 0).unwrap(), 0);

    let error = file.read_exact_at(memory.slice_mut(..4096).unwrap(), 8192).unwrap_err();
    assert_eq!((error.kind(), error.bytes_done()), (ErrorKind::UnexpectedEof, 1815));
    let text = error.to_string();
    assert!(text.ends_with(" at offset 8192, 4096 bytes, 1815 done: the file ended early"), "{text}");
    assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::UnexpectedEof);
    assert_eq!(memory.slice(..1815).unwrap().as_device().to_vec().unwrap(), content[8192..]);
}

/// HF-READ-23, HF-READ-24, HF-READ-28, HF-READ-37.
#[test]
fn any_alignment_works_and_touches_nothing_else() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let content = pattern(20_000, 5);
    let path = scratch.file("data", &content);
    let file = open(&driver, &path);
    for shift in [0, 1, 3, 4, 511, 512, 513, 4095] {
        for (len, offset) in
            [(1, 0), (1, 19_999), (4096, 4096), (4096, 1), (4095, 4096), (8192, 8192), (9_999, 7)]
        {
            let mut memory = filled(16_384, 0xa5);
            let mut registered = driver.register(&mut memory).unwrap();
            let range = shift..shift + len;
            file.read_exact_at(registered.slice_mut(range.clone()).unwrap(), offset).unwrap();
            drop(registered);
            let mut expected = vec![0xa5; 16_384];
            let at = usize::try_from(offset).unwrap();
            expected[range.clone()].copy_from_slice(&content[at..at + len]);
            assert!(memory.to_vec().unwrap() == expected, "read {len} at {offset} to {shift}");

            let target = scratch.file("target", &content);
            memory.fill(0x3c).unwrap();
            open(&driver, &target).write_all_at(memory.slice(range).unwrap(), offset).unwrap();
            let mut expected = content.clone();
            expected[at..at + len].fill(0x3c);
            assert!(fs::read(&target).unwrap() == expected, "write {len} at {offset} from {shift}");
        }
    }
}

/// HF-READ-29, HF-READ-30.
#[test]
fn writing_beyond_the_end_leaves_zeros_between() {
    let scratch = Scratch::new();
    let path = scratch.file("data", b"abc");
    let driver = Driver::open().unwrap();
    let file = open(&driver, &path);
    let mut memory = DeviceBuffer::from_host(b"xyz").unwrap();
    file.write_all_at(memory.slice(..).unwrap(), 5000).unwrap();
    let mut expected = vec![0; 5003];
    expected[..3].copy_from_slice(b"abc");
    expected[5000..].copy_from_slice(b"xyz");
    assert_eq!(fs::read(&path).unwrap(), expected);
    file.read_exact_at(memory.slice_mut(..).unwrap(), 1000).unwrap();
    assert_eq!(memory.to_vec().unwrap(), [0; 3]);
}

/// HF-BUF-12, HF-READ-18, HF-READ-19, HF-READ-20: part of a buffer, registered or not, from any of its slices.
#[test]
fn parts_of_a_buffer_are_found() {
    let scratch = Scratch::new();
    let content = pattern(8192, 6);
    let driver = Driver::open().unwrap();
    let file = open(&driver, &scratch.file("data", &content));
    let mut memory = filled(16_384, 0);
    {
        let mut part = driver.register_range(&mut memory, 4096..12_288).unwrap();
        assert_eq!((part.len(), part.memory().len()), (8192, 16_384));
        file.read_exact_at(part.slice_mut(4096..).unwrap(), 0).unwrap();
        file.read_exact_at(part.slice_mut(100..200).unwrap(), 7).unwrap();
    }
    file.read_exact_at(memory.slice_mut(13_000..13_010).unwrap(), 50).unwrap();
    let now = memory.to_vec().unwrap();
    assert_eq!(now[8192..12_288], content[..4096]);
    assert_eq!(now[4196..4296], content[7..107]);
    assert_eq!(now[13_000..13_010], content[50..60]);
}

/// HF-READ-41, HF-READ-42.
#[test]
fn copies_and_transfers_see_each_other() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let path = scratch.file("data", b"");
    let file = open(&driver, &path);
    let mut memory = driver.register(DeviceBuffer::new(4096).unwrap()).unwrap();
    for round in 0..50_u8 {
        let mut slice = memory.slice_mut(..).unwrap();
        slice.as_device_mut().fill(round).unwrap();
        slice.slice_mut(..2).unwrap().as_device_mut().copy_from_host(0, &[round ^ 0xff; 2]).unwrap();
        file.write_all_at(&slice, 0).unwrap();
        slice.as_device_mut().fill(0xee).unwrap();
        file.read_exact_at(&mut slice, 0).unwrap();
        let bytes = slice.as_device().to_vec().unwrap();
        assert!(bytes[..2] == [round ^ 0xff; 2] && bytes[2..].iter().all(|byte| *byte == round));
    }
}

/// HF-READ-45, SND-10: memory of one device, the other one current, before and after every call, failed ones too.
#[test]
fn the_current_device_stays_and_the_memory_s_is_used() {
    if !software_devices() {
        return;
    }
    let two = [("SOFT_ROCM_DEVICE_COUNT", "2")];
    isolated("transfers::the_current_device_stays_and_the_memory_s_is_used", &two, || {
        let scratch = Scratch::new();
        let path = scratch.file("data", b"0123456789");
        let (zero, one) = (Device::new(0).unwrap(), Device::new(1).unwrap());
        let guard = one.make_current().unwrap();
        let mut plain = DeviceBuffer::zeroed(10).unwrap();
        let memory = DeviceBuffer::zeroed(10).unwrap();
        let owner = memory.device();
        drop(guard);
        let unchanged = |what: &str| assert_eq!(Device::current().unwrap(), zero, "after {what}");

        let driver = Driver::open().unwrap();
        let mut registered = driver.register(memory).unwrap();
        assert_eq!((owner, registered.device(), registered.slice(..).unwrap().device()), (one, one, one));
        unchanged("register");
        let file = open(&driver, &path);
        file.read_exact_at(registered.slice_mut(..).unwrap(), 0).unwrap();
        file.read_exact_at(plain.slice_mut(..).unwrap(), 0).unwrap();
        unchanged("read");
        assert_eq!(registered.memory().to_vec().unwrap(), b"0123456789");
        file.write_all_at(registered.slice(..).unwrap(), 10).unwrap();
        unchanged("write");
        let reader = hipfile::OpenOptions::new().read(true).open(&driver, &path).unwrap();
        reader.write_at(registered.slice(..).unwrap(), 0).unwrap_err();
        file.read_exact_at(registered.slice_mut(..).unwrap(), 15).unwrap_err();
        unchanged("failure");
        drop(registered.deregister().unwrap());
        unchanged("deregister");
        // Fallback transfers are counted for the device that they use, whoever is current.
        if !library::has_0_5() {
            return;
        }
        let api = hipfile::sys::api::get().unwrap();
        let mut stats = Box::new(hipfile::sys::hipFileStatsLevel3_t::default());
        // SAFETY: requires a structure to fill; holds for the local one.
        let answer = unsafe { api.hipFileGetStatsL3.unwrap()(&raw mut *stats) };
        assert_eq!(answer.err, hipfile::sys::hipFileSuccess);
        assert_eq!((stats.per_gpu_stats[0].n_total_reads, stats.per_gpu_stats[0].n_total_writes), (0, 0));
        assert!(stats.per_gpu_stats[1].n_total_reads > 0);
    });
}
