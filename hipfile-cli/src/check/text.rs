//! The same for people.

use std::io;

use super::place::{Kind, Place};
use super::report::{Finding, Report, Row, Verdict};
use super::volume::Volume;
use crate::name::Name;
use crate::output::{Output, Style};

/// Prints the rows, the table of volumes, the places that were asked about, and how it ends.
pub fn print(report: &Report, output: &Output) -> io::Result<()> {
    for row in &report.checks {
        print_row(row, output)?;
    }
    volumes(&report.volumes, output)?;
    for place in &report.paths {
        print_place(place, output)?;
    }
    let verdicts = || {
        let rows = report.checks.iter().map(|row| row.verdict);
        rows.chain(report.paths.iter().map(|place| place.verdict))
    };
    let count = |wanted| verdicts().filter(|verdict| *verdict == wanted).count();
    let (passed, warned, failed) = (count(Verdict::Pass), count(Verdict::Warn), count(Verdict::Fail));
    output.line("")?;
    let warnings = if warned == 1 { "warning" } else { "warnings" };
    output.line(format!("{passed} passed, {warned} {warnings}, {failed} failed"))
}

fn print_row(row: &Row, output: &Output) -> io::Result<()> {
    output.line(format!("{}  {}: {}", label(row.verdict, output), row.name, row.detail))?;
    match &row.advice {
        Some(advice) => output.line(format!("      do   {advice}")),
        None => Ok(()),
    }
}

fn label(verdict: Verdict, output: &Output) -> String {
    match verdict {
        Verdict::Pass => output.paint(Style::Good, "PASS"),
        Verdict::Warn => output.paint(Style::Warning, "WARN"),
        Verdict::Fail => output.paint(Style::Bad, "FAIL"),
    }
}

/// A table of those with a file system that the fast path may take; of all with `-v`.
fn volumes(volumes: &[Volume], output: &Output) -> io::Result<()> {
    let shown: Vec<_> = volumes
        .iter()
        .filter(|volume| output.is_verbose() || matches!(volume.kind.as_str(), "ext4" | "xfs"))
        .collect();
    if shown.is_empty() {
        return Ok(());
    }
    let heading = ["mount", "type", "device", "backing", "O_DIRECT", "fast path"].map(str::to_owned);
    let cells = |volume: &&Volume| {
        let Volume { mount, kind, device, backing, direct_io, hipfile, .. } = *volume;
        let answers = [direct_io.text().to_owned(), hipfile.text().to_owned()];
        let [direct_io, hipfile] = answers;
        [mount.clone(), kind.clone(), device.clone(), backing.clone(), direct_io, hipfile]
    };
    let rows: Vec<_> = shown.iter().map(cells).collect();
    let widths: Vec<usize> = (0..heading.len())
        .map(|column| {
            let all = rows.iter().chain([&heading]).filter_map(|row| row.get(column));
            all.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let line = |row: &[String; 6]| {
        let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    output.line("")?;
    output.line(output.paint(Style::Heading, &line(&heading)))?;
    for (row, volume) in rows.iter().zip(&shown) {
        output.line(line(row))?;
        if output.is_verbose() {
            findings(&volume.findings, output)?;
        }
    }
    if shown.len() < volumes.len() {
        let hidden = volumes.len() - shown.len();
        output.line(format!("({hidden} with other file systems: -v shows them)"))?;
    }
    Ok(())
}

fn print_place(place: &Place, output: &Output) -> io::Result<()> {
    let Place { path, verdict, kind, mount, file_system, device, backing, alignment, reads, writes, .. } =
        place;
    output.line("")?;
    let label = label(*verdict, output);
    output.line(format!("{label}  {}: reads {}, writes {}", Name(path), reads.text(), writes.text()))?;
    let backing = backing.as_deref().map(|backing| format!(": {backing}")).unwrap_or_default();
    match (kind, mount, file_system, device) {
        (Kind::Missing, ..) => {}
        (Kind::BlockDevice, ..) => output.line(format!("      a block device{backing}"))?,
        (_, Some(mount), Some(kind), Some(device)) => {
            output.line(format!("      {kind} on {mount}, from {device}{backing}"))?;
        }
        _ => output.line("      on no mount that is in the table")?,
    }
    if let Some(alignment) = alignment {
        let (offset, memory) = (alignment.offset.0, alignment.memory.0);
        output.line(format!(
            "      direct I/O: offsets and lengths in multiples of {offset}, device addresses of {memory}"
        ))?;
    }
    findings(&place.findings, output)
}

fn findings(findings: &[Finding], output: &Output) -> io::Result<()> {
    for Finding { text, advice, broken } in findings {
        output.line(format!("      {}  {text}", if *broken { "why" } else { "but" }))?;
        output.line(format!("      do   {advice}"))?;
    }
    Ok(())
}
