//! HF-FILE: deregistering, and descriptors that change behind the library's back.

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, pattern, registered_then_robbed};
use crate::file_register::reuse;
use crate::hip::Memory;
use crate::raw::{self, Moved, OK, e};
use crate::witness::{FALLBACK_READ, paths_of};

use hipfile_tests::shim::{self, Action};

pub fn cases() -> Vec<Case> {
    let mut cases = deregistering();
    cases.extend(behind_its_back());
    cases.extend(reopening());
    cases
}

/// Whatever the reopen through procfs fails with; the software library is told to see it fail once.
fn reopening() -> Vec<Case> {
    let once = |name: &str, errno: &str, run| {
        let fault = format!("open:errno={errno}@1,path=/proc/self/fd");
        case(format!("HF-FILE-53 {name} {errno}"), run).needs(Need::Ours).env("SOFT_ROCM_FAULTS", fault)
    };
    let refused: fn() = || {
        let file = File::of(&pattern(PAGE, 7));
        assert_eq!(raw::register(file.number()).0, e(5030), "the failure is final");
        assert_eq!(raw::count(), 0);
        assert_eq!(raw::register(file.number()).0, OK, "and leaves nothing behind");
    };
    let mut cases: Vec<_> = ["EINTR", "EACCES", "EIO", "ENOENT", "ENOMEM"]
        .map(|errno| once("a registration fails when the reopen fails with", errno, refused))
        .into();
    cases.push(
        once("the fallback alone serves when the reopen fails with", "EINVAL", || {
            let file = File::of(&pattern(PAGE, 7));
            let handle = file.registered();
            let memory = Memory::new(PAGE);
            let paths = paths_of(|| {
                assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
            });
            assert_eq!(paths, FALLBACK_READ);
        })
        .fast()
        .shim(),
    );
    cases
}

fn deregistering() -> Vec<Case> {
    vec![
        case("HF-FILE-40 HF-FILE-41 NULL and unknown handles are ignored", || {
            let file = File::of(&[1; 100]);
            let handle = file.registered();
            raw::unknown_handles(handle).for_each(raw::deregister);
            let memory = Memory::new(100);
            assert_eq!(raw::read(handle, memory.at, 100, 0, 0), Moved::Number(100));
        }),
        case("HF-FILE-42 at count 0 deregistering does nothing", || {
            let file = File::empty();
            let handle = file.registered();
            assert_eq!(raw::driver_close(), OK);
            raw::deregister(handle);
            raw::deregister(0);
            assert_eq!(raw::count(), 0);
        }),
        case("HF-FILE-43 HF-FILE-44 a handle deregisters once, then the fd is free again", || {
            let file = File::of(&[1; 100]);
            let old = file.registered();
            let memory = Memory::new(100);
            raw::deregister(old);
            assert_eq!(raw::read(old, memory.at, 100, 0, 0), Moved::Number(-5027));
            raw::deregister(old);
            assert_eq!(raw::count(), 1);
            let new = file.registered();
            assert_eq!(raw::read(new, memory.at, 100, 0, 0), Moved::Number(100));
            if old != new {
                assert_eq!(raw::write(old, memory.at, 100, 0, 0), Moved::Number(-5027));
            }
        }),
        case("HF-FILE-45 deregistering while a transfer runs is ignored", || {
            let file = File::of(&[9; 100]);
            let handle = file.registered();
            let memory = Memory::filled(100, 0);
            shim::always("pread", Action::Hold);
            std::thread::scope(|scope| {
                let reader = scope.spawn(|| raw::read(handle, memory.at, 100, 0, 0));
                shim::wait_until_held("pread");
                raw::deregister(handle);
                assert_eq!(raw::register(file.number()).0, e(5028), "the registration stays");
                shim::release("pread");
                assert_eq!(reader.join().unwrap(), Moved::Number(100));
            });
            assert_eq!(memory.bytes(), [9; 100]);
            assert_eq!(raw::read(handle, memory.at, 100, 0, 0), Moved::Number(100), "and still works");
            raw::deregister(handle);
            assert_eq!(raw::register(file.number()).0, OK);
        })
        .fallback()
        .shim(),
        case("HF-FILE-46 the library's descriptor closed by the program does not end the process", || {
            assert_eq!(raw::driver_open(), OK);
            let file = File::empty();
            let handle = registered_then_robbed(&file);
            raw::deregister(handle);
            assert_eq!(raw::register(file.number()).0, OK);
        })
        .needs(Need::Ours),
    ]
}

fn behind_its_back() -> Vec<Case> {
    vec![
        case("HF-FILE-48 a buffered number reused: the fallback goes to the file it now names", || {
            let (file, other) = (File::of(&[1; PAGE]), File::of(&[2; PAGE]));
            let handle = file.registered();
            let memory = Memory::new(PAGE);
            reuse(file, other.fd.try_clone().unwrap());
            assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
            assert_eq!(memory.bytes(), [2; PAGE]);
        })
        .fallback(),
        case("HF-FILE-48 and the fast path goes to the file it named", || {
            let (file, other) = (File::of(&[1; PAGE]), File::of(&[2; PAGE]));
            let handle = file.registered();
            let memory = Memory::new(PAGE);
            reuse(file, other.fd.try_clone().unwrap());
            assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
            assert_eq!(memory.bytes(), [1; PAGE]);
        })
        .fast(),
        case("HF-FILE-54 an O_DIRECT number reused: the fast path goes to the file it now names", || {
            let flags = libc::O_RDWR | libc::O_DIRECT;
            let (file, other) = (File::opened(&[1; PAGE], flags), File::opened(&[2; PAGE], flags));
            let handle = file.registered();
            let memory = Memory::new(PAGE);
            reuse(file, other.fd.try_clone().unwrap());
            assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
            assert_eq!(memory.bytes(), [2; PAGE]);
            assert_eq!(raw::read(handle, memory.at, 100, 1, 0), Moved::Number(100));
            assert_eq!(memory.get(0..100), [1; 100], "the fallback goes to the file it named");
        })
        .fast(),
        case("HF-FILE-54 an O_DIRECT fd closed and not reused: the fast path is -1/EBADF", || {
            let file = File::opened(&[1; PAGE], libc::O_RDWR | libc::O_DIRECT);
            let handle = file.registered();
            let memory = Memory::new(PAGE);
            let (_number, _folder) = file.close_keeping();
            assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Os(libc::EBADF));
            assert_eq!(raw::read(handle, memory.at, 100, 1, 0), Moved::Number(100));
        })
        .fast(),
        case("HF-FILE-49 a buffered fd closed and not reused: the fallback is -1/EBADF", || {
            let file = File::of(&[1; PAGE]);
            let handle = file.registered();
            let memory = Memory::new(PAGE);
            let (_number, _folder) = file.close_keeping();
            assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Os(libc::EBADF));
            assert_eq!(raw::write(handle, memory.at, PAGE, 0, 0), Moved::Os(libc::EBADF));
        })
        .fallback(),
        case("HF-FILE-50 an O_DIRECT fd closed: the fallback works on the library's descriptor", || {
            let file = File::opened(&pattern(PAGE, 6), libc::O_RDWR | libc::O_DIRECT);
            let handle = file.registered();
            let memory = Memory::new(PAGE);
            let (_number, _folder) = file.close_keeping();
            assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
            assert_eq!(memory.bytes(), pattern(PAGE, 6));
        })
        .fallback(),
    ]
}
