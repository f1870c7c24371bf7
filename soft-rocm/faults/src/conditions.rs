//! Which calls an entry is for.

use std::ops::RangeInclusive;

use crate::error::shown;
use crate::points::Info;
use crate::values;

/// The words before `=` of conditions; they tell a condition from the next entry after a comma.
pub(crate) const WORDS: [&str; 4] = ["p", "seed", "path", "size"];

/// What has to hold of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Conditions {
    /// Which of the calls that the filters let through, counted from 1; None is all.
    pub(crate) calls: Option<RangeInclusive<u64>>,
    /// How many of those; None is all.
    pub(crate) probability: Option<f64>,
    pub(crate) seed: Option<u64>,
    /// A part of the path of its file.
    pub(crate) path: Option<Vec<u8>>,
    /// Its number of bytes.
    pub(crate) size: Option<RangeInclusive<u64>>,
}

/// Whether a part between commas goes on with the conditions before it, instead of being an entry.
pub(crate) fn is_condition(text: &str) -> bool {
    let word = text.split_once('=').map(|(word, _)| word.trim());
    word.is_some_and(|word| WORDS.contains(&word)) || text.starts_with(|first: char| first.is_ascii_digit())
}

impl Conditions {
    /// Adds one condition as it is written.
    pub(crate) fn add(&mut self, info: &Info, text: &str) -> Result<(), String> {
        let (word, value) = match text.split_once('=') {
            Some((word, value)) => (Some(word.trim()), value.trim()),
            None => (None, text),
        };
        let already = match word {
            None if value.starts_with(|first: char| first.is_ascii_digit()) => {
                let calls = values::range(value, values::number)?;
                if *calls.start() == 0 {
                    return Err(format!("{}: calls are counted from 1", shown(value)));
                }
                self.calls.replace(calls).is_some()
            }
            Some("p") => self.probability.replace(values::probability(value)?).is_some(),
            Some("seed") => self.seed.replace(values::number(value)?).is_some(),
            Some("path") => {
                if !info.files {
                    return Err(format!("{} has no file, so path= can't hold of it", info.name));
                }
                if value.is_empty() {
                    return Err("path= needs a part of a path".into());
                }
                self.path.replace(values::unescape(value)?).is_some()
            }
            Some("size") => {
                if !info.sized {
                    return Err(format!("{} has no size, so size= can't hold of it", info.name));
                }
                self.size.replace(values::range(value, values::bytes)?).is_some()
            }
            _ => {
                return Err(format!(
                    "{} is no condition: expected a call such as 3, 3+ or 2-5, or p=, seed=, path= or size=",
                    shown(text)
                ));
            }
        };
        if already {
            return Err(format!("{} says again what was said before", shown(text)));
        }
        Ok(())
    }

    /// Looks at them together.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.seed.is_some() && self.probability.is_none() {
            return Err("seed= is for p=, which is missing".into());
        }
        Ok(())
    }

    /// Whether the entry is for call `number` of those that the filters let through.
    pub(crate) fn is_for(&self, number: u64) -> bool {
        let counted = self.calls.as_ref().is_none_or(|calls| calls.contains(&number));
        counted && self.probability.is_none_or(|p| chance(self.seed.unwrap_or(0), number) < p)
    }
}

/// A number from 0 to below 1 that depends on seed and call alone, so that the same calls fail in each run.
fn chance(seed: u64, number: u64) -> f64 {
    // The output function of SplitMix64.
    let mut bits = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Point;

    fn parse(point: &str, conditions: &[&str]) -> Result<Conditions, String> {
        let (_, info) = Point::named(point).unwrap();
        let mut parsed = Conditions::default();
        conditions.iter().try_for_each(|condition| parsed.add(info, condition))?;
        parsed.check()?;
        Ok(parsed)
    }

    #[test]
    fn each_condition() {
        let all = ["2-5", "p=0.5", "seed=7", "path=/tmp/a%2Cb", "size=4K+"];
        let expected = Conditions {
            calls: Some(2..=5),
            probability: Some(0.5),
            seed: Some(7),
            path: Some(b"/tmp/a,b".to_vec()),
            size: Some(4096..=u64::MAX),
        };
        assert_eq!(parse("pread", &all), Ok(expected));
    }

    #[test]
    fn mistakes_name_what_is_accepted() {
        for (point, conditions, expected) in [
            ("pread", vec!["0"], "calls are counted from 1"),
            ("pread", vec!["0+"], "calls are counted from 1"),
            ("pread", vec!["5-2"], "is empty"),
            ("pread", vec![""], "expected a call such as 3, 3+ or 2-5, or p=, seed=, path= or size="),
            ("pread", vec!["third"], "is no condition"),
            ("pread", vec!["n=3"], "is no condition"),
            ("pread", vec!["=3"], "is no condition"),
            ("pread", vec!["p=2"], "from 0 to 1"),
            ("pread", vec!["seed=1"], "seed= is for p="),
            ("pread", vec!["1", "2"], "says again"),
            ("pread", vec!["path="], "needs a part of a path"),
            ("hipMalloc", vec!["path=a"], "hipMalloc has no file"),
            ("fdatasync", vec!["size=1"], "fdatasync has no size"),
        ] {
            let error = parse(point, &conditions).unwrap_err();
            assert!(error.contains(expected), "{conditions:?}: {error}");
        }
    }

    #[test]
    fn chances_are_even_and_the_same_in_each_run() {
        let conditions = parse("pread", &["p=0.25", "seed=3"]).unwrap();
        let hits = || (1..=10_000).filter(|number| conditions.is_for(*number)).collect::<Vec<u64>>();
        assert_eq!(hits(), hits());
        assert!((2300..2700).contains(&hits().len()), "{}", hits().len());
        let other = parse("pread", &["p=0.25", "seed=4"]).unwrap();
        assert_ne!(hits(), (1..=10_000).filter(|number| other.is_for(*number)).collect::<Vec<u64>>());
        assert!((1..100).all(|number| parse("pread", &["p=1"]).unwrap().is_for(number)));
        assert!(!(1..100).any(|number| parse("pread", &["p=0"]).unwrap().is_for(number)));
    }
}
