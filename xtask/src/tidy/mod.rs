//! `cargo xtask tidy`: rules of this repository that no other tool knows.

mod docs;
mod environment;
mod errors;
mod examples;
mod features;
mod hip;
mod ids;
mod manifests;
mod matrix;
mod public;
mod source;
mod spans;
mod tables;
mod text;
mod tree;
mod workflows;

use std::fmt;
use std::process::ExitCode;

use crate::{Result, workspace};
pub use ids::{of_page as ids_of_page, of_tests as ids_of_tests};
pub use tables::{check as check_tables, write as write_tables};
pub use tree::Tree;

/// Check the rules of this repository that no other tool knows
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Something that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    /// Counted from 1; 0 where the whole file is meant.
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, message } = self;
        match line {
            0 => write!(f, "{path}: {message}"),
            line => write!(f, "{path}:{line}: {message}"),
        }
    }
}

/// A rule looks at all files and returns what breaks it.
type Rule = fn(&Tree) -> Vec<Finding>;

const RULES: &[Rule] = &[
    text::whitespace,
    text::machine_paths,
    text::long_files,
    ids::documented_and_tested,
    ids::tests_carry_ids,
    source::hip_runtime_sys,
    source::errno,
    source::let_chains,
    source::safety_comments,
    examples::everything_is_shown,
    examples::examples_run,
    manifests::published_dependencies,
    docs::links,
    environment::documented,
    spans::documented,
    hip::documented,
    tables::current,
    workflows::steps,
];

/// The command.
pub fn run(_: &Args) -> Result {
    check().map(|()| ExitCode::SUCCESS)
}

/// Prints what breaks a rule; an error if anything does.
pub fn check() -> Result<()> {
    let tree = Tree::load(&workspace::root())?;
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {} files, {}, {}", tree.files.len(), ids::tally(&tree), examples::tally(&tree));
    match findings.len() {
        0 => Ok(()),
        count => Err(format!("{count} findings").into()),
    }
}
