//! The state against a model that keeps each operation in one list and looks for what it needs.

use std::collections::HashMap;
use std::rc::Rc;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Submit(usize),
    Start,
    /// Of those that run, the one at this place, modulo their number.
    Finish(usize, Outcome),
    Cancel,
    Take(usize),
    Retire,
}

fn step() -> impl Strategy<Value = Step> {
    let outcome = prop_oneof![
        (0..10_000_usize).prop_map(Outcome::Complete),
        (-5039..0_isize).prop_map(Outcome::Failed)
    ];
    prop_oneof![
        6 => (0..6_usize).prop_map(Step::Submit),
        8 => Just(Step::Start),
        8 => (any::<usize>(), outcome).prop_map(|(place, outcome)| Step::Finish(place, outcome)),
        1 => Just(Step::Cancel),
        4 => (0..6_usize).prop_map(Step::Take),
        1 => Just(Step::Retire),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Waiting,
    Running,
    /// When it ended, and how.
    Terminal(usize, Outcome),
    Gone,
}

#[derive(Default)]
struct Model {
    stages: Vec<Stage>,
    ends: usize,
    retired: bool,
}

impl Model {
    fn count(&self, is: impl Fn(&Stage) -> bool) -> usize {
        self.stages.iter().filter(|stage| is(stage)).count()
    }

    fn outstanding(&self) -> usize {
        self.count(|stage| *stage != Stage::Gone)
    }

    fn end(&mut self, cookie: usize, outcome: Outcome) {
        self.ends += 1;
        self.stages[cookie] = Stage::Terminal(self.ends, outcome);
    }

    fn cancel(&mut self) {
        for cookie in 0..self.stages.len() {
            if self.stages[cookie] == Stage::Waiting {
                self.end(cookie, Outcome::Canceled);
            }
        }
    }

    /// The events there are, the oldest first.
    fn events(&self) -> Vec<Event> {
        let mut ended: Vec<_> = (0..self.stages.len())
            .filter_map(|cookie| match self.stages[cookie] {
                Stage::Terminal(when, outcome) => Some((when, Event { cookie, outcome })),
                _ => None,
            })
            .collect();
        ended.sort_by_key(|(when, _)| *when);
        ended.into_iter().map(|(_, event)| event).collect()
    }
}

proptest! {
    #[test]
    fn behaves_as_the_model(capacity in 1..12_usize, steps in prop::collection::vec(step(), 0..200)) {
        let mut model = Model::default();
        let mut state = State::new(capacity);
        let mut running: HashMap<usize, Rc<()>> = HashMap::new();
        let held = Rc::new(());
        for step in steps {
            match step {
                Step::Submit(count) => {
                    let first = model.stages.len();
                    let entries = (first..first + count).map(|cookie| Entry { cookie, work: held.clone() });
                    let expected = if model.retired {
                        Err(Refused::Retired)
                    } else if model.outstanding() + count > capacity {
                        Err(Refused::Full)
                    } else {
                        model.stages.extend(vec![Stage::Waiting; count]);
                        Ok(())
                    };
                    prop_assert_eq!(state.admits(count), expected);
                    prop_assert_eq!(state.submit(entries.collect()), expected);
                }
                Step::Start => {
                    let expected = model.stages.iter().position(|stage| *stage == Stage::Waiting);
                    let started = state.start();
                    prop_assert_eq!(started.as_ref().map(|entry| entry.cookie), expected);
                    if let Some(Entry { cookie, work }) = started {
                        model.stages[cookie] = Stage::Running;
                        running.insert(cookie, work);
                    }
                }
                Step::Finish(place, outcome) => {
                    let cookies: Vec<_> = (0..model.stages.len())
                        .filter(|cookie| model.stages[*cookie] == Stage::Running)
                        .collect();
                    if !cookies.is_empty() {
                        let cookie = cookies[place % cookies.len()];
                        drop(running.remove(&cookie));
                        state.finish(Event { cookie, outcome });
                        model.end(cookie, outcome);
                    }
                }
                Step::Cancel => {
                    state.cancel();
                    model.cancel();
                }
                Step::Take(most) => {
                    let expected: Vec<_> = model.events().into_iter().take(most).collect();
                    let taken: Vec<_> = state.take(most).collect();
                    prop_assert_eq!(&taken, &expected);
                    taken.iter().for_each(|event| model.stages[event.cookie] = Stage::Gone);
                }
                Step::Retire => {
                    state.retire();
                    model.cancel();
                    model.retired = true;
                }
            }
            let (waiting, running) = (
                model.count(|stage| *stage == Stage::Waiting),
                model.count(|stage| *stage == Stage::Running),
            );
            let settled = waiting + running == 0;
            prop_assert_eq!(state.outstanding(), model.outstanding());
            prop_assert!(state.outstanding() <= state.capacity());
            prop_assert_eq!(state.waiting(), waiting);
            prop_assert_eq!(state.first().is_some(), waiting > 0);
            prop_assert_eq!(state.is_settled(), settled);
            for need in 0..capacity + 2 {
                let expected = model.retired || settled || model.events().len() >= need;
                prop_assert_eq!(state.satisfies(need), expected);
            }
            prop_assert_eq!(Rc::strong_count(&held), 1 + waiting + running, "terminal operations hold nothing");
        }
    }
}
