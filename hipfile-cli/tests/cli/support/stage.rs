//! A folder, an environment and the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The program under test.
pub fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_hipfile"))
}

/// The software ROCm of this workspace.
pub fn soft_rocm() -> PathBuf {
    let prefix = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/soft-rocm");
    prefix
        .canonicalize()
        .expect("`cargo xtask soft-rocm` has run, as the build script of soft-rocm-prefix sees to")
}

/// An empty folder in which commands run, and what they find in their environment: nothing but the software ROCm.
#[derive(Debug)]
pub struct Stage {
    dir: TempDir,
    variables: Vec<(String, String)>,
}

/// What a command printed, and its exit status.
#[derive(Debug)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
}

impl Ran {
    /// Standard output as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Stage {
    /// On the disk of the build: the folder for temporary files may be in memory, where files have no direct I/O.
    pub fn new() -> Self {
        Self::on(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder in the target directory"))
    }

    /// Away from the build, where no relative path leads to its software ROCm.
    pub fn apart() -> Self {
        Self::on(tempfile::tempdir().expect("a folder for temporary files"))
    }

    fn on(dir: TempDir) -> Self {
        let text = |path: &Path| path.to_str().expect("paths here are text").to_owned();
        let bin = program().parent().expect("a program is in a folder");
        let variables = vec![
            ("HIPFILE_RUNTIME".to_owned(), "soft".to_owned()),
            ("HIPFILE_SOFT_ROCM".to_owned(), text(&soft_rocm())),
            ("HOME".to_owned(), text(dir.path())),
            ("LC_ALL".to_owned(), "C".to_owned()),
            ("PATH".to_owned(), format!("{}:/usr/bin:/bin", text(bin))),
        ];
        Self { dir, variables }
    }

    /// With a variable set, or not set.
    #[must_use]
    pub fn variable(mut self, name: &str, value: Option<&str>) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.extend(value.map(|value| (name.to_owned(), value.to_owned())));
        self
    }

    /// With a file in the folder.
    #[must_use]
    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder can be made");
        fs::write(path, content).expect("the file can be written");
        self
    }

    /// With a link in the folder.
    #[must_use]
    pub fn link(self, name: &str, target: &str) -> Self {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder can be made");
        std::os::unix::fs::symlink(target, path).expect("the link can be made");
        self
    }

    /// Whether files in the folder have direct I/O. Else says so.
    pub fn has_direct_io(&self) -> bool {
        self.is(|answer| answer["alignment"].is_object())
    }

    /// Whether the folder is on a disk as the pages show it: ext4 or xfs, and direct I/O in blocks of 512 bytes. Else says so.
    pub fn is_as_in_the_pages(&self) -> bool {
        let blocks = serde_json::json!({ "memory": 512, "offset": 512 });
        self.is(|answer| answer["path"] == "fast path" && answer["alignment"] == blocks)
    }

    fn is(&self, fits: impl Fn(&serde_json::Value) -> bool) -> bool {
        let file = self.path().join(".probe");
        fs::write(&file, vec![0; 4096]).expect("the file can be written");
        let answer = self.run(&["explain", ".probe", "--json"]).json();
        fs::remove_file(file).expect("the file is there");
        let fit = fits(&answer);
        if !fit {
            println!("skipped: on this disk {answer}");
        }
        fit
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A command that runs in the folder.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.path()).env_clear();
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The program as a shell starts it. A test that runs in the background may have been told to ignore these signals, and
    /// hands that on.
    pub fn interruptible(&self) -> Command {
        let mut command = self.command("/usr/bin/env");
        command.arg("--default-signal=HUP,INT,TERM").arg(program());
        command
    }

    /// Runs the program with these arguments.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        Self::ran(self.command(program()).args(arguments))
    }

    /// Runs a command.
    pub fn ran(command: &mut Command) -> Ran {
        let output = command.output().expect("the command starts");
        let text = |bytes| String::from_utf8(bytes).expect("the output is text");
        Ran { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
    }

    /// Text with the folder called `/data`, and the software ROCm `/opt/soft-rocm`.
    pub fn places(&self, text: &str) -> String {
        let rocm = soft_rocm();
        let dir = self.path().canonicalize().expect("the folder is there");
        let plain = text.replace(&rocm.display().to_string(), "/opt/soft-rocm");
        plain
            .replace(&dir.display().to_string(), "/data")
            .replace(&self.path().display().to_string(), "/data")
    }
}
