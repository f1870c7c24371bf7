//! HF-HIP: what libhipfile needs of libamdhip64, on the C ABI of the HIP in use.

use std::ffi::CStr;

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::{self, Attributes, Memory};

const SIZE: usize = 64 * 1024;
const INVALID_VALUE: u32 = 1;
const OUT_OF_MEMORY: u32 = 2;
const INVALID_DEVICE: u32 = 101;
const NOT_FOUND: u32 = 500;

pub fn cases() -> Vec<Case> {
    [pointers(), copies(), allocation(), runtime()].into_iter().flatten().collect()
}

/// What HIP knows of an address.
pub fn attributes(address: usize) -> Attributes {
    let mut attributes = Attributes { kind: -1, ..Attributes::default() };
    assert_eq!(hip::pointer_attributes(&mut attributes, address), 0);
    attributes
}

fn range(address: usize) -> (usize, usize) {
    let (mut base, mut size) = (0, 0);
    assert_eq!(hip::address_range(&mut base, &mut size, address), 0);
    (base, size)
}

fn pointers() -> Vec<Case> {
    vec![
        case("HF-HIP-01 HF-HIP-04 device memory is known by any address inside it", || {
            let memory = Memory::new(SIZE);
            for inside in [0, 1, PAGE, SIZE - 1] {
                let found = attributes(memory.at + inside);
                assert_eq!((found.kind, found.device, found.is_managed), (2, 0, 0));
                assert_eq!(found.device_pointer, memory.at + inside);
            }
        }),
        case("HF-HIP-02 a foreign host pointer is no error and has type 0", || {
            let host = [0_u8; 64];
            assert_eq!(attributes(host.as_ptr() as usize).kind, 0);
            assert_eq!(attributes(cases as *const () as usize).kind, 0);
        }),
        case("HF-HIP-03 HF-HIP-25 pinned host memory has type 1 and belongs to the host too", || {
            let mut pinned = 0;
            assert_eq!(hip::host_malloc(&mut pinned, SIZE, 0), 0);
            assert_eq!((attributes(pinned).kind, attributes(pinned + 100).kind), (1, 1));
            let memory = Memory::of(&pattern(SIZE, 1));
            assert_eq!(hip::memcpy(pinned, memory.at, SIZE, hip::TO_HOST), 0);
            // SAFETY: requires that many readable bytes; holds because HIP has just allocated and filled them.
            let bytes = unsafe { std::slice::from_raw_parts_mut(pinned as *mut u8, SIZE) };
            assert!(bytes == pattern(SIZE, 1));
            bytes.fill(9);
            assert_eq!(hip::memcpy(memory.at, pinned, SIZE, hip::TO_DEVICE), 0);
            assert_eq!(memory.bytes(), [9; SIZE]);
            assert_ne!(hip::host_free(pinned + 1), 0);
            assert_ne!(hip::host_free(memory.at), 0);
            assert_eq!(hip::host_free(pinned), 0);
        }),
        case("HF-HIP-05 the range of an address is its whole allocation", || {
            let (first, second) = (Memory::new(SIZE), Memory::new(3 * PAGE));
            for inside in [0, 1, PAGE, SIZE - 1] {
                assert_eq!(range(first.at + inside), (first.at, SIZE));
            }
            assert_eq!(range(second.at + 3 * PAGE - 1), (second.at, 3 * PAGE));
        }),
        case("HF-HIP-06 an unknown address has no range: hipErrorNotFound", || {
            let host = [0_u8; 64];
            let (mut base, mut size) = (0, 0);
            let memory = Memory::new(SIZE);
            let freed = memory.at;
            memory.free();
            for address in [host.as_ptr() as usize, 0x1000, freed] {
                assert_eq!(hip::address_range(&mut base, &mut size, address), NOT_FOUND, "{address:#x}");
            }
        }),
    ]
}

