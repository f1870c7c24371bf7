//! Scopes: work on a stream that borrows memory, because the frame that lends it waits for the stream.
//!
//! # The argument
//! *What was lent to a scope is not given back before the stream has passed it.*
//! 1. Operations take borrows for `'scope`, which callers can't choose: all they know is that `'env`, what surrounds the
//!    call of [`StreamRef::scope`], lasts longer. So the borrows last at least as long as that call.
//! 2. The call does not end, by returning or by unwinding, before [`Closing`]'s Drop has waited for the stream. It is a
//!    variable of our own frame, which nobody can forget, unlike a guard that callers hold.
//! 3. Borrowed memory can't be leaked instead. So if the wait fails, nothing is known of the stream, and the process
//!    aborts. Not in a forked child, whose memory is a copy that no stream knows.
//!
//! What operations need besides, such as the place of a result, is given to [`Scope::keep`] and dropped after a wait that
//! succeeded, of which the closing one is the last.

use core::any::Any;
use core::cell::{Cell, RefCell};
use core::fmt;
use core::marker::PhantomData;
use core::mem;
use std::io::{self, Write as _};
use std::process;

use crate::error::{ErrorKind, Result};
use crate::stream::{Stream, StreamRef};

/// Puts work that borrows memory into a stream: see [`Stream::scope`].
///
/// It stays on the thread that opened it.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::{Scope, Stream};
///
/// /// Waits in the middle.
/// fn two_steps<'scope>(scope: &'scope Scope<'scope, '_>) -> hip_alloc::Result<()> {
///     assert!(!scope.stream().as_raw().is_null());
///     scope.synchronize()
/// }
///
/// Stream::new()?.scope(|scope| two_steps(scope))
/// # }
/// ```
pub struct Scope<'scope, 'env: 'scope> {
    stream: StreamRef<'scope>,
    /// Whether something may be in the stream that was not waited for.
    pending: Cell<bool>,
    kept: RefCell<Vec<Box<dyn Any>>>,
    /// Invariant, so that nobody makes the borrows shorter than the call.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl Stream {
    /// As [`StreamRef::scope`].
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// use hip_alloc::Stream;
    ///
    /// let answer = Stream::new()?.scope(|_| 42);
    /// assert_eq!(answer, 42);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Aborts
    /// As there.
    pub fn scope<'env, T>(&self, f: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T) -> T {
        self.as_ref().scope(f)
    }
}

impl StreamRef<'_> {
    /// Calls `f` with a scope, through which it puts work into the stream that borrows memory, and waits for the stream
    /// before it returns or unwinds. Nothing is called if nothing was put into the stream.
    ///
    /// What an operation borrows is borrowed until the call of `scope` ends, also after [`Scope::synchronize`] and after an
    /// error.
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// use hip_alloc::{Device, StreamRef};
    ///
    /// let default: StreamRef<'_> = StreamRef::default_of(Device::current()?);
    /// default.scope(|scope| assert!(scope.stream().as_raw().is_null()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Aborts
    /// Ends the process with [`abort`](std::process::abort), after a line on standard error, if the wait fails: nobody knows
    /// then whether the stream still uses the memory, and borrowed memory can't be kept from its owner. Owned operations
    /// leak instead.
    #[doc(alias = "hipStreamSynchronize")]
    pub fn scope<'env, T>(self, f: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T) -> T {
        let scope = Scope {
            stream: self,
            pending: Cell::new(false),
            kept: RefCell::default(),
            scope: PhantomData,
            env: PhantomData,
        };
        let _closing = Closing(&scope);
        f(&scope)
    }
}

/// Waits when it is dropped: the end of a scope.
struct Closing<'a, 'scope, 'env>(&'a Scope<'scope, 'env>);

impl Drop for Closing<'_, '_, '_> {
    fn drop(&mut self) {
        if !self.0.pending.get() {
            return;
        }
        match self.0.wait("Stream::scope") {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Forked => mem::forget(self.0.kept.take()),
            Err(error) => {
                // Nothing that may panic: that would end the scope, not the process.
                _ = writeln!(
                    io::stderr(),
                    "{error}; the stream may still use what the scope borrowed, so the process ends"
                );
                process::abort();
            }
        }
    }
}

impl<'scope> Scope<'scope, '_> {
    /// The stream that the work goes to.
    #[must_use]
    pub fn stream(&self) -> StreamRef<'scope> {
        self.stream
    }

    /// Waits until everything that was put into the stream so far has been done.
    ///
    /// Borrows go on until the scope ends.
    ///
    /// # Errors
    /// HIP's, also those of work in the stream. Then nothing is known of what the stream has done, and the wait at the end
    /// of the scope may fail too, which aborts.
    #[doc(alias = "hipStreamSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        self.wait("Scope::synchronize")
    }

    fn wait(&self, operation: &'static str) -> Result<()> {
        self.stream.synchronize_as(operation)?;
        self.pending.set(false);
        // Taken out first: what is dropped must not find the list borrowed.
        drop(self.kept.take());
        Ok(())
    }

    /// Keeps `value` until a wait for the stream has succeeded, at the latest at the end of the scope. Nothing is put into
    /// the stream without a call of this before.
    #[doc(hidden)]
    pub fn keep(&self, value: Box<dyn Any>) {
        self.expect_work();
        self.kept.borrow_mut().push(value);
    }

    /// Lets the scope wait at its end. Called before anything is put into the stream, since it may be there also after an
    /// error.
    pub(crate) fn expect_work(&self) {
        self.pending.set(true);
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("stream", &self.stream)
            .field("pending", &self.pending.get())
            .finish_non_exhaustive()
    }
}
