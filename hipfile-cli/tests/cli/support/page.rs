//! The sessions in a page of the documentation: blocks marked `console`, in which lines that begin with `$` are commands.

use std::fs;
use std::path::{Path, PathBuf};

use super::stage::Stage;

/// A page, the place where its commands run, and what of their output is not compared.
pub struct Page {
    file: PathBuf,
    stage: Stage,
    prelude: String,
    masks: Vec<Mask>,
}

type Mask = Box<dyn Fn(&str) -> String>;

/// A command and what it prints.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    command: String,
    output: String,
}

/// Stands between the outputs of two commands.
const MARK: &str = "\u{1}";

impl Page {
    /// A page in `docs/src`; its commands run on the stage.
    pub fn new(name: &str, stage: Stage) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src").join(name);
        Self { file, stage, prelude: String::new(), masks: Vec::new() }
    }

    /// Commands of the shell that come before those of each block, and are not shown.
    #[must_use]
    pub fn prelude(self, commands: &str) -> Self {
        Self { prelude: format!("{commands}\n"), ..self }
    }

    /// Lines of output are compared as `mask` leaves them.
    #[must_use]
    pub fn mask(mut self, mask: impl Fn(&str) -> String + 'static) -> Self {
        self.masks.push(Box::new(mask));
        self
    }

    /// Runs every block. What a command prints is what the page says, or the page is written anew if that was asked for.
    pub fn check(&self) {
        let text = fs::read_to_string(&self.file).expect("the page is there");
        let blocks = blocks(&text);
        assert!(!blocks.is_empty(), "{} has no sessions", self.file.display());
        let mut written = text.clone();
        for block in blocks {
            let shown = steps(block);
            let printed = self.run(&shown);
            if std::env::var_os("HIPFILE_CLI_WRITE").is_some() {
                let new = printed.iter().map(|Step { command, output }| format!("$ {command}\n{output}"));
                written = written.replacen(block, &new.collect::<String>(), 1);
                continue;
            }
            for (shown, printed) in shown.iter().zip(&printed) {
                let (page, program) = (self.masked(&shown.output), self.masked(&printed.output));
                assert_eq!(page, program, "{}: $ {}", self.file.display(), shown.command);
            }
        }
        if written != text {
            fs::write(&self.file, written).expect("the page can be written");
        }
    }

    /// Runs the commands of a block, one shell for all, so that `$?` is what readers expect.
    fn run(&self, steps: &[Step]) -> Vec<Step> {
        let mut script = self.prelude.clone();
        for Step { command, .. } in steps {
            script.push_str(&format!("{command}\nstatus=$?; printf '{MARK}'; (exit $status)\n"));
        }
        let ran = Stage::ran(self.stage.command("/bin/sh").args(["-c", &format!("exec 2>&1\n{script}")]));
        let printed = self.stage.places(&ran.stdout);
        let outputs: Vec<_> = printed.split(MARK).collect();
        assert_eq!(outputs.len(), steps.len() + 1, "{printed}");
        let step = |(step, output): (&Step, &&str)| Step {
            command: step.command.clone(),
            output: (*output).to_owned(),
        };
        steps.iter().zip(&outputs).map(step).collect()
    }

    fn masked(&self, output: &str) -> String {
        let line = |line: &str| self.masks.iter().fold(line.to_owned(), |line, mask| mask(&line)) + "\n";
        output.lines().map(line).collect()
    }
}

/// The contents of the blocks marked `console`.
fn blocks(page: &str) -> Vec<&str> {
    let parts = page.split("\n```console\n").skip(1);
    parts.map(|part| part.split_once("\n```").map_or(part, |(block, _)| &part[..block.len() + 1])).collect()
}

/// The commands of a block with the output that follows each. A command goes on in the next line after a backslash.
fn steps(block: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step { command: command.to_owned(), output: String::new() }),
            (None, Some(step)) if step.output.is_empty() && step.command.ends_with('\\') => {
                step.command.push('\n');
                step.command.push_str(line);
            }
            (None, Some(step)) => step.output.push_str(&format!("{line}\n")),
            (None, None) => panic!("a session begins with a command: {line}"),
        }
    }
    steps
}

#[test]
fn sessions_are_found_in_pages() {
    let page = "# A\n\n```console\n$ one \\\n  more\nx\ny\n$ two\n```\n\n```sh\n$ no\n```\n\n```console\n$ three\n```\n";
    let found = blocks(page);
    assert_eq!(found, ["$ one \\\n  more\nx\ny\n$ two\n", "$ three\n"]);
    let step = |command: &str, output: &str| Step { command: command.to_owned(), output: output.to_owned() };
    assert_eq!(steps(found[0]), [step("one \\\n  more", "x\ny\n"), step("two", "")]);
}

#[test]
fn one_shell_runs_a_block() {
    let page = Page::new("cli.md", Stage::new()).prelude("a=1");
    let step = |command: &str| Step { command: command.to_owned(), output: String::new() };
    let printed = page.run(&[step("echo $a; false"), step("echo $?"), step("pwd; echo no >&2")]);
    let outputs: Vec<_> = printed.iter().map(|step| step.output.as_str()).collect();
    assert_eq!(outputs, ["1\n", "1\n", "/data\nno\n"]);
}
