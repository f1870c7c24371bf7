//! Threads that stay, since starting them is not what is measured.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::JoinHandle;

use crate::Result;
use crate::plain::Round;

/// What a member does each round; takes its number and says whether it worked out.
type Work = Arc<dyn Fn(usize) -> bool + Send + Sync>;

/// Members that all do their work once a round. The thread that calls for the round is the first of them.
pub struct Team {
    work: Work,
    gate: Arc<Barrier>,
    failed: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    others: Vec<JoinHandle<()>>,
}

impl Team {
    pub fn new(members: usize, work: impl Fn(usize) -> bool + Send + Sync + 'static) -> Self {
        let work: Work = Arc::new(work);
        let gate = Arc::new(Barrier::new(members));
        let (failed, stop) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let member = |number| {
            let (work, gate, failed, stop) = (work.clone(), gate.clone(), failed.clone(), stop.clone());
            std::thread::spawn(move || {
                loop {
                    gate.wait();
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    if !work(number) {
                        failed.store(true, Ordering::Relaxed);
                    }
                    gate.wait();
                }
            })
        };
        let others = (1..members).map(member).collect();
        Self { work, gate, failed, stop, others }
    }
}

impl Round for Team {
    fn round(&mut self) -> Result<()> {
        // A lone thread has nobody to wait for.
        let alone = self.others.is_empty();
        if !alone {
            self.gate.wait();
        }
        let worked = (self.work)(0);
        if !alone {
            self.gate.wait();
        }
        if worked && !self.failed.load(Ordering::Relaxed) { Ok(()) } else { Err("a read failed".into()) }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if !self.others.is_empty() {
            self.gate.wait();
        }
        for thread in self.others.drain(..) {
            let _ = thread.join();
        }
    }
}
