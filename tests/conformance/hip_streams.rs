//! HF-HIP: streams of HIP and what else libhipfile imports, on the C ABI of the HIP in use.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Mutex;

use crate::case::{Case, Need, case};
use crate::file::{PAGE, pattern};
use crate::hip::{self, Memory};
use crate::queue::{Stream, on_streams};

const SIZE: usize = 64 * 1024;
const NON_BLOCKING: c_uint = 1;
const GREATER_OR_EQUAL: c_uint = 0;

/// What libhipfile 0.2 to 0.5 imports by name, and what its test programs call beside it.
const IMPORTS: [&str; 32] = [
    "hipPointerGetAttributes",
    "hipMemGetAddressRange",
    "hipMemcpy",
    "hipStreamSynchronize",
    "hipInit",
    "hipRuntimeGetVersion",
    "hipGetProcAddress",
    "hipHostMalloc",
    "hipHostFree",
    "hipHostGetDevicePointer",
    "hipLaunchHostFunc",
    "hipLaunchKernel",
    "hipDeviceGetAttribute",
    "hipStreamGetDevice",
    "hipGetDevice",
    "hipSetDevice",
    "hipGetDeviceCount",
    "hipDeviceGetUuid",
    "hipMemcpyWithStream",
    "hipStreamCreate",
    "hipStreamCreateWithFlags",
    "hipStreamDestroy",
    "hipStreamWaitValue64",
    "hipExtMallocWithFlags",
    "hipMalloc",
    "hipFree",
    "hipMemset",
    "hipDeviceSynchronize",
    "__hipRegisterFatBinary",
    "__hipRegisterFunction",
    "__hipUnregisterFatBinary",
    "__hipPopCallConfiguration",
];

pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("HF-HIP-46 everything that AMD's libhipfile and its tests import is exported", || {
            let missing: Vec<_> = IMPORTS.into_iter().filter(|name| hip::symbol(name).is_none()).collect();
            assert!(missing.is_empty(), "{missing:?}");
        }),
        case("HF-HIP-47 the NULL stream belongs to the current device", || {
            let mut device = -1;
            assert_eq!((stream_device(0, &mut device), device), (0, hip::current_device()));
        })
        .needs(Need::Hip("hipStreamGetDevice")),
        case("HF-HIP-48 pinned host memory has a device address", || {
            let (mut pinned, mut device) = (0, 0);
            assert_eq!(hip::host_malloc(&mut pinned, PAGE, 0), 0);
            assert_eq!(host_device_pointer(&mut device, pinned, 0), 0);
            let memory = Memory::of(&pattern(PAGE, 1));
            assert_eq!(hip::memcpy(device, memory.at, PAGE, 3), 0, "device to device");
            // SAFETY: requires that many readable bytes; holds because HIP has just allocated and filled them.
            assert!(unsafe { std::slice::from_raw_parts(pinned as *const u8, PAGE) } == pattern(PAGE, 1));
            assert_eq!(hip::host_free(pinned), 0);
        }),
    ];
    cases.extend(queues().into_iter().map(on_streams));
    cases
}

hip::functions! {
    stream_device(stream: usize, out: &mut c_int) = "hipStreamGetDevice";
    host_device_pointer(out: &mut usize, host: usize, flags: c_uint) = "hipHostGetDevicePointer";
    create_with_flags(out: &mut usize, flags: c_uint) = "hipStreamCreateWithFlags";
    copy(to: usize, from: usize, size: usize, kind: c_int, stream: usize) = "hipMemcpyAsync";
    fill(to: usize, value: c_int, size: usize, stream: usize) = "hipMemsetAsync";
    wait_value(stream: usize, place: usize, value: u64, flags: c_uint, mask: u64) = "hipStreamWaitValue64";
    device_synchronize() = "hipDeviceSynchronize";
}

/// What host functions have noted so far.
static NOTED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

unsafe extern "C" fn note(number: *mut c_void) {
    assert_eq!(hip::init(0), 0, "a host function may call hipInit");
    NOTED.lock().unwrap().push(number as usize);
}

fn noted(stream: &Stream, number: usize) {
    assert_eq!(hip::launch_host_function(stream.at, note, number as *mut c_void), 0);
}

