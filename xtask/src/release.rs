//! `cargo xtask release`: the files of a release, and publishing.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::cargo::must;
use crate::package::{self, PUBLISHED};
use crate::rocm::{self, Rocm};
use crate::{Result, command, install, soft_rocm, workspace};

/// Make the files of a release in target/release-files: the packages, the software ROCm and the hipfile command, with their
/// checksums
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The tag that the release gets, as in v0.1.0: must be the version in Cargo.toml and have a section in the CHANGELOG
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Afterwards, upload the packages to the public Cargo registry (needs CARGO_REGISTRY_TOKEN)
    #[arg(long, requires = "tag")]
    publish: bool,
}

/// The command.
pub fn run(args: &Args, choice: &rocm::Choice) -> Result {
    if let Some(tag) = &args.tag {
        let changelog = fs::read_to_string(workspace::root().join("CHANGELOG.md"))?;
        check_tag(tag, VERSION, &changelog)?;
    }
    let rocm = Rocm::choose(choice)?;
    package::check(&rocm)?;

    let dir = workspace::target_dir().join("release-files");
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    fs::create_dir_all(&dir)?;
    for archive in package::archives()? {
        fs::copy(&archive, dir.join(archive.file_name().unwrap_or_default()))?;
    }
    let tarball = dir.join(format!("{}.tar.gz", soft_rocm::tarball::name()));
    soft_rocm::tarball::write(&soft_rocm::ensure()?, &tarball)?;
    let program = dir.join(format!("{}.tar.gz", command::name()));
    command::write(&program)?;
    command::check(&program, &tarball)?;
    let sums = checksums(&dir)?;
    install::file(&dir.join("SHA256SUMS"), sums.as_bytes(), 0o644)?;
    print!("{sums}");

    if args.publish {
        let mut command = rocm.cargo();
        command.args(["publish", "--locked"]);
        for package in PUBLISHED {
            command.args(["-p", package]);
        }
        must(&mut command)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The version of the workspace, which is also xtask's.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A tag stands for the version that would be published, and the CHANGELOG says what is in it.
fn check_tag(tag: &str, version: &str, changelog: &str) -> Result<()> {
    if tag.strip_prefix('v') != Some(version) {
        return Err(format!("the tag {tag} is not v{version}, the version in Cargo.toml").into());
    }
    let heading = format!("## [{version}]");
    if !changelog.lines().any(|line| line.starts_with(&heading)) {
        return Err(format!("CHANGELOG.md has no section {heading}").into());
    }
    Ok(())
}

/// What `sha256sum` prints for the files of a folder, by name.
fn checksums(dir: &Path) -> Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir)? {
        names.push(entry?.file_name());
    }
    names.sort();
    let output = Command::new("sha256sum").args(&names).current_dir(dir).output()?;
    if !output.status.success() {
        return Err(format!("sha256sum: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_the_version_and_is_described() {
        let changelog = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2027-01-01\n";
        let check = |tag, version| check_tag(tag, version, changelog).map_err(|error| error.to_string());
        assert_eq!(check("v0.2.0", "0.2.0"), Ok(()));
        let error = check("v0.3.0", "0.2.0").unwrap_err();
        assert_eq!(error, "the tag v0.3.0 is not v0.2.0, the version in Cargo.toml");
        assert!(check("0.2.0", "0.2.0").is_err());
        assert_eq!(check("v0.1.0", "0.1.0").unwrap_err(), "CHANGELOG.md has no section ## [0.1.0]");
    }

    #[test]
    fn checksums_are_those_of_the_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("b"), "").unwrap();
        fs::write(dir.path().join("a"), "").unwrap();
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(checksums(dir.path()).unwrap(), format!("{empty}  a\n{empty}  b\n"));
    }
}
