//! Names and texts of `errno` values.

use std::io;

macro_rules! names {
    ($($name:ident)*) => {
        /// The name of an `errno` value, for those that file I/O meets.
        pub(crate) fn name(errno: i32) -> Option<&'static str> {
            match errno {
                $(libc::$name => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

names! {
    EPERM ENOENT EINTR EIO ENXIO EBADF EAGAIN ENOMEM EACCES EFAULT EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL
    ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EPIPE ERANGE ENAMETOOLONG ENOSYS ELOOP EOVERFLOW
    EOPNOTSUPP ETIMEDOUT ESTALE EDQUOT ECANCELED EREMOTEIO ESRCH
}

/// The system's own text, without its code and starting lower case unless it starts with an abbreviation.
pub(crate) fn text(errno: i32) -> String {
    let whole = io::Error::from_raw_os_error(errno).to_string();
    let text = whole.split(" (os error").next().unwrap_or(&whole);
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_inside_a_sentence() {
        assert_eq!(text(libc::EBADF), "bad file descriptor");
        assert_eq!(text(libc::ENOSPC), "no space left on device");
        assert_eq!(text(libc::EADV), "advertise error");
        assert_eq!(text(libc::EDOTDOT), "RFS specific error");
        assert!(!text(-7).is_empty());
    }

    #[test]
    fn common_values_have_names() {
        assert_eq!(name(libc::EFBIG), Some("EFBIG"));
        assert_eq!(name(libc::EREMOTEIO), Some("EREMOTEIO"));
        assert_eq!(name(0), None);
        assert_eq!(name(100_000), None);
    }
}
