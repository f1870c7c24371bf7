//! HF-DRV: the driver and its use count.

use std::sync::Barrier;

use crate::case::{Case, Need, case};
use crate::file::{File, open_descriptors};
use crate::hip::Memory;
use crate::raw::{self, Moved, OK, e};

/// Threads that start together in the rows about races.
const THREADS: usize = 64;

pub fn cases() -> Vec<Case> {
    let mut cases = counting();
    cases.extend(closing());
    cases.extend(surroundings());
    cases
}

fn counting() -> Vec<Case> {
    vec![
        case("HF-DRV-01 a fresh process has count 0", || assert_eq!(raw::count(), 0)),
        case("HF-DRV-02 HF-DRV-03 HF-DRV-05 ten opens and ten closes are counted", || {
            for count in 1..=10 {
                assert_eq!(raw::driver_open(), OK);
                assert_eq!(raw::count(), count);
            }
            for count in (0..10).rev() {
                assert_eq!(raw::driver_close(), OK);
                assert_eq!(raw::count(), count);
            }
        }),
        case("HF-DRV-04 closing at count 0 is E(5001)", || {
            assert_eq!(raw::driver_close(), e(5001));
            assert_eq!(raw::count(), 0);
            assert_eq!(raw::driver_open(), OK);
            assert_eq!(raw::driver_close(), OK);
            assert_eq!(raw::driver_close(), e(5001));
            assert_eq!(raw::count(), 0);
        }),
        case("HF-DRV-06 HF-DRV-07 HF-DRV-11 registering a file opens the driver once", || {
            let (first, second) = (File::empty(), File::empty());
            first.registered();
            assert_eq!(raw::count(), 1);
            second.registered();
            assert_eq!(raw::count(), 1);
            assert_eq!(raw::driver_open(), OK);
            assert_eq!(raw::count(), 2);
        }),
        case("HF-DRV-08 a failed file registration opens nothing", || {
            assert_eq!(raw::register(-1).0, e(5030));
            assert_eq!(raw::register_at(std::ptr::null_mut(), &mut raw::description(0)), e(5022));
            let mut win32 = raw::description(0);
            win32.type_ = hipfile_sys::hipFileHandleTypeOpaqueWin32;
            assert_eq!(raw::register_at(&mut std::ptr::null_mut(), &mut win32), e(5008));
            assert_eq!(raw::count(), 0);
        }),
        case("HF-DRV-09 registering a buffer opens the driver, also when it then fails", || {
            assert_eq!(raw::buffer_register(0, 4096), e(5022));
            assert_eq!(raw::count(), 1);
            assert_eq!(raw::driver_close(), OK);
            let memory = Memory::new(4096);
            assert_eq!(raw::buffer_register(memory.at, 4097), e(5014));
            assert_eq!(raw::count(), 1);
            assert_eq!(raw::driver_close(), OK);
            assert_eq!(raw::buffer_register(memory.at, 4096), OK);
            assert_eq!(raw::count(), 1);
        }),
        case("HF-DRV-10 HF-DRV-11 registering a buffer leaves a count above 0", || {
            let (first, second) = (Memory::new(4096), Memory::new(4096));
            assert_eq!(raw::buffer_register(first.at, 4096), OK);
            assert_eq!(raw::buffer_register(second.at, 4096), OK);
            assert_eq!(raw::buffer_register(second.at, 4096), e(5023));
            assert_eq!(raw::count(), 1);
            assert_eq!(raw::driver_open(), OK);
            assert_eq!(raw::count(), 2);
        }),
        case("HF-DRV-12 only an explicit close takes back an implicit open", || {
            let file = File::empty();
            let memory = Memory::new(4096);
            let handle = file.registered();
            assert_eq!(raw::buffer_register(memory.at, 4096), OK);
            raw::deregister(handle);
            assert_eq!(raw::buffer_deregister(memory.at), OK);
            assert_eq!(raw::count(), 1);
            assert_eq!(raw::driver_close(), OK);
            assert_eq!(raw::count(), 0);
        }),
        case("HF-DRV-13 64 threads register 64 files at once from count 0", || {
            let files: Vec<File> = (0..THREADS).map(|_| File::empty()).collect();
            let start = Barrier::new(THREADS);
            std::thread::scope(|scope| {
                for file in &files {
                    scope.spawn(|| {
                        start.wait();
                        file.registered();
                    });
                }
            });
            assert_eq!(raw::count(), 1);
        }),
        case("HF-DRV-14 64 threads register 64 buffers at once from count 0", || {
            let buffers: Vec<Memory> = (0..THREADS).map(|_| Memory::new(4096)).collect();
            let start = Barrier::new(THREADS);
            std::thread::scope(|scope| {
                for memory in &buffers {
                    scope.spawn(|| {
                        start.wait();
                        assert_eq!(raw::buffer_register(memory.at, memory.size), OK);
                    });
                }
            });
            assert_eq!(raw::count(), 1);
        }),
    ]
}

