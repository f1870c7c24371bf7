//! The same for people.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;

use super::facts::{Gpu, Info, Settings};
use super::limits::Limits;
use crate::output::{Output, Style};

/// Prints it in sections.
pub fn print(info: &Info, output: &Output) -> io::Result<()> {
    let section = |name: &str| output.line(output.paint(Style::Heading, name));
    let row = |name: &str, value: &dyn Display| output.line(format!("  {name:<34}{value}"));

    section("Libraries")?;
    row("ROCm", &if info.software { "the software one" } else { "AMD's" })?;
    row("hipfile, this program", &info.version)?;
    let version = info.libhipfile.version.as_deref().unwrap_or("of unknown version");
    row("libhipfile", &format!("{version} in {}", place(info.libhipfile.path.as_ref())))?;
    let functions = if info.libamdhip64.file_functions == Some(true) { "with" } else { "without" };
    row("libamdhip64", &format!("{}, {functions} file functions", place(info.libamdhip64.path.as_ref())))?;

    section("GPUs")?;
    if info.devices.is_empty() {
        row("none", &"HIP has no device")?;
    }
    for Gpu { id, pci, memory_total, memory_free } in &info.devices {
        let pci = pci.as_deref().unwrap_or("at an unknown place");
        row(&id.to_string(), &format!("{pci}, {memory_free} of {memory_total} free"))?;
    }

    section("Features")?;
    for (feature, supported) in &info.features {
        row(feature, &if *supported { output.paint(Style::Good, "yes") } else { "no".into() })?;
    }

    section("Properties")?;
    match &info.properties {
        None => row("none", &"this libhipfile has none")?,
        Some(properties) => self::properties(properties, &row)?,
    }

    section("Environment")?;
    for variable in &info.environment {
        let source = match &variable.value {
            None => "not set".to_owned(),
            Some(value) if variable.ignored => format!("`{value}` is not understood and counts as not set"),
            Some(_) => "set".to_owned(),
        };
        row(variable.name, &format!("{} ({source})", variable.effective))?;
    }

    section("Limits")?;
    limits(&info.limits, &row)
}

type Row<'a> = &'a dyn Fn(&str, &dyn Display) -> io::Result<()>;

fn properties(properties: &Settings, row: Row<'_>) -> io::Result<()> {
    row("largest direct I/O", &properties.max_direct_io)?;
    row("device memory for staging", &properties.max_device_cache)?;
    row("the same, for one buffer", &properties.per_buffer_cache)?;
    row("pinned host memory", &properties.max_pinned_memory)?;
    row("transfers in a batch", &properties.max_batch_len)
}

fn limits(limits: &Limits, row: Row<'_>) -> io::Result<()> {
    fn or_none<T: Display>(limit: Option<T>) -> String {
        limit.map_or_else(|| "no limit".to_owned(), |limit| limit.to_string())
    }
    row("open files", &format!("{}, two a registered file", or_none(limits.open_files)))?;
    row("locked memory", &or_none(limits.locked_memory))?;
    row("length of a file", &or_none(limits.file_size))?;
    row("one call", &format!("{} bytes", limits.one_call.0))?;
    row("one batch", &format!("{} transfers", limits.one_batch))
}

fn place(path: Option<&PathBuf>) -> String {
    path.map_or_else(|| "an unknown place".to_owned(), |path| path.display().to_string())
}
