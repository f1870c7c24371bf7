//! A drawing of a sweep: bandwidth over block size, or over threads where those are what varies.

use std::fmt::Write;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::summary::Summary;
use super::target::failed;
use crate::failure::Failure;
use crate::size::Size;

/// One line of the drawing.
struct Series {
    name: String,
    /// With the least, the middle and the most.
    points: Vec<(u64, [f64; 3])>,
}

/// Of the drawing, of the part with the lines, in pixels.
const SIZE: (f64, f64) = (800.0, 480.0);
const LEFT: f64 = 72.0;
const RIGHT: f64 = 776.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 400.0;

/// Told apart also by those who do not see all colours; the marks differ too.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// Refuses a file that is no drawing, and a place that takes none: before the measurement, not after it.
pub fn admit(path: &Path, force: bool) -> Result<(), Failure> {
    let begin = match fs::metadata(path) {
        Ok(found) if found.is_file() || found.is_dir() => {
            File::options().write(true).open(path).map_err(|error| failed("write", path, &error))?;
            if found.len() == 0 {
                return Ok(());
            }
            begin(path)
        }
        // Opened to be written, a pipe or a terminal loses nothing.
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let tried = File::options().write(true).create_new(true).open(path);
            return tried.and_then(|_| fs::remove_file(path)).map_err(|error| failed("write", path, &error));
        }
        Err(error) => Err(error),
    };
    if begin.map_err(|error| failed("look at", path, &error))? == *BEGIN || force {
        return Ok(());
    }
    let failure = Failure::new(format!("{} is there and no drawing", path.display()));
    Err(failure.advice("give --plot another name, or overwrite it with --force"))
}

fn begin(path: &Path) -> io::Result<[u8; BEGIN.len()]> {
    let mut begin = [0; BEGIN.len()];
    // What is shorter is no drawing.
    let _ = File::open(path)?.read(&mut begin)?;
    Ok(begin)
}

/// What a drawing begins with.
const BEGIN: &[u8; 5] = b"<svg ";

/// The drawing, as SVG.
pub fn svg(results: &[Summary]) -> String {
    let over_threads =
        results.iter().all(|one| results.first().is_some_and(|first| first.block == one.block));
    let series = series(results, over_threads);
    let mut values: Vec<u64> =
        series.iter().flat_map(|one| one.points.iter().map(|(value, _)| *value)).collect();
    values.sort_unstable();
    values.dedup();
    let most =
        series.iter().flat_map(|one| one.points.iter().map(|(_, [.., most])| *most)).fold(0.0, f64::max);
    let scale = Scale::new(&values, most);
    let operation = results.first().map_or_else(String::new, |one| one.operation.to_string());
    let mut svg = Svg(String::new());
    svg.line(format_args!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" font-family="sans-serif" font-size="13" fill="#222">"##,
        SIZE.0, SIZE.1
    ));
    svg.line(format_args!(r##"<rect width="100%" height="100%" fill="#fff"/>"##));
    svg.text((LEFT, 24.0), "start", 16, &format!("hipfile bench: {operation}"));
    axes(&mut svg, &scale, &values, over_threads);
    for (index, one) in series.iter().enumerate() {
        let colour = COLOURS.get(index % COLOURS.len()).copied().unwrap_or("#000");
        curve(&mut svg, &scale, one, colour, index);
        let at = LEFT + 150.0 * (index % 5) as f64;
        let row = 464.0 + 16.0 * (index / 5) as f64;
        mark(&mut svg, (at, row - 4.0), index, colour);
        svg.text((at + 12.0, row), "start", 13, &one.name);
    }
    svg.line(format_args!("</svg>"));
    svg.0
}

fn series(results: &[Summary], over_threads: bool) -> Vec<Series> {
    let many = |value: &dyn Fn(&Summary) -> u64| {
        results.iter().any(|one| results.first().map(value) != Some(value(one)))
    };
    let with_threads = !over_threads && many(&|one| one.threads as u64);
    let mut all: Vec<Series> = Vec::new();
    for one in results {
        let name = match (with_threads, one.threads) {
            (false, _) => one.mode.to_string(),
            (true, 1) => format!("{}, 1 thread", one.mode),
            (true, threads) => format!("{}, {threads} threads", one.mode),
        };
        let value = if over_threads { one.threads as u64 } else { one.block.0 };
        let point = (value, [one.least_gib_per_second, one.gib_per_second, one.most_gib_per_second]);
        match all.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => all.push(Series { name, points: vec![point] }),
        }
    }
    for series in &mut all {
        series.points.sort_by_key(|(value, _)| *value);
    }
    all
}

