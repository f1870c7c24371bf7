//! What a copy keeps of its source, or of the file that it replaces, beside its bytes.

use std::fs::{File, FileTimes, Metadata, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

/// Gives the copy the mode and times of the source, and its owner and group if that is permitted; whether it was. Without the owner
/// the bits that give rights to whoever runs the file are left out; the group alone may be permitted.
pub fn all(source: &Metadata, copy: impl AsFd) -> io::Result<bool> {
    let copy = file(copy)?;
    let owned = match fchown(&copy, Some(source.uid()), Some(source.gid())) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput) =>
        {
            // That it is not permitted either is what is told already.
            let _ = fchown(&copy, None, Some(source.gid()));
            false
        }
        answer => answer.map(|()| true)?,
    };
    let bits = if owned { 0o7777 } else { 0o777 };
    copy.set_permissions(Permissions::from_mode(source.mode() & bits))?;
    let times = FileTimes::new().set_accessed(source.accessed()?).set_modified(source.modified()?);
    copy.set_times(times)?;
    Ok(owned)
}

/// Gives the copy also those bits of the file that it replaces that give rights to whoever runs it, if it has its owner and group:
/// the rest it has got already. What is another, if something is.
pub fn of_replaced(replaced: &Metadata, copy: impl AsFd) -> io::Result<Option<&'static str>> {
    let copy = file(copy)?;
    let made = copy.metadata()?;
    let other = match (made.uid() == replaced.uid(), made.gid() == replaced.gid()) {
        (true, true) => None,
        (true, false) => Some("group"),
        (false, true) => Some("owner"),
        (false, false) => Some("owner and group"),
    };
    if other.is_none() && made.mode() != replaced.mode() {
        copy.set_permissions(Permissions::from_mode(replaced.mode() & 0o7777))?;
    }
    Ok(other)
}

/// Takes from the copy's owner what the owner of the source may not.
pub fn no_more_rights(source: &Metadata, copy: impl AsFd) -> io::Result<()> {
    let copy = file(copy)?;
    let mode = copy.metadata()?.mode() & 0o777;
    let wanted = mode & (source.mode() | 0o077);
    if mode == wanted { Ok(()) } else { copy.set_permissions(Permissions::from_mode(wanted)) }
}

fn file(copy: impl AsFd) -> io::Result<File> {
    copy.as_fd().try_clone_to_owned().map(File::from)
}
