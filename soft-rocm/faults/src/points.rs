//! What a plan can name: the functions of both headers, the system calls of both libraries, and streams.

/// A place that calls pass: a function of a library, a system call, or the queues of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point(u16);

/// Which library has a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// libamdhip64.
    Hip,
    /// libhipfile.
    Hipfile,
    /// Both, each with its own counters.
    Both,
}

/// What a call can answer, and so which actions it can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A `hipError_t`.
    Hip,
    /// `hipAmdFileRead` and `hipAmdFileWrite`: a `hipError_t`, a count and a status.
    HipFileIo,
    /// A `hipFileError_t`.
    Status,
    /// A count, negative for errors.
    Count,
    /// Nothing that could name an error.
    Quiet,
    /// A system call: −1 and `errno`.
    System,
    /// A system call that moves bytes.
    SystemIo,
    /// The execution of what was put into a stream.
    Stream,
}

/// What is known of a point.
#[derive(Debug)]
pub(crate) struct Info {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) owner: Owner,
    /// Whether a call has a number of bytes.
    pub(crate) sized: bool,
    /// Whether a call is about one file.
    pub(crate) files: bool,
}

/// All points by name.
#[allow(non_upper_case_globals, reason = "the names are those of C")]
pub mod point {
    use super::{Info, Kind, Owner, Point};

    include!(concat!(env!("OUT_DIR"), "/functions.rs"));

    macro_rules! others {
        ($($name:ident: $kind:ident, $owner:ident, sized $sized:literal, files $files:literal;)*) => {
            #[allow(non_camel_case_types, reason = "an index for each name")]
            enum Index { $($name),* }
            $(
                /// The system call of this name, or what is called so here.
                pub const $name: Point = Point(FUNCTIONS.len() as u16 + Index::$name as u16);
            )*
            const OTHERS: &[Info] = &[$(Info {
                name: stringify!($name),
                kind: Kind::$kind,
                owner: Owner::$owner,
                sized: $sized,
                files: $files,
            }),*];
        };
    }

    others! {
        accept4: System, Hipfile, sized false, files false;
        bind: System, Hipfile, sized false, files false;
        connect: System, Hipfile, sized false, files false;
        fcntl: System, Hipfile, sized false, files true;
        fdatasync: System, Hipfile, sized false, files true;
        fstat: System, Hipfile, sized false, files true;
        fstatfs: System, Hipfile, sized false, files true;
        ftruncate: System, Both, sized true, files false;
        listen: System, Hipfile, sized false, files false;
        madvise: System, Hip, sized true, files false;
        memfd_create: System, Both, sized false, files false;
        mmap: System, Both, sized true, files false;
        msync: System, Hip, sized true, files false;
        munmap: System, Both, sized true, files false;
        open: System, Hipfile, sized false, files true;
        pidfd_open: System, Hipfile, sized false, files false;
        poll: System, Hipfile, sized false, files false;
        pread: SystemIo, Both, sized true, files true;
        pwrite: SystemIo, Both, sized true, files true;
        read: SystemIo, Hipfile, sized true, files true;
        recvmsg: System, Hipfile, sized false, files false;
        sendmsg: System, Hipfile, sized false, files false;
        socket: System, Hipfile, sized false, files false;
        statx: System, Hipfile, sized false, files true;
        stream: Stream, Hip, sized false, files false;
    }

    pub(super) fn all() -> impl Iterator<Item = (Point, &'static Info)> {
        (0..).map(Point).zip(FUNCTIONS.iter().chain(OTHERS))
    }
}

impl Point {
    /// The point of that name.
    pub(crate) fn named(name: &str) -> Option<(Point, &'static Info)> {
        point::all().find(|(_, info)| info.name == name)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        point::all().find(|(point, _)| *point == self).map_or("", |(_, info)| info.name)
    }

    /// Which library has it.
    #[must_use]
    pub fn owner(self) -> Owner {
        point::all().find(|(point, _)| *point == self).map_or(Owner::Both, |(_, info)| info.owner)
    }
}

/// The names of all points and whose they are.
pub fn points() -> impl Iterator<Item = (&'static str, Owner)> {
    point::all().map(|(_, info)| (info.name, info.owner))
}

/// The names of points that are no functions of a header.
pub(crate) fn others() -> impl Iterator<Item = &'static str> {
    let is_other = |kind| matches!(kind, Kind::System | Kind::SystemIo | Kind::Stream);
    point::all().filter(move |(_, info)| is_other(info.kind)).map(|(_, info)| info.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_lead_back() {
        let names: Vec<_> = points().map(|(name, _)| name).collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        assert!(names.len() > 60, "{names:?}");
        for name in names {
            assert_eq!(Point::named(name).unwrap().0.name(), name);
        }
        assert_eq!(point::hipMalloc.name(), "hipMalloc");
        assert_eq!(point::stream.name(), "stream");
        assert!(Point::named("hipmalloc").is_none());
    }

    #[test]
    fn kinds_follow_from_the_declarations() {
        let info = |point: Point| point::all().find(|(other, _)| *other == point).unwrap().1;
        for (point, kind, sized, files) in [
            (point::hipMalloc, Kind::Hip, true, false),
            (point::hipFree, Kind::Hip, false, false),
            (point::hipGetErrorName, Kind::Quiet, false, false),
            (point::hipMemGetInfo, Kind::Hip, false, false),
            (point::hipAmdFileRead, Kind::HipFileIo, true, true),
            (point::hipFileRead, Kind::Count, true, true),
            (point::hipFileReadAsync, Kind::Status, false, true),
            (point::hipFileHandleRegister, Kind::Status, false, true),
            (point::hipFileBufRegister, Kind::Status, true, false),
            (point::hipFileHandleDeregister, Kind::Quiet, false, true),
            (point::hipFileUseCount, Kind::Quiet, false, false),
            (point::hipFileStatsGenerateReport, Kind::Quiet, false, false),
            (point::pread, Kind::SystemIo, true, true),
        ] {
            let Info { name, kind: found, sized: has_size, files: has_file, .. } = info(point);
            assert_eq!((*found, *has_size, *has_file), (kind, sized, files), "{name}");
        }
    }
}
