//! `hipFileRead` by 16 threads at once, on one handle and one buffer.

use std::ffi::c_void;

use hipfile_sys::hipFileHandle_t;

use crate::Result;
use crate::plain::Round;
use crate::rows::Row;
use crate::stage::Stage;
use crate::team::Team;

pub const THREADS: usize = 16;

/// What all threads name.
#[derive(Clone, Copy)]
struct Names(hipFileHandle_t, *mut c_void);

// SAFETY: requires that the values may be used from any thread; holds because libhipfile's functions may, and nothing
// else looks behind them.
unsafe impl Send for Names {}
// SAFETY: as above.
unsafe impl Sync for Names {}

impl Names {
    fn get(&self) -> (hipFileHandle_t, *mut c_void) {
        (self.0, self.1)
    }
}

pub struct Threads<'s> {
    team: Team,
    // The team reads into it.
    _stage: &'s Stage,
}

impl<'s> Threads<'s> {
    pub fn new(stage: &'s Stage, row: &Row) -> Self {
        let (read, len, each) = (stage.api.hipFileRead, row.len, row.count / THREADS);
        let names = Names(stage.handle(), stage.base());
        let team = Team::new(THREADS, move |member| {
            let (handle, base) = names.get();
            (member * each..(member + 1) * each).all(|i| {
                let offset = (i * len) as i64;
                // SAFETY: requires a handle and memory that live; holds because the stage outlives the team.
                let n = unsafe { read(handle, base, len, offset, offset) };
                n == len as isize
            })
        });
        Self { team, _stage: stage }
    }
}

impl Round for Threads<'_> {
    fn round(&mut self) -> Result<()> {
        self.team.round()
    }
}