fn queues() -> Vec<Case> {
    vec![
        case("HF-HIP-29 host functions run in the order of their submission", || {
            let stream = Stream::new();
            let gate = stream.hold();
            (0..1000).for_each(|number| noted(&stream, number));
            assert!(NOTED.lock().unwrap().is_empty());
            gate.open();
            stream.wait();
            assert_eq!(*NOTED.lock().unwrap(), (0..1000).collect::<Vec<_>>());
        }),
        case("HF-HIP-26 copies and fills are done in order before a synchronise returns", || {
            let stream = Stream::new();
            let (from, to) = (Memory::of(&pattern(SIZE, 2)), Memory::filled(SIZE, 0));
            let gate = stream.hold();
            assert_eq!(copy(to.at, from.at, SIZE, 3, stream.at), 0);
            assert_eq!(fill(to.at + 100, 7, 50, stream.at), 0);
            assert_eq!(copy(to.at + 1000, to.at + 100, 50, 3, stream.at), 0);
            assert_eq!(fill(from.at, 0, SIZE, stream.at), 0);
            gate.open();
            stream.wait();
            let mut expected = pattern(SIZE, 2);
            expected[100..150].fill(7);
            expected[1000..1050].fill(7);
            assert!(to.bytes() == expected && from.bytes() == [0; SIZE]);
        })
        .needs(Need::Hip("hipMemcpyAsync")),
        case("HF-HIP-30 the default stream waits for blocking streams, and they for it", || {
            let (stream, null) = (Stream::new(), Stream::null());
            let gate = stream.hold();
            noted(&stream, 1);
            noted(&null, 2);
            noted(&stream, 3);
            assert!(NOTED.lock().unwrap().is_empty());
            gate.open();
            stream.wait();
            assert_eq!(*NOTED.lock().unwrap(), [1, 2, 3]);
        }),
        case("HF-HIP-30 a non-blocking stream does not wait", || {
            let mut at = 0;
            assert_eq!(create_with_flags(&mut at, NON_BLOCKING), 0);
            let (stream, free, null) = (Stream::new(), Stream { at }, Stream::null());
            let gate = stream.hold();
            noted(&null, 1);
            noted(&free, 2);
            free.wait();
            assert_eq!(*NOTED.lock().unwrap(), [2]);
            gate.open();
            assert_eq!(device_synchronize(), 0);
            assert_eq!(*NOTED.lock().unwrap(), [2, 1]);
        })
        .needs(Need::Hip("hipStreamCreateWithFlags")),
        case("HF-HIP-31 a stream waits until memory has a value", || {
            let mut signal = 0;
            assert_eq!(hip::malloc_with_flags(&mut signal, 8, 2), 0);
            // SAFETY: requires a live word; holds because HIP has just allocated it and it is never freed.
            let word = unsafe { std::sync::atomic::AtomicU64::from_ptr(signal as *mut u64) };
            word.store(4, std::sync::atomic::Ordering::SeqCst);
            let stream = Stream::new();
            assert_eq!(wait_value(stream.at, signal, 5, GREATER_OR_EQUAL, u64::MAX), 0);
            noted(&stream, 1);
            assert!(NOTED.lock().unwrap().is_empty());
            word.store(6, std::sync::atomic::Ordering::SeqCst);
            stream.wait();
            assert_eq!(*NOTED.lock().unwrap(), [1]);
        })
        .needs(Need::Hip("hipStreamWaitValue64")),
        case("HF-HIP-32 destroying a stream leaves undone nothing that was put on it", || {
            let stream = Stream::new();
            let gate = stream.hold();
            noted(&stream, 1);
            let destroyed = std::thread::scope(|scope| {
                let destroyer = scope.spawn(|| hip::stream_destroy(stream.at));
                gate.open();
                destroyer.join().unwrap()
            });
            assert_eq!(destroyed, 0);
            std::mem::forget(stream);
            assert_eq!(device_synchronize(), 0);
            while NOTED.lock().unwrap().is_empty() {
                std::thread::yield_now();
            }
            assert_eq!(*NOTED.lock().unwrap(), [1]);
        }),
    ]
}
