//! How often each function was seen to end in each way, by state of the driver: closed, open, or open with operations
//! in flight.

use std::collections::BTreeMap;

pub const STATES: [&str; 3] = ["closed", "open", "in flight"];

/// How often each cell that can be reached is to be.
pub const ENOUGH: u64 = 10;

/// A function, an outcome, and in which states the two can meet: c, o, f. What else is not there has a reason.
const ROWS: &[(&str, &str, &str, &str)] = &[
    ("DriverOpen", "OK", "cof", ""),
    ("DriverClose", "OK", "of", "closed is 5001"),
    ("DriverClose", "5001", "c", "only if closed"),
    ("HandleRegister", "OK", "cof", ""),
    ("HandleRegister", "5008", "co", "not called with another type meanwhile"),
    ("HandleRegister", "5022", "co", "not called without pointers meanwhile"),
    ("HandleRegister", "5028", "of", "nothing is registered while closed"),
    ("HandleRegister", "5030", "cof", ""),
    ("HandleDeregister", "removed", "of", "nothing is registered while closed"),
    ("HandleDeregister", "ignored", "cof", ""),
    ("HandleDeregister", "in use", "f", "nothing is in flight"),
    ("BufRegister", "OK", "cof", ""),
    ("BufRegister", "5013", "cof", ""),
    ("BufRegister", "5014", "cof", ""),
    ("BufRegister", "5022", "cof", ""),
    ("BufRegister", "5023", "of", "nothing is registered while closed"),
    ("BufDeregister", "OK", "of", "closed is 5006"),
    ("BufDeregister", "5006", "c", "only if closed"),
    ("BufDeregister", "5024", "of", "closed is 5006"),
    ("BufDeregister", "5030", "f", "nothing is in flight"),
    ("Read", "all", "o", "closed is EINVAL; what is in flight may change the bytes"),
    ("Read", "short", "o", "as above"),
    ("Read", "0", "o", "as above"),
    ("Read", "EINVAL", "co", "as above"),
    ("Read", "errno", "o", "as above"),
    ("Read", "-5013", "o", "as above"),
    ("Read", "-5022", "o", "as above"),
    ("Read", "-5027", "o", "as above"),
    ("Write", "all", "o", "closed is EINVAL; what is in flight may change the bytes"),
    ("Write", "0", "o", "as above"),
    ("Write", "EINVAL", "co", "as above"),
    ("Write", "errno", "o", "as above"),
    ("Write", "-5013", "o", "as above"),
    ("Write", "-5022", "o", "as above"),
    ("Write", "-5027", "o", "as above"),
    ("ReadAsync", "OK", "of", "closed is 5022"),
    ("ReadAsync", "5022", "cof", ""),
    ("ReadAsync", "5027", "of", "closed is 5022"),
    ("ReadAsync", "5030", "of", "closed is 5022"),
    ("WriteAsync", "OK", "of", "closed is 5022"),
    ("WriteAsync", "5022", "cof", ""),
    ("WriteAsync", "5027", "of", "closed is 5022"),
    ("WriteAsync", "5030", "of", "closed is 5022"),
    ("(ReadAsync, later)", "all", "f", "it is in flight"),
    ("(ReadAsync, later)", "short", "f", "it is in flight"),
    ("(ReadAsync, later)", "0", "f", "it is in flight"),
    ("(ReadAsync, later)", "-1", "f", "it is in flight"),
    ("(ReadAsync, later)", "-5022", "f", "it is in flight"),
    ("(WriteAsync, later)", "all", "f", "it is in flight"),
    ("(WriteAsync, later)", "short", "f", "it is in flight"),
    ("(WriteAsync, later)", "0", "f", "it is in flight"),
    ("(WriteAsync, later)", "-1", "f", "it is in flight"),
    ("(WriteAsync, later)", "-5022", "f", "it is in flight"),
    ("StreamRegister", "OK", "co", "a stream is held meanwhile"),
    ("StreamRegister", "5022", "co", "a stream is held meanwhile"),
    ("StreamDeregister", "OK", "co", "a stream is held meanwhile"),
    ("StreamDeregister", "5022", "co", "a stream is held meanwhile"),
    ("BatchIOSetUp", "OK", "cof", ""),
    ("BatchIOSetUp", "5022", "cof", ""),
    ("BatchIOSubmit", "OK", "of", "closed is 5001"),
    ("BatchIOSubmit", "5001", "c", "only if closed"),
    ("BatchIOSubmit", "5013", "of", "closed is 5001"),
    ("BatchIOSubmit", "5022", "cof", ""),
    ("BatchIOSubmit", "5027", "of", "closed is 5001"),
    ("BatchIOSubmit", "5037", "of", "closed is 5001"),
    ("BatchIOGetStatus", "OK", "cof", ""),
    ("BatchIOGetStatus", "5022", "cof", ""),
    ("(event)", "16", "f", "it was in flight"),
    ("(event)", "64", "f", "it was in flight"),
    (
        "(event)",
        "8",
        "",
        "whether a worker or the cancel comes first is a matter of luck; counted, not required",
    ),
    ("BatchIOCancel", "OK", "cof", ""),
    ("BatchIOCancel", "5022", "cof", ""),
    ("BatchIODestroy", "destroyed", "cof", ""),
    ("BatchIODestroy", "ignored", "cof", ""),
    ("(not implemented)", "5030", "co", "not called meanwhile"),
];

#[derive(Default)]
pub struct Table {
    hits: BTreeMap<(String, String, &'static str), u64>,
}

impl Table {
    pub fn hit(&mut self, function: &str, state: &'static str, outcome: &str) {
        *self.hits.entry((function.into(), outcome.into(), state)).or_default() += 1;
    }

    fn hits(&self, function: &str, outcome: &str, state: &'static str) -> u64 {
        self.hits.get(&(function.into(), outcome.into(), state)).copied().unwrap_or(0)
    }

    /// The cells that were reached too rarely, and those that should not have been reached at all.
    pub fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for (function, outcome, reachable, _) in ROWS {
            for state in STATES
                .into_iter()
                .filter(|state| reachable.contains(&state[..1]) || in_flight(state, reachable))
            {
                let hits = self.hits(function, outcome, state);
                if hits < ENOUGH {
                    wrong.push(format!("{function} {outcome} {state}: {hits} times"));
                }
            }
        }
        for ((function, outcome, state), hits) in &self.hits {
            let row = ROWS.iter().find(|row| row.0 == function && row.1 == outcome);
            let known = row.is_some_and(|row| {
                row.2.is_empty() || row.2.contains(&state[..1]) || in_flight(state, row.2)
            });
            if !known {
                wrong.push(format!("{function} {outcome} {state}: {hits} times, held for unreachable"));
            }
        }
        wrong
    }

    pub fn print(&self) {
        println!("\n{:<22} {:<10} {:>9} {:>9} {:>9}", "function", "outcome", STATES[0], STATES[1], STATES[2]);
        for (function, outcome, reachable, why) in ROWS {
            print!("{function:<22} {outcome:<10}");
            for state in STATES {
                match self.hits(function, outcome, state) {
                    0 => print!(" {:>9}", "-"),
                    hits => print!(" {hits:>9}"),
                }
            }
            let all = reachable.len() == STATES.len();
            println!("{}", if all { String::new() } else { format!("   - {why}") });
        }
        println!();
    }
}

fn in_flight(state: &str, reachable: &str) -> bool {
    state == STATES[2] && reachable.contains('f')
}
