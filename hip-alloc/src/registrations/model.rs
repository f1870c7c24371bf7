//! SND-03: random sequences of what safe code can do with one allocation, against what must hold after each step.

use core::cell::Cell;

use proptest::prelude::*;

use super::Access::{Exclusive, Shared};
use super::tests::Fixture;

#[derive(Clone, Copy, Debug)]
enum Step {
    Register { shared: bool, slot: usize, len: usize },
    End { which: usize },
    Forget { which: usize },
    Busy { slot: Option<usize> },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (any::<bool>(), 0usize..3, 1usize..3)
            .prop_map(|(shared, slot, len)| Step::Register { shared, slot, len: len * 16 }),
        3 => (0usize..8).prop_map(|which| Step::End { which }),
        2 => (0usize..8).prop_map(|which| Step::Forget { which }),
        1 => proptest::option::of(0usize..3).prop_map(|slot| Step::Busy { slot }),
    ]
}

fn base(slot: usize) -> usize {
    0x1000 + slot * 0x100
}

proptest! {
    #[test]
    fn live_guards_are_registered_and_nothing_survives_clearing(
        steps in proptest::collection::vec(step(), 0..40),
    ) {
        let fixture = Fixture::new();
        // Live guards; forgotten shared ones keep their Arc, so the memory can't become exclusive again.
        let mut live: Vec<(bool, usize, usize)> = Vec::new();
        let forgotten_shared = Cell::new(false);
        for step in steps {
            match step {
                Step::Register { shared, slot, len } => {
                    // What the borrow checker and Arc allow.
                    let allowed = if shared {
                        live.iter().all(|(shared, ..)| *shared)
                    } else {
                        live.is_empty() && !forgotten_shared.get()
                    };
                    let access = if shared { Shared } else { Exclusive };
                    if allowed && fixture.attach(access, base(slot), len).is_ok() {
                        live.push((shared, base(slot), len));
                    }
                }
                Step::End { which } if which < live.len() => {
                    let (_, base, _) = live[which];
                    if fixture.detach(base).is_err() {
                        fixture.abandon(base);
                    }
                    live.swap_remove(which);
                }
                Step::Forget { which } if which < live.len() => {
                    let (shared, ..) = live.swap_remove(which);
                    forgotten_shared.set(forgotten_shared.get() || shared);
                }
                Step::Busy { slot } => {
                    fixture.set_busy(&slot.map(base).into_iter().collect::<Vec<_>>());
                }
                _ => {}
            }
            let holds = fixture.library.holds();
            for (_, base, len) in &live {
                prop_assert!(holds.contains(&(*base, *len)), "a live guard lost its registration");
            }
            let known: Vec<_> =
                fixture.set.entries.lock().unwrap().iter().map(|entry| (entry.base, entry.len)).collect();
            for held in &holds {
                prop_assert!(known.contains(held), "the library holds what the set does not know");
            }
        }
        let library = fixture.library.clone();
        let cleared = fixture.clear();
        prop_assert_eq!(cleared.is_ok(), library.holds().is_empty());
    }
}
