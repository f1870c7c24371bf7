//! Makes the list of points and of error names from the bindings of the two headers, so that a function that is declared
//! is a point at once, with its kind.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

const HIP: &str = "../hip/src/bindings.rs";
const HIPFILE: &str = "../../hipfile-sys/src/bindings.rs";

/// Exported by libhipfile without a declaration: AMD's statistics tool calls them.
const UNDECLARED: [&str; 5] = [
    "hipFileStatsCreateContext",
    "hipFileStatsCloseContext",
    "hipFileStatsConnectToTargetProcess",
    "hipFileStatsPollTargetProcess",
    "hipFileStatsGenerateReport",
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("not run by cargo")?);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("not run by cargo")?);
    println!("cargo::rerun-if-changed=build.rs");

    let hip = read(&root.join(HIP))?;
    let hipfile = read(&root.join(HIPFILE))?;
    let mut points: Vec<[String; 5]> = functions(&hip).map(|function| point(&function, "Hip")).collect();
    points.extend(functions(&hipfile).map(|function| point(&function, "Hipfile")));
    for name in UNDECLARED {
        points.push([name, "Quiet", "Hipfile", "false", "false"].map(str::to_owned));
    }

    let mut code = String::new();
    for (index, [name, ..]) in points.iter().enumerate() {
        writeln!(code, "/// The function of this name.\npub const {name}: Point = Point({index});")?;
    }
    writeln!(code, "const FUNCTIONS: [Info; {}] = [", points.len())?;
    for [name, kind, library, sized, files] in &points {
        writeln!(
            code,
            "    Info {{ name: \"{name}\", kind: Kind::{kind}, owner: Owner::{library}, sized: {sized}, files: {files} }},"
        )?;
    }
    writeln!(code, "];")?;
    fs::write(out.join("functions.rs"), code)?;

    let mut code = String::new();
    codes(&mut code, "HIP", &hip, "hipError_t")?;
    codes(&mut code, "HIPFILE", &hipfile, "hipFileOpError_t")?;
    fs::write(out.join("codes.rs"), code)?;
    Ok(())
}

fn read(path: &Path) -> Result<String, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// The declarations of functions, each on one line.
fn functions(bindings: &str) -> impl Iterator<Item = String> {
    bindings.split("pub fn ").skip(1).map(|rest| {
        let end = rest.find(';').unwrap_or(rest.len());
        rest.chars().take(end).collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
    })
}

/// Name, kind, library, whether a call has a size, whether it has a file.
fn point(declaration: &str, library: &str) -> [String; 5] {
    let name = declaration.split('(').next().unwrap_or_default();
    let result = declaration.rsplit_once("-> ").map_or("", |(_, result)| result.trim());
    let on_file = declaration.contains("hipAmdFileHandle_t");
    let kind = match result {
        "hipError_t" if on_file => "HipFileIo",
        "hipError_t" => "Hip",
        "hipFileError_t" => "Status",
        "isize" => "Count",
        _ => "Quiet",
    };
    let sized = declaration.contains(": usize") || declaration.contains("size: u64");
    let files =
        on_file || declaration.contains(": hipFileHandle_t") || declaration.contains("*mut hipFileDescr_t");
    [name, kind, library, &sized.to_string(), &files.to_string()].map(str::to_owned)
}

/// The codes of an enumeration other than success, as pairs of name and number.
fn codes(code: &mut String, list: &str, bindings: &str, of: &str) -> Result<(), Box<dyn Error>> {
    writeln!(code, "pub(crate) const {list}: &[(&str, u32)] = &[")?;
    let middle = format!(": {of} = {of}(");
    for line in bindings.lines() {
        let Some((name, rest)) =
            line.trim().strip_prefix("pub const ").and_then(|rest| rest.split_once(middle.as_str()))
        else {
            continue;
        };
        let number: u32 = rest.trim_end_matches(");").parse()?;
        if number != 0 {
            writeln!(code, "    (\"{name}\", {number}),")?;
        }
    }
    writeln!(code, "];")?;
    Ok(())
}
