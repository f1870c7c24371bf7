//! Memory registered with the library.
#![allow(unsafe_code, reason = "keeps registered memory from being freed")]

use std::ffi::c_void;
use std::fmt;
use std::mem::{self, ManuallyDrop};
use std::ops::RangeBounds;
use std::ptr;
use std::sync::Arc;

use hip_alloc::{Device, DeviceMemory, DeviceMemoryMut, SetError, resolve_range};

use crate::driver::DriverInner;
use crate::error::{Cause, Error, Failed, Result};
use crate::registry;
use crate::slice::RegisteredSlice;
use crate::slice_mut::RegisteredSliceMut;
use crate::span::Span;
use crate::trace::{Trace, Work};

pub(crate) const DEREGISTER: &str = "deregister memory";

/// Device memory that the library knows: transfers on its slices skip the look-up of the pointer.
///
/// `M` is what the memory is held by. `DeviceBuffer` and `&mut DeviceBuffer` have it to themselves; `Arc<DeviceBuffer>`
/// shares it, so it can be written to files and not read into. A framework's own type may implement
/// [`DeviceMemory`](hip_alloc::DeviceMemory). Made by [`Driver::register`](crate::Driver::register).
///
/// ```
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::{Driver, OpenOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open()?;
/// let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
/// let mut registered = driver.register(DeviceBuffer::new(4096)?)?;
/// let n = file.read_at(registered.slice_mut(..)?, 0)?;
/// println!("{n} bytes on device {}", registered.device().ordinal());
/// assert_eq!(registered.slice(1..4)?.as_device().to_vec()?, b"ELF");
/// assert!(!registered.is_empty()); // no registration is
/// let memory = registered.deregister()?;
/// assert_eq!(&memory.to_vec()?[..n.min(4)], b"\x7fELF");
/// # Ok(())
/// # }
/// ```
///
/// While it is registered, memory can't be dropped or moved,
///
/// ```compile_fail,E0505
/// # use hipfile::{Driver, alloc::DeviceBuffer};
/// # fn f(driver: &Driver) -> Result<(), Box<dyn std::error::Error>> {
/// let mut memory = DeviceBuffer::new(8)?;
/// let registered = driver.register(&mut memory)?;
/// drop(memory);
/// drop(registered);
/// # Ok(())
/// # }
/// ```
///
/// nor borrowed mutably,
///
/// ```compile_fail,E0499
/// # use hipfile::{Driver, alloc::DeviceBuffer};
/// # fn f(driver: &Driver) -> Result<(), Box<dyn std::error::Error>> {
/// let mut memory = DeviceBuffer::new(8)?;
/// let registered = driver.register(&mut memory)?;
/// memory.fill(0)?;
/// drop(registered);
/// # Ok(())
/// # }
/// ```
///
/// nor does a registration outlive its memory,
///
/// ```compile_fail,E0597
/// # use hipfile::{Driver, alloc::DeviceBuffer};
/// # fn f(driver: &Driver) -> Result<(), Box<dyn std::error::Error>> {
/// let registered;
/// {
///     let mut memory = DeviceBuffer::new(8)?;
///     registered = driver.register(&mut memory)?;
/// }
/// drop(registered);
/// # Ok(())
/// # }
/// ```
///
/// nor a slice its registration.
///
/// ```compile_fail,E0505
/// # use hipfile::{Driver, alloc::DeviceBuffer};
/// # fn f(driver: &Driver) -> Result<(), Box<dyn std::error::Error>> {
/// let registered = driver.register(DeviceBuffer::new(8)?)?;
/// let slice = registered.slice(..)?;
/// drop(registered);
/// slice.len();
/// # Ok(())
/// # }
/// ```
///
/// Shared memory gives no mutable slice:
///
/// ```compile_fail,E0277
/// # use hipfile::{Driver, alloc::DeviceBuffer};
/// # fn f(driver: &Driver) -> Result<(), Box<dyn std::error::Error>> {
/// let mut registered = driver.register(std::sync::Arc::new(DeviceBuffer::new(8)?))?;
/// registered.slice_mut(..)?;
/// # Ok(())
/// # }
/// ```
#[must_use = "memory is deregistered as soon as this is dropped"]
pub struct Registered<M: DeviceMemory> {
    /// Dropped by hand, since it goes after the registration, or never.
    memory: ManuallyDrop<M>,
    /// All the registered bytes: the offset is 0.
    span: Span,
    driver: Arc<DriverInner>,
}

impl<M: DeviceMemory> Registered<M> {
    /// # Safety
    ///
    /// `span` is inside `memory` and was registered with the library through `driver`, in the set of `memory` if it has
    /// one. This value is the only one to undo that.
    pub(crate) unsafe fn from_parts(memory: M, span: Span, driver: Arc<DriverInner>) -> Self {
        Self { memory: ManuallyDrop::new(memory), span, driver }
    }

    /// All the registered bytes.
    pub(crate) fn span(&self) -> Span {
        self.span
    }

    /// What holds the memory.
    #[must_use]
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// Address of the first registered byte on the device: the base that the library knows.
    #[must_use]
    pub fn as_ptr(&self) -> *mut c_void {
        self.span.base.0
    }

    /// Number of registered bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.span.len
    }

    /// Whether no byte is registered, which never is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.span.len == 0
    }

    /// The device that the memory is on.
    #[must_use]
    pub fn device(&self) -> Device {
        self.span.device
    }

    /// The registered bytes at `range`, to write to files.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` is not within the registered bytes.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<RegisteredSlice<'_>> {
        let range = resolve_range("Registered::slice", range, self.span.len)?;
        // SAFETY: requires live registered memory that nobody writes while the slice lives; holds because the range was
        // checked, the slice borrows `self`, which keeps memory and registration, and `M` promises that its memory is not
        // written while it is shared.
        Ok(unsafe { RegisteredSlice::from_span(self.span.part(range.start, range.len())) })
    }

    /// The registered bytes at `range`, to read files into.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` is not within the registered bytes.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<RegisteredSliceMut<'_>>
    where
        M: DeviceMemoryMut,
    {
        let range = resolve_range("Registered::slice_mut", range, self.span.len)?;
        // SAFETY: requires live registered memory that is nobody else's while the slice lives; holds because the range was
        // checked, `M` has the memory to itself, and the slice borrows `self`, and thereby `M`, mutably.
        Ok(unsafe { RegisteredSliceMut::from_span(self.span.part(range.start, range.len())) })
    }

    /// Removes the registration and gives the memory back. Dropping does the same without telling how it went. hipFile 0.2.
    ///
    /// # Errors
    ///
    /// The registration comes back. [`ErrorKind::Busy`](crate::ErrorKind::Busy) if the library says that transfers on it
    /// are in flight; it is not removed then.
    #[doc(alias = "hipFileBufDeregister")]
    pub fn deregister(self) -> std::result::Result<M, Failed<Self>> {
        match self.release() {
            Ok(()) => {
                let mut this = ManuallyDrop::new(self);
                // SAFETY: requires a driver that is not used again; holds because `this` is not, and is not dropped.
                unsafe { ptr::drop_in_place(&raw mut this.driver) };
                // SAFETY: requires memory that is not used again; holds as for the driver.
                Ok(unsafe { ManuallyDrop::take(&mut this.memory) })
            }
            Err(cause) => Err(Failed::new(Error::new(DEREGISTER, cause), self)),
        }
    }

    /// Removes the registration from the library and from the memory's set. After `Ok` it must not be used any more.
    fn release(&self) -> std::result::Result<(), Cause> {
        let trace =
            Trace::of(Work::DeregisterMemory { bytes: self.span.len, device: self.span.device.ordinal() });
        let answer = trace.within(|| self.release_base());
        if let Err(cause) = &answer {
            trace.failed_by(cause);
        }
        answer
    }

    fn release_base(&self) -> std::result::Result<(), Cause> {
        let base = self.span.base;
        let deregister = || registry::deregister(&self.driver, base);
        match self.memory.registrations() {
            // SAFETY: requires a guard whose registration is in the set and that ends if this succeeds, and a closure that
            // tells the truth, does not unwind and does not use the set; holds because `from_parts` promises the first,
            // both callers end this guard, and `registry::deregister` is such a function.
            Some((set, _)) => unsafe { set.detach(DEREGISTER, base.0, deregister) }.map_err(set_cause),
            None => deregister(),
        }
    }
}

