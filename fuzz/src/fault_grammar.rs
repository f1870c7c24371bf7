//! A value of `SOFT_ROCM_FAULTS`: it is accepted or refused with one line of text, and what is accepted answers.

use soft_rocm_faults::{Call, Plan, points};

/// Reads a plan and asks it about every point.
pub fn run(data: &[u8]) {
    match Plan::parse(data) {
        Ok(plan) => {
            let named = plan.points().count();
            assert_eq!(plan.is_empty(), named == 0, "an empty plan names nothing");
            let all: Vec<_> = plan.points().collect();
            for point in all {
                for _ in 0..3 {
                    let _ = plan.ask(point, &Call::PLAIN);
                }
            }
        }
        Err(error) => {
            let text = error.to_string();
            assert!(!text.is_empty() && !text.contains('\n'), "one line: {text:?}");
        }
    }
    assert!(points().count() > 0);
}