/// From values to places: the horizontal one is logarithmic.
struct Scale {
    first: f64,
    last: f64,
    /// The highest value of the vertical axis, and the distance of its lines.
    top: f64,
    step: f64,
}

impl Scale {
    fn new(values: &[u64], most: f64) -> Self {
        let log = |value: Option<&u64>| value.map_or(0.0, |value| (*value as f64).log2());
        let (first, last) = (log(values.first()), log(values.last()));
        let step = step(most / 5.0);
        let top = (most / step).ceil().max(1.0) * step;
        Self { first, last: if last > first { last } else { first + 1.0 }, top, step }
    }

    fn x(&self, value: u64) -> f64 {
        LEFT + 16.0 + (RIGHT - LEFT - 32.0) * ((value as f64).log2() - self.first) / (self.last - self.first)
    }

    fn y(&self, value: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * value / self.top
    }
}

/// 1, 2 or 5 times a power of ten, at least as much.
fn step(least: f64) -> f64 {
    if least <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= least * 0.999_999)
        .unwrap_or(power)
}

fn axes(svg: &mut Svg, scale: &Scale, values: &[u64], over_threads: bool) {
    let lines = (scale.top / scale.step).round() as u32;
    let digits = (-scale.step.log10().floor()).max(0.0) as usize;
    for line in 0..=lines {
        let value = f64::from(line) * scale.step;
        let y = scale.y(value);
        let colour = if line == 0 { "#444" } else { "#ddd" };
        svg.line(format_args!(r#"<path d="M{LEFT} {y:.1}H{RIGHT}" stroke="{colour}"/>"#));
        svg.text((LEFT - 8.0, y + 4.5), "end", 13, &format!("{value:.digits$}"));
    }
    // As many as there is room for.
    let every = values.len().div_ceil(9).max(1);
    for (index, value) in values.iter().enumerate() {
        let x = scale.x(*value);
        svg.line(format_args!(r##"<path d="M{x:.1} {BOTTOM}v5" stroke="#444"/>"##));
        if index % every == 0 {
            let name = if over_threads { value.to_string() } else { Size(*value).to_string() };
            svg.text((x, BOTTOM + 20.0), "middle", 13, &name);
        }
    }
    svg.text(
        (f64::midpoint(LEFT, RIGHT), BOTTOM + 40.0),
        "middle",
        13,
        if over_threads { "threads" } else { "block size" },
    );
    svg.text((LEFT - 8.0, TOP - 12.0), "end", 13, "GiB/s");
}

fn curve(svg: &mut Svg, scale: &Scale, series: &Series, colour: &str, index: usize) {
    let mut path = String::new();
    for (number, (value, [least, middle, most])) in series.points.iter().enumerate() {
        let (x, y) = (scale.x(*value), scale.y(*middle));
        let _ = write!(path, "{}{x:.1} {y:.1}", if number == 0 { "M" } else { "L" });
        if most > least {
            let (low, high) = (scale.y(*least), scale.y(*most));
            svg.line(format_args!(
                r#"<path d="M{x:.1} {low:.1}V{high:.1}" stroke="{colour}" stroke-opacity="0.5"/>"#
            ));
        }
    }
    svg.line(format_args!(r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>"#));
    for (value, [_, middle, _]) in &series.points {
        mark(svg, (scale.x(*value), scale.y(*middle)), index, colour);
    }
}

/// A disc, a square, a diamond or a triangle.
fn mark(svg: &mut Svg, (x, y): (f64, f64), index: usize, colour: &str) {
    let path = match index % 4 {
        0 => return svg.line(format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="{colour}"/>"#)),
        1 => "m-4 -4h8v8h-8z",
        2 => "m0 -5l5 5l-5 5l-5 -5z",
        _ => "m0 -5l5 9h-10z",
    };
    svg.line(format_args!(r#"<path d="M{x:.1} {y:.1}{path}" fill="{colour}"/>"#));
}

/// Elements, a line each.
struct Svg(String);

impl Svg {
    fn line(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a String can't fail.
        let _ = writeln!(self.0, "{element}");
    }

    /// Text without characters that have a meaning in XML: names and numbers are all there is.
    fn text(&mut self, (x, y): (f64, f64), anchor: &str, size: u32, text: &str) {
        self.line(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" font-size="{size}">{text}</text>"#
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::mode::Mode;
    use crate::bench::operation::Operation;

    fn summary(mode: Mode, threads: usize, block: u64, speed: f64) -> Summary {
        Summary {
            mode,
            operation: Operation::Read,
            threads,
            block: Size(block),
            gib_per_second: speed,
            least_gib_per_second: speed * 0.9,
            most_gib_per_second: speed * 1.1,
            ratio: None,
            rounds: Vec::new(),
        }
    }

    #[test]
    fn what_takes_no_drawing_is_refused_before_there_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let refusal = |path: &Path| admit(path, true).unwrap_err().to_string();
        assert!(refusal(dir.path()).ends_with(": Is a directory (os error 21)"), "{}", refusal(dir.path()));
        assert!(refusal(Path::new("/proc/new.svg")).starts_with("cannot write /proc/new.svg: "));
        let path = dir.path().join("new.svg");
        assert!(admit(&path, false).is_ok() && !path.exists());
        fs::write(&path, "<svg />").unwrap();
        assert!(admit(&path, false).is_ok() && fs::read(&path).unwrap() == b"<svg />");
    }

    #[test]
    fn axes_and_legend_say_what_is_drawn() {
        let results: Vec<_> = [65536, 262_144, 1 << 20]
            .into_iter()
            .flat_map(|block| [summary(Mode::Posix, 1, block, 1.0), summary(Mode::Sync, 1, block, 3.5)])
            .collect();
        let drawing = svg(&results);
        for text in [
            "hipfile bench: read",
            "GiB/s",
            "block size",
            "64 KiB",
            "256 KiB",
            "1 MiB",
            "posix",
            "sync",
            ">4<",
        ] {
            let text = if text.starts_with('>') { text.to_owned() } else { format!(">{text}</text>") };
            assert!(drawing.contains(&text), "{text}: {drawing}");
        }
        assert!(drawing.starts_with("<svg ") && drawing.ends_with("</svg>\n"));
        // Two curves, of three points each.
        assert_eq!(drawing.matches(r#"stroke-width="2""#).count(), 2);
        assert_eq!(drawing.matches("<circle").count(), 3 + 1);
        assert!(!drawing.contains("NaN") && !drawing.contains("inf"));
    }

    #[test]
    fn threads_are_an_axis_or_part_of_the_names() {
        let over_threads = svg(&[summary(Mode::Sync, 1, 4096, 1.0), summary(Mode::Sync, 8, 4096, 2.0)]);
        assert!(over_threads.contains(">threads</text>") && over_threads.contains(">8</text>"));
        let both = [(1, 4096), (1, 8192), (4, 4096), (4, 8192)]
            .map(|(threads, block)| summary(Mode::Sync, threads, block, 1.0));
        let both = svg(&both);
        assert!(both.contains(">sync, 1 thread</text>") && both.contains(">sync, 4 threads</text>"));
    }

    #[test]
    fn lines_are_at_round_numbers() {
        let table = [(0.0, 1.0), (0.7, 1.0), (1.0, 1.0), (1.1, 2.0), (3.0, 5.0), (6.0, 10.0), (0.012, 0.02)];
        for (least, expected) in table {
            assert!((step(least) - expected).abs() < 1e-9, "{least}: {}", step(least));
        }
    }
}
