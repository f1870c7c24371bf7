//! Opening files by path.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::driver::Driver;
use crate::error::{Error, Failed, Result, Subject};
use crate::explain::Environment;
use crate::file::FileHandle;
use crate::handle_type::FileHandleType;
use crate::policy::Policy;
use crate::replacement::Replacement;
use crate::system;
use crate::temporary::Temporary;
use crate::trace::{Trace, Work};

/// How to open a file for GPU I/O. Options are those of [`std::fs::OpenOptions`].
///
/// There is no `append`: with that flag the system ignores the offset of a positional write.
///
/// ```
/// use hipfile::{Driver, OpenOptions};
///
/// # fn main() -> hipfile::Result<()> {
/// # let path = std::env::temp_dir().join(format!("hipfile-doc-open-options-{}", std::process::id()));
/// let driver = Driver::open()?;
/// let file = OpenOptions::new().read(true).write(true).create(true).mode(0o600).open(&driver, &path)?;
/// assert_eq!(file.path(), Some(&*path));
/// drop(file);
///
/// let emptied = OpenOptions::new().write(true).truncate(true).direct(true).open(&driver, &path)?;
/// drop(emptied);
/// let error = OpenOptions::new().write(true).create_new(true).open(&driver, &path).unwrap_err();
/// assert_eq!(error.os_error(), Some(17)); // EEXIST
/// let o_sync = 0o4_010_000;
/// OpenOptions::new().write(true).custom_flags(o_sync).open(&driver, &path)?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct OpenOptions {
    options: fs::OpenOptions,
    flags: i32,
    direct: bool,
    handle_type: FileHandleType,
    policy: Policy,
}

impl OpenOptions {
    /// Nothing set: neither reading nor writing.
    #[must_use]
    pub fn new() -> Self {
        Self {
            options: fs::OpenOptions::new(),
            flags: 0,
            direct: false,
            handle_type: FileHandleType::OpaqueFd,
            policy: Policy::Auto,
        }
    }

    /// Whether the file can be read into device memory.
    pub fn read(&mut self, read: bool) -> &mut Self {
        self.options.read(read);
        self
    }

    /// Whether the file can be written from device memory.
    pub fn write(&mut self, write: bool) -> &mut Self {
        self.options.write(write);
        self
    }

    /// Whether the file is emptied first.
    pub fn truncate(&mut self, truncate: bool) -> &mut Self {
        self.options.truncate(truncate);
        self
    }

    /// Whether the file is created if it does not exist.
    pub fn create(&mut self, create: bool) -> &mut Self {
        self.options.create(create);
        self
    }

    /// Whether the file must be new.
    pub fn create_new(&mut self, create_new: bool) -> &mut Self {
        self.options.create_new(create_new);
        self
    }

    /// Permission bits of a file that is created, before the umask; 0o666 if not set.
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.options.mode(mode);
        self
    }

    /// Whether the descriptor itself has `O_DIRECT`.
    ///
    /// The fast path does not need it: the library opens the file a second time, the other way. It decides which of the
    /// two descriptors is yours.
    pub fn direct(&mut self, direct: bool) -> &mut Self {
        self.direct = direct;
        self
    }

    /// Further flags for `open`, as for [`std::os::unix::fs::OpenOptionsExt::custom_flags`]; each call replaces the last.
    ///
    /// Files made with `O_TMPFILE` can't be registered: the library's second open of them fails.
    pub fn custom_flags(&mut self, flags: i32) -> &mut Self {
        self.flags = flags;
        self
    }

    /// What the file is registered by. Anything but [`FileHandleType::OpaqueFd`] is refused, by AMD's library too.
    pub fn handle_type(&mut self, handle_type: FileHandleType) -> &mut Self {
        self.handle_type = handle_type;
        self
    }

    /// The path that transfers must take, where the environment allows to insist.
    ///
    /// ```
    /// # fn main() -> hipfile::Result<()> {
    /// use hipfile::{Driver, OpenOptions, Policy};
    ///
    /// OpenOptions::new().read(true).policy(Policy::Auto).open(&Driver::open()?, "Cargo.toml")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn policy(&mut self, policy: Policy) -> &mut Self {
        self.policy = policy;
        self
    }

    /// Opens the file and registers it. hipFile 0.2.
    ///
    /// # Errors
    ///
    /// What the system answers, see [`Error::os_error`], and what [`FileHandle::new`] gives.
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the environment does not make the
    /// [`policy`](Self::policy) true; then nothing is opened or made.
    pub fn open(&self, driver: &Driver, path: impl AsRef<Path>) -> Result<FileHandle> {
        let path = path.as_ref();
        Trace::of(Work::Open(path)).around(|| self.open_at(driver, path), |error| error)
    }

    fn open_at(&self, driver: &Driver, path: &Path) -> Result<FileHandle> {
        self.check_policy("open", path)?;
        let file = self
            .system()
            .open(path)
            .map_err(|error| Error::new("open", system::cause(&error)).on(Subject::Path(path.into())))?;
        FileHandle::register(driver.inner(), OwnedFd::from(file), Some(path.into()), self.handle_type)
            .map_err(Failed::into_error)
    }

    /// Opens a new file that is to take the place of the one at `path`, if there is one, and registers it. hipFile 0.2.
    ///
    /// The file is made in the same folder and is always writable; [`create`](Self::create),
    /// [`create_new`](Self::create_new) and [`truncate`](Self::truncate) make no difference. If `path` is a symbolic link,
    /// what it leads to is replaced. The new file has the owner, the group and the permission bits of the old one, as far
    /// as this process may give them; if there is no old one, the bits are those of [`mode`](Self::mode). Without its group it
    /// gives its group no more than everybody. It has not the old one's attributes, set-user-ID bits or other hard links.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use hipfile::{Driver, OpenOptions};
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-replace-{}", std::process::id()));
    /// # std::fs::write(&path, "precious")?;
    /// let new = OpenOptions::new().read(true).replace(&Driver::open()?, &path)?;
    /// new.file().write_host_all_at(b"half of", 0)?;
    /// drop(new); // an error on the way, or a panic
    /// assert_eq!(std::fs::read(&path)?, b"precious");
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnsupportedFile`](crate::ErrorKind::UnsupportedFile) if there is something at `path` that is no regular
    /// file; otherwise as for [`open`](Self::open). Nothing is left behind.
    pub fn replace(&self, driver: &Driver, path: impl AsRef<Path>) -> Result<Replacement> {
        let path = path.as_ref();
        Trace::of(Work::Replace(path)).around(|| self.replace_at(driver, path), |error| error)
    }

    fn replace_at(&self, driver: &Driver, path: &Path) -> Result<Replacement> {
        self.check_policy("replace", path)?;
        let (temporary, file) = Temporary::create(path, &self.system())
            .map_err(|cause| Error::new("replace", cause).on(Subject::Path(path.into())))?;
        FileHandle::register(driver.inner(), OwnedFd::from(file), Some(path.into()), self.handle_type)
            .map(|file| Replacement::new(file, temporary))
            .map_err(Failed::into_error)
    }

    fn check_policy(&self, operation: &'static str, path: &Path) -> Result<()> {
        let checked = self.policy.check(Environment::in_force());
        checked.map_err(|cause| Error::new(operation, cause).on(Subject::Path(path.into())))
    }

    /// The options as std takes them.
    fn system(&self) -> fs::OpenOptions {
        let direct = if self.direct { libc::O_DIRECT } else { 0 };
        let mut options = self.options.clone();
        options.custom_flags(self.flags | direct);
        options
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}
