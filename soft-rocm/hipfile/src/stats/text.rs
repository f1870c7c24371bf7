//! Statistics as text, for people.

use std::fmt::Write;

use super::layout::{CLASSES, Counters, Early, Histograms, Shared, of, read};
use super::{Direction, Path};

const PATHS: [(Path, &str); 2] = [(Path::Fast, "Fastpath"), (Path::Fallback, "Fallback")];
const DIRECTIONS: [(Direction, &str); 2] = [(Direction::Read, "Read"), (Direction::Write, "Write")];

/// What both reports begin with.
fn head(level: u64) -> String {
    format!("AIS-STATS Version: 1\nHipFile Stats Level: {level}\n")
}

/// The report of the layout of 0.2.
pub(super) fn early_report(early: &Early) -> String {
    let mut text = head(early.level());
    for (path, path_name) in PATHS {
        for (direction, name) in DIRECTIONS {
            line(
                &mut text,
                format_args!("Total {path_name} {name} (B): {}", read(early.bytes(path, direction))),
            );
        }
    }
    text
}

/// The report of the later layout: totals, then a table of each device and path in use.
pub(super) fn report(shared: &Shared) -> String {
    let mut text = head(shared.level());
    line(&mut text, format_args!("File Registrations: {}", read(&shared.files)));
    line(&mut text, format_args!("Buffer Registrations: {}", read(&shared.buffers)));
    line(&mut text, format_args!("Fastpath Rejections: {}", read(&shared.rejections)));
    for (path, path_name) in PATHS {
        let all: Vec<_> = (0..shared.gpus.len()).filter_map(|device| shared.counters(device, path)).collect();
        for (direction, name) in DIRECTIONS {
            let sum = |which: fn(&Counters) -> &Histograms| -> u64 {
                all.iter().flat_map(|counters| of(which(counters), direction)).map(read).sum()
            };
            let (bytes, microseconds) = (sum(|all| &all.bytes), sum(|all| &all.microseconds));
            let unaligned: u64 = all.iter().map(|counters| read(of(&counters.unaligned, direction))).sum();
            line(
                &mut text,
                format_args!(
                    "Total {path_name} {name}: Size (B) {bytes}, Bandwidth (GiB/s) {:.3}, Latency (us) {}, Errors {}, \
                     Unaligned {unaligned}",
                    gib_per_second(bytes, microseconds),
                    microseconds.checked_div(sum(|all| &all.completed)).unwrap_or(0),
                    sum(|all| &all.failed),
                ),
            );
        }
    }
    for device in 0..shared.gpus.len() {
        for (path, path_name) in PATHS {
            if let Some(counters) = shared.counters(device, path).filter(|counters| counters.in_use()) {
                line(&mut text, format_args!("GPU {device} {path_name}"));
                table(&mut text, counters);
            }
        }
    }
    text
}

/// The classes of size in which anything happened.
fn table(text: &mut String, counters: &Counters) {
    for (direction, name) in DIRECTIONS {
        let values =
            |histograms: &Histograms| -> Vec<u64> { of(histograms, direction).iter().map(read).collect() };
        let moved = values(&counters.completed).into_iter().zip(values(&counters.bytes));
        let rest = values(&counters.microseconds).into_iter().zip(values(&counters.failed));
        for (class, ((count, bytes), (microseconds, errors))) in moved.zip(rest).enumerate() {
            if count + errors > 0 {
                let size = size_of_class(class);
                let rate = gib_per_second(bytes, microseconds);
                let latency = microseconds.checked_div(count).unwrap_or(0);
                line(
                    text,
                    format_args!(
                        "  {name:<5} {size:>8} {count:>12} ops {bytes:>16} B {rate:>9.3} GiB/s {latency:>9} us \
                         {errors:>9} errors"
                    ),
                );
            }
        }
    }
}

/// The sizes of a class.
fn size_of_class(class: usize) -> String {
    match class {
        0 => "< 4K".into(),
        _ if class + 1 == CLASSES => ">= 64M".into(),
        _ if class < 9 => format!("{}K", 4 << (class - 1)),
        _ => format!("{}M", 1 << (class - 9)),
    }
}

fn gib_per_second(bytes: u64, microseconds: u64) -> f64 {
    if microseconds == 0 { 0.0 } else { bytes as f64 / f64::from(1 << 30) * 1e6 / microseconds as f64 }
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{content}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_classes() {
        let names: Vec<_> = (0..CLASSES).map(size_of_class).collect();
        assert_eq!(
            names,
            [
                "< 4K", "4K", "8K", "16K", "32K", "64K", "128K", "256K", "512K", "1M", "2M", "4M", "8M",
                "16M", "32M", ">= 64M"
            ]
        );
    }

    #[test]
    fn rates() {
        assert_eq!(gib_per_second(1 << 30, 1_000_000), 1.0);
        assert_eq!(gib_per_second(1, 0), 0.0);
    }
}
