//! The results for people: gdsio's line, details of one measurement, a table of several.

use std::io;

use super::args::{Cache, Format};
use super::cache::CacheReport;
use super::measurement::Measurement;
use super::summary::Summary;
use crate::output::{Output, Style};
use crate::size::Size;

/// Prints them in the format asked for, or in the one that suits them.
pub fn print(results: &[Summary], format: Option<Format>, output: &Output) -> io::Result<()> {
    match (format, results) {
        (Some(Format::Gdsio), _) => {
            results.iter().filter_map(Summary::middle).try_for_each(|one| output.line(gdsio(one)))
        }
        (None, [one]) if one.rounds.len() == 1 => one.rounds.iter().try_for_each(|one| {
            output.line(gdsio(one))?;
            details(one).into_iter().try_for_each(|(name, text)| output.line(format!("  {name:<12}{text}")))
        }),
        _ => table(results).into_iter().zip(0..).try_for_each(|(row, index)| {
            output.line(if index == 0 { output.paint(Style::Heading, &row) } else { row })
        }),
    }
}

/// The line that gdsio ends with.
pub fn gdsio(one: &Measurement) -> String {
    format!(
        "IoType: {} XferType: {} Threads: {} DataSetSize: {}/{}(KiB) IOSize: {}(KiB) Throughput: {:.6} GiB/sec, \
         Avg_Latency: {:.6} usecs ops: {} total_time {:.6} secs",
        one.operation.name().to_uppercase(),
        one.mode.xfer_type(),
        one.threads,
        kib(one.bytes),
        kib(one.data_set),
        kib(one.block.0),
        one.gib_per_second,
        one.latency_us.mean,
        one.operations,
        one.span_seconds,
    )
}

/// Whole where it is whole.
fn kib(bytes: u64) -> String {
    if bytes % 1024 == 0 { (bytes / 1024).to_string() } else { format!("{:.3}", bytes as f64 / 1024.0) }
}

fn details(one: &Measurement) -> Vec<(&'static str, String)> {
    let latency = one.latency_us;
    let mut rows = vec![
        (
            "latency",
            format!(
                "{:.1} us or less for 50 %, {:.1} for 95 %, {:.1} for 99 %, {:.1} for 99.9 %, {:.1} at most",
                latency.p50, latency.p95, latency.p99, latency.p99_9, latency.max
            ),
        ),
        (
            "CPU",
            format!(
                "{:.3} s a GiB: {:.3} s in the program, {:.3} s in the system",
                one.cpu.seconds_per_gib, one.cpu.user_seconds, one.cpu.system_seconds
            ),
        ),
        ("page cache", page_cache(&one.page_cache)),
    ];
    rows.extend(one.path().map(|path| ("path", path)));
    if let Some(bytes) = one.verified {
        let what = if one.operation.writes() { "making the bytes" } else { "checking" };
        rows.push(("verified", format!("{}, every byte as written; the time includes {what}", Size(bytes))));
    }
    rows
}

fn page_cache(report: &CacheReport) -> String {
    let asked = match report.asked {
        Cache::AsIs => "as it was",
        Cache::Warm => "to be warm",
        Cache::Cold => "to be cold",
    };
    match (report.before, report.after) {
        (Some(before), Some(after)) => {
            format!("{asked}: {} of the data in it before, {} after", percent(before), percent(after))
        }
        _ => format!("{asked}; the system does not tell how much of the data was in it"),
    }
}

fn percent(share: f64) -> String {
    // 99.96 % are not all, and one page is not nothing.
    let tenths = share * 1000.0;
    let tenths = if tenths > 500.0 { tenths.floor() } else { tenths.ceil() };
    if tenths % 10.0 == 0.0 { format!("{:.0} %", tenths / 10.0) } else { format!("{:.1} %", tenths / 10.0) }
}

