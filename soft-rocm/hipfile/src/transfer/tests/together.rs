use super::*;

/// Reads one after the other in a file, from 100 on, to places in reverse order.
fn reads<'a>(file: &'a File, buffer: &'a Buffer, sizes: &[usize]) -> Vec<Request<'a>> {
    let mut file_offset = 100;
    let mut buffer_offset = buffer.len as i64;
    let read = |size: &usize| {
        buffer_offset -= *size as i64;
        let direction = Direction::Read;
        let request = Request { direction, file, buffer, size: *size, file_offset, buffer_offset };
        file_offset += *size as i64;
        request
    };
    sizes.iter().map(read).collect()
}

fn buffer(mock: &Mock) -> Buffer {
    Buffer { base: mock.pointer() as usize, len: mock.len(), device: DEVICE, host: false }
}

/// How many of such reads are done in one go, and how many reads and bytes are counted.
fn together(mock: &Mock, file: &File, sizes: &[usize]) -> (usize, u64, u64) {
    let (stats, _file) = Stats::new(Version::V0_5, 1);
    let buffer = buffer(mock);
    let done = read_together(&mock.hip, &stats, reads(file, &buffer, sizes).into_iter());
    let gpu = level_3(stats.shared().unwrap()).per_gpu_stats[DEVICE as usize];
    (done, gpu.n_posix_reads, gpu.read_bytes)
}

#[test]
fn what_the_system_gives_in_full_is_done() {
    let content = pattern(1000);
    let (_caller, file) = file(&content);
    let mock = Mock::with_alias(1200);
    assert_eq!(together(&mock, &file, &[300, 400, 200]), (3, 3, 900));
    assert_eq!(mock.calls(), ["hipGetDevice", "hipSetDevice 3", "hipStreamSynchronize", "hipSetDevice 0"]);
    assert_eq!(mock.memory()[900..], content[100..400]);
    assert_eq!(mock.memory()[500..900], content[400..800]);
    assert_eq!(mock.memory()[300..500], content[800..]);
    assert!(mock.memory()[..300].iter().all(|byte| *byte == 0xee));
}

#[test]
fn the_rest_is_left_to_others() {
    let (_caller, file) = file(&pattern(1000));
    let mock = Mock::with_alias(1200);
    assert_eq!(together(&mock, &file, &[300, 400, 201]), (2, 2, 700), "the file ends");
    assert_eq!(together(&mock, &file, &[1000, 100]), (0, 0, 0));
    assert_eq!(together(&mock, &file, &[]), (0, 0, 0));
    let writer = std::fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
    let writer = File::new(writer.as_raw_fd()).unwrap();
    assert_eq!(together(&mock, &writer, &[300, 400]), (0, 0, 0), "the system refuses");
    mock.fail("hipStreamSynchronize", 719);
    assert_eq!(together(&mock, &file, &[300, 400]), (0, 0, 0));
    mock.fail("hipGetDevice", 719);
    assert_eq!(together(&mock, &file, &[300, 400]), (0, 0, 0));
    let without_alias = Mock::new(1200);
    assert_eq!(together(&without_alias, &file, &[300, 400]), (0, 0, 0));
    let tiny = Mock::with_alias(16);
    assert_eq!(together(&tiny, &file, &[10, 10]), (0, 0, 0), "the alias ends");
}

#[test]
fn which_reads_are_small() {
    let (_caller, file) = file(&pattern(1000));
    let mock = Mock::with_alias(1 << 20);
    let buffer = buffer(&mock);
    let small = |hip: &Hip, config: &Config, file: &File, direction, size| {
        let request = Request { direction, file, buffer: &buffer, size, file_offset: 0, buffer_offset: 0 };
        request.is_small_read(hip, config)
    };
    let read = Direction::Read;
    assert!(small(&mock.hip, &DEFAULT, &file, read, 16384));
    assert!(small(&mock.hip, &DEFAULT, &file, read, 1));
    assert!(!small(&mock.hip, &DEFAULT, &file, read, 16385));
    assert!(!small(&mock.hip, &DEFAULT, &file, read, 0));
    assert!(!small(&mock.hip, &DEFAULT, &file, Direction::Write, 512));
    assert!(!small(&mock.hip, &NO_FALLBACK, &file, read, 512));
    let quirks = Config { behaviour: Behaviour { amd_quirks: true, ..Behaviour::DEFAULT }, ..DEFAULT };
    assert!(!small(&mock.hip, &quirks, &file, read, 512));
    let (_caller, direct) = direct_file();
    assert!(!small(&mock.hip, &DEFAULT, &direct, read, 512), "HIP moves it");
    assert!(small(&mock.hip, &DEFAULT, &direct, read, 511));
    let null = std::fs::File::open("/dev/null").unwrap();
    assert!(!small(&mock.hip, &DEFAULT, &File::new(null.as_raw_fd()).unwrap(), read, 512));
    assert!(!small(&Mock::new(1 << 20).hip, &DEFAULT, &file, read, 512));
}

#[test]
fn which_reads_join() {
    let (_caller, one) = file(&pattern(1000));
    let (_caller, other) = file(&pattern(1000));
    let mock = Mock::with_alias(1000);
    let (buffer, elsewhere) = (buffer(&mock), Buffer { device: DEVICE + 1, ..buffer(&mock) });
    let [first, second] = reads(&one, &buffer, &[10, 20])[..] else { panic!("two reads") };
    assert!(first.joins(&second));
    assert!(!second.joins(&first));
    assert!(!first.joins(&Request { file: &other, ..second }));
    assert!(!first.joins(&Request { buffer: &elsewhere, ..second }));
    assert!(!first.joins(&Request { file_offset: second.file_offset + 1, ..second }));
    let last = Request { file_offset: i64::MAX - 5, ..first };
    assert!(!last.joins(&Request { file_offset: i64::MIN + 4, ..second }), "no offset wraps");
}
