//! What the library's rules say of a transfer.

use std::fs::{self, FileType};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use hipfile::alloc::DeviceBuffer;
use hipfile::{Alignment, Driver, FileHandle, OpenOptions, Predicted, Reason};
use serde::Serialize;

use super::Args;
use crate::failure::Failure;
use crate::name;
use crate::size::{Size, in_bytes};

/// All that is said, as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct Prediction {
    #[serde(serialize_with = "name::in_json")]
    pub file: PathBuf,
    pub operation: Operation,
    pub offset: Size,
    pub len: Size,
    /// Where the file ends.
    pub file_len: Size,
    /// `fast path`, `fallback`, `refused` or, for no bytes, `no path`.
    pub path: String,
    pub reasons: Vec<Rule>,
    /// What direct I/O on the file asks for; none if it has none.
    pub alignment: Option<Multiples>,
    /// The part that would take the fast path if it were transferred by calls of its own; none if there is no such part, or if
    /// it is the whole.
    pub fast_part: Option<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    Read,
    Write,
}

/// A rule that is broken.
#[derive(Debug, Serialize)]
pub struct Rule {
    /// A name that stays.
    pub rule: &'static str,
    pub text: String,
    pub advice: &'static str,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Multiples {
    pub memory: Size,
    pub offset: Size,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    pub offset: Size,
    pub len: Size,
}

impl Prediction {
    /// Opens the file and asks.
    pub fn of(args: &Args) -> Result<Self, Failure> {
        let file = open(&args.file, args.write)?;
        let end = file.len()?;
        let (offset, len) = (args.offset.0, args.len.map_or(end.saturating_sub(args.offset.0), |len| len.0));
        if offset.checked_add(len).is_none_or(|end| i64::try_from(end).is_err()) {
            let failure = Failure::new(format!(
                "a transfer of {} at {offset} leads beyond the largest file",
                in_bytes(len)
            ));
            return Err(failure.advice(format!("no file is larger than {} bytes", i64::MAX)));
        }
        let (path, reasons) = explain(&file, offset, len)?;
        // On files without direct I/O the library says what it would assume, and for no bytes it does not say that there is none.
        let asked = if len == 0 { explain(&file, 0, 1)?.1 } else { reasons.clone() };
        let direct = !asked.contains(&Reason::NoDirectIo);
        let alignment = if direct { file.alignment()? } else { None };
        let fast_part = match alignment {
            Some(alignment) if path != Predicted::FastPath && only_odd(&reasons) => {
                middle(alignment, offset, len)
            }
            _ => None,
        };
        Ok(Self {
            file: args.file.clone(),
            operation: if args.write { Operation::Write } else { Operation::Read },
            offset: Size(offset),
            len: Size(len),
            file_len: Size(end),
            path: path.to_string(),
            reasons: reasons.into_iter().map(rule).collect(),
            alignment: alignment.map(|alignment| Multiples {
                memory: Size(alignment.memory),
                offset: Size(alignment.offset),
            }),
            fast_part,
        })
    }
}

fn open(path: &Path, write: bool) -> Result<FileHandle, Failure> {
    // The library takes folders, and then refuses every transfer.
    let kind = fs::metadata(path).map(|metadata| metadata.file_type());
    if kind.as_ref().is_ok_and(FileType::is_dir) {
        let failure = Failure::new(format!("{} is a folder", path.display()));
        return Err(failure.advice("name a file in it"));
    }
    // Opening one waits for whoever opens the other end.
    if kind.is_ok_and(|kind| kind.is_fifo()) {
        let failure = Failure::new(format!("{} is a pipe", path.display()));
        return Err(failure.advice("name a file or a block device"));
    }
    let driver = Driver::open()?;
    Ok(OpenOptions::new().read(!write).write(write).open(&driver, path)?)
}

/// Blocks divide this, so that a length can be replaced by a smaller one with the same remainder.
const BLOCKS: u64 = 1 << 20;

/// Device addresses are what a page of the GPU begins with.
const PAGE: usize = 4096;

fn explain(file: &FileHandle, offset: u64, len: u64) -> Result<(Predicted, Vec<Reason>), Failure> {
    // Rules ask for the length's remainder only, so no more memory is taken than shows that. What is more than one call takes is
    // in whole blocks, up to the last.
    let shown = if len > BLOCKS { BLOCKS + len % BLOCKS } else { len };
    let memory = DeviceBuffer::with_alignment(usize::try_from(shown).unwrap_or(PAGE), PAGE)?;
    let explanation = file.explain(memory.as_slice(), offset)?;
    let whole = |reason| match reason {
        Reason::Length { alignment, .. } => Reason::Length { len, alignment },
        other => other,
    };
    Ok((explanation.path, explanation.reasons.into_iter().map(whole).collect()))
}

/// Whether odd ends are all that is in the way.
fn only_odd(reasons: &[Reason]) -> bool {
    reasons.iter().all(|reason| matches!(reason, Reason::Offset { .. } | Reason::Length { .. }))
}

/// The whole blocks in a range.
fn middle(alignment: Alignment, offset: u64, len: u64) -> Option<Part> {
    let block = alignment.offset;
    let start = offset.checked_next_multiple_of(block)?;
    let end = offset.checked_add(len)?;
    let end = end - end.checked_rem(block)?;
    (end > start).then(|| Part { offset: Size(start), len: Size(end - start) })
}

fn rule(reason: Reason) -> Rule {
    let name = match reason {
        Reason::SwitchedOff => "switched-off",
        Reason::NoFileFunctions => "no-file-functions",
        Reason::NoDirectIo => "no-direct-io",
        Reason::FileType => "file-type",
        Reason::FileSystem { .. } => "file-system",
        Reason::Journal { .. } => "journal",
        Reason::Offset { .. } => "offset",
        Reason::Length { .. } => "length",
        Reason::Address { .. } => "address",
        _ => "other",
    };
    Rule { rule: name, text: reason.to_string(), advice: reason.advice() }
}
