//! The page cache: put into the state asked for as far as that goes, and looked at.
#![allow(unsafe_code, reason = "asks the system about pages of files")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::ptr;

use serde::Serialize;

use super::args::Cache;
use crate::memory::page_size;

/// What was asked for, and how it was when the measurement began and when it had ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CacheReport {
    pub asked: Cache,
    /// The share of the data that was in the page cache; none where the system does not tell.
    pub before: Option<f64>,
    pub after: Option<f64>,
}

/// Pages, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    pub resident: u64,
    pub all: u64,
}

impl Pages {
    /// Of several files together; none if the system does not tell of one.
    pub fn sum(parts: impl IntoIterator<Item = Option<Self>>) -> Option<Self> {
        parts.into_iter().try_fold(Self::default(), |sum, part| {
            part.map(|part| Self { resident: sum.resident + part.resident, all: sum.all + part.all })
        })
    }

    /// The share that is resident.
    pub fn share(self) -> Option<f64> {
        (self.all > 0).then(|| self.resident as f64 / self.all as f64)
    }
}

/// Puts a part of a file into the state.
pub fn prepare(file: &File, offset: u64, len: u64, state: Cache) -> io::Result<()> {
    match state {
        Cache::AsIs => Ok(()),
        Cache::Cold => {
            // What is not on the disk yet can't be dropped.
            file.sync_all()?;
            let number = |number| i64::try_from(number).map_err(io::Error::other);
            // SAFETY: requires nothing but a descriptor, which `file` keeps open.
            let error = unsafe {
                libc::posix_fadvise(
                    file.as_raw_fd(),
                    number(offset)?,
                    number(len)?,
                    libc::POSIX_FADV_DONTNEED,
                )
            };
            if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
        }
        Cache::Warm => {
            let mut bytes = vec![0; 1 << 20];
            let mut at = offset;
            while at < offset + len {
                let part = usize::try_from(len - (at - offset)).unwrap_or(usize::MAX).min(bytes.len());
                match file.read_at(bytes.get_mut(..part).unwrap_or_default(), at)? {
                    0 => break,
                    read => at += read as u64,
                }
            }
            Ok(())
        }
    }
}

/// Mapped at a time: a byte for each of its pages is asked for.
const WINDOW: u64 = 1 << 30;

/// Counts the pages of a part of a file; none where the system does not tell, as of files that this user may not write.
pub fn pages(file: &File, offset: u64, len: u64) -> Option<Pages> {
    if !may_know(file) {
        return None;
    }
    let mut sum = Pages::default();
    let end = offset.checked_add(len)?.min(file.metadata().ok()?.len());
    let page = page_size();
    let mut at = offset / page * page;
    while at < end {
        let len = (end - at).min(WINDOW);
        let (resident, all) = window(file, at, usize::try_from(len).ok()?)?;
        sum = Pages { resident: sum.resident + resident, all: sum.all + all };
        at += len;
    }
    Some(sum)
}

fn window(file: &File, offset: u64, len: usize) -> Option<(u64, u64)> {
    let at = i64::try_from(offset).ok()?;
    // SAFETY: requires nothing: the system chooses where new pages go. They are never accessed.
    let start =
        unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_NONE, libc::MAP_SHARED, file.as_raw_fd(), at) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let mut states = vec![0u8; len.div_ceil(usize::try_from(page_size()).ok()?)];
    // SAFETY: requires mapped pages and a byte for each; holds because they were mapped above and `states` has as many.
    let status = unsafe { libc::mincore(start, len, states.as_mut_ptr()) };
    // SAFETY: requires a mapping that nobody uses any more; holds because it is the one made above.
    unsafe { libc::munmap(start, len) };
    let resident = states.iter().filter(|state| **state & 1 == 1).count();
    (status == 0).then_some((resident as u64, states.len() as u64))
}

/// The system says that all is resident, true or not, where the user neither owns the file nor may write to it.
fn may_know(file: &File) -> bool {
    let link = format!("/proc/self/fd/{}\0", file.as_raw_fd());
    // SAFETY: requires a text that ends with a zero byte; holds because one was appended.
    let status =
        unsafe { libc::faccessat(libc::AT_FDCWD, link.as_ptr().cast(), libc::W_OK, libc::AT_EACCESS) };
    // SAFETY: requires nothing.
    let user = unsafe { libc::geteuid() };
    let owner = file.metadata().map(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata));
    status == 0 || owner.is_ok_and(|owner| owner == user)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_resident() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&[1; 40_000], 0).unwrap();
        let all = 40_000u64.div_ceil(page_size());
        assert_eq!(pages(&file, 0, 40_000), Some(Pages { resident: all, all }));
        assert_eq!(pages(&file, page_size(), 1), Some(Pages { resident: 1, all: 1 }));
        prepare(&file, 0, 40_000, Cache::Warm).unwrap();
        assert_eq!(pages(&file, 0, 1 << 40).and_then(Pages::share), Some(1.0));
        prepare(&file, 0, 40_000, Cache::Cold).unwrap();
        // Whether pages leave is up to the file system: memory is all that some have.
        assert!(pages(&file, 0, 40_000).unwrap().resident <= all);
    }

    #[test]
    fn shares_of_several_files() {
        let pages = |resident, all| Some(Pages { resident, all });
        assert_eq!(Pages::sum([pages(1, 2), pages(0, 2)]).and_then(Pages::share), Some(0.25));
        assert_eq!(Pages::sum([pages(1, 2), None]), None);
        assert_eq!(Pages::sum([]).and_then(Pages::share), None);
    }
}
