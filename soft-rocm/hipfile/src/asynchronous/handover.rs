//! One thread asks another for work, one job at a time, and waits for the answer.

use std::mem;

use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What the two threads share.
#[derive(Debug)]
pub(super) struct Handover<Job, Answer> {
    state: Mutex<State<Job, Answer>>,
    changed: Condvar,
}

#[derive(Debug)]
enum State<Job, Answer> {
    /// Nothing to do.
    Idle,
    /// There is a job.
    Asked(Job),
    /// It is being done.
    Busy,
    /// It is done.
    Done(Answer),
    /// There will be no more jobs.
    Over,
}

impl<Job, Answer> Handover<Job, Answer> {
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State::Idle), changed: Condvar::new() }
    }

    /// Has a job done and waits for the answer; `None` after [`Handover::end`]. One thread may ask at a time.
    pub(super) fn ask(&self, job: Job) -> Option<Answer> {
        let mut state = self.lock();
        if !matches!(*state, State::Idle) {
            return None;
        }
        self.change(&mut state, State::Asked(job));
        let mut state = self.wait(state, |state| matches!(state, State::Done(_)));
        match self.change(&mut state, State::Idle) {
            State::Done(answer) => Some(answer),
            _ => None,
        }
    }

    /// Waits for a job; `None` if there will be no more.
    pub(super) fn job(&self) -> Option<Job> {
        let mut state = self.wait(self.lock(), |state| matches!(state, State::Asked(_) | State::Over));
        match self.change(&mut state, State::Busy) {
            State::Asked(job) => Some(job),
            _ => None,
        }
    }

    /// Answers the job that was last taken.
    pub(super) fn answer(&self, answer: Answer) {
        let mut state = self.lock();
        self.change(&mut state, State::Done(answer));
    }

    /// There are no more jobs. The thread that asks says it, so that none is under way.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        self.change(&mut state, State::Over);
    }

    fn change(&self, state: &mut State<Job, Answer>, next: State<Job, Answer>) -> State<Job, Answer> {
        self.changed.notify_all();
        mem::replace(state, next)
    }

    fn wait<'a>(
        &self,
        mut state: MutexGuard<'a, State<Job, Answer>>,
        until: impl Fn(&State<Job, Answer>) -> bool,
    ) -> MutexGuard<'a, State<Job, Answer>> {
        while !until(&state) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    // A state is replaced whole, so a poisoned lock guards a good one.
    fn lock(&self) -> MutexGuard<'_, State<Job, Answer>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two jobs and the end, with a thread for each side.
    fn two_jobs(start: impl FnOnce(std::sync::Arc<Handover<u32, u32>>) -> Box<dyn FnOnce()>) {
        let handover = std::sync::Arc::new(Handover::new());
        let join = start(handover.clone());
        assert_eq!(handover.ask(3), Some(30));
        assert_eq!(handover.ask(4), Some(40));
        handover.end();
        join();
    }

    fn serve(handover: &Handover<u32, u32>) {
        while let Some(job) = handover.job() {
            handover.answer(job * 10);
        }
    }

    #[test]
    #[cfg(not(shuttle))]
    fn each_job_gets_its_answer() {
        for _ in 0..1000 {
            two_jobs(|handover| {
                let thread = std::thread::spawn(move || serve(&handover));
                Box::new(|| thread.join().unwrap())
            });
        }
    }

    #[test]
    #[cfg(shuttle)]
    fn each_job_gets_its_answer_in_all_interleavings() {
        let run = || {
            two_jobs(|handover| {
                let thread = shuttle::thread::spawn(move || serve(&handover));
                Box::new(|| thread.join().unwrap())
            });
        };
        shuttle::check_dfs(run, Some(2_000));
    }
}