impl<M: DeviceMemory> Drop for Registered<M> {
    fn drop(&mut self) {
        let released = self.release();
        match (released, self.memory.registrations()) {
            (Ok(()), _) => {}
            (Err(_), Some((set, _))) => {
                // The set keeps the memory from being freed while the library has it.
                // SAFETY: requires a guard in the set that ends now; holds because this is the guard, being dropped.
                unsafe { set.abandon(self.span.base.0) };
            }
            (Err(_), None) => {
                // Nothing would keep it from being freed, so it stays, and with it the driver that knows of it.
                mem::forget(Arc::clone(&self.driver));
                if !hip_alloc::forked() {
                    hip_alloc::record_leak(self.memory.len());
                }
                return;
            }
        }
        // SAFETY: requires memory that is not used again; holds because `self` is being dropped.
        unsafe { ManuallyDrop::drop(&mut self.memory) };
    }
}

impl<M: DeviceMemory> fmt::Debug for Registered<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered")
            .field("base", &self.as_ptr())
            .field("len", &self.len())
            .field("device", &self.device())
            .finish_non_exhaustive()
    }
}

/// The cause in what a set answers.
pub(crate) fn set_cause(error: SetError<Cause>) -> Cause {
    match error {
        SetError::Refused(refusal) => Cause::Memory(refusal),
        SetError::Call(cause) => cause,
    }
}
