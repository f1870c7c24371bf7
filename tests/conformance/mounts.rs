//! HF-PATH-08 and HF-PATH-09: file systems and block devices that root alone can make.

use std::ffi::CString;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, folder, open, pattern};
use crate::hip::Memory;
use crate::raw::{self, Moved};
use crate::witness::{FALLBACK_READ, FALLBACK_WRITE, FAST_READ, FAST_WRITE, Paths, paths_of};

const SIZE: usize = 64 * 1024;

pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("HF-PATH-09 a block device is permitted", || {
            let image = File::of(&pattern(SIZE, 1));
            let device = loop_device(image.path()).expect("a loop device");
            let fd = open(&device, libc::O_RDWR);
            detach(&device);
            assert_eq!(taken(fd.as_raw_fd()), (FAST_READ, FAST_WRITE));
        })
        .needs(Need::Ais),
    ];
    for mode in ["journal", "writeback"] {
        let (run, name): (fn(), _) = match mode {
            "journal" => (|| refused_on_ext4("data=journal"), "HF-PATH-08 ext4 with data=journal"),
            _ => (|| refused_on_ext4("data=writeback"), "HF-PATH-08 ext4 with data=writeback"),
        };
        cases.push(case(format!("{name} is not permitted"), run).needs(Need::Ais));
    }
    let ordered = case("HF-PATH-05 HF-PATH-08 ext4 with data=ordered is permitted", || {
        assert_eq!(taken_on_ext4("data=ordered"), (FAST_READ, FAST_WRITE));
    });
    cases.push(ordered.needs(Need::Ais));
    cases.into_iter().map(|case| case.needs(Need::LoopDevice).shim()).collect()
}

/// Which path a page of a descriptor takes.
fn taken(fd: i32) -> (Paths, Paths) {
    let handle = raw::registered(fd);
    let memory = Memory::new(PAGE).registered();
    let done = |moved: Moved| assert_eq!(moved, Moved::Number(PAGE as isize));
    let read = paths_of(|| done(raw::read(handle, memory.at, PAGE, 0, 0)));
    (read, paths_of(|| done(raw::write(handle, memory.at, PAGE, 0, 0))))
}

fn refused_on_ext4(options: &str) {
    assert_eq!(taken_on_ext4(options), (FALLBACK_READ, FALLBACK_WRITE), "{options}");
}

/// Which path a page of a file takes on a new ext4, which this process alone sees and which goes away with it.
fn taken_on_ext4(options: &str) -> (Paths, Paths) {
    let place = tempfile::tempdir_in(folder()).expect("a temporary folder");
    let image = place.path().join("image");
    std::fs::File::create(&image).and_then(|file| file.set_len(32 << 20)).expect("an image");
    run(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image)).expect("mkfs.ext4");
    // SAFETY: requires a process of one thread; holds because a case starts with one.
    assert_eq!(unsafe { libc::unshare(libc::CLONE_NEWNS) }, 0, "{}", std::io::Error::last_os_error());
    let private = libc::MS_REC | libc::MS_PRIVATE;
    let (root, none) = (c"/".as_ptr(), std::ptr::null());
    // SAFETY: requires terminated strings or NULL; holds because they are literals.
    assert_eq!(unsafe { libc::mount(c"none".as_ptr(), root, none, private, none.cast()) }, 0);
    let device = loop_device(&image).expect("a loop device");
    let (from, to, options) = (text(&device), text(place.path()), CString::new(options).expect("text"));
    let (from, to, kind, options) = (from.as_ptr(), to.as_ptr(), c"ext4".as_ptr(), options.as_ptr());
    // SAFETY: requires terminated strings; holds because they live in this frame.
    let mounted = unsafe { libc::mount(from, to, kind, 0, options.cast()) };
    let error = std::io::Error::last_os_error();
    detach(&device);
    assert_eq!(mounted, 0, "{error}");
    let file = File::opened_in(place.path(), &pattern(SIZE, 2), libc::O_RDWR);
    let paths = taken(file.number());
    // What is mounted on cannot be removed.
    drop(file);
    // SAFETY: requires a terminated string; holds because it lives in this frame.
    assert_eq!(unsafe { libc::umount2(to, libc::MNT_DETACH) }, 0);
    paths
}

fn text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_encoded_bytes()).expect("a path")
}

/// Whether this process may make loop devices and file systems.
pub fn available() -> bool {
    let tools = run(Command::new("mkfs.ext4").arg("-V")).is_ok();
    let image =
        tempfile::NamedTempFile::new().and_then(|file| file.as_file().set_len(1 << 20).map(|()| file));
    let device = image.ok().and_then(|image| loop_device(image.path()).ok());
    device.iter().for_each(|device| detach(device));
    tools && device.is_some()
}

/// A new loop device of a file.
fn loop_device(image: &Path) -> Result<PathBuf, String> {
    let said = run(Command::new("losetup").args(["--find", "--show"]).arg(image))?;
    Ok(PathBuf::from(said.trim()))
}

/// Lets a loop device go as soon as nobody uses it.
fn detach(device: &Path) {
    run(Command::new("losetup").arg("--detach").arg(device)).expect("losetup");
}

fn run(command: &mut Command) -> Result<String, String> {
    // In a case the shim is for the case alone.
    let output = command.env_remove("LD_PRELOAD").output().map_err(|error| error.to_string())?;
    let [said, why] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    if output.status.success() { Ok(said) } else { Err(why) }
}
