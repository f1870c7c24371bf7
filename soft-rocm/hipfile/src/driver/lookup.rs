//! Finding what transfers name.

use std::ffi::c_void;
use std::sync::Arc;

use super::{Driver, Memory};
use crate::behaviour;
use crate::buffer::Buffer;
use crate::failure::Failure;
use crate::file::File;
use crate::hip::Hip;
use crate::sync::RwLockReadGuard;
use crate::tables::Tables;

/// Finds files and buffers, one pair after the other. The lock is held in between, unless HIP had to be asked.
#[derive(Debug)]
pub(crate) struct Lookup<'a> {
    driver: &'a Driver,
    tables: Option<RwLockReadGuard<'a, Tables>>,
}

impl<'a> Lookup<'a> {
    #[inline]
    pub(super) fn new(driver: &'a Driver) -> Self {
        Self { driver, tables: None }
    }

    /// Finds what a transfer names.
    ///
    /// # Errors
    ///
    /// EINVAL if the driver is closed, 5027 if the handle is unknown, 5022 if the pointer is null, else those of
    /// [`Buffer::unregistered`].
    #[inline]
    pub(crate) fn resolve(
        &mut self,
        hip: impl FnOnce() -> Result<&'static Hip, Failure>,
        handle: *mut c_void,
        base: *const c_void,
    ) -> Result<(Arc<File>, Memory), Failure> {
        let tables = self.tables.take().unwrap_or_else(|| self.driver.read());
        if tables.use_count == 0 {
            return Err(Failure::Os(libc::EINVAL));
        }
        let file = tables.file(handle)?;
        if base.is_null() {
            return Err(Failure::INVALID_VALUE);
        }
        let memory = match tables.buffer(base) {
            Some(buffer) => {
                self.tables = Some(tables);
                Memory::Registered(buffer)
            }
            None => {
                drop(tables);
                let host = behaviour::get().extensions.host_memory;
                Memory::Unregistered(Buffer::unregistered(hip()?, host, base)?)
            }
        };
        Ok((file, memory))
    }
}
