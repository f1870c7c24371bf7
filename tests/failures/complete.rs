//! Whether every public function that can fail has a row, by the lists of what the crates offer.

use std::collections::BTreeSet;
use std::fs;

use hipfile_tests::rocm;
use libtest_mimic::Failed;

use crate::expected::DIRECT;
use crate::part;
use crate::system::CALLS;

/// Functions that can fail and are in no row, and why.
const REASONS: [(&str, &str); 2] = [
    ("load", "chooses the library of a process, once and before the first call of it"),
    ("drop of DeviceGuard", "ends the row of Device::make_current; if HIP refuses, nobody can be told"),
];

/// What functions answer that can fail.
const FALLIBLE: [&str; 5] = ["Result<", "OwnedCopy<", "OwnedTransfer", "Ended", "Poll<T>"];

/// Compares the rows with the lists, both ways.
pub fn check() -> Result<(), Failed> {
    let mut public = BTreeSet::new();
    let mut fallible = BTreeSet::new();
    for package in ["hip-alloc", "hipfile"] {
        let list = fs::read_to_string(rocm::workspace().join(format!("docs/public-api/{package}.txt")))?;
        for function in list.lines().filter_map(Function::parse) {
            if function.can_fail {
                fallible.insert(function.name.clone());
            }
            public.insert(function.name);
        }
    }
    let rows: BTreeSet<&str> =
        part::all().iter().flat_map(|part| part.entries()).map(|row| row.name).collect();
    let covered: BTreeSet<&str> = rows.iter().flat_map(|row| names(row)).collect();
    let excused: BTreeSet<&str> = REASONS.iter().map(|(name, _)| *name).collect();
    let mut wrong = Vec::new();
    for name in &fallible {
        match (covered.contains(&**name), excused.contains(&**name)) {
            (true, false) | (false, true) => {}
            (true, true) => wrong.push(format!("{name} has a row, and a reason for having none")),
            (false, false) => wrong.push(format!(
                "{name} can fail, and has neither a row in tests/failures nor a reason in REASONS"
            )),
        }
    }
    for name in covered.union(&excused) {
        // Of what has no Drop of its own, the parts have.
        let by_parts = name.strip_prefix(DROP).is_some_and(|dropped| {
            public.iter().any(|function| function.starts_with(&format!("{dropped}::")))
        });
        if !by_parts && !public.contains(*name) {
            wrong.push(format!("{name} is no public function"));
        }
    }
    for (row, _) in CALLS.iter().filter(|(row, _)| !rows.contains(row)) {
        wrong.push(format!("system calls are listed for {row}, which is no row"));
    }
    println!(
        "{} public functions can fail; {} rows are about {} functions",
        fallible.len(),
        rows.len(),
        covered.len()
    );
    for (name, why) in REASONS {
        println!("no row: {name}, which {why}");
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// The functions that a row is about: `Type::function` or `drop of Type`, before what is special, or several with "and".
fn names(row: &'static str) -> impl Iterator<Item = &'static str> {
    row.split(" and ").map(|part| {
        let part = part.strip_prefix(DIRECT).unwrap_or(part);
        let skip = if part.starts_with(DROP) { DROP.len() } else { 0 };
        let end = part[skip..].find(|letter: char| !(letter.is_alphanumeric() || "_:".contains(letter)));
        end.map_or(part, |end| &part[..skip + end])
    })
}

const DROP: &str = "drop of ";

struct Function {
    /// As rows have it: without the crate and without generics.
    name: String,
    can_fail: bool,
}

impl Function {
    /// Reads a line of a list, such as `pub fn hipfile::Parameter<T>::get(self) -> hipfile::Result<T>`.
    fn parse(line: &str) -> Option<Self> {
        let (head, _) = line.split_once("fn ")?;
        if !head.split_whitespace().all(|word| ["pub", "const", "unsafe"].contains(&word)) {
            return None;
        }
        let declaration = line.strip_prefix(head)?.strip_prefix("fn ")?;
        let path = without_generics(declaration);
        let path = path.split('(').next()?;
        let name = path.strip_prefix("hip_alloc::").or_else(|| path.strip_prefix("hipfile::"))?;
        if let Some(dropped) = name.strip_suffix("::drop") {
            return Some(Self { name: format!("{DROP}{dropped}"), can_fail: true });
        }
        let answer = declaration.rsplit_once(" -> ").map_or("", |(_, answer)| answer);
        Some(Self { name: name.to_owned(), can_fail: FALLIBLE.iter().any(|word| answer.contains(word)) })
    }
}

fn without_generics(text: &str) -> String {
    let mut depth = 0_u32;
    let mut before = ' ';
    text.chars()
        .filter(|letter| {
            let arrow = std::mem::replace(&mut before, *letter) == '-';
            match letter {
                '<' => depth += 1,
                '>' if !arrow => depth = depth.saturating_sub(1),
                _ => return depth == 0,
            }
            false
        })
        .collect()
}
