//! Orders in which a few threads can pass the driver's lock, searched by shuttle. Between two passes a thread may
//! be overtaken anywhere; what an operation holds beside the tables is held across such a place.

use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::Arc;

use hipfile_sys::hipStream_t;
use shuttle::thread;

use super::*;
use crate::hip::test::Mock;

/// How many orders are tried of each kind.
const ORDERS: usize = 1000;

/// Runs `test` in orders drawn at random, and in orders with few changes of thread, which finds what needs one thread to
/// be held up for long.
fn many_orders(test: impl Fn() + Send + Sync + Clone + 'static) {
    shuttle::check_random(test.clone(), ORDERS);
    shuttle::check_pct(test, ORDERS, 3);
}

/// What the threads share. Addresses, since pointers may not be sent.
struct Scene {
    driver: Driver,
    mock: &'static Mock,
    caller: std::fs::File,
}

impl Scene {
    fn new(mock: &'static Mock) -> Arc<Self> {
        let caller = std::fs::File::open("/dev/null").unwrap();
        Arc::new(Self { driver: Driver::new(), mock, caller })
    }

    fn hip(&self) -> Result<&'static Hip, Failure> {
        Ok(&self.mock.hip)
    }

    fn base(&self) -> *const c_void {
        self.mock.pointer()
    }

    fn register_file(&self) -> Result<usize, Failure> {
        let file = File::new(self.caller.as_raw_fd()).unwrap();
        self.driver.register_file(file).map(|handle| handle.addr())
    }

    fn register_buffer(&self) -> Result<(), Failure> {
        self.driver.register_buffer(|| self.hip(), self.base(), 64)
    }

    fn deregister_buffer(&self) -> Result<(), Failure> {
        self.driver.deregister_buffer(self.base())
    }

    fn resolve(&self, handle: usize) -> Result<(Arc<File>, Memory), Failure> {
        let handle = ptr::without_provenance_mut(handle);
        self.driver.resolve(|| self.hip(), handle, self.base())
    }
}

fn mock() -> &'static Mock {
    Box::leak(Box::new(Mock::new(64)))
}

fn start<T: Send + 'static>(
    scene: &Arc<Scene>,
    work: impl FnOnce(&Scene) -> T + Send + 'static,
) -> thread::JoinHandle<T> {
    let scene = scene.clone();
    thread::spawn(move || work(&scene))
}

#[test]
fn opens_less_closes_is_the_use_count() {
    let mock = mock();
    many_orders(move || {
        let scene = Scene::new(mock);
        let opener = start(&scene, |scene| scene.driver.open());
        let closers = [(); 2].map(|()| start(&scene, |scene| scene.driver.close()));
        opener.join().unwrap();
        let closed =
            closers.map(|closer| closer.join().unwrap()).iter().filter(|closed| closed.is_ok()).count();
        assert!(closed <= 1);
        assert_eq!(scene.driver.use_count(), 1 - closed as i64);
    });
}

#[test]
fn first_registrations_open_once() {
    // HF-DRV-23
    let mock = mock();
    many_orders(move || {
        let scene = Scene::new(mock);
        let file = start(&scene, |scene| scene.register_file().map(|_| ()));
        let buffers = [(); 2].map(|()| start(&scene, Scene::register_buffer));
        assert_eq!(file.join().unwrap(), Ok(()));
        let mut registered = buffers.map(|buffer| buffer.join().unwrap());
        registered.sort_by_key(Result::is_err);
        assert_eq!(registered, [Ok(()), Err(Failure::BUFFER_REGISTERED)]);
        assert_eq!(scene.driver.use_count(), 1);
    });
}

#[test]
fn what_is_registered_beside_a_close_is_there_and_open_or_gone_and_closed() {
    let mock = mock();
    many_orders(move || {
        let scene = Scene::new(mock);
        scene.driver.open();
        let buffer = start(&scene, Scene::register_buffer);
        let closer = start(&scene, |scene| scene.driver.close());
        assert_eq!((buffer.join().unwrap(), closer.join().unwrap()), (Ok(()), Ok(())));
        let kept = scene.driver.use_count() == 1;
        scene.driver.open();
        let expected = if kept { Ok(()) } else { Err(Failure::BUFFER_NOT_REGISTERED) };
        assert_eq!(scene.deregister_buffer(), expected);
    });
}

