//! What ends a process's use of HIP: fork and exit.

use std::cell::RefCell;
use std::sync::OnceLock;

use hip_alloc::{Device, DeviceBuffer, ErrorKind, Leaked, leaked};
use hipfile_tests::isolate::{alone, in_child};

/// SND-16.
#[test]
fn a_forked_child_gets_errors_and_leaves_the_parent_alone() {
    alone("process::a_forked_child_gets_errors_and_leaves_the_parent_alone", || {
        let mut buffer = DeviceBuffer::from_host(b"parent").unwrap();
        let mut other = Some(DeviceBuffer::zeroed(1 << 20).unwrap());
        let free = Device::current().unwrap().memory_info().unwrap().free;
        let passed = in_child(|| {
            let mut bytes = [0; 6];
            let kinds = [
                Device::count().err(),
                Device::new(0).err(),
                Device::current().err(),
                buffer.device().make_current().err(),
                buffer.device().memory_info().err(),
                DeviceBuffer::new(0).err(),
                DeviceBuffer::new(1).err(),
                DeviceBuffer::zeroed(1).err(),
                DeviceBuffer::with_alignment(1, 4096).err(),
                DeviceBuffer::from_host(b"child").err(),
                buffer.copy_from_host(0, b"child").err(),
                buffer.copy_to_host(0, &mut bytes).err(),
                buffer.fill(0).err(),
                buffer.to_vec().err(),
                buffer.slice(..2).and_then(|slice| slice.to_vec()).err(),
                buffer.slice_mut(..2).and_then(|mut slice| slice.fill(0)).err(),
            ]
            .map(|error| error.map(|error| error.kind()));
            let returned = other.take().map(|buffer| match buffer.free() {
                Ok(()) => None,
                Err(failed) => {
                    let (error, buffer) = failed.into_parts();
                    let raw = buffer.into_raw().map_err(|failed| {
                        let (error, buffer) = failed.into_parts();
                        (buffer.len(), error.kind())
                    });
                    Some((error.kind(), raw))
                }
            });
            let returned = matches!(
                returned,
                Some(Some((ErrorKind::Forked, Err((len, ErrorKind::Forked))))) if len == 1 << 20
            );
            kinds == [Some(ErrorKind::Forked); 16]
                && bytes == [0; 6]
                && returned
                && leaked() == Leaked::default()
                && buffer.len() == 6
        });
        assert!(passed);
        assert_eq!(buffer.to_vec().unwrap(), b"parent");
        assert_eq!(Device::current().unwrap().memory_info().unwrap().free, free);
        drop(other);
        assert!(Device::current().unwrap().memory_info().unwrap().free > free);
    });
}

/// SND-17: statics are not dropped, thread locals are, and neither disturbs the end.
#[test]
fn a_process_ends_well_with_live_buffers() {
    static FOR_EVER: OnceLock<DeviceBuffer> = OnceLock::new();
    thread_local! {
        static OF_THREAD: RefCell<Option<DeviceBuffer>> = const { RefCell::new(None) };
    }
    alone("process::a_process_ends_well_with_live_buffers", || {
        FOR_EVER.set(DeviceBuffer::from_host(b"static").unwrap()).unwrap();
        OF_THREAD.set(Some(DeviceBuffer::from_host(b"of the main thread").unwrap()));
        std::thread::spawn(|| OF_THREAD.set(Some(DeviceBuffer::from_host(b"of a thread").unwrap())))
            .join()
            .unwrap();
        std::mem::forget(Device::current().unwrap().make_current().unwrap());
    });
}

#[test]
fn a_runtime_in_use_is_not_replaced() {
    Device::count().unwrap();
    // SAFETY: requires that a library may be loaded; none is, since HIP is in use.
    let error = unsafe { hip_alloc::load("/nonexistent/libamdhip64.so.7") }.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert_eq!(
        error.to_string(),
        "load: HIP is in use already, so /nonexistent/libamdhip64.so.7 can no longer be chosen; load first"
    );
}

/// The library loaded is the one linked, so that the test needs no second one; the table is another one all the same.
#[test]
fn a_runtime_is_chosen_before_first_use() {
    alone("process::a_runtime_is_chosen_before_first_use", || {
        // SAFETY: requires that a library may be loaded; none is there.
        let error = unsafe { hip_alloc::load("/nonexistent/libamdhip64.so.7") }.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotLoaded);
        assert!(
            error.to_string().starts_with("load: cannot load /nonexistent/libamdhip64.so.7: "),
            "{error}"
        );
        // SAFETY: requires that a library may be loaded; the C library is loaded already.
        let error = unsafe { hip_alloc::load("libc.so.6") }.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotLoaded);
        assert!(error.to_string().ends_with(" lacks hipDeviceGetAttribute"), "{error}");
        let path = hipfile_tests::rocm::lib_dir().join("libamdhip64.so");
        // SAFETY: requires a HIP runtime; holds because this is the one that the tests run with.
        unsafe { hip_alloc::load(&path) }.unwrap();
        assert_eq!(DeviceBuffer::from_host(b"loaded").unwrap().to_vec().unwrap(), b"loaded");
        // SAFETY: as above.
        assert_eq!(unsafe { hip_alloc::load(&path) }.unwrap_err().kind(), ErrorKind::Busy);
    });
}