fn closing() -> Vec<Case> {
    vec![
        case(
            "HF-DRV-15 HF-DRV-16 HF-DRV-17 deregistering, reading and writing never open the driver",
            || {
                let memory = Memory::new(4096);
                raw::deregister(0);
                raw::deregister(0x1000);
                assert_eq!(raw::buffer_deregister(memory.at), e(5006));
                assert_eq!(raw::read(0, memory.at, 4096, 0, 0), Moved::Os(libc::EINVAL));
                assert_eq!(raw::write(0, memory.at, 4096, 0, 0), Moved::Os(libc::EINVAL));
                assert_eq!(raw::count(), 0);
            },
        ),
        case("HF-DRV-18 the close that reaches 0 drops files", || {
            let file = File::of(&[7; 4096]);
            let memory = Memory::new(4096);
            let old = file.registered();
            assert_eq!(raw::register(file.number()).0, e(5028));
            assert_eq!(raw::driver_close(), OK);
            assert_eq!(raw::driver_open(), OK);
            assert_eq!(raw::read(old, memory.at, 4096, 0, 0), Moved::Number(-5027));
            let new = file.registered();
            assert_eq!(raw::read(new, memory.at, 4096, 0, 0), Moved::Number(4096));
        }),
        case("HF-DRV-19 the close that reaches 0 drops buffers", || {
            let memory = Memory::new(4096).registered();
            assert_eq!(raw::buffer_register(memory.at, 4096), e(5023));
            assert_eq!(raw::driver_close(), OK);
            assert_eq!(raw::buffer_register(memory.at, 4096), OK);
            assert_eq!(raw::buffer_deregister(memory.at), OK);
        }),
        case("HF-DRV-20 a close that does not reach 0 drops nothing", || {
            let file = File::of(&[7; 4096]);
            assert_eq!(raw::driver_open(), OK);
            assert_eq!(raw::driver_open(), OK);
            let memory = Memory::new(4096).registered();
            let handle = file.registered();
            assert_eq!(raw::driver_close(), OK);
            assert_eq!(raw::buffer_register(memory.at, 4096), e(5023));
            assert_eq!(raw::register(file.number()).0, e(5028));
            assert_eq!(raw::read(handle, memory.at, 4096, 0, 0), Moved::Number(4096));
        }),
        case("HF-DRV-21 handles from before the close are ignored after it", || {
            let (first, second) = (File::empty(), File::empty());
            let old = first.registered();
            assert_eq!(raw::driver_close(), OK);
            raw::deregister(old);
            assert_eq!(raw::count(), 0);
            assert_eq!(raw::driver_open(), OK);
            let new = second.registered();
            if old != new {
                raw::deregister(old);
            }
            assert_eq!(raw::register(second.number()).0, e(5028));
        }),
        case("HF-DRV-22 the close that reaches 0 closes the library's descriptors", || {
            assert_eq!(raw::driver_open(), OK);
            let files: Vec<File> = (0..8).map(|_| File::empty()).collect();
            let before = open_descriptors();
            files.iter().for_each(|file| {
                file.registered();
            });
            assert_eq!(open_descriptors().len(), before.len() + files.len());
            assert_eq!(raw::driver_close(), OK);
            assert_eq!(open_descriptors(), before);
        }),
    ]
}

fn surroundings() -> Vec<Case> {
    vec![
        case("HF-DRV-23 opening needs no GPU", || {
            let mut count = -1;
            assert_ne!(crate::hip::get_device_count(&mut count), 0, "this case runs without a device");
            assert_eq!(raw::driver_open(), OK);
            assert_eq!(raw::count(), 1);
            assert_eq!(raw::driver_close(), OK);
        })
        .env("SOFT_ROCM_DEVICE_COUNT", "0")
        .env("HIP_VISIBLE_DEVICES", "-1"),
        case("HF-DRV-23 opening needs no HIP library", without_hip).needs(Need::Ours),
        case("HF-DRV-24 a process that exits with everything open keeps its status", || {
            let memory = Memory::new(4096).registered();
            let file = File::of(&[7; 4096]);
            let handle = file.registered();
            assert_eq!(raw::read(handle, memory.at, 4096, 0, 0), Moved::Number(4096));
            std::process::exit(7);
        })
        .ends_with(7),
    ]
}

/// A program linked to libhipfile alone, run where no libamdhip64 is to be found.
fn without_hip() {
    use hipfile_tests::compiler::{Language, must_run, with_headers};
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("open.c");
    let text = "#include <hipfile.h>\n\
                int main(void) { return hipFileDriverOpen().err + (int)hipFileUseCount() - 1; }\n";
    std::fs::write(&source, text).unwrap();
    let library = hipfile_tests::rocm::lib_dir().join("libhipfile.so");
    let alone = folder.path().join("libhipfile.so.0");
    std::fs::copy(library.canonicalize().unwrap(), &alone).unwrap();
    let built = folder.path().join("open");
    let mut compile = Language::C11.compiler();
    with_headers(&mut compile).arg(&source).args(["-x", "none"]).arg(&alone).arg("-o").arg(&built);
    must_run(&mut compile);
    let mut run = std::process::Command::new(&built);
    run.env_clear().env("LD_LIBRARY_PATH", folder.path()).env("ROCM_PATH", folder.path());
    must_run(&mut run);
}
