//! Error codes by name and number.

use std::ffi::c_int;

include!(concat!(env!("OUT_DIR"), "/codes.rs"));

macro_rules! errnos {
    ($($name:ident)*) => {
        /// Every error number of the system.
        const ERRNOS: &[(&str, c_int)] = &[$((stringify!($name), libc::$name)),*];
    };
}

errnos! {
    EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN EWOULDBLOCK ENOMEM EACCES EFAULT ENOTBLK
    EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK
    EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP ENOMSG EIDRM ENODATA ETIME ENOSR ENONET
    ENOLINK EPROTO EBADMSG EOVERFLOW EREMOTEIO EILSEQ ERESTART EUSERS ENOTSOCK EDESTADDRREQ EMSGSIZE EPROTOTYPE
    ENOPROTOOPT EPROTONOSUPPORT ESOCKTNOSUPPORT EOPNOTSUPP EPFNOSUPPORT EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL
    ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET ENOBUFS EISCONN ENOTCONN ESHUTDOWN ETOOMANYREFS ETIMEDOUT
    ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY EINPROGRESS ESTALE EUCLEAN EDQUOT ENOMEDIUM EMEDIUMTYPE ECANCELED
    ENOKEY EKEYEXPIRED EKEYREVOKED EKEYREJECTED EOWNERDEAD ENOTRECOVERABLE ERFKILL EHWPOISON
}

/// The largest number that a system call can answer as an error.
pub(crate) const MAX_ERRNO: u32 = 4095;

/// A system error by its name.
pub(crate) fn errno(name: &str) -> Option<u32> {
    ERRNOS.iter().find(|(known, _)| *known == name).and_then(|(_, number)| u32::try_from(*number).ok())
}

/// The names of system errors.
pub(crate) fn errnos() -> impl Iterator<Item = &'static str> {
    ERRNOS.iter().map(|(name, _)| *name)
}

/// A code of a list by its name.
pub(crate) fn code(list: &[(&str, u32)], name: &str) -> Option<u32> {
    list.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
}

/// The names of a list.
pub(crate) fn names(list: &'static [(&'static str, u32)]) -> impl Iterator<Item = &'static str> {
    list.iter().map(|(name, _)| *name)
}

/// The candidate most like what was written, if one is like it at all.
pub(crate) fn nearest<'a>(written: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // A name longer than any candidate is no slip of the pen, and the comparison takes the product of the lengths.
    if written.is_empty() || written.len() > 64 {
        return None;
    }
    let (distance, nearest) =
        candidates.map(|name| (distance(written, name), name)).min_by_key(|(distance, _)| *distance)?;
    (distance <= 1.max(written.len() / 3)).then_some(nearest)
}

/// How many letters have to be put in, taken out or changed; case does not count.
fn distance(a: &str, b: &str) -> usize {
    let letters: Vec<u8> = b.bytes().map(|letter| letter.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=letters.len()).collect();
    for (line, letter) in a.bytes().map(|letter| letter.to_ascii_lowercase()).enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        for (place, other) in row.iter_mut().zip(std::iter::once(None).chain(letters.iter().map(Some))) {
            let above = *place;
            *place = match other {
                None => left,
                Some(other) => (diagonal + usize::from(*other != letter)).min(above + 1).min(left + 1),
            };
            (diagonal, left) = (above, *place);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_numbers_of_the_headers() {
        assert_eq!(code(HIP, "hipErrorOutOfMemory"), Some(2));
        assert_eq!(code(HIP, "hipSuccess"), None);
        assert_eq!(code(HIPFILE, "hipFileInternalError"), Some(5030));
        assert_eq!(errno("EIO"), Some(5));
        assert_eq!(errno("ENOSUCH"), None);
    }

    #[test]
    fn distances() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "abc", 0),
            ("abc", "ABC", 0),
            ("kitten", "sitting", 3),
            ("flaw", "lawn", 2),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn only_what_is_near_is_suggested() {
        let names = || ["hipMalloc", "hipFree", "pread"].into_iter();
        assert_eq!(nearest("hipMaloc", names()), Some("hipMalloc"));
        assert_eq!(nearest("HIPFREE", names()), Some("hipFree"));
        assert_eq!(nearest("prea", names()), Some("pread"));
        assert_eq!(nearest("something", names()), None);
        assert_eq!(nearest("", names()), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), names()), None);
    }
}
