//! SND-07, SND-11: whatever order things are opened and dropped in, each open has one close; and blocking calls wait.

use std::sync::Arc;

use hipfile::alloc::{DeviceBuffer, DeviceMemory};
use hipfile::{Driver, FileHandle, OpenOptions, Registered};
use hipfile_tests::isolate::{alone, shimmed};
use hipfile_tests::shim::{self, Action};

use crate::fake::{self, Function};

/// Something that holds the driver.
enum Holder {
    Driver(Driver),
    File(FileHandle),
    Owned(Registered<DeviceBuffer>),
    Shared(Registered<Arc<DeviceBuffer>>),
}

impl Holder {
    fn usable(&self) {
        match self {
            Holder::Driver(driver) => assert!(driver.use_count().unwrap() >= 1),
            Holder::File(file) => {
                let mut memory = DeviceBuffer::new(4).unwrap();
                file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
                assert_eq!(memory.to_vec().unwrap(), b"\x7fELF");
            }
            Holder::Owned(registered) => assert_eq!(registered.memory().len(), registered.len()),
            Holder::Shared(registered) => {
                assert_eq!(DeviceMemory::len(registered.memory()), registered.len())
            }
        }
    }
}

/// A thousand steps that open, clone, register and drop at random.
fn walk(seed: u64, steps: usize) {
    let mut state = seed | 1;
    let mut random = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let shared = Arc::new(DeviceBuffer::new(4096).unwrap());
    let mut holders: Vec<Holder> = Vec::new();
    for _ in 0..steps {
        let some_driver = holders.iter().find_map(|holder| match holder {
            Holder::Driver(driver) => Some(driver.clone()),
            _ => None,
        });
        let made = match (random(8), some_driver) {
            (0, _) | (1..=5, None) => Holder::Driver(Driver::open().unwrap()),
            (1, Some(driver)) => Holder::Driver(driver),
            (2, Some(driver)) => {
                Holder::File(OpenOptions::new().read(true).open(&driver, "/proc/self/exe").unwrap())
            }
            (3, Some(driver)) => Holder::Owned(driver.register(DeviceBuffer::new(64).unwrap()).unwrap()),
            (4, Some(driver)) => Holder::Shared(driver.register(Arc::clone(&shared)).unwrap()),
            (5, Some(driver)) => match driver.close() {
                Ok(()) => continue,
                Err(refused) => Holder::Driver(refused.into_inner()),
            },
            _ if holders.is_empty() => continue,
            _ => {
                let index = random(holders.len());
                drop(holders.swap_remove(index));
                continue;
            }
        };
        made.usable();
        holders.push(made);
        if holders.len() > 24 {
            let index = random(holders.len());
            drop(holders.swap_remove(index));
        }
    }
    holders.iter().for_each(Holder::usable);
}

fn count() -> i64 {
    let api = hipfile::sys::api::get().unwrap();
    // SAFETY: requires nothing.
    unsafe { (api.hipFileUseCount)() }
}

/// SND-07. A thousand random steps.
#[test]
fn each_open_has_one_close() {
    alone("interleavings::each_open_has_one_close", || {
        fake::install();
        walk(1, 1000);
        assert!(fake::calls(Function::Open) > 50, "{}", fake::calls(Function::Open));
        assert_eq!(fake::calls(Function::Open), fake::calls(Function::Close));
        assert_eq!(fake::calls(Function::RegisterFile), fake::calls(Function::DeregisterFile));
        assert_eq!(count(), 0);
    });
}

/// SND-07. The same on eight threads.
#[test]
fn each_open_has_one_close_on_many_threads() {
    alone("interleavings::each_open_has_one_close_on_many_threads", || {
        fake::install();
        std::thread::scope(|scope| {
            for seed in 0..8 {
                scope.spawn(move || walk(seed * 77 + 5, 300));
            }
        });
        assert_eq!(fake::calls(Function::Open), fake::calls(Function::Close));
        assert_eq!(count(), 0);
    });
}

/// SND-11: hip-alloc's blocking copies and fills end with a synchronisation of the default stream.
#[test]
fn blocking_calls_end_with_a_synchronisation() {
    shimmed("interleavings::blocking_calls_end_with_a_synchronisation", &[], || {
        let mut memory = DeviceBuffer::new(4096).unwrap();
        let mut host = [0; 16];
        let waits = |call: &mut dyn FnMut()| {
            // A rule that changes nothing starts the count again.
            shim::release("hipStreamSynchronize");
            shim::always("hipStreamSynchronize", Action::Short(0));
            call();
            assert!(shim::calls("hipStreamSynchronize") >= 1);
        };
        waits(&mut || memory.copy_from_host(0, &[1; 16]).unwrap());
        waits(&mut || memory.copy_to_host(0, &mut host).unwrap());
        waits(&mut || memory.fill(7).unwrap());
        waits(&mut || drop(memory.to_vec().unwrap()));
        waits(&mut || drop(DeviceBuffer::zeroed(64).unwrap()));
        waits(&mut || drop(DeviceBuffer::from_host(&[1; 64]).unwrap()));
        assert_eq!(shim::last("hipStreamSynchronize")[0], 0, "the default stream");
    });
}
