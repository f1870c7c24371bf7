//! The real thing: descriptors, device memory and streams, and the library that is asked.

use std::ffi::c_int;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::path::PathBuf;

use hip_alloc::DeviceBuffer;
use hipfile_sys::hipStream_t;
use hipfile_tests::engine::{self, Slot, Stream};
use hipfile_tests::raw::{self, Moved};

use crate::call::{self, Answer, Call, Kind, Name, Pointer, Transfer};
use crate::model::{ALLOCATION, ALLOCATIONS, FILES, TOGGLED};

/// Far from the numbers that the library's own descriptors get.
const FAR: RawFd = 900;

type Hold = unsafe extern "C" fn(hipStream_t) -> c_int;

pub struct World {
    folder: tempfile::TempDir,
    // Closed at the end.
    _open: Vec<OwnedFd>,
    /// The number of each slot.
    numbers: Vec<RawFd>,
    memory: [DeviceBuffer; ALLOCATIONS],
    host: Vec<u8>,
    streams: [usize; 2],
    _stream: Stream,
    pause: Hold,
    resume: Hold,
    handles: Vec<usize>,
    batches: Vec<usize>,
}

fn path(folder: &tempfile::TempDir, file: usize) -> PathBuf {
    folder.path().join(file.to_string())
}

/// The software HIP's function that holds or lets go a stream.
fn hold(name: &std::ffi::CStr) -> Option<Hold> {
    // SAFETY: requires a C string; holds.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: requires a function of that type; holds for both names.
    (!symbol.is_null()).then(|| unsafe { std::mem::transmute::<*mut std::ffi::c_void, Hold>(symbol) })
}

