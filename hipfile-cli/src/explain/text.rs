//! The same for people.

use std::io;

use super::prediction::{Operation, Prediction};
use crate::output::{Output, Style};

/// Prints the answer, then what it rests on.
pub fn print(prediction: &Prediction, output: &Output) -> io::Result<()> {
    let Prediction { file, operation, offset, len, path, reasons, alignment, fast_part } = prediction;
    let operation = match operation {
        Operation::Read => "reading",
        Operation::Write => "writing",
    };
    let path = if len.0 == 0 { "nothing to transfer" } else { path };
    let style = if reasons.is_empty() { Style::Good } else { Style::Warning };
    output.line(format!(
        "{}, {operation} {} bytes at {}: {}",
        file.display(),
        len.0,
        offset.0,
        output.paint(style, path)
    ))?;
    for reason in reasons {
        output.line(format!("  why  {}", reason.text))?;
        output.line(format!("  do   {}", reason.advice))?;
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
            "  in calls of their own, {} bytes at {} take the fast path; hipfile::transfer cuts so by itself",
            part.len.0, part.offset.0
        ))?;
    }
    Ok(())
}
