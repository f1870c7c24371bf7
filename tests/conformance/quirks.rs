//! What AMD's library does beside its transfers, on the software library told to imitate it.

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, pattern, registered_then_robbed};
use crate::hip::{self, Memory};
use crate::raw::{self, Moved, OK};

use hipfile_tests::shim::{self, Action};

const MIB: usize = 1 << 20;
const SIZE: usize = 100_000;

fn moved(size: usize) -> Moved {
    Moved::Number(size as isize)
}

pub fn cases() -> Vec<Case> {
    let cases = vec![
        case("HF-FALL-18 the bytes go through hipMemcpy in chunks of 16 MiB", || {
            let content = pattern(33 * MIB, 2);
            let file = File::of(&content);
            let handle = file.registered();
            let memory = Memory::new(33 * MIB);
            for name in ["hipMemcpy", "softrocm_host_address"] {
                shim::always(name, Action::Short(0));
            }
            assert_eq!(raw::read(handle, memory.at, 33 * MIB, 0, 0), moved(33 * MIB));
            assert_eq!((shim::calls("hipMemcpy"), shim::calls("softrocm_host_address")), (3, 0));
            shim::release("hipMemcpy");
            assert!(memory.bytes() == content);
        })
        .fallback()
        .shim(),
        case("HF-STATS-24 the fast path is counted for the current device of the thread", || {
            let file = File::of(&pattern(SIZE, 3));
            let handle = file.registered();
            assert_eq!(hip::set_device(1), 0);
            let memory = Memory::new(SIZE);
            assert_eq!(hip::set_device(0), 0);
            assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), moved(PAGE));
            let gpus = raw::stats3().per_gpu_stats;
            assert_eq!((gpus[0].n_nvfs_reads, gpus[1].n_nvfs_reads), (1, 0));
        })
        .fast()
        .needs(Need::Stats)
        .needs(Need::SecondDevice)
        .env("SOFT_ROCM_DEVICE_COUNT", "2"),
        case("HF-FILE-47 in 0.2 the library's descriptor closed by the program ends the process", || {
            // SAFETY: requires a handler that does what a signal handler may; holds, it ends the process.
            unsafe { libc::signal(libc::SIGABRT, aborted as *const () as usize) };
            assert_eq!(raw::driver_open(), OK);
            let file = File::empty();
            let handle = registered_then_robbed(&file);
            raw::deregister(handle);
        })
        .until(0, 2)
        .ends_with(42),
    ];
    cases.into_iter().map(Case::amds).collect()
}

extern "C" fn aborted(_signal: i32) {
    // SAFETY: requires nothing.
    unsafe { libc::_exit(42) };
}
