//! Values to be gone through: `4M`, `64K,1M`, `64K:4M:x2` or, as gdsio has it, `64K:4M:64K`.

use std::str::FromStr;

use crate::size::Size;

/// Sizes, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(pub Vec<u64>);

/// Numbers of threads, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts(pub Vec<u64>);

/// More values than anyone waits for.
const MOST: usize = 256;

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = |text: &str| text.parse::<Size>().map(|size| size.0).map_err(|error| error.to_string());
        values(text, &size).map(Self)
    }
}

impl FromStr for Counts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let count = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is no number"));
        let counts = values(text, &count)?;
        match counts.iter().find(|count| **count > 4096) {
            Some(count) => Err(format!("{count} are too many threads")),
            None => Ok(Self(counts)),
        }
    }
}

type Parse<'a> = &'a dyn Fn(&str) -> Result<u64, String>;

fn values(text: &str, parse: Parse<'_>) -> Result<Vec<u64>, String> {
    let parts: Vec<_> = text.split(':').collect();
    let values = match *parts.as_slice() {
        [list] => list.split(',').map(parse).collect::<Result<Vec<_>, _>>()?,
        [first, last] => range(parse(first)?, parse(last)?, |value| value.checked_mul(2))?,
        [first, last, step] => {
            let (first, last) = (parse(first)?, parse(last)?);
            match step.strip_prefix('x') {
                Some(factor) => {
                    let factor: u64 = factor.parse().map_err(|_| format!("`x{factor}` is no factor"))?;
                    if factor < 2 {
                        return Err(format!("with a factor of {factor} there is no end"));
                    }
                    range(first, last, |value| value.checked_mul(factor))?
                }
                None => {
                    let step = parse(step)?;
                    if step == 0 {
                        return Err("with a step of 0 there is no end".to_owned());
                    }
                    range(first, last, |value| value.checked_add(step))?
                }
            }
        }
        _ => return Err("write one value, some with commas, or FIRST:LAST:STEP, as in 64K:4M:x2".to_owned()),
    };
    if values.contains(&0) { Err("0 is too little".to_owned()) } else { Ok(values) }
}

fn range(first: u64, last: u64, next: impl Fn(u64) -> Option<u64>) -> Result<Vec<u64>, String> {
    if first > last {
        return Err("the first value is above the last".to_owned());
    }
    if first == 0 {
        return Err("0 is too little".to_owned());
    }
    let inside = |value: &u64| *value <= last;
    let values: Vec<_> =
        std::iter::successors(Some(first), |value| next(*value).filter(inside)).take(MOST + 1).collect();
    if values.len() > MOST { Err(format!("these are more than {MOST} values")) } else { Ok(values) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_some_or_a_range() {
        let table: [(&str, &[u64]); 7] = [
            ("4K", &[4096]),
            ("64K,4K", &[65536, 4096]),
            ("64K:256K:x2", &[65536, 131_072, 262_144]),
            ("64K:256K", &[65536, 131_072, 262_144]),
            ("64K:256K:64K", &[65536, 131_072, 196_608, 262_144]),
            ("4K:100K:x10", &[4096, 40960]),
            ("1M:1M:x2", &[1 << 20]),
        ];
        for (text, sizes) in table {
            assert_eq!(text.parse(), Ok(Sizes(sizes.to_vec())), "{text}");
        }
        assert_eq!("1:4:1".parse(), Ok(Counts(vec![1, 2, 3, 4])));
        assert_eq!("8".parse(), Ok(Counts(vec![8])));
    }

    #[test]
    fn what_is_no_range_is_said_in_words() {
        let table = [
            ("4X", "`X` is no suffix"),
            ("0", "0 is too little"),
            ("0:4K:x2", "0 is too little"),
            ("2M:1M", "above the last"),
            ("1K:1M:x1", "there is no end"),
            ("1K:1M:xy", "`xy` is no factor"),
            ("1K:1M:0", "there is no end"),
            ("1:1M:1", "more than 256 values"),
            ("1:2:3:4", "FIRST:LAST:STEP"),
            ("4K,", "a size is missing"),
        ];
        for (text, message) in table {
            let error = text.parse::<Sizes>().unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
        assert_eq!("four".parse::<Counts>(), Err("`four` is no number".to_owned()));
        assert_eq!("5000".parse::<Counts>(), Err("5000 are too many threads".to_owned()));
    }
}
