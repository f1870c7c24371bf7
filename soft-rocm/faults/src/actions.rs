//! What an entry does to a call.

use std::time::Duration;

use crate::error::{any_of, shown};
use crate::names::{self, HIP, HIPFILE, MAX_ERRNO};
use crate::plan::Fault;
use crate::points::{Info, Kind};
use crate::values;

/// The actions of one entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Actions {
    pub(crate) delay: Option<Duration>,
    pub(crate) pause: bool,
    pub(crate) fault: Option<Fault>,
}

/// The actions a point can be given.
pub(crate) fn of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Hip => &["hip", "delay", "pause"],
        Kind::HipFileIo => &["hip", "errno", "short", "delay", "pause"],
        Kind::Status => &["hipfile", "hip", "errno", "delay", "pause"],
        Kind::Count => &["hipfile", "hip", "errno", "short", "delay", "pause"],
        Kind::Quiet | Kind::Stream => &["delay", "pause"],
        Kind::System => &["errno", "delay", "pause"],
        Kind::SystemIo => &["errno", "short", "delay", "pause"],
    }
}

impl Actions {
    /// Adds one action as it is written.
    pub(crate) fn add(&mut self, info: &Info, text: &str) -> Result<(), String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (text, None),
        };
        let known = of(info.kind);
        if !known.contains(&name) {
            let almost = names::nearest(name, known.iter().copied())
                .map_or_else(String::new, |near| format!("; did you mean {near}?"));
            let accepted = any_of(known.iter().copied());
            return Err(format!("{} can't be given {}: expected {accepted}{almost}", info.name, shown(name)));
        }
        if name == "pause" {
            if value.is_some() {
                return Err("pause takes no value".into());
            }
            return once(name, std::mem::replace(&mut self.pause, true));
        }
        let value = value.ok_or_else(|| format!("{name} needs a value: {name}=…"))?;
        if name == "delay" {
            return once(name, self.delay.replace(values::time(value)?).is_some());
        }
        let fault = match name {
            "hip" => Fault::Hip(code(HIP, value, "hipErrorOutOfMemory or 2")?),
            "hipfile" => Fault::Hipfile(code(HIPFILE, value, "hipFileInternalError or 5030")?),
            "errno" => Fault::Errno(errno(value)?),
            _ => Fault::Short(values::bytes(value)?),
        };
        match self.fault.replace(fault) {
            Some(_) => Err(format!("{name} beside another outcome: a call has one, so write two entries")),
            None => Ok(()),
        }
    }
}

fn once(name: &str, already: bool) -> Result<(), String> {
    if already { Err(format!("{name} is there twice")) } else { Ok(()) }
}

fn code(list: &'static [(&'static str, u32)], text: &str, example: &str) -> Result<u32, String> {
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return match values::number(text)?.try_into() {
            Ok(code @ 1..=0x7fff_ffff) => Ok(code),
            _ => Err(format!("{} is no code: expected a number from 1 to {}", shown(text), i32::MAX)),
        };
    }
    names::code(list, text).ok_or_else(|| unknown(text, names::names(list), example))
}

fn errno(text: &str) -> Result<i32, String> {
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return match values::number(text)? {
            number @ 1..=4095 => Ok(number as i32),
            _ => Err(format!("{} is no error number: expected 1 to {MAX_ERRNO}", shown(text))),
        };
    }
    match names::errno(text) {
        Some(number) => Ok(number as i32),
        None => Err(unknown(text, names::errnos(), "EIO or 5")),
    }
}

fn unknown<'a>(text: &str, names: impl Iterator<Item = &'a str>, example: &str) -> String {
    let expected = match names::nearest(text, names) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("expected a name or a number, such as {example}"),
    };
    format!("{} is no known error; {expected}", shown(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Point;

    fn parse(point: &str, actions: &[&str]) -> Result<Actions, String> {
        let (_, info) = Point::named(point).unwrap();
        let mut parsed = Actions::default();
        actions.iter().try_for_each(|action| parsed.add(info, action))?;
        Ok(parsed)
    }

    fn fault(point: &str, action: &str) -> Fault {
        parse(point, &[action]).unwrap().fault.unwrap()
    }

    #[test]
    fn each_outcome() {
        assert_eq!(fault("hipMalloc", "hip=2"), Fault::Hip(2));
        assert_eq!(fault("hipMalloc", "hip=hipErrorOutOfMemory"), Fault::Hip(2));
        assert_eq!(fault("hipMalloc", "hip=77777"), Fault::Hip(77777));
        assert_eq!(fault("hipFileRead", "hipfile=5022"), Fault::Hipfile(5022));
        assert_eq!(fault("hipFileRead", "hipfile=hipFileInternalError"), Fault::Hipfile(5030));
        assert_eq!(fault("hipFileRead", "hip=1"), Fault::Hip(1));
        assert_eq!(fault("hipAmdFileRead", "errno=ENODEV"), Fault::Errno(libc::ENODEV));
        assert_eq!(fault("pread", "errno=5"), Fault::Errno(5));
        assert_eq!(fault("pwrite", "short=4K"), Fault::Short(4096));
        let both = parse("hipFileRead", &["delay=50ms", "pause", "errno=EIO"]).unwrap();
        assert_eq!(both.delay, Some(Duration::from_millis(50)));
        assert!(both.pause);
        assert_eq!(both.fault, Some(Fault::Errno(libc::EIO)));
    }

    #[test]
    fn what_a_point_can_not_do_is_refused_with_what_it_can() {
        for (point, action, expected) in [
            ("hipMalloc", "errno=EIO", "hipMalloc can't be given `errno`: expected hip, delay or pause"),
            ("pread", "hip=2", "pread can't be given `hip`: expected errno, short, delay or pause"),
            ("fdatasync", "short=1", "fdatasync can't be given `short`: expected errno, delay or pause"),
            ("stream", "errno=EIO", "stream can't be given `errno`: expected delay or pause"),
            ("hipFileBatchIODestroy", "hipfile=5030", "expected delay or pause"),
            ("hipMalloc", "hipp=2", "did you mean hip?"),
            ("hipMalloc", "", "expected hip, delay or pause"),
            ("hipMalloc", "hip", "hip needs a value: hip=…"),
            ("hipMalloc", "hip=", "`` is no known error"),
            ("hipMalloc", "hip=0", "expected a number from 1 to 2147483647"),
            ("hipMalloc", "hip=99999999999", "expected a number from 1 to 2147483647"),
            ("hipMalloc", "hip=hipErrorOutOfMemry", "did you mean hipErrorOutOfMemory?"),
            ("hipMalloc", "hip=-1", "`-1` is no known error"),
            ("pread", "errno=EI0", "did you mean EIO?"),
            ("pread", "errno=0", "expected 1 to 4095"),
            ("pread", "errno=4096", "expected 1 to 4095"),
            ("pread", "pause=1", "pause takes no value"),
            ("pread", "delay=1", "expected a number with us, ms or s"),
        ] {
            let error = parse(point, &[action]).unwrap_err();
            assert!(error.contains(expected), "{point}:{action}: {error}");
        }
    }

    #[test]
    fn nothing_is_said_twice() {
        for (actions, expected) in [
            (["delay=1s", "delay=2s"], "delay is there twice"),
            (["pause", "pause"], "pause is there twice"),
            (["errno=EIO", "short=1"], "short beside another outcome: a call has one, so write two entries"),
        ] {
            assert_eq!(parse("pread", &actions).unwrap_err(), expected);
        }
    }
}
