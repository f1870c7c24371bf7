//! Transfers that own what they use.

use std::fmt;
use std::mem;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::options::Options;
use super::piece::Piece;
use super::pool;
use super::report::{Progress, Report};
use super::stopped::Stopped;
use crate::error::{Cause, Error};
use crate::late::Refusal;
use crate::region::Region;
use crate::request::Request;
use crate::trace::{Trace, Work};

const START: &str = "start transfer";

/// A transfer under way on threads of its own, which owns files and regions.
///
/// Dropping it does not stop it, and does not wait: the regions are let go of when it has ended. Forgetting it is the same.
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
#[must_use = "dropping a job discards its result"]
pub struct Job(Arc<Shared>);

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
struct Shared {
    total: u64,
    moved: AtomicU64,
    /// Until the handle takes it.
    ended: Mutex<Option<Ended>>,
    changed: Condvar,
}

impl Options<'static> {
    /// Starts a transfer that owns what it uses, and returns. hipFile 0.2.
    ///
    /// The requests may read and write, any files and devices. A [place](Request::place) is released at the end of the
    /// transfer. All of its [`threads`](Self::threads) are new ones; the first of them calls the function given to
    /// [`progress`](Self::progress).
    ///
    /// A function for progress that borrows can't go with it:
    ///
    /// ```compile_fail,E0597
    /// # use hipfile::Request;
    /// # use hipfile::transfer::{Job, Options};
    /// fn start(requests: Vec<Request>) -> Job {
    ///     let mut last = 0;
    ///     Options::new().progress(|progress| last = progress.bytes).spawn(requests)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// None here; [`Job::wait`] has them, and the regions with them. Beside those of
    /// [`read_files_into`](Self::read_files_into) and [`write_files_from`](Self::write_files_from),
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) for [late values](Request::late), which need a stream, and
    /// [`ErrorKind::Os`](crate::ErrorKind::Os) if no thread can be started.
    pub fn spawn(self, requests: impl IntoIterator<Item = Request>) -> Job {
        let requests = Vec::from_iter(requests);
        let total = requests.iter().map(|request| request.region.len() as u64).sum();
        let shared =
            Shared { total, moved: AtomicU64::new(0), ended: Mutex::new(None), changed: Condvar::new() };
        let job = Job(Arc::new(shared));
        let trace = Trace::of(Work::Large { parts: requests.len(), bytes: total });
        if requests.iter().any(|request| request.late.is_some()) {
            let error = Error::new(START, Cause::Late(Refusal::NotRegistered));
            trace.failed(&error);
            job.0.end(Err(Stopped::before(error, total)), requests);
            return job;
        }
        // Where the thread finds them, or they are found if there is none.
        let requests = Arc::new(Mutex::new(requests));
        let (theirs, shared) = (Arc::clone(&requests), Arc::clone(&job.0));
        let run = move || {
            let requests = mem::take(&mut *lock(&theirs));
            let result = self.run_owned(&requests, &shared.moved, trace);
            shared.end(result, requests);
        };
        if let Err(error) = thread::Builder::new().name("hipfile-transfer".to_owned()).spawn(run) {
            let cause = Cause::Os(error.raw_os_error().unwrap_or(libc::EAGAIN));
            let requests = mem::take(&mut *lock(&requests));
            job.0.end(Err(Stopped::before(Error::new(START, cause), total)), requests);
        }
        job
    }

    /// Moves everything on this thread and others; nothing unwinds.
    fn run_owned(self, requests: &[Request], moved: &AtomicU64, trace: Trace) -> Result<Report, Stopped> {
        let Self { settings, watcher } = self;
        let mut pieces = Vec::with_capacity(requests.len());
        for Request { way, file, region, offset, .. } in requests {
            pieces.push(Piece::new(*way, file, region.span(), *offset, pieces.last()));
        }
        let mut watcher = watcher.map(|mut watcher| {
            move |progress| {
                catch_unwind(AssertUnwindSafe(|| watcher(progress))).unwrap_or(ControlFlow::Break(()))
            }
        });
        pool::run(&pieces, &settings, moved, watcher.as_mut().map(|watcher| watcher as _), &trace)
    }
}

impl Shared {
    fn end(&self, result: Result<Report, Stopped>, requests: Vec<Request>) {
        // Files and places go first, so that who waits finds them released.
        let regions = requests.into_iter().map(Request::into_region).collect();
        *lock(&self.ended) = Some(Ended { result, regions });
        self.changed.notify_all();
    }
}

impl Job {
    /// How far it has come. The total is 0 if there is nothing to move.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress { bytes: self.0.moved.load(Ordering::Relaxed), total: self.0.total }
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
        hip_alloc::forked() || lock(&self.0.ended).is_some()
    }

    /// Waits for the end.
    #[must_use = "the regions are in it"]
    pub fn wait(self) -> Ended {
        if let Some(lost) = self.inherited() {
            return lost;
        }
        let mut ended = lock(&self.0.ended);
        loop {
            match ended.take() {
                Some(ended) => return ended,
                None => ended = self.0.changed.wait(ended).unwrap_or_else(PoisonError::into_inner),
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
        let ended = lock(&self.0.ended).take();
        ended.ok_or(self)
    }

    /// What it ends with in a forked child, which has none of its threads. What it owns stays for ever.
    fn inherited(&self) -> Option<Ended> {
        if !hip_alloc::forked() {
            return None;
        }
        mem::forget(Arc::clone(&self.0));
        let error = Error::new("wait for transfer", Cause::Forked);
        Some(Ended { result: Err(Stopped::before(error, self.0.total)), regions: Vec::new() })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("progress", &self.progress()).finish_non_exhaustive()
    }
}
