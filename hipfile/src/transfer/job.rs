//! The handle of a transfer that owns what it uses.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::report::{Progress, Report};
use super::stopped::Stopped;
use crate::error::{Cause, Error};
use crate::quietly::quietly;
use crate::region::Region;
use crate::request::Request;

/// A transfer under way on threads of its own, which owns files and regions.
///
/// It can be waited for, asked or awaited, as an [`Operation`](crate::Operation). Dropping it does not stop it, and does not
/// wait: the regions are let go of when it has ended. Forgetting it is the same.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
///
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::transfer::{CancelToken, Job, Options};
/// use hipfile::{Driver, OpenOptions, Request};
///
/// # let path = std::env::temp_dir().join(format!("hipfile-doc-job-{}", std::process::id()));
/// # std::fs::write(&path, vec![7; 10_000])?;
/// let driver = Driver::open()?;
/// let file = Arc::new(OpenOptions::new().read(true).open(&driver, &path)?);
/// let pool = driver.register(DeviceBuffer::new(10_000)?)?.into_regions(4000)?;
/// let requests = pool.zip(0..).map(|(region, n)| Request::read(&file, region, n * 4000));
/// let stop = CancelToken::new();
/// let job: Job = Options::new().cancel(&stop).spawn(requests);
/// println!("{} of {} bytes", job.progress().bytes, job.progress().total);
/// let ended = job.wait();
/// assert_eq!(ended.result?.bytes, 10_000);
/// assert_eq!(ended.regions[2].slice(..)?.as_device().to_vec()?, [7; 2000]);
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
/// As a future it can be polled with another waker each time, of which the last one counts; a thread of the transfer wakes it.
/// After it was ready it is pending for ever.
///
/// ```
/// use hipfile::transfer::{Job, Stopped};
///
/// async fn bytes(mut job: Job) -> Result<u64, Stopped> {
///     let ended = (&mut job).await; // or just `job.await`
///     println!("{} bytes moved", job.progress().bytes);
///     Ok(ended.result?.bytes)
/// }
/// # use std::future::Future;
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # let mut bytes = Box::pin(bytes(hipfile::transfer::Options::new().spawn([])));
/// # while bytes.as_mut().poll(&mut context).is_pending() {}
/// ```
#[must_use = "dropping a job discards its result"]
pub struct Job {
    shared: Arc<Shared>,
    /// Whether it has ended as a future, and the end is gone.
    given: bool,
}

/// How a [`Job`] ended, and its regions.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use std::sync::Arc;
/// # use hipfile::alloc::DeviceBuffer;
/// # use hipfile::{Driver, OpenOptions, Request};
/// use hipfile::transfer::{Ended, Options};
///
/// # let path = std::env::temp_dir().join(format!("hipfile-doc-ended-{}", std::process::id()));
/// # std::fs::write(&path, vec![7; 100])?;
/// # let driver = Driver::open()?;
/// # let file = Arc::new(OpenOptions::new().read(true).open(&driver, &path)?);
/// # let region = driver.register(DeviceBuffer::new(101)?)?.into_region();
/// let Ended { result, regions, .. } = Options::new().spawn([Request::read(&file, region, 0)]).wait();
/// match result {
///     Ok(report) => println!("all {} bytes", report.bytes),
///     Err(stopped) => println!("{stopped}; {} bytes of 101", stopped.report().bytes),
/// }
/// assert_eq!(regions[0].len(), 101);
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
#[derive(Debug)]
pub struct Ended {
    /// What happened.
    pub result: Result<Report, Stopped>,
    /// The region of each request, in their order. None in a forked child, where they stay for ever.
    pub regions: Vec<Region>,
}

/// What the handle and the transfer share.
pub(super) struct Shared {
    total: u64,
    pub(super) moved: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Until the handle takes it.
    ended: Option<Ended>,
    /// Whom to wake then.
    waker: Option<Waker>,
}