impl World {
    /// None where streams can't be held, as those of AMD's HIP.
    pub fn new() -> Option<Self> {
        let (pause, resume) = (hold(c"softrocm_stream_pause")?, hold(c"softrocm_stream_resume")?);
        let stream = Stream::new()?;
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let mut memory = Vec::new();
        for file in 0..FILES {
            let bytes: Vec<u8> = (0..12_000_usize).map(|i| (i % 251 + file) as u8).collect();
            std::fs::write(path(&folder, file), bytes).expect("a file");
            let bytes: Vec<u8> = (0..ALLOCATION).map(|i| (i % 241 + 7 * file) as u8).collect();
            memory.push(DeviceBuffer::from_host(&bytes).expect("device memory"));
        }
        let open = |file, read, write| {
            let file = File::options().read(read).write(write).open(path(&folder, file));
            OwnedFd::from(file.expect("a file"))
        };
        let mut ends = [0; 2];
        // SAFETY: requires room for two descriptors; holds.
        assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }, 0, "a pipe");
        // SAFETY: requires a descriptor that nobody else owns; holds, as for the next.
        let [pipe, _writer] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
        let (socket, _) = std::os::unix::net::UnixStream::pair().expect("sockets");
        let far = |fd: &OwnedFd| {
            // SAFETY: requires nothing.
            let number = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, FAR) };
            assert!(number >= FAR, "a far descriptor");
            number
        };
        let mut open = vec![
            open(0, true, true),
            open(1, true, true),
            open(1, true, false),
            open(0, false, true),
            pipe,
            OwnedFd::from(File::open(folder.path()).expect("a folder")),
            socket.into(),
        ];
        let mut numbers: Vec<RawFd> = open.iter().map(AsRawFd::as_raw_fd).collect();
        // Slot 7 is a number that nothing has, slot 8 one that comes and goes.
        numbers.push(FAR - 1);
        let number = far(&open[0]);
        numbers.push(number);
        // SAFETY: requires a descriptor that nobody else owns; holds until the slot is toggled, which then owns it.
        open.push(unsafe { OwnedFd::from_raw_fd(number) });
        let toggled = open.pop().map(IntoRawFd::into_raw_fd);
        assert_eq!(toggled, Some(number));
        Some(Self {
            folder,
            _open: open,
            numbers,
            memory: memory.try_into().expect("as many allocations as files"),
            host: vec![0; ALLOCATION],
            streams: [0, stream.raw()],
            _stream: stream,
            pause,
            resume,
            handles: Vec::new(),
            batches: Vec::new(),
        })
    }

    pub fn file(&self, file: usize) -> Vec<u8> {
        std::fs::read(path(&self.folder, file)).expect("a file")
    }

    pub fn memory(&self, allocation: usize) -> Vec<u8> {
        self.memory[allocation].to_vec().expect("device memory")
    }

    fn handle(&self, name: Name) -> usize {
        named(&self.handles, name)
    }

    fn batch(&self, name: Name) -> usize {
        named(&self.batches, name)
    }

    fn pointer(&self, pointer: Pointer) -> usize {
        match pointer {
            Pointer::Null => 0,
            Pointer::Host => self.host.as_ptr() as usize,
            Pointer::Device(allocation, start) => self.memory[allocation].as_ptr() as usize + start,
        }
    }

    /// Asks the library.
    pub fn ask(&mut self, call: &Call) -> Answer {
        match call {
            Call::Open => status(raw::driver_open()),
            Call::Close => status(raw::driver_close()),
            Call::Toggle => self.toggle(),
            Call::RegisterFile(slot, kind) => self.register_file(*slot, *kind),
            Call::DeregisterFile(file) => {
                raw::deregister(self.handle(*file));
                Answer::Nothing
            }
            Call::RegisterBuffer(pointer, length) => {
                status(raw::buffer_register(self.pointer(*pointer), *length))
            }
            Call::DeregisterBuffer(pointer) => status(raw::buffer_deregister(self.pointer(*pointer))),
            Call::Move(transfer) => self.transfer(transfer),
            Call::RegisterStream(stream, flags) => {
                status(engine::stream_register(self.streams[*stream], *flags))
            }
            Call::DeregisterStream(stream) => status(engine::stream_deregister(self.streams[*stream])),
            Call::Submit { stream, submissions, meanwhile } => {
                self.submit(self.streams[*stream], submissions, meanwhile)
            }
            Call::SetUp { capacity, nowhere: true } => status(engine::batch_set_up_nowhere(*capacity)),
            Call::SetUp { capacity, nowhere: false } => {
                let (answer, batch) = engine::batch_set_up(*capacity);
                if answer == raw::OK {
                    self.batches.push(batch);
                }
                status(answer)
            }
            Call::SubmitBatch { batch, count, entries } => {
                let entries: Option<Vec<_>> =
                    entries.as_ref().map(|all| all.iter().map(|entry| self.entry(entry)).collect());
                status(engine::batch_submit(self.batch(*batch), *count, entries.as_deref()))
            }
            Call::Status { batch, least, room, wait } => {
                let wait = match wait {
                    call::Wait::Forever => engine::Wait::Forever,
                    call::Wait::Short(time) => engine::Wait::For(*time),
                    call::Wait::Invalid => engine::Wait::Invalid(0, 1_000_000_000),
                };
                let (answer, count, events) = engine::batch_status(self.batch(*batch), *least, *room, wait);
                let events = events.iter().map(|event| (event.cookie, event.status, event.ret));
                Answer::Events(answer, count, events.collect())
            }
            Call::Cancel(batch) => status(engine::batch_cancel(self.batch(*batch))),
            Call::Destroy(batch) => {
                engine::batch_destroy(self.batch(*batch));
                Answer::Nothing
            }
            Call::Stub(number) => status(stub(*number)),
        }
    }

    fn toggle(&self) -> Answer {
        let number = self.numbers[TOGGLED];
        // SAFETY: requires nothing.
        let open = unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0;
        let done = if open {
            // SAFETY: requires a descriptor that nothing else owns; holds, only its number is kept.
            unsafe { libc::close(number) }
        } else {
            // SAFETY: requires a number that nothing owns; holds, it was closed here.
            unsafe { libc::dup2(self.numbers[0], number) }
        };
        assert!(done >= 0, "the descriptor that comes and goes");
        Answer::Nothing
    }

    fn register_file(&mut self, slot: usize, kind: Kind) -> Answer {
        let mut description = raw::description(self.numbers[slot]);
        let mut handle = std::ptr::null_mut();
        let (place, described): (*mut _, *mut _) = match kind {
            Kind::NoHandle => (std::ptr::null_mut(), &mut description),
            Kind::NoDescription => (&mut handle, std::ptr::null_mut()),
            Kind::Type(kind) => {
                description.type_.0 = kind;
                (&mut handle, &mut description)
            }
            Kind::File => (&mut handle, &mut description),
        };
        let answer = raw::register_at(place, described);
        assert_eq!(answer == raw::OK, !handle.is_null(), "a handle is written on success alone");
        if answer == raw::OK {
            self.handles.push(handle as usize);
        }
        status(answer)
    }

    fn transfer(&self, transfer: &Transfer) -> Answer {
        let &Transfer { write, file, base, size, file_offset, buffer_offset } = transfer;
        let call = if write { raw::write } else { raw::read };
        match call(self.handle(file), self.pointer(base), size, file_offset, buffer_offset) {
            Moved::Number(number) => Answer::Moved(number, 0),
            Moved::Os(errno) => Answer::Moved(-1, errno),
        }
    }

    fn submit(&mut self, stream: usize, all: &[call::Submission], meanwhile: &[Call]) -> Answer {
        // SAFETY: requires a stream; holds.
        assert_eq!(unsafe { (self.pause)(stream as hipStream_t) }, 0, "a stream is held");
        let (mut answers, mut slots) = (Vec::new(), Vec::new());
        for call::Submission { transfer, null, late } in all {
            let mut slot = Slot::new(transfer.size, transfer.file_offset, transfer.buffer_offset);
            let (handle, base) = (self.handle(transfer.file), self.pointer(transfer.base));
            answers.push(engine::submit(transfer.write, handle, base, &mut slot, *null, stream));
            slots.push((slot, *late));
        }
        let first = slots.iter().map(|(slot, _)| slot.bytes).collect();
        for (slot, late) in &mut slots {
            if let Some((size, file_offset, buffer_offset)) = *late {
                // The library reads them later, by pointer.
                let bytes = slot.bytes;
                **slot = Slot { size, file_offset, buffer_offset, bytes };
            }
        }
        let said = meanwhile.iter().map(|call| self.ask(call)).collect();
        // SAFETY: requires a stream; holds.
        assert_eq!(unsafe { (self.resume)(stream as hipStream_t) }, 0, "a stream is let go");
        engine::synchronize(stream);
        let last = slots.iter().map(|(slot, _)| slot.bytes).collect();
        Answer::Submitted(answers, first, last, said)
    }

    fn entry(&self, entry: &call::Entry) -> engine::Entry {
        let transfer = &entry.transfer;
        engine::Entry {
            write: transfer.write,
            handle: self.handle(transfer.file),
            base: self.pointer(transfer.base),
            size: transfer.size,
            file_offset: transfer.file_offset,
            buffer_offset: transfer.buffer_offset,
            mode: entry.mode,
            opcode: entry.opcode,
            cookie: entry.cookie,
        }
    }
}

fn named(given: &[usize], name: Name) -> usize {
    match name {
        Name::Null => 0,
        Name::Never => 0x10,
        Name::Given(number) => given[number],
    }
}

fn status((code, hip): (u32, u32)) -> Answer {
    Answer::Status(code, hip)
}

/// The functions that answer 5030 whatever they are given.
pub const STUBS: usize = 4;

fn stub(number: usize) -> (u32, u32) {
    let api = raw::api();
    let (properties, parameter) = (std::ptr::null_mut(), hipfile_sys::hipFileSizeTConfigParameter_t(0));
    raw::answer(match number {
        // SAFETY: requires nothing: no release looks at the arguments, as in all that follow.
        0 => unsafe { (api.hipFileDriverGetProperties)(properties) },
        // SAFETY: as above.
        1 => unsafe { (api.hipFileDriverSetMaxCacheSize)(1) },
        // SAFETY: as above.
        2 => unsafe { (api.hipFileDriverSetPollMode)(true, 4) },
        // SAFETY: as above.
        _ => unsafe { (api.hipFileSetParameterSizeT)(parameter, 1) },
    })
}
