//! Transfers that own what they use.

use std::mem;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::thread;

use super::job::{Job, lock};
use super::options::Options;
use super::piece::Piece;
use super::pool;
use super::report::Report;
use super::stopped::Stopped;
use crate::error::{Cause, Error};
use crate::late::Refusal;
use crate::quietly::quietly;
use crate::request::Request;
use crate::trace::{Trace, Work};

const START: &str = "start transfer";

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
        let (job, shared) = Job::new(total);
        let trace = Trace::of(Work::Large { parts: requests.len(), bytes: total });
        if requests.iter().any(|request| request.late.is_some()) {
            let error = Error::new(START, Cause::Late(Refusal::NotRegistered));
            trace.failed(&error);
            shared.end(Err(Stopped::before(error, total)), requests);
            return job;
        }
        // Where the thread finds them, or they are found if there is none.
        let requests = Arc::new(Mutex::new(requests));
        let (their_requests, their_job) = (Arc::clone(&requests), Arc::clone(&shared));
        let run = move || {
            let requests = mem::take(&mut *lock(&their_requests));
            let result = self.run_owned(&requests, &their_job.moved, trace);
            their_job.end(result, requests);
        };
        if let Err(error) = thread::Builder::new().name("hipfile-transfer".to_owned()).spawn(run) {
            let cause = Cause::Os(error.raw_os_error().unwrap_or(libc::EAGAIN));
            let requests = mem::take(&mut *lock(&requests));
            shared.end(Err(Stopped::before(Error::new(START, cause), total)), requests);
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
            move |progress| quietly(|| watcher(progress)).unwrap_or(ControlFlow::Break(()))
        });
        let result =
            pool::run(&pieces, &settings, moved, watcher.as_mut().map(|watcher| watcher as _), &trace);
        _ = quietly(|| drop(watcher));
        result
    }
}