#[test]
fn a_transfer_beside_a_close_has_what_it_found() {
    let mock = mock();
    many_orders(move || {
        let scene = Scene::new(mock);
        let handle = scene.register_file().unwrap();
        scene.register_buffer().unwrap();
        let transfer = start(&scene, move |scene| {
            let found = scene.resolve(handle);
            thread::yield_now();
            match found {
                Ok((file, buffer)) => assert_eq!((open(&file), buffer.len), (true, 64)),
                Err(failure) => assert!(
                    matches!(failure, Failure::Os(libc::EINVAL) | Failure::FILE_NOT_REGISTERED),
                    "{failure:?}"
                ),
            }
        });
        let closer = start(&scene, |scene| {
            scene.driver.close().unwrap();
            scene.driver.open();
        });
        transfer.join().unwrap();
        closer.join().unwrap();
        assert_eq!(scene.resolve(handle).map(|_| ()), Err(Failure::FILE_NOT_REGISTERED));
        assert!(scene.register_file().is_ok(), "the close forgot the descriptor");
    });
}

#[test]
fn a_file_is_deregistered_or_in_use() {
    let mock = mock();
    many_orders(move || {
        let scene = Scene::new(mock);
        let handle = scene.register_file().unwrap();
        let transfer = start(&scene, move |scene| {
            let found = scene.resolve(handle);
            thread::yield_now();
            found.map(|(file, _)| assert!(open(&file)))
        });
        let remover = start(&scene, move |scene| {
            scene.driver.deregister_file(ptr::without_provenance_mut(handle));
            thread::yield_now();
            scene.register_file()
        });
        let (transfer, again) = (transfer.join().unwrap(), remover.join().unwrap());
        match again {
            // Never the handle that named the file before.
            Ok(new) => assert_ne!(new, handle),
            Err(failure) => assert_eq!((failure, transfer), (Failure::FILE_REGISTERED, Ok(()))),
        }
        assert_eq!(scene.resolve(handle).is_ok(), again.is_err());
    });
}

#[test]
fn a_buffer_is_deregistered_or_in_use() {
    let mock = mock();
    many_orders(move || {
        let scene = Scene::new(mock);
        let handle = scene.register_file().unwrap();
        scene.register_buffer().unwrap();
        let transfer = start(&scene, move |scene| {
            let (_, buffer) = scene.resolve(handle).unwrap();
            thread::yield_now();
            matches!(buffer, Memory::Registered(_))
        });
        let remover = start(&scene, Scene::deregister_buffer);
        let registered = transfer.join().unwrap();
        match remover.join().unwrap() {
            Ok(()) => assert_eq!(scene.deregister_buffer(), Err(Failure::BUFFER_NOT_REGISTERED)),
            failed => {
                assert_eq!((failed, registered), (Err(Failure::INTERNAL), true));
                assert_eq!(scene.deregister_buffer(), Ok(()), "kept, and free now");
            }
        }
    });
}

#[test]
fn one_of_two_registers_a_stream_and_one_removes_it() {
    let mock = mock();
    many_orders(move || {
        let scene = Scene::new(mock);
        let stream = || -> hipStream_t { ptr::without_provenance_mut(64) };
        let both = |work: fn(&Scene, hipStream_t) -> Result<(), Failure>| {
            let threads = [(); 2].map(|()| start(&scene, move |scene| work(scene, stream())));
            threads.map(|thread| thread.join().unwrap().is_ok()).into_iter().filter(|done| *done).count()
        };
        assert_eq!(
            both(|scene, stream| scene.driver.register_stream(
                || scene.hip(),
                &Behaviour::DEFAULT,
                stream,
                0
            )),
            1
        );
        assert!(scene.driver.stream(stream()).is_some());
        assert_eq!(both(|scene, stream| scene.driver.deregister_stream(stream)), 1);
        assert!(scene.driver.stream(stream()).is_none());
    });
}

/// Whether the file's own descriptor is open.
fn open(file: &File) -> bool {
    // SAFETY: requires nothing: any number may be asked.
    unsafe { libc::fcntl(file.buffered, libc::F_GETFD) >= 0 }
}
