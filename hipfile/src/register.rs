//! Registering memory.
#![allow(unsafe_code, reason = "registers memory")]

use std::ffi::{c_int, c_void};
use std::ops::RangeBounds;
use std::sync::Arc;

use hip_alloc::{Device, DeviceMemory, DeviceMemoryMut, RegistrationHook, resolve_range};

use crate::driver::{Driver, DriverInner};
use crate::error::{Cause, Error, Failed, Result};
use crate::registered::{Registered, set_cause};
use crate::registry;
use crate::span::{Address, Span};
use crate::trace::{Trace, Work};

const REGISTER: &str = "register memory";

/// A registration, or the memory and why it could not be registered.
type Attempt<M> = std::result::Result<Registered<M>, Failed<M>>;

/// # Registering memory
///
/// Memory need not be registered for transfers, it only makes them cheaper. Registering memory whose guard was forgotten
/// removes what is left of the old registration first.
impl Driver {
    /// Registers all of `memory`. hipFile 0.2.
    ///
    /// # Errors
    ///
    /// `memory` is dropped; for `&mut` and `Arc` nothing is lost by that, for owned memory see
    /// [`try_register`](Self::try_register). [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if it is empty,
    /// [`ErrorKind::AlreadyRegistered`](crate::ErrorKind::AlreadyRegistered) if it is registered at the same address by a
    /// guard that shares it with another length, or by raw memory; [`ErrorKind::Busy`](crate::ErrorKind::Busy) if a
    /// forgotten guard's registration can't be removed; otherwise what the library answers.
    #[doc(alias = "hipFileBufRegister")]
    pub fn register<M: DeviceMemory>(&self, memory: M) -> Result<Registered<M>> {
        self.try_register(memory).map_err(Failed::into_error)
    }

    /// Registers the bytes of `memory` at `range`; the guard holds all of it. hipFile 0.2.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::Driver;
    /// use hipfile::alloc::DeviceBuffer;
    ///
    /// let registered = Driver::open()?.register_range(DeviceBuffer::new(8192)?, 4096..)?;
    /// assert_eq!((registered.len(), registered.memory().len()), (4096, 8192));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`register`](Self::register), and [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` is not
    /// within `memory`.
    pub fn register_range<M: DeviceMemory>(
        &self,
        memory: M,
        range: impl RangeBounds<usize>,
    ) -> Result<Registered<M>> {
        self.try_register_range(memory, range).map_err(Failed::into_error)
    }

    /// [`register`](Self::register) that gives the memory back if it fails.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::DeviceBuffer;
    /// use hipfile::{Driver, ErrorKind};
    ///
    /// let driver = Driver::open()?;
    /// let (error, memory) = driver.try_register(DeviceBuffer::new(0)?).unwrap_err().into_parts();
    /// assert_eq!(error.kind(), ErrorKind::InvalidInput);
    /// assert!(memory.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`register`](Self::register), with the memory.
    pub fn try_register<M: DeviceMemory>(&self, memory: M) -> Attempt<M> {
        self.try_register_range(memory, ..)
    }

    /// [`register_range`](Self::register_range) that gives the memory back if it fails.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use hipfile::alloc::DeviceBuffer;
    /// # use hipfile::{Driver, ErrorKind};
    /// # let driver = Driver::open()?;
    /// let (error, memory) = driver.try_register_range(DeviceBuffer::new(8)?, 4..12).unwrap_err().into_parts();
    /// assert_eq!(error.kind(), ErrorKind::OutOfRange);
    /// assert_eq!(memory.len(), 8);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`register_range`](Self::register_range), with the memory.
    pub fn try_register_range<M: DeviceMemory>(
        &self,
        memory: M,
        range: impl RangeBounds<usize>,
    ) -> Attempt<M> {
        match resolve_range(REGISTER, range, memory.len()) {
            Ok(range) => {
                let span = Span {
                    base: Address(memory.as_ptr()).after(range.start),
                    offset: 0,
                    len: range.len(),
                    device: memory.device(),
                };
                self.register_span(memory, span, 0)
            }
            Err(error) => Err(Failed::new(error.into(), memory)),
        }
    }

    /// Registers `span`, which is inside `memory`.
    fn register_span<M: DeviceMemory>(&self, memory: M, span: Span, flags: c_int) -> Attempt<M> {
        let work = Work::RegisterMemory { bytes: span.len, device: span.device.ordinal() };
        Trace::of(work).around(|| self.attempt(memory, span, flags), Failed::error)
    }

