//! Calls of libhipfile in any order. Pointers are ones that C allows: null, valid, or an address that the library looks
//! up and does not read. Numbers and handles are anything. The HIP is the software one, loaded as a library.

use std::ffi::{CStr, c_int, c_void};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr;
use std::sync::OnceLock;

use hipfile_sys::{self as sys, hipFileIOParams_t, hipStream_t};
use rocm_loader::Library;
// Its functions are linked by their names.
use soft_rocm_hipfile as _;

use crate::bytes::Bytes;

/// Bytes of device memory.
const LEN: usize = 64 << 10;

/// What all inputs share: they are too many to make it each time.
#[derive(Debug)]
struct Scene {
    /// A file in memory, and a folder.
    files: [File; 2],
    device: usize,
    stream: usize,
    synchronize: unsafe extern "C" fn(hipStream_t) -> c_int,
}

fn scene() -> Option<&'static Scene> {
    static SCENE: OnceLock<Option<Scene>> = OnceLock::new();
    SCENE.get_or_init(Scene::new).as_ref()
}

impl Scene {
    fn new() -> Option<Self> {
        // SAFETY: requires that HIP's initialisers may run; holds, nothing runs beside them.
        let hip = unsafe { rocm_loader::open("libamdhip64.so", &["7"]) };
        let hip = hip.map_err(|error| eprintln!("{error}")).ok()?;
        let (mut device, mut stream): (*mut c_void, hipStream_t) = (ptr::null_mut(), ptr::null_mut());
        let malloc: unsafe extern "C" fn(*mut *mut c_void, usize) -> c_int = symbol(&hip, c"hipMalloc")?;
        // SAFETY: requires a writable pointer; holds, it is a local.
        let made = unsafe { malloc(&mut device, LEN) };
        let create: unsafe extern "C" fn(*mut hipStream_t) -> c_int = symbol(&hip, c"hipStreamCreate")?;
        // SAFETY: requires a writable pointer; holds, it is a local.
        let created = unsafe { create(&mut stream) };
        // Writes far behind the end fail instead of filling memory.
        let most = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
        // SAFETY: requires a limit; holds.
        unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &most) };
        // SAFETY: requires a signal; holds. Without a handler the write fails with EFBIG.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        // SAFETY: requires a C string; holds.
        let fd = unsafe { libc::memfd_create(c"fuzz".as_ptr(), libc::MFD_CLOEXEC) };
        if made != 0 || created != 0 || fd < 0 {
            return None;
        }
        // SAFETY: requires a descriptor that nobody else owns; holds, it was just made.
        let memory = unsafe { File::from_raw_fd(fd) };
        memory.set_len(40_000).ok()?;
        Some(Self {
            files: [memory, File::open("/").ok()?],
            device: device as usize,
            stream: stream as usize,
            synchronize: symbol(&hip, c"hipStreamSynchronize")?,
        })
    }

    fn wait(&self) {
        for stream in [self.stream as hipStream_t, ptr::null_mut()] {
            // SAFETY: requires a stream; holds, neither is ever destroyed.
            unsafe { (self.synchronize)(stream) };
        }
    }
}

/// A function of HIP. The callers name its type.
fn symbol<T: Copy>(hip: &Library, name: &CStr) -> Option<T> {
    // SAFETY: requires the type of the function in HIP's header; holds for the three above.
    unsafe { hip.symbol(name) }
}

/// Where an asynchronous operation's pointers lead.
#[derive(Debug)]
struct Slot {
    size: usize,
    file_offset: i64,
    buffer_offset: i64,
    bytes: isize,
}

/// What one input made.
struct Run<'d> {
    bytes: Bytes<'d>,
    scene: &'static Scene,
    files: Vec<*mut c_void>,
    batches: Vec<*mut c_void>,
    #[allow(clippy::vec_box, reason = "the library has their addresses")]
    slots: Vec<Box<Slot>>,
}

