//! Which rules the tests that passed stand for, by the ids in their sources.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy;

use super::outcome::Outcome;

/// The rules of one page, and the tests of one folder that passed for each.
#[derive(Debug, PartialEq, Eq)]
pub struct Covered {
    /// How many tests there are for each id that has any.
    tests: BTreeMap<String, usize>,
    /// The ids of the page that have none here.
    elsewhere: BTreeSet<String>,
}

impl Covered {
    /// `carried` has the path of each test of the folder with the ids it carries, `stated` the ids of the page.
    fn new(carried: &[(String, Vec<String>)], stated: BTreeSet<String>, outcome: &Outcome) -> Self {
        let mut tests = BTreeMap::new();
        for (_, ids) in carried.iter().filter(|(name, _)| outcome.names.contains(name)) {
            for id in ids.iter().filter(|id| stated.contains(*id)) {
                *tests.entry(id.clone()).or_default() += 1;
            }
        }
        let elsewhere = stated.into_iter().filter(|id| !tests.contains_key(id)).collect();
        Self { tests, elsewhere }
    }

    /// The rules of docs/src/soundness.md that the soundness suite has tried.
    pub fn of_soundness(outcome: &Outcome) -> crate::Result<Self> {
        let tree = tidy::Tree::load(&crate::workspace::root())?;
        let carried = tidy::ids_of_tests(&tree, "tests/soundness/");
        Ok(Self::new(&carried, tidy::ids_of_page(&tree, "docs/src/soundness.md"), outcome))
    }

    /// Prints both lists, one line each.
    pub fn print(&self) {
        let with_counts = self.tests.iter().map(|(id, count)| format!("{id} ({count})"));
        println!("\nsoundness: {} rules covered by tests that passed, with their number:", self.tests.len());
        println!("{}", with_counts.collect::<Vec<_>>().join(", "));
        if !self.elsewhere.is_empty() {
            let elsewhere: Vec<_> = self.elsewhere.iter().map(String::as_str).collect();
            println!("in other suites, or with a reason in docs/src/soundness.md: {}", elsewhere.join(", "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_covered_by_tests_that_passed() {
        let carried = [("a::x", "SND-01"), ("a::y", "SND-01"), ("a::z", "SND-02"), ("b::x", "HF-X-01")];
        let carried = carried.map(|(name, id)| (name.to_owned(), vec![id.to_owned()]));
        let stated = ["SND-01", "SND-02", "SND-03"].map(str::to_owned);
        let mut outcome = Outcome::default();
        for line in ["test a::x ... ok", "test a::y ... ok", "test a::z ... FAILED", "test b::x ... ok"] {
            outcome.read(line);
        }
        let covered = Covered::new(&carried, stated.clone().into(), &outcome);
        let [_, second, third] = stated;
        assert_eq!(covered.tests, BTreeMap::from([("SND-01".to_owned(), 2)]));
        assert_eq!(covered.elsewhere, BTreeSet::from([second, third]));
    }
}