/// The heading and a row for each; the columns are as wide as they need to be.
fn table(results: &[Summary]) -> Vec<String> {
    let several = results.iter().any(|result| result.rounds.len() > 1);
    let compared = results.iter().any(|result| result.ratio.is_some());
    let mut heading = vec!["mode", "threads", "block", "GiB/s"];
    if several {
        heading.push("least-most");
    }
    if compared {
        heading.push("ratio");
    }
    heading.extend(["p50 us", "p95 us", "p99 us", "p99.9 us", "CPU s/GiB", "cached", "path"]);
    let mut rows = vec![heading.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for result in results {
        let Some(middle) = result.middle() else { continue };
        let mut row = vec![
            result.mode.to_string(),
            result.threads.to_string(),
            result.block.to_string(),
            format!("{:.2}", result.gib_per_second),
        ];
        if several {
            row.push(format!("{:.2}-{:.2}", result.least_gib_per_second, result.most_gib_per_second));
        }
        if compared {
            row.push(result.ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")));
        }
        let latency = middle.latency_us;
        row.extend([latency.p50, latency.p95, latency.p99, latency.p99_9].map(|time| format!("{time:.1}")));
        row.push(format!("{:.3}", middle.cpu.seconds_per_gib));
        row.push(middle.page_cache.before.map_or_else(|| "?".to_owned(), percent));
        row.push(middle.path().unwrap_or_else(|| "-".to_owned()));
        rows.push(row);
    }
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.len()).max();
    let widths: Vec<_> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            // Words to the left, numbers to the right.
            if column == 0 || column + 1 == columns {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::bench::latency::Histogram;
    use crate::bench::measurement::Findings;
    use crate::bench::mode::Mode;
    use crate::bench::operation::Operation;
    use crate::bench::plan::{Case, Settings};
    use crate::bench::summary::summarize;
    use crate::usage::Usage;
    use hipfile::{Observed, Predicted};

    /// As if by a clock that says so: 64 MiB in so many milliseconds.
    fn measured(case: Case, millis: u64) -> Measurement {
        let mut times = Histogram::default();
        (0..16).for_each(|_| times.record(Duration::from_micros(100)));
        let found = Findings {
            bytes: 64 << 20,
            data_set: 128 << 20,
            span: Duration::from_millis(millis),
            times,
            usage: Usage { user: Duration::from_millis(10), system: Duration::from_millis(15) },
            page_cache: CacheReport { asked: Cache::Cold, before: Some(0.0), after: Some(0.5) },
            predicted: case.mode.is_hipfile().then_some(Predicted::Fallback),
            observed: case.mode.is_hipfile().then_some(Observed::FastPath),
            verified: Some(64 << 20),
        };
        Measurement::of(case, Operation::RandRead, found)
    }

    fn case(mode: Mode) -> Case {
        Case { mode, threads: 4, block: 4 << 20 }
    }

    #[test]
    fn the_line_is_that_of_gdsio() {
        assert_eq!(
            gdsio(&measured(case(Mode::Sync), 125)),
            "IoType: RANDREAD XferType: GPUD Threads: 4 DataSetSize: 65536/131072(KiB) IOSize: 4096(KiB) \
             Throughput: 0.500000 GiB/sec, Avg_Latency: 100.000000 usecs ops: 16 total_time 0.125000 secs"
        );
        assert_eq!(kib(1000), "0.977");
    }

    #[test]
    fn details_of_one() {
        let rows = details(&measured(case(Mode::Sync), 125));
        let expected = [
            (
                "latency",
                "100.0 us or less for 50 %, 100.0 for 95 %, 100.0 for 99 %, 100.0 for 99.9 %, 100.0 at most",
            ),
            ("CPU", "0.400 s a GiB: 0.010 s in the program, 0.015 s in the system"),
            ("page cache", "to be cold: 0 % of the data in it before, 50 % after"),
            ("path", "fast path"),
            ("verified", "64 MiB, every byte as written; the time includes checking"),
        ];
        assert_eq!(rows, expected.map(|(name, text)| (name, text.to_owned())));
        let unobserved = Measurement { path: None, ..measured(case(Mode::Async), 125) };
        assert_eq!(unobserved.path().as_deref(), Some("fallback (predicted)"));
        assert_eq!(Measurement { predicted: None, ..unobserved }.path().as_deref(), Some("?"));
        assert_eq!(measured(case(Mode::Mmap), 125).path(), None);
        let untold = CacheReport { asked: Cache::Warm, before: None, after: None };
        assert!(page_cache(&untold).contains("does not tell"));
        assert_eq!(
            [0.0, 0.000_01, 0.123, 0.9999, 1.0].map(percent),
            ["0 %", "0.1 %", "12.3 %", "99.9 %", "100 %"]
        );
    }

    #[test]
    fn several_are_a_table_of_medians() {
        let cases = [case(Mode::Posix), case(Mode::Sync)];
        let rounds: Vec<Vec<_>> = [[250, 125], [500, 60], [200, 100]]
            .map(|round| cases.into_iter().zip(round).map(|(case, millis)| measured(case, millis)).collect())
            .into();
        let settings = Settings {
            operation: Operation::RandRead,
            device: 0,
            offset: 0,
            seed: 0,
            time: None,
            verify: false,
            registered: true,
            depth: 8,
            warmup: 0,
            cache: Cache::Cold,
            direct: false,
            sync: true,
            own_files: false,
        };
        let results = summarize(&cases, &settings, &rounds);
        let expected = "\
mode   threads  block  GiB/s  least-most  ratio  p50 us  p95 us  p99 us  p99.9 us  CPU s/GiB  cached  path
posix        4  4 MiB   0.25   0.12-0.31   1.00   100.0   100.0   100.0     100.0      0.400     0 %  -
sync         4  4 MiB   0.62   0.50-1.04   2.50   100.0   100.0   100.0     100.0      0.400     0 %  fast path";
        assert_eq!(table(&results).join("\n"), expected);
    }
}
