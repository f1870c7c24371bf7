//! Numbers from bytes.

/// Bytes that are used up from the front; after the end all numbers are 0.
#[derive(Debug)]
pub struct Bytes<'d>(&'d [u8]);

impl<'d> Bytes<'d> {
    /// Numbers from these bytes.
    #[must_use]
    pub fn new(data: &'d [u8]) -> Self {
        Self(data)
    }

    /// Whether all are used up.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is left, up to the next zero byte.
    pub fn word(&mut self) -> &'d [u8] {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest.get(1..).unwrap_or_default();
        word
    }

    /// One byte.
    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    /// A number that is often small, often near the end of some range, and sometimes anything.
    pub fn number(&mut self) -> u64 {
        let first = self.byte();
        let small = u64::from(self.byte());
        match first % 8 {
            0 | 1 => small,
            2 => small << 9,
            3 => 65_536_u64.wrapping_add(small).wrapping_sub(128),
            4 => small.wrapping_neg(),
            5 => (1 << 63_u64) - 128 + small,
            6 => 0x7fff_f000 + (small << 4),
            _ => (0..8).fold(small, |number, _| number << 8 | u64::from(self.byte())),
        }
    }

    /// The same as a size.
    pub fn size(&mut self) -> usize {
        self.number() as usize
    }

    /// The same as an offset.
    pub fn offset(&mut self) -> i64 {
        self.number() as i64
    }

    /// One of several values.
    pub fn pick<T: Copy>(&mut self, from: &[T], otherwise: T) -> T {
        let which = usize::from(self.byte());
        from.get(which % from.len().max(1)).copied().unwrap_or(otherwise)
    }
}