impl Shared {
    pub(super) fn end(&self, result: Result<Report, Stopped>, requests: Vec<Request>) {
        // Files and places go first, so that who waits finds them released.
        let regions = requests.into_iter().map(Request::into_region).collect();
        let mut state = lock(&self.state);
        state.ended = Some(Ended { result, regions });
        let waker = state.waker.take();
        drop(state);
        self.changed.notify_all();
        if let Some(waker) = waker {
            _ = quietly(|| waker.wake());
        }
    }
}

impl Job {
    pub(super) fn new(total: u64) -> (Self, Arc<Shared>) {
        let shared =
            Shared { total, moved: AtomicU64::new(0), state: Mutex::default(), changed: Condvar::new() };
        let shared = Arc::new(shared);
        (Self { shared: Arc::clone(&shared), given: false }, shared)
    }

    /// How far it has come. The total is 0 if there is nothing to move.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress { bytes: self.shared.moved.load(Ordering::Relaxed), total: self.shared.total }
    }

    /// Whether [`try_wait`](Self::try_wait) would return the end.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::transfer::Options;
    ///
    /// let job = Options::new().spawn([]);
    /// while !job.is_finished() {
    ///     std::thread::yield_now(); // or do something else
    /// }
    /// assert_eq!(job.wait().result?.bytes, 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        !self.given && (hip_alloc::forked() || lock(&self.shared.state).ended.is_some())
    }

    /// Waits for the end.
    ///
    /// # Panics
    ///
    /// If the job has given its end away as a future.
    #[must_use = "the regions are in it"]
    #[allow(clippy::panic, reason = "there is no end to return, and waiting for it would never end")]
    pub fn wait(self) -> Ended {
        if self.given {
            panic!("the end was given away before");
        }
        if let Some(lost) = self.inherited() {
            return lost;
        }
        let mut state = lock(&self.shared.state);
        loop {
            match state.ended.take() {
                Some(ended) => return ended,
                None => state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// The end, if it has come. Does not wait.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::transfer::Options;
    ///
    /// let mut job = Options::new().spawn([]);
    /// let ended = loop {
    ///     match job.try_wait() {
    ///         Ok(ended) => break ended,
    ///         Err(unfinished) => job = unfinished, // and do something else
    ///     }
    /// };
    /// assert!(ended.result.is_ok() && ended.regions.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The job itself, if it has not ended.
    pub fn try_wait(self) -> Result<Ended, Self> {
        if let Some(lost) = self.inherited() {
            return Ok(lost);
        }
        let ended = lock(&self.shared.state).ended.take();
        ended.ok_or(self)
    }

    /// What it ends with in a forked child, which has none of its threads. What it owns stays for ever.
    fn inherited(&self) -> Option<Ended> {
        if self.given || !hip_alloc::forked() {
            return None;
        }
        mem::forget(Arc::clone(&self.shared));
        let error = Error::new("wait for transfer", Cause::Forked);
        Some(Ended { result: Err(Stopped::before(error, self.shared.total)), regions: Vec::new() })
    }

    /// The end, if it has come; else `waker` is woken then.
    fn ended_or_wake(&self, waker: &Waker) -> Option<Ended> {
        let known = {
            let mut state = lock(&self.shared.state);
            if state.ended.is_some() {
                return state.ended.take();
            }
            state.waker.as_ref().is_some_and(|known| known.will_wake(waker))
        };
        if known {
            return None;
        }
        // Wakers are code of others: no lock is held while one is cloned or dropped.
        let waker = waker.clone();
        let mut state = lock(&self.shared.state);
        if state.ended.is_some() {
            return state.ended.take();
        }
        let before = state.waker.replace(waker);
        drop(state);
        drop(before);
        None
    }
}

impl Future for Job {
    type Output = Ended;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ended> {
        if self.given {
            return Poll::Pending;
        }
        match self.inherited().or_else(|| self.ended_or_wake(context.waker())) {
            Some(ended) => {
                self.given = true;
                Poll::Ready(ended)
            }
            None => Poll::Pending,
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // In a forked child the lock may be held for ever.
        if !hip_alloc::forked() {
            let waker = lock(&self.shared.state).waker.take();
            drop(waker);
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("progress", &self.progress()).finish_non_exhaustive()
    }
}
