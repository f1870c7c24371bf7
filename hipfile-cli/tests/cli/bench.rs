//! `hipfile bench`: the page, what is measured, what is checked.

use std::fs;
use std::time::Instant;

use serde_json::Value;

use crate::support::{Page, Ran, Stage};

/// Runs `hipfile bench` with these arguments, given as in a shell.
pub fn bench(stage: &Stage, arguments: &str) -> Ran {
    let arguments: Vec<_> = std::iter::once("bench").chain(arguments.split_whitespace()).collect();
    stage.run(&arguments)
}

/// The one measurement in JSON.
fn measurement(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let json = ran.json();
    assert_eq!(json["results"].as_array().unwrap().len(), 1, "{json}");
    json["results"][0]["rounds"][0].clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A line without what differs from run to run: times, and what follows from them.
fn without_times(line: &str) -> String {
    let words: Vec<_> = line.split_whitespace().collect();
    let is_number = |word: &str| word.contains(|c: char| c.is_ascii_digit());
    let masked = words.iter().enumerate().map(|(index, word)| {
        let share = words.get(index + 1).is_some_and(|next| next.starts_with('%'));
        let time = word.contains('.') || word.contains("e-");
        if is_number(word) && (share || time) { "#" } else { word }
    });
    masked.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_page_is_current() {
    let stage = Stage::new();
    if stage.is_as_in_the_pages() {
        Page::new("cli-bench.md", stage).mask(without_times).check();
    }
}

#[test]
fn bandwidth_is_bytes_over_one_span() {
    // Each of 32 transfers takes at least 20 ms, and each thread makes 8 of them.
    let stage = Stage::new().variable("SOFT_ROCM_FAULTS", Some("hipFileRead:delay=20ms"));
    let outside = Instant::now();
    let ran = bench(&stage, "-f F -s 2M -i 64K -w 4 -x 0 -I 0 -V --warmup 0 --json");
    let outside = outside.elapsed().as_secs_f64();
    let one = measurement(&ran);
    let (bytes, span) = (number(&one["bytes"]), number(&one["span_seconds"]));
    assert_eq!((bytes, one["operations"].as_u64()), (2_097_152.0, Some(32)));
    let speed = bytes / f64::from(1 << 30) / span;
    assert!((number(&one["gib_per_second"]) / speed - 1.0).abs() < 1e-9, "{one}");
    // Not the sum of what the threads took, and not less than one of them.
    assert!((0.16..=outside).contains(&span), "{one} in {outside}");
    assert!(number(&one["latency_us"]["mean"]) >= 20_000.0, "{one}");
    assert_eq!((&one["verified"], &one["data_set"]), (&2_097_152.into(), &2_097_152.into()));
    assert_eq!(ran.json()["results"][0]["gib_per_second"], one["gib_per_second"]);
}

#[test]
fn the_line_says_the_same_as_the_json() {
    let stage = Stage::new();
    let line = bench(&stage, "-f F -s 8M -i 1M -w 2 -x 0 -I 1 -V --format gdsio").stdout;
    assert_eq!(line.lines().count(), 1, "{line}");
    let after = |name: &str| {
        let rest = line.split_once(name).unwrap_or_else(|| panic!("{name}: {line}")).1;
        rest.split_whitespace().next().unwrap().parse::<f64>().unwrap()
    };
    let (speed, span) = (after("Throughput: "), after("total_time "));
    // 8 MiB, as far as six digits of a speed tell.
    assert!((speed * span * 128.0 - 1.0).abs() < 1e-3, "{line}");
    assert!(line.starts_with(
        "IoType: WRITE XferType: GPUD Threads: 2 DataSetSize: 8192/8192(KiB) IOSize: 1024(KiB) "
    ));
    assert!(line.contains(" ops: 8 "), "{line}");
}

#[test]
fn every_mode_moves_the_bytes_both_ways() {
    let stage = Stage::new();
    for mode in ["sync", "host", "posix", "async", "batch", "transfer", "mmap"] {
        // Blocks that are no multiple of a page, a last one that is shorter, an offset.
        for (operation, size) in
            [("write", 300_001), ("read", 300_001), ("randwrite", 262_144), ("randread", 262_144)]
        {
            let line = format!("-f F -o 4100 -s {size} -i 20K -w 3 -x {mode} -I {operation} -V -k 5 --json");
            let one = measurement(&bench(&stage, &line));
            let (bytes, verified) = (one["bytes"].as_u64().unwrap(), one["verified"].as_u64().unwrap());
            if operation.starts_with("rand") {
                assert!(bytes > 0 && verified > 0 && verified <= bytes, "{line}: {one}");
            } else {
                assert_eq!((bytes, verified), (size, size), "{line}: {one}");
            }
        }
        fs::remove_file(stage.path().join("F")).unwrap();
    }
    for mode in ["sync", "transfer"] {
        for operation in ["write", "read"] {
            let line = format!("-f F -s 1M -i 64K -w 2 -x {mode} -I {operation} -V -b --json");
            let ran = bench(&stage, &line);
            assert_eq!(
                (&measurement(&ran)["verified"], &ran.json()["registered"]),
                (&1_048_576.into(), &false.into())
            );
        }
    }
}

#[test]
fn a_wrong_byte_is_found_and_named() {
    let stage = Stage::new();
    let file = stage.path().join("F");
    assert_eq!(bench(&stage, "-f F -s 1M -I 1 -V").code, Some(0));
    let mut bytes = fs::read(&file).unwrap();
    bytes[654_321] ^= 1;
    fs::write(&file, &bytes).unwrap();
    for mode in ["sync", "host", "posix", "async", "batch", "transfer", "mmap"] {
        let ran = bench(&stage, &format!("-f F -i 64K -w 2 -x {mode} -V --warmup 0"));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{mode}");
        assert!(
            ran.stderr.starts_with("error: F has a wrong byte at offset 654321: 0x"),
            "{mode}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains("-I 1 -V -k 0"), "{}", ran.stderr);
    }
    // Without -V nobody looks, and another seed is other bytes from the first on that is no mark.
    assert_eq!(bench(&stage, "-f F").code, Some(0));
    assert!(bench(&stage, "-f F -V -k 1").stderr.contains("wrong byte at offset 8: "));
}

#[test]
fn time_ends_it_and_blocks_come_again() {
    let stage = Stage::new();
    let one = measurement(&bench(&stage, "-f F -s 64K -i 16K -w 2 -T 0.2 -x 1 --json"));
    assert!(number(&one["span_seconds"]) >= 0.2, "{one}");
    assert!(one["bytes"].as_u64() > one["data_set"].as_u64(), "{one}");
}

#[test]
fn the_page_cache_is_as_asked_or_the_lack_is_told() {
    let stage = Stage::new();
    let cache = |arguments: &str| {
        let ran = bench(&stage, arguments);
        let cache = measurement(&ran)["page_cache"].clone();
        ((number(&cache["before"]), number(&cache["after"])), cache["asked"].clone(), ran.stderr)
    };
    let on_a_disk = stage.is_as_in_the_pages();
    let ((before, after), asked, warning) = cache("-f F -s 4M -x sync --cache cold --json");
    assert_eq!(asked, "cold");
    if before > 0.01 {
        assert!(!on_a_disk, "{before}");
        assert!(warning.starts_with("hipfile: the page cache could not be made cold: "), "{warning}");
        let quiet = bench(&stage, "-f F -x sync --cache cold -q");
        assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    } else {
        // The fast path leaves nothing there.
        assert!(warning.is_empty() && (after < 0.01 || !on_a_disk), "{after} {warning}");
    }
    let ((before, _), asked, warning) = cache("-f F -x sync --cache warm --json");
    assert_eq!((before, asked, warning), (1.0, "warm".into(), String::new()));
    let ((_, after), asked, _) = cache("-f F -x posix --json");
    assert_eq!((after, asked), (1.0, "as-is".into()));
}

#[test]
fn ways_are_compared_in_turn() {
    let stage = Stage::new();
    let ran = bench(
        &stage,
        "-f F -s 1M -i 64K,256K --compare posix,mmap,hipfile --rounds 3 --cache warm -v --json",
    );
    let results = ran.json()["results"].clone();
    let of = |name: &str| results.as_array().unwrap().iter().map(|one| one[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("mode"), ["posix", "mmap", "sync", "posix", "mmap", "sync"]);
    assert_eq!(of("block"), [65536, 65536, 65536, 262_144, 262_144, 262_144]);
    for (index, one) in results.as_array().unwrap().iter().enumerate() {
        let first = number(&results[index / 3 * 3]["gib_per_second"]);
        let speed = number(&one["gib_per_second"]);
        assert!((number(&one["ratio"]) - speed / first).abs() < 1e-9, "{one}");
        let mut rounds: Vec<_> =
            one["rounds"].as_array().unwrap().iter().map(|one| number(&one["gib_per_second"])).collect();
        rounds.sort_by(f64::total_cmp);
        assert_eq!((rounds.len(), rounds[1]), (3, speed));
        assert_eq!(
            (rounds[0], rounds[2]),
            (number(&one["least_gib_per_second"]), number(&one["most_gib_per_second"]))
        );
    }
    // All of one round come before the next.
    let notes: Vec<_> = ran.stderr.lines().filter(|line| line.contains("round")).collect();
    assert_eq!(notes.len(), 18);
    assert!(notes[0].contains("round 1 of 3: posix") && notes[1].contains("round 1 of 3: mmap"), "{notes:?}");
    assert!(notes[6].contains("round 2 of 3: posix, 1 thread, blocks of 64 KiB"), "{notes:?}");
}

#[test]
fn a_sweep_is_drawn() {
    let stage = Stage::new();
    let ran = bench(&stage, "-f F -s 1M -i 64K:256K:x2 -x host --plot sweep.svg");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.stdout.lines().count(), 1 + 3, "{ran:?}");
    let drawing = fs::read_to_string(stage.path().join("sweep.svg")).unwrap();
    for text in ["block size", "GiB/s", "64 KiB", "128 KiB", "256 KiB", "host"] {
        assert!(drawing.contains(&format!(">{text}</text>")), "{text}: {drawing}");
    }
}