fn copies() -> Vec<Case> {
    vec![
        case("HF-HIP-07 copies to the device and back keep every byte", || {
            let memory = Memory::new(SIZE);
            for (offset, size) in [(0, SIZE), (1, 1), (4095, 2), (777, 40_000), (SIZE - 1, 1)] {
                memory.put(offset, &pattern(size, 2));
                assert!(memory.get(offset..offset + size) == pattern(size, 2));
            }
            assert_eq!(hip::memcpy(memory.at, 0x10, 0, hip::TO_DEVICE), 0, "size 0 looks at nothing");
        }),
        case("HF-HIP-08 device to device", || {
            let (from, to) = (Memory::of(&pattern(SIZE, 3)), Memory::filled(SIZE, 0));
            assert_eq!(hip::memcpy(to.at + 100, from.at + 50, 1000, 3), 0);
            assert_eq!(to.get(100..1100), pattern(SIZE, 3)[50..1050]);
            assert!(to.get(0..100).iter().chain(&to.get(1100..SIZE)).all(|byte| *byte == 0));
            assert_eq!(hip::memcpy(to.at, from.at, SIZE, 4), 0, "hipMemcpyDefault");
            assert!(to.bytes() == pattern(SIZE, 3));
        }),
        case("HF-HIP-09 filling fills exactly the range", || {
            let memory = Memory::filled(SIZE, 1);
            assert_eq!(hip::memset(memory.at + 100, 0x1_7f, 200), 0);
            let bytes = memory.bytes();
            assert!(bytes[100..300].iter().all(|byte| *byte == 0x7f));
            assert!(bytes[..100].iter().chain(&bytes[300..]).all(|byte| *byte == 1));
        }),
        case("HF-HIP-28 a copy past the end of an allocation is refused and moves nothing", || {
            let memory = Memory::filled(SIZE, 1);
            let mut host = vec![2_u8; SIZE + 1];
            assert_eq!(
                hip::memcpy(memory.at, host.as_ptr() as usize, SIZE + 1, hip::TO_DEVICE),
                INVALID_VALUE
            );
            assert_eq!(
                hip::memcpy(memory.at + 1, host.as_ptr() as usize, SIZE, hip::TO_DEVICE),
                INVALID_VALUE
            );
            assert_eq!(
                hip::memcpy(host.as_mut_ptr() as usize, memory.at, SIZE + 1, hip::TO_HOST),
                INVALID_VALUE
            );
            assert_eq!(memory.bytes(), [1; SIZE]);
            assert_eq!(host, vec![2; SIZE + 1]);
        })
        .needs(Need::OurHip),
    ]
}

fn allocation() -> Vec<Case> {
    vec![
        case("HF-HIP-10 more than the device has is hipErrorOutOfMemory with NULL", || {
            for size in [1 << 45, usize::MAX, usize::MAX - PAGE] {
                let mut address = 1;
                assert_eq!(hip::malloc(&mut address, size), OUT_OF_MEMORY, "{size:#x}");
                assert_eq!(address, 0);
            }
            Memory::new(SIZE).free();
        }),
        case("HF-HIP-11 0 bytes are success with NULL", || {
            let mut address = 1;
            assert_eq!(hip::malloc(&mut address, 0), 0);
            assert_eq!(address, 0);
        }),
        case("HF-HIP-12 freeing NULL is success, freeing what is no base is hipErrorInvalidValue", || {
            let memory = Memory::new(SIZE);
            let at = memory.at;
            assert_eq!(hip::free(0), 0);
            assert_eq!(hip::free(at + 1), INVALID_VALUE);
            assert_eq!(hip::free(0x1000), INVALID_VALUE);
            memory.free();
            assert_eq!(hip::free(at), INVALID_VALUE, "freed already");
        }),
        case("HF-HIP-13 free memory falls and comes back, total stays", || {
            let info = || {
                let (mut free, mut total) = (0, 0);
                assert_eq!(hip::memory_info(&mut free, &mut total), 0);
                (free, total)
            };
            Memory::new(SIZE).free();
            let (before, total) = info();
            let memory = Memory::new(64 << 20);
            let (during, still) = info();
            assert!(during + (64 << 20) <= before, "{before} {during}");
            assert_eq!(still, total);
            memory.free();
            assert_eq!(info(), (before, total));
        }),
    ]
}

