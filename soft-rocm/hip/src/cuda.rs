//! Devices that are NVIDIA's GPUs: their memory is at the addresses that programs get, and moves by the driver.
//!
//! All of it lies in one range of addresses, reserved at the start, with a part for each device: so an address tells its device, and
//! host code that touches one faults. Each allocation has memory of its own behind its addresses.

mod driver;
mod files;
mod helpers;
mod pins;
mod stage;

use std::ffi::{c_char, c_int};
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::bindings::{
    hipError_t, hipErrorIllegalAddress, hipErrorInvalidDevice, hipErrorInvalidValue, hipErrorOutOfMemory,
    hipErrorUnknown,
};

pub(crate) use driver::DriverError;
use driver::{Access, Code, Context, Functions, Property, Stream};
pub(crate) use files::Transfer;
use pins::Pins;
pub(crate) use stage::STAGE;
use stage::Stages;

/// The stream that each thread has for itself, so that none waits for what another thread enqueued. It and what the program itself
/// puts on CUDA's default stream wait for each other, as on a GPU of AMD's.
const THREAD: Stream = ptr::without_provenance_mut(2);

/// NVIDIA's GPUs.
#[derive(Debug)]
pub(crate) struct Gpus {
    functions: Functions,
    all: Vec<Gpu>,
    /// Where the memory of the first starts.
    base: usize,
    /// Memory that each has, and addresses for it.
    memory: usize,
    /// What allocations start at and are multiples of.
    granularity: usize,
    stages: Stages,
    pins: Pins,
    /// Held, shared, by what uses memory, and alone by what takes it away.
    in_use: RwLock<()>,
}

#[derive(Debug)]
struct Gpu {
    /// The driver's number.
    handle: c_int,
    context: Context,
    name: String,
}

// SAFETY: requires that any thread may use the contexts; holds because the driver binds them to no thread.
unsafe impl Send for Gpus {}
// SAFETY: as for Send; what changes after the start has locks.
unsafe impl Sync for Gpus {}

impl Gpus {
    /// Starts the driver. All its devices and all their memory, unless less is wanted.
    pub(crate) fn start(wanted: Option<u32>, memory: Option<usize>) -> Result<Gpus, DriverError> {
        /// What the driver answers where there is no GPU.
        const NO_DEVICE: Code = 100;
        let functions = Functions::open()?;
        let mut count = 0;
        // SAFETY: requires flags 0; holds.
        let initialized = unsafe { (functions.init)(0) };
        if initialized != NO_DEVICE {
            checked("cuInit", initialized)?;
            // SAFETY: requires a writable int; holds, it is a local.
            checked("cuDeviceGetCount", unsafe { (functions.device_count)(&mut count) })?;
        }
        let found = u32::try_from(count).unwrap_or(0);
        let devices = wanted.unwrap_or(found);
        if devices > found {
            return Err(DriverError::Devices { found, wanted: devices });
        }
        let mut gpus = Gpus {
            functions,
            all: Vec::new(),
            base: 0,
            memory: usize::MAX,
            granularity: 1,
            stages: Stages::default(),
            pins: Pins::default(),
            in_use: RwLock::new(()),
        };
        for ordinal in 0..devices as c_int {
            gpus.add(ordinal)?;
        }
        if devices > 0 {
            gpus.reserve(memory)?;
        }
        Ok(gpus)
    }

    /// Takes in a device. All have as much memory as the smallest.
    fn add(&mut self, ordinal: c_int) -> Result<(), DriverError> {
        let (mut handle, mut context, mut bytes, mut granularity) = (0, ptr::null_mut(), 0, 0);
        // SAFETY: requires a writable place; holds, it is a local.
        checked("cuDeviceGet", unsafe { (self.functions.device)(&mut handle, ordinal) })?;
        // SAFETY: requires a writable place and a device; holds, it is a local and the driver gave the device.
        checked("cuDevicePrimaryCtxRetain", unsafe { (self.functions.retain)(&mut context, handle) })?;
        // SAFETY: as above.
        checked("cuDeviceTotalMem", unsafe { (self.functions.device_memory)(&mut bytes, handle) })?;
        let property = Property::of(handle);
        let granularity_of = self.functions.granularity;
        // SAFETY: requires a writable and a readable place; holds, they are locals. 0 asks for the least.
        checked("cuMemGetAllocationGranularity", unsafe { granularity_of(&mut granularity, &property, 0) })?;
        self.memory = self.memory.min(bytes);
        self.granularity = self.granularity.max(granularity);
        let mut name = [0 as c_char; 256];
        // SAFETY: requires that many writable bytes; holds, they are a local's.
        checked("cuDeviceGetName", unsafe { (self.functions.device_name)(name.as_mut_ptr(), 255, handle) })?;
        let bytes = name.iter().map(|char| *char as u8).take_while(|byte| *byte != 0).collect::<Vec<_>>();
        let name = String::from_utf8_lossy(&bytes).into_owned();
        self.all.push(Gpu { handle, context, name });
        Ok(())
    }