    fn attempt<M: DeviceMemory>(&self, memory: M, span: Span, flags: c_int) -> Attempt<M> {
        if span.len == 0 {
            return Err(Failed::new(Error::new(REGISTER, Cause::EmptyMemory), memory));
        }
        let driver = self.inner();
        let register = || {
            // SAFETY: requires memory that stays allocated until it is deregistered; holds because the guard below keeps
            // `memory`, which stays allocated while it exists and for ever if it is forgotten, or, where only its borrow
            // ends, has a set of registrations to empty first.
            unsafe { registry::register(driver, span.base, span.len, flags) }
        };
        let answer = match memory.registrations() {
            Some((set, access)) => {
                let hook: Arc<dyn RegistrationHook> = Arc::<DriverInner>::clone(driver);
                // SAFETY: requires bytes of the set's allocation, not none of them, accessible until the guard ends; a hook
                // that can undo what the closure does; a closure that tells the truth, does not unwind and does not use
                // the set. Holds because the range was checked against `memory`, whose set and access these are, the
                // guard detaches or abandons before it lets go of it, and `registry` is written for these two.
                unsafe { set.attach(REGISTER, access, span.base.0, span.len, hook, register) }
                    .map_err(set_cause)
            }
            None => register(),
        };
        match answer {
            // SAFETY: requires a registration of `span`, inside `memory` and in its set; holds because it was just made.
            Ok(()) => Ok(unsafe { Registered::from_parts(memory, span, Arc::clone(driver)) }),
            Err(cause) => Err(Failed::new(Error::new(REGISTER, cause), memory)),
        }
    }
}

/// Device memory given by address: see [`Registered::from_raw`].
///
/// ```
/// use hipfile::{Driver, RawMemory, Registered};
/// use hipfile::alloc::DeviceBuffer;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pool = DeviceBuffer::new(1 << 20)?;
/// let driver = Driver::open()?;
/// // SAFETY: the bytes are device memory of the current device, are used by nobody else, and `pool` outlives the guard.
/// let registered: Registered<RawMemory> = unsafe { Registered::from_raw(&driver, pool.as_ptr(), pool.len(), 0)? };
/// let memory: &RawMemory = registered.memory();
/// assert_eq!((memory.as_ptr(), memory.len(), memory.is_empty()), (pool.as_ptr(), 1 << 20, false));
/// # drop(registered);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RawMemory(Span);

impl RawMemory {
    /// Address of the first byte on the device.
    #[must_use]
    pub fn as_ptr(&self) -> *mut c_void {
        self.0.base.0
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }
}

// SAFETY: requires a stable description of device memory that is not freed before the value, nor if it is forgotten, and
// not written while a slice has it; holds because whoever made the value, in `from_raw`, promised it, and nothing changes
// the description.
unsafe impl DeviceMemory for RawMemory {
    fn as_ptr(&self) -> *mut c_void {
        self.as_ptr()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn device(&self) -> Device {
        self.0.device
    }
}

// SAFETY: requires memory that the value has to itself; holds because whoever made it promised that.
unsafe impl DeviceMemoryMut for RawMemory {}

impl Registered<RawMemory> {
    /// Registers `len` bytes of device memory at `ptr`, which something else owns. hipFile 0.2.
    ///
    /// `flags` is handed to the library, whose versions so far all ignore it; give 0.
    ///
    /// # Errors
    ///
    /// As for [`Driver::register`]; [`ErrorKind::UnsupportedMemory`](crate::ErrorKind::UnsupportedMemory) if it is not
    /// device memory, [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if it goes past the end of its allocation.
    ///
    /// # Safety
    ///
    /// - The bytes are device memory of the calling thread's current device, and `len` is at most `isize::MAX`.
    /// - They stay allocated until the guard, or the last [`Region`](crate::Region) made of it, is dropped, or
    ///   [`deregister`](Registered::deregister) succeeds: for ever if one is forgotten, or if dropping it finds that the
    ///   library still uses them ([`alloc::leaked`](crate::alloc::leaked) counts these).
    /// - Meanwhile nobody else writes to them, or reads what is being written, while a slice of the guard is in use or while
    ///   a region has them.
    pub unsafe fn from_raw(driver: &Driver, ptr: *mut c_void, len: usize, flags: c_int) -> Result<Self> {
        let device = Device::current().map_err(|error| Error::new(REGISTER, Cause::Memory(error)))?;
        let span = Span { base: Address(ptr), offset: 0, len, device };
        driver.register_span(RawMemory(span), span, flags).map_err(Failed::into_error)
    }
}
