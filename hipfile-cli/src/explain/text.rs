//! The same for people.

use std::io;

use super::prediction::{Operation, Prediction};
use crate::name::Name;
use crate::output::{Output, Style};
use crate::size::{ONE_CALL, Size, in_bytes};

/// Prints the answer, then what it rests on.
pub fn print(prediction: &Prediction, output: &Output) -> io::Result<()> {
    let Prediction { file, operation, offset, len, path, reasons, alignment, fast_part, .. } = prediction;
    let operation = match operation {
        Operation::Read => "reading",
        Operation::Write => "writing",
    };
    let path = if len.0 == 0 { "nothing to transfer" } else { path };
    let style = if reasons.is_empty() { Style::Good } else { Style::Warning };
    output.line(format!(
        "{}, {operation} {} at {}: {}",
        Name(file),
        in_bytes(len.0),
        offset.0,
        output.paint(style, path)
    ))?;
    if let Some(note) = end(prediction) {
        output.line(format!("  {note}"))?;
    }
    for reason in reasons {
        output.line(format!("  why  {}", reason.text))?;
        output.line(format!("  do   {}", reason.advice))?;
    }
    if let ([reason], true) = (&**reasons, len.0 > ONE_CALL) {
        if reason.rule == "length" {
            output.line(format!("  calls take {ONE_CALL} bytes at most: the last one has the odd end"))?;
        }
    }
    match alignment {
        Some(multiples) => output.line(format!(
            "  direct I/O: offsets and lengths in multiples of {}, device addresses of {}",
            multiples.offset.0, multiples.memory.0
        ))?,
        None => output.line("  direct I/O: none on this file")?,
    }
    if let Some(part) = fast_part {
        output.line(format!(
            "  in calls of their own, {} at {} take the fast path; hipfile::transfer cuts so by itself",
            in_bytes(part.len.0),
            part.offset.0
        ))?;
    }
    Ok(())
}

/// What is to be known of the file's end, where the transfer leads beyond it.
fn end(prediction: &Prediction) -> Option<String> {
    let Prediction { operation, offset: Size(offset), len: Size(len), file_len: Size(end), .. } = *prediction;
    let rest = end.saturating_sub(offset);
    match operation {
        Operation::Read if len > rest => {
            Some(format!("the file has {}, so only {rest} of these can be read", in_bytes(end)))
        }
        _ if len == 0 && offset > 0 && offset >= end => {
            Some(format!("the file has {}; --len says how many to transfer", in_bytes(end)))
        }
        _ => None,
    }
}
