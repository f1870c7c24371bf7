//! Lines on standard error, written where nothing may allocate or wait for a lock: in a signal handler and at exit.

use std::fmt::{self, Write};

/// Longest line.
const ROOM: usize = 512;

/// Writes one line, cut if it is very long. Where there is nothing to write to it is lost.
pub(crate) fn report(text: fmt::Arguments<'_>) {
    let mut line = Line { bytes: [0; ROOM], len: 0 };
    let _ = write!(line, "soft-rocm: {text}");
    let written = line.end();
    // SAFETY: requires readable bytes; holds for the slice.
    unsafe { libc::write(libc::STDERR_FILENO, written.as_ptr().cast(), written.len()) };
}

/// A line that is being put together.
struct Line {
    bytes: [u8; ROOM],
    len: usize,
}

impl Line {
    /// The line with its end.
    fn end(&mut self) -> &[u8] {
        let at = self.len.min(ROOM - 1);
        if let Some(place) = self.bytes.get_mut(at) {
            *place = b'\n';
        }
        self.bytes.get(..=at).unwrap_or_default()
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (place, byte) in self.bytes.iter_mut().skip(self.len).zip(text.bytes()) {
            *place = byte;
            self.len += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Vec<u8> {
        let mut line = Line { bytes: [0; ROOM], len: 0 };
        for piece in text.split_inclusive(' ') {
            line.write_str(piece).unwrap();
        }
        line.end().to_vec()
    }

    #[test]
    fn a_line_ends_with_its_end() {
        assert_eq!(line("a bc d"), b"a bc d\n");
        assert_eq!(line(""), b"\n");
    }

    #[test]
    fn a_long_line_is_cut() {
        let long = "x".repeat(2 * ROOM);
        for len in [ROOM - 1, ROOM, ROOM + 1, 2 * ROOM] {
            let expected = [&long.as_bytes()[..ROOM - 1], b"\n"].concat();
            assert_eq!(line(&long[..len]), expected, "{len}");
        }
    }
}
