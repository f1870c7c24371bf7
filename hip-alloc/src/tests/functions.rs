//! Questions for what HIP has.

use super::fake;
use crate::has_functions;

#[test]
fn all_of_the_functions_are_asked_for() {
    fake::install();
    assert!(has_functions(&[]));
    assert!(has_functions(&[c"hipAmdFileRead", c"hipAmdFileWrite"]));
    assert_eq!(fake::calls(), ["hipRuntimeGetVersion", "hipGetProcAddress"].repeat(2));
    assert!(!has_functions(&[c"hipNoSuchThing"]));
    assert!(!has_functions(&[c"hipAmdFileRead", c"hipNoSuchThing"]));
}

#[test]
fn what_hip_does_not_answer_it_has_not() {
    for call in ["hipRuntimeGetVersion", "hipGetProcAddress"] {
        fake::install();
        fake::fail(call, 2, 100);
        assert!(!has_functions(&[c"hipAmdFileRead", c"hipAmdFileWrite"]), "{call}");
    }
}
