//! Finding a library and loading it.

use std::ffi::{OsStr, c_int};
use std::path::Path;

use libloading::os::unix as dl;

use crate::{Attempt, Library, LoadError, Search};

/// Symbols resolve now, so that a library that does not fit fails here, and stay out of everybody else's way.
const FLAGS: c_int = libc::RTLD_NOW | libc::RTLD_LOCAL;

/// Loads a library by its name without version, such as `libamdhip64.so`, preferring the `versions` in their order, and
/// no version last. See the [crate](crate) for where it looks.
///
/// # Errors
///
/// Nothing that was found could be loaded; the error lists every place tried.
///
/// # Safety
///
/// The initialisers of every library of that name in these places may run. For ROCm's own libraries this asks no more
/// than linking them does.
///
/// ```
/// // SAFETY: requires that the initialisers of HIP may run; every HIP program runs them.
/// match unsafe { rocm_loader::open("libamdhip64.so", &["7", "6", "5"]) } {
///     Ok(hip) => println!("HIP is {}", hip.path().unwrap_or_default().display()),
///     Err(error) => eprintln!("{error}"),
/// }
/// ```
pub unsafe fn open(stem: &str, versions: &[&str]) -> Result<Library, LoadError> {
    // SAFETY: the caller's promise is the one required.
    unsafe { Search::from_env().open(stem, versions) }
}

/// Loads the library in the file `path`. A name without a slash is left to the system's loader.
///
/// # Errors
///
/// The file is missing, is no library for this machine, or one it needs is missing.
///
/// # Safety
///
/// The library's initialisers may run.
///
/// ```
/// // SAFETY: requires that the library's initialisers may run; there is no such library.
/// let error = unsafe { rocm_loader::open_path("/nonexistent/libhipfile.so.0".as_ref()) }.unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "cannot load /nonexistent/libhipfile.so.0: \
///      cannot open shared object file: No such file or directory",
/// );
/// ```
pub unsafe fn open_path(path: &Path) -> Result<Library, LoadError> {
    // SAFETY: the caller's promise is the one required.
    let opened = unsafe { try_open(path.as_os_str()) };
    opened.map_err(|reason| LoadError::file(Attempt::new(path.display().to_string(), reason)))
}

/// The library of that name that the process has loaded already, whichever way that came about. Loads nothing.
///
/// Versions are preferred as by [`open`].
///
/// ```
/// assert!(rocm_loader::loaded("libc.so", &["6"]).is_some());
/// assert!(rocm_loader::loaded("libnonexistent.so", &["1"]).is_none());
/// ```
#[must_use]
pub fn loaded(stem: &str, versions: &[&str]) -> Option<Library> {
    names(stem, versions).into_iter().find_map(|name| {
        // SAFETY: requires that the library's initialisers may run; none does, since with this flag dlopen answers only
        // for a library that is there.
        let library = unsafe { dl::Library::open(Some(name), FLAGS | libc::RTLD_NOLOAD) };
        library.ok().map(Library::leak)
    })
}

impl Search {
    /// Loads a library, as [`open`] does, looking into these prefixes.
    ///
    /// ```
    /// use rocm_loader::Search;
    ///
    /// let search = Search::new("/nonexistent".as_ref(), None);
    /// // SAFETY: requires that the library's initialisers may run; there is no such library.
    /// let error = unsafe { search.open("libnonexistent.so", &["1"]) }.unwrap_err();
    /// assert!(error.attempts().iter().any(|attempt| attempt.place() == "/nonexistent/opt/rocm/lib"));
    /// ```
    ///
    /// # Errors
    ///
    /// Nothing that was found could be loaded; the error lists every place tried.
    ///
    /// # Safety
    ///
    /// The initialisers of every library of that name in these places may run.
    pub unsafe fn open(&self, stem: &str, versions: &[&str]) -> Result<Library, LoadError> {
        if let Some(library) = loaded(stem, versions) {
            return Ok(library);
        }
        let names = names(stem, versions);
        let all = names.join(", ");
        let mut attempts = vec![Attempt::new("this process", format!("has not loaded {all}"))];
        for folder in self.prefixes().iter().map(|prefix| prefix.join("lib")) {
            let files: Vec<_> =
                names.iter().map(|name| folder.join(name)).filter(|file| file.exists()).collect();
            for file in &files {
                // SAFETY: the caller's promise is the one required.
                match unsafe { try_open(file.as_os_str()) } {
                    Ok(library) => return Ok(library),
                    Err(reason) => attempts.push(Attempt::new(file.display().to_string(), reason)),
                }
            }
            if files.is_empty() {
                attempts.push(Attempt::new(folder.display().to_string(), format!("has none of {all}")));
            }
        }
        for name in &names {
            // SAFETY: the caller's promise is the one required.
            match unsafe { try_open(OsStr::new(name)) } {
                Ok(library) => return Ok(library),
                Err(reason) => attempts.push(Attempt::new(format!("system loader, {name}"), reason)),
            }
        }
        Err(LoadError::search(stem, attempts))
    }
}

/// File names in order of preference.
fn names(stem: &str, versions: &[&str]) -> Vec<String> {
    versions.iter().map(|version| format!("{stem}.{version}")).chain([stem.to_owned()]).collect()
}

/// Loads one file or name.
///
/// # Safety
///
/// The library's initialisers may run.
unsafe fn try_open(name: &OsStr) -> Result<Library, String> {
    // SAFETY: the caller's promise is the one required.
    let opened = unsafe { dl::Library::open(Some(name), FLAGS) };
    opened.map(Library::leak).map_err(|error| {
        let text = error.to_string();
        // The loader begins with the name, which is known here.
        let prefix = format!("{}: ", name.to_string_lossy());
        text.strip_prefix(&prefix).map(str::to_owned).unwrap_or(text)
    })
}