/// Makes the calls, then leaves the library as it was.
pub fn run(data: &[u8]) {
    let Some(scene) = scene() else { panic!("no software HIP: run it by `cargo xtask fuzz`") };
    let mut run = Run { bytes: Bytes::new(data), scene, files: vec![], batches: vec![], slots: vec![] };
    for _ in 0..64 {
        if run.bytes.is_empty() {
            break;
        }
        run.call();
    }
    scene.wait();
    for batch in &run.batches {
        // SAFETY: requires nothing: the handle is looked up.
        unsafe { sys::hipFileBatchIODestroy(*batch) };
    }
    // SAFETY: requires nothing.
    while unsafe { sys::hipFileUseCount() } > 0 {
        // SAFETY: requires nothing.
        let _ = unsafe { sys::hipFileDriverClose() };
    }
    // SAFETY: requires nothing: the stream is looked up.
    let _ = unsafe { sys::hipFileStreamDeregister(scene.stream as hipStream_t) };
}

impl Run<'_> {
    fn handle(&mut self) -> *mut c_void {
        let any = self.bytes.size() as *mut c_void;
        let given = self.files.clone();
        if self.bytes.byte() % 4 == 0 { any } else { self.bytes.pick(&given, any) }
    }

    fn batch(&mut self) -> *mut c_void {
        let any = self.bytes.size() as *mut c_void;
        let given = self.batches.clone();
        if self.bytes.byte() % 4 == 0 { any } else { self.bytes.pick(&given, any) }
    }

    /// An address that is looked up, and is device memory or none.
    fn base(&mut self) -> *mut c_void {
        let device = self.scene.device;
        let inside = device + self.bytes.size() % LEN;
        let host = ptr::from_ref(self.scene) as usize;
        self.bytes.pick(&[device, device, device, inside, host, 0], device) as *mut c_void
    }

    fn stream(&mut self) -> hipStream_t {
        self.bytes.pick(&[self.scene.stream, 0], 0) as hipStream_t
    }

    fn call(&mut self) {
        match self.bytes.byte() % 16 {
            // SAFETY: requires nothing.
            0 => drop(unsafe { sys::hipFileDriverOpen() }),
            // SAFETY: requires nothing.
            1 => drop(unsafe { sys::hipFileDriverClose() }),
            2 => self.register_file(),
            // SAFETY: requires nothing: the handle is looked up.
            3 => unsafe { sys::hipFileHandleDeregister(self.handle()) },
            4 => {
                let (base, len, flags) = (self.base(), self.bytes.size(), self.bytes.number() as c_int);
                // SAFETY: requires nothing: the address is looked up.
                let _ = unsafe { sys::hipFileBufRegister(base, len, flags) };
            }
            // SAFETY: requires nothing: the address is looked up.
            5 => drop(unsafe { sys::hipFileBufDeregister(self.base()) }),
            6 | 7 => self.transfer(),
            8 => {
                let (stream, flags) = (self.stream(), self.bytes.number() as u32);
                // SAFETY: requires a stream; holds, this one is never destroyed.
                let _ = unsafe { sys::hipFileStreamRegister(stream, flags) };
            }
            // SAFETY: requires nothing: the stream is looked up.
            9 => drop(unsafe { sys::hipFileStreamDeregister(self.stream()) }),
            10 | 11 => self.submit(),
            12 => self.set_up(),
            13 => self.submit_batch(),
            14 => self.status(),
            _ => self.rest(),
        }
    }

    fn register_file(&mut self) {
        let files = self.scene.files.each_ref().map(AsRawFd::as_raw_fd);
        let mut description = sys::hipFileDescr_t::default();
        let kinds = [1, 1, 1, self.bytes.byte().into()];
        description.type_ = sys::hipFileFileHandleType_t(self.bytes.pick(&kinds, 1));
        description.handle.fd = self.bytes.pick(&[files[0], files[0], files[1], -1, c_int::MAX], -1);
        let mut handle = ptr::null_mut();
        // SAFETY: requires a writable handle and a description; holds, they are locals.
        let status = unsafe { sys::hipFileHandleRegister(&mut handle, &mut description) };
        if status.err == sys::hipFileSuccess {
            self.files.push(handle);
        }
    }

    fn transfer(&mut self) {
        let (handle, base, size) = (self.handle(), self.base(), self.bytes.size());
        let (file_offset, buffer_offset) = (self.bytes.offset(), self.bytes.offset());
        let moved = if self.bytes.byte() % 2 == 0 {
            // SAFETY: requires nothing that the library does not check.
            unsafe { sys::hipFileRead(handle, base, size, file_offset, buffer_offset) }
        } else {
            // SAFETY: as above.
            unsafe { sys::hipFileWrite(handle, base, size, file_offset, buffer_offset) }
        };
        assert!(moved <= LEN as isize, "{moved} bytes of {LEN}");
    }

    fn submit(&mut self) {
        let (handle, base, stream) = (self.handle(), self.base(), self.stream());
        let (size, file_offset, buffer_offset) =
            (self.bytes.size(), self.bytes.offset(), self.bytes.offset());
        let (null, write) = (self.bytes.byte() % 16 == 0, self.bytes.byte() % 2 == 0);
        let mut slot = Box::new(Slot { size, file_offset, buffer_offset, bytes: 0 });
        let call = if write { sys::hipFileWriteAsync } else { sys::hipFileReadAsync };
        let Slot { size, file_offset, buffer_offset, bytes } = &mut *slot;
        let bytes = if null { ptr::null_mut() } else { bytes };
        // SAFETY: requires pointers that stay valid until the stream has passed; holds, the slots are kept until then.
        let _ = unsafe { call(handle, base, size, file_offset, buffer_offset, bytes, stream) };
        self.slots.push(slot);
        if self.slots.len() > 16 {
            self.scene.wait();
        }
    }

    fn set_up(&mut self) {
        let capacity = self.bytes.number() as u32 % 140;
        let mut batch = ptr::null_mut();
        // SAFETY: requires a writable handle; holds, it is a local.
        let status = unsafe { sys::hipFileBatchIOSetUp(&mut batch, capacity) };
        if status.err == sys::hipFileSuccess {
            self.batches.push(batch);
        }
    }

    fn submit_batch(&mut self) {
        let batch = self.batch();
        let mut operations = Vec::new();
        for _ in 0..self.bytes.byte() % 5 {
            let mut operation = hipFileIOParams_t::default();
            operation.mode.0 = self.bytes.pick(&[1, 1, 1, 0, 7], 1);
            operation.opcode.0 = self.bytes.pick(&[0, 1, 0, 9], 0);
            operation.fh = self.handle();
            operation.u.batch = sys::hipFileIOBatchParams_t {
                devPtr_base: self.base(),
                file_offset: self.bytes.offset(),
                devPtr_offset: self.bytes.offset(),
                size: self.bytes.size(),
            };
            operations.push(operation);
        }
        let flags = self.bytes.number() as u32;
        // SAFETY: requires that many operations; holds.
        let _ = unsafe {
            sys::hipFileBatchIOSubmit(batch, operations.len() as u32, operations.as_mut_ptr(), flags)
        };
    }

    fn status(&mut self) {
        let batch = self.batch();
        let least = self.bytes.number() as u32;
        let mut events = [sys::hipFileIOEvents_t::default(); 8];
        let mut count = u32::from(self.bytes.byte()) % 9;
        let mut time = libc::timespec { tv_sec: self.bytes.offset(), tv_nsec: self.bytes.offset() };
        let time = if self.bytes.byte() % 2 == 0 { ptr::null_mut() } else { &mut time };
        // SAFETY: requires that many writable events and a time or none; holds, they are locals. It ends when what was
        // submitted has ended.
        let _ = unsafe { sys::hipFileBatchIOGetStatus(batch, least, &mut count, events.as_mut_ptr(), time) };
        assert!(count <= 8, "{count} events");
    }

    fn rest(&mut self) {
        match self.bytes.byte() % 4 {
            // SAFETY: requires nothing: the handle is looked up.
            0 => drop(unsafe { sys::hipFileBatchIOCancel(self.batch()) }),
            // SAFETY: as above.
            1 => unsafe { sys::hipFileBatchIODestroy(self.batch()) },
            2 => {
                let code = sys::hipFileOpError_t(self.bytes.number() as u32);
                // SAFETY: requires nothing.
                assert!(!unsafe { sys::hipFileGetOpErrorString(code) }.is_null());
            }
            _ => {
                let mut level = sys::hipFileStatsLevel3_t::default();
                // SAFETY: requires room for the statistics; holds, it is a local.
                let _ = unsafe { sys::hipFileGetStatsL3(&mut level) };
            }
        }
    }
}