fn runtime() -> Vec<Case> {
    vec![
        case("HF-HIP-14 the current device belongs to the thread", || {
            assert_eq!(hip::device_count(), 3);
            assert_eq!(hip::set_device(2), 0);
            let elsewhere = std::thread::spawn(|| {
                let first = hip::current_device();
                assert_eq!(hip::set_device(1), 0);
                (first, hip::current_device())
            });
            assert_eq!(elsewhere.join().unwrap(), (0, 1));
            assert_eq!(hip::current_device(), 2);
            for ordinal in [3, -1, i32::MAX] {
                assert_eq!(hip::set_device(ordinal), INVALID_DEVICE);
            }
            assert_eq!(hip::current_device(), 2);
            assert_eq!(attributes(Memory::new(SIZE).at).device, 2);
        })
        .needs(Need::OurHip)
        .env("SOFT_ROCM_DEVICE_COUNT", "3"),
        case("HF-HIP-15 initialising takes no flags and works on any thread", || {
            assert_eq!(hip::init(0), 0);
            assert_eq!(std::thread::spawn(|| hip::init(0)).join().unwrap(), 0);
            assert_eq!(hip::init(1), INVALID_VALUE);
        }),
        case("HF-HIP-16 both versions fit the name of the library", || {
            let (mut runtime, mut driver) = (0, 0);
            assert_eq!((hip::runtime_version(&mut runtime), hip::driver_version(&mut driver)), (0, 0));
            let library = hipfile_tests::rocm::lib_dir().join("libamdhip64.so").canonicalize().unwrap();
            let name = library.file_name().unwrap().to_str().unwrap().to_owned();
            let major = name.split('.').nth(2).map(|part| part.parse::<i32>().unwrap());
            assert_eq!(Some(runtime / 10_000_000), major, "{name}");
            assert_eq!(Some(driver / 10_000_000), major, "{name}");
        }),
        case("HF-HIP-17 codes have a name and a text, others a text that says so", || {
            assert_eq!(text("hipGetErrorName", 0), "hipSuccess");
            assert_eq!(text("hipGetErrorName", 1), "hipErrorInvalidValue");
            assert_eq!(text("hipGetErrorName", 2), "hipErrorOutOfMemory");
            assert_eq!(text("hipGetErrorName", 101), "hipErrorInvalidDevice");
            for code in [0, 1, 2, 100, 101, 500, 719, 999, 5022, 2000, u32::MAX] {
                assert!(!text("hipGetErrorName", code).is_empty(), "{code}");
                assert!(!text("hipGetErrorString", code).is_empty(), "{code}");
            }
        }),
        case("HF-HIP-18 hipGetProcAddress finds the file functions, and nothing that is not there", || {
            assert!(hip::proc_address(c"hipAmdFileRead").is_some());
            assert!(hip::proc_address(c"hipAmdFileWrite").is_some());
            assert!(hip::proc_address(c"hipNoSuchFunction").is_none());
        })
        .needs(Need::Ais),
        case("HF-HIP-19 a HIP that has no file functions says so, and nothing else is missing", || {
            let both = [c"hipAmdFileRead", c"hipAmdFileWrite"].map(|name| hip::proc_address(name).is_some());
            assert_eq!(both[0], both[1], "one without the other");
            assert!(hip::proc_address(c"hipNoSuchFunction").is_none());
            assert_eq!(Memory::of(&pattern(SIZE, 4)).bytes(), pattern(SIZE, 4));
        }),
        case("HF-HIP-20 the file functions give a status and a count", file_functions).needs(Need::Ais),
    ]
}

/// What `hipGetErrorName` or `hipGetErrorString` says of a code.
fn text(function: &str, code: u32) -> String {
    let address = hip::symbol(function).expect(function);
    // SAFETY: requires a function of that type; holds because HIP's header declares it so.
    let call: unsafe extern "C" fn(u32) -> *const std::ffi::c_char = unsafe { std::mem::transmute(address) };
    // SAFETY: requires nothing; the function is a look-up.
    let text = unsafe { call(code) };
    assert!(!text.is_null());
    // SAFETY: requires a terminated string; holds because HIP's are static.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// `hipAmdFileRead` and `hipAmdFileWrite`: file, device address, size, file offset, count, status.
type FileFunction = unsafe extern "C" fn(u64, usize, u64, i64, &mut u64, &mut i32) -> u32;

fn file_functions() {
    let call = |name: &CStr, fd: i32, address: usize, size: u64, offset: i64| {
        let function = hip::proc_address(name).expect("checked before");
        // SAFETY: requires a function of that type; holds because hipGetProcAddress gave it for that name.
        let function: FileFunction = unsafe { std::mem::transmute(function) };
        let (mut moved, mut status) = (77, 77);
        // SAFETY: requires device memory or an error; the two outputs are ours.
        let result =
            unsafe { function(u64::from(fd as u32), address, size, offset, &mut moved, &mut status) };
        (result, moved, status)
    };
    let file = File::opened(&pattern(SIZE, 5), libc::O_RDWR | libc::O_DIRECT);
    let memory = Memory::filled(SIZE, 0);
    let size = SIZE as u64;
    assert_eq!(call(c"hipAmdFileRead", file.number(), memory.at, size, 0), (0, size, 0));
    assert_eq!(memory.bytes(), pattern(SIZE, 5));
    memory.put(0, &[7; PAGE]);
    assert_eq!(
        call(c"hipAmdFileWrite", file.number(), memory.at, PAGE as u64, PAGE as i64),
        (0, PAGE as u64, 0)
    );
    assert_eq!(file.bytes()[PAGE..2 * PAGE], [7; PAGE]);
    assert_eq!(call(c"hipAmdFileRead", file.number(), memory.at, size, SIZE as i64), (0, 0, 0), "at the end");
    let (_, moved, status) = call(c"hipAmdFileRead", -1, memory.at, size, 0);
    assert_eq!((moved, status.abs()), (0, libc::EBADF));
    let (_, moved, status) = call(c"hipAmdFileRead", file.number(), memory.at, 100, 1);
    assert_eq!((moved, status.abs()), (0, libc::EINVAL), "not aligned");
}