    /// Reserves addresses for so much memory of each device, rounded up, or for all of it.
    fn reserve(&mut self, wanted: Option<usize>) -> Result<(), DriverError> {
        let failed = |code| DriverError::Failed("cuMemAddressReserve", code);
        let out_of_memory = 2;
        self.memory -= self.memory % self.granularity;
        let rounded = wanted.and_then(|bytes| bytes.checked_next_multiple_of(self.granularity));
        self.memory = rounded.unwrap_or(self.memory).min(self.memory);
        let len = self.memory.checked_mul(self.all.len()).ok_or(failed(out_of_memory))?;
        let mut base = 0;
        // SAFETY: requires a writable place; holds, it is a local. The driver chooses the addresses.
        let code = unsafe { (self.functions.reserve)(&mut base, len, self.granularity, 0, 0) };
        if code != 0 {
            return Err(failed(code));
        }
        self.base = base as usize;
        Ok(())
    }

    /// Number of devices.
    pub(crate) fn count(&self) -> u32 {
        self.all.len() as u32
    }

    /// What the devices are called.
    pub(crate) fn names(&self) -> Vec<String> {
        self.all.iter().map(|gpu| gpu.name.clone()).collect()
    }

    /// Memory that each device has.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// What allocations start at and are multiples of.
    pub(crate) fn granularity(&self) -> usize {
        self.granularity
    }

    /// Addresses of all devices together.
    pub(crate) fn len(&self) -> usize {
        self.memory * self.all.len()
    }

    /// Where the addresses start.
    pub(crate) fn base(&self) -> usize {
        self.base
    }

    /// Free bytes of a device, which other processes use as well.
    pub(crate) fn free(&self, device: u32) -> Result<usize, hipError_t> {
        let (mut free, mut total) = (0, 0);
        let _current = self.enter(device)?;
        // SAFETY: requires two writable places; holds, they are locals.
        hip(unsafe { (self.functions.info)(&mut free, &mut total) })?;
        Ok(free)
    }

    /// Puts memory behind addresses of a device that have none.
    pub(crate) fn back(&self, device: u32, addresses: Range<usize>) -> Result<(), hipError_t> {
        let (start, len) = (addresses.start as u64, addresses.len());
        let gpu = self.gpu(device)?;
        let property = Property::of(gpu.handle);
        let mut handle = 0;
        // SAFETY: requires a writable and a readable place; holds, they are locals.
        hip(unsafe { (self.functions.create)(&mut handle, len, &property, 0) })?;
        // SAFETY: requires nothing; the driver refuses what is not reserved, or has something behind it.
        let mapped = unsafe { (self.functions.map)(start, len, 0, handle, 0) };
        // The mapping keeps the memory.
        // SAFETY: requires a handle that nobody uses any more; holds.
        unsafe { (self.functions.release)(handle) };
        hip(mapped)?;
        let access = Access::of(gpu.handle);
        // SAFETY: requires mapped addresses and a readable description; holds.
        let allowed = hip(unsafe { (self.functions.set_access)(start, len, &access, 1) });
        if allowed.is_err() {
            // Nobody uses it: it was just made.
            let _ = self.unback(addresses);
        }
        allowed
    }

    /// Takes away what is behind the addresses of one call of [`Gpus::back`], once nothing of this library uses any memory of
    /// GPUs. They stay without: whoever comes late is refused by the driver.
    pub(crate) fn unback(&self, addresses: Range<usize>) -> Result<(), hipError_t> {
        let _alone = self.in_use.write().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: requires nothing; the driver refuses what is no whole mapping, and no host code reaches the memory.
        hip(unsafe { (self.functions.unmap)(addresses.start as u64, addresses.len()) })
    }

    /// Keeps all memory of GPUs where it is meanwhile.
    fn using(&self) -> RwLockReadGuard<'_, ()> {
        self.in_use.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn gpu(&self, device: u32) -> Result<&Gpu, hipError_t> {
        self.all.get(device as usize).ok_or(hipErrorInvalidDevice)
    }

    /// Copies and waits. Both are addresses of GPUs or of the host, which the driver tells apart.
    ///
    /// # Safety
    ///
    /// The ranges may be read and written, and nobody uses them otherwise.
    pub(crate) unsafe fn copy(
        &self,
        device: u32,
        dst: usize,
        src: usize,
        len: usize,
    ) -> Result<(), hipError_t> {
        self.complete(device, |current| {
            // SAFETY: requires two ranges; holds by contract, until it has waited.
            unsafe { current.start_copy(dst, src, len) }
        })
    }

    /// Fills bytes and waits.
    ///
    /// # Safety
    ///
    /// The range is one of the device, and nobody uses it otherwise.
    pub(crate) unsafe fn fill(
        &self,
        device: u32,
        dst: usize,
        value: u8,
        len: usize,
    ) -> Result<(), hipError_t> {
        self.complete(device, |_| {
            // SAFETY: requires a writable range; holds by contract.
            hip(unsafe { (self.functions.fill)(dst as u64, value, len, THREAD) })
        })
    }

    /// Fills words of 4 bytes and waits.
    ///
    /// # Safety
    ///
    /// As for [`Gpus::fill`]; the address is a multiple of 4.
    pub(crate) unsafe fn fill_words(
        &self,
        device: u32,
        dst: usize,
        value: u32,
        count: usize,
    ) -> Result<(), hipError_t> {
        self.complete(device, |_| {
            // SAFETY: requires a writable, aligned range; holds by contract.
            hip(unsafe { (self.functions.fill_words)(dst as u64, value, count, THREAD) })
        })
    }

    /// Has the thread's stream do something, and waits for it. No memory goes meanwhile.
    fn complete(
        &self,
        device: u32,
        start: impl FnOnce(&Current<'_>) -> Result<(), hipError_t>,
    ) -> Result<(), hipError_t> {
        let _in_use = self.using();
        let current = self.enter(device)?;
        start(&current)?;
        current.wait()
    }

    /// Makes a device's context current for the thread. The one it was in is the program's and comes back.
    fn enter(&self, device: u32) -> Result<Current<'_>, hipError_t> {
        let context = self.gpu(device)?.context;
        // SAFETY: requires a context; holds, it is retained for good.
        hip(unsafe { (self.functions.push)(context) })?;
        Ok(Current { functions: &self.functions, thread: PhantomData })
    }
}

/// A device's context while it is the thread's.
#[derive(Debug)]
struct Current<'a> {
    functions: &'a Functions,
    /// It belongs to the thread.
    thread: PhantomData<*const ()>,
}

impl Current<'_> {
    /// Has the thread's stream copy.
    ///
    /// # Safety
    ///
    /// As for [`Gpus::copy`], until [`Current::wait`] returned.
    unsafe fn start_copy(&self, dst: usize, src: usize, len: usize) -> Result<(), hipError_t> {
        // SAFETY: requires two ranges; holds by contract.
        hip(unsafe { (self.functions.copy)(dst as u64, src as u64, len, THREAD) })
    }

    /// Waits for the thread's stream.
    fn wait(&self) -> Result<(), hipError_t> {
        // SAFETY: requires a stream of the current context; holds for the thread's own.
        hip(unsafe { (self.functions.synchronize)(THREAD) })
    }
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        let mut popped = ptr::null_mut();
        // SAFETY: requires a writable place; holds, it is a local.
        unsafe { (self.functions.pop)(&mut popped) };
    }
}

fn checked(name: &'static str, code: Code) -> Result<(), DriverError> {
    if code == 0 { Ok(()) } else { Err(DriverError::Failed(name, code)) }
}

/// HIP's code for one of the driver's.
fn hip(code: Code) -> Result<(), hipError_t> {
    match code {
        0 => Ok(()),
        1 => Err(hipErrorInvalidValue),
        2 => Err(hipErrorOutOfMemory),
        700 => Err(hipErrorIllegalAddress),
        _ => Err(hipErrorUnknown),
    }
}
