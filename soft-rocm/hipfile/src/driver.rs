//! The driver: the use count and the tables that live and die with it, under one lock.
//!
//! Registration, deregistration, open and close take the lock exclusively. A transfer takes it shared while it looks
//! up file and buffer, and then holds those two itself, so that a close does not disturb it. HIP is never asked under
//! the lock.

mod batches;
mod lookup;
mod settings;

use std::ffi::c_void;
use std::ops::Deref;
use std::sync::Arc;

use hipfile_sys::hipStream_t;

pub(crate) use lookup::Lookup;
use settings::Paths;

use crate::behaviour::{self, Behaviour, Version};
use crate::buffer::Buffer;
use crate::failure::Failure;
use crate::file::File;
use crate::hip::Hip;
use crate::pinned::Pinned;
use crate::stream::Stream;
use crate::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use crate::tables::Tables;

/// The state of the library.
#[derive(Debug)]
pub(crate) struct Driver {
    tables: RwLock<Tables>,
    /// What the settings say about paths: transfers ask it, also those that a close waits for under the lock.
    paths: Paths,
}

/// The buffer of a transfer.
#[derive(Debug)]
pub(crate) enum Memory {
    Registered(Arc<Buffer>),
    Unregistered(Buffer),
}

impl Deref for Memory {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        match self {
            Self::Registered(buffer) => buffer,
            Self::Unregistered(buffer) => buffer,
        }
    }
}

impl Driver {
    pub(crate) const fn new() -> Self {
        Self { tables: RwLock::new(Tables::new()), paths: Paths::new() }
    }

    /// The driver of this process.
    #[inline]
    pub(crate) fn get() -> &'static Self {
        static DRIVER: Driver = Driver::new();
        &DRIVER
    }

    // No entry is left half-made where a panic could strike, so a poisoned lock guards good tables.
    #[inline]
    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn open(&self) {
        self.write().use_count += 1;
    }

    /// Opens the driver if it is closed, as registration and asynchronous submission do.
    ///
    /// Returns whether it was closed.
    pub(crate) fn open_if_closed(&self) -> bool {
        if self.use_count() != 0 {
            return false;
        }
        let mut tables = self.write();
        let closed = tables.use_count == 0;
        if closed {
            tables.use_count = 1;
        }
        closed
    }

    /// Takes one from the use count; at 0 batches, files and buffers are dropped. Operations of batches that run are
    /// waited for under the lock, so that nothing is opened or registered before they end.
    ///
    /// # Errors
    ///
    /// 5001 if the driver is closed.
    pub(crate) fn close(&self) -> Result<(), Failure> {
        let mut tables = self.write();
        if tables.use_count == 0 {
            return Err(Failure::NOT_INITIALIZED);
        }
        tables.use_count -= 1;
        let dropped = (tables.use_count == 0).then(|| {
            if behaviour::get().version >= Version::V0_5 {
                let batches = tables.take_batches();
                batches.iter().for_each(|batch| batch.retire());
                batches.iter().for_each(|batch| batch.quiesce());
            }
            let dropped = tables.clear();
            self.paths.follow(&tables.settings);
            dropped
        });
        drop(tables);
        drop(dropped);
        Ok(())
    }

    pub(crate) fn use_count(&self) -> i64 {
        self.read().use_count
    }

    /// Registers a file, opening the driver if that succeeds.
    ///
    /// # Errors
    ///
    /// 5028 if the descriptor's number is registered.
    pub(crate) fn register_file(&self, file: File) -> Result<*mut c_void, Failure> {
        let mut tables = self.write();
        let handle = tables.insert_file(file)?;
        tables.use_count = tables.use_count.max(1);
        Ok(handle)
    }

    /// The program's descriptor of a registered file.
    pub(crate) fn descriptor(&self, handle: *mut c_void) -> Option<i32> {
        self.read().file(handle).ok().map(|file| file.number)
    }

    /// Removes a file, unless it is unknown or in use.
    pub(crate) fn deregister_file(&self, handle: *mut c_void) {
        let removed = self.write().remove_file(handle);
        drop(removed);
    }

    /// Registers memory. The driver is opened first, whatever follows.
    ///
    /// # Errors
    ///
    /// 5023 if exactly this pointer is registered, 5022 if it is null, else those of [`Buffer::to_register`].
    pub(crate) fn register_buffer(
        &self,
        hip: impl FnOnce() -> Result<&'static Hip, Failure>,
        base: *const c_void,
        len: usize,
    ) -> Result<(), Failure> {
        self.open_if_closed();
        if self.read().has_buffer(base) {
            return Err(Failure::BUFFER_REGISTERED);
        }
        if base.is_null() {
            return Err(Failure::INVALID_VALUE);
        }
        let buffer = Buffer::to_register(hip()?, behaviour::get().extensions.host_memory, base, len)?;
        let mut tables = self.write();
        tables.insert_buffer(buffer)?;
        // Another thread may have closed the driver meanwhile; an entry in the table keeps it open.
        tables.use_count = tables.use_count.max(1);
        Ok(())
    }

    /// Removes the registration of exactly this pointer.
    ///
    /// # Errors
    ///
    /// 5006 if the driver is closed, 5024 if the pointer is not registered, 5030 if a transfer uses it.
    pub(crate) fn deregister_buffer(&self, base: *const c_void) -> Result<(), Failure> {
        let mut tables = self.write();
        if tables.use_count == 0 {
            return Err(Failure::CLOSING);
        }
        tables.remove_buffer(base)
    }

    /// Finds what a transfer names.
    ///
    /// # Errors
    ///
    /// Those of [`Lookup::resolve`].
    #[inline]
    pub(crate) fn resolve(
        &self,
        hip: impl FnOnce() -> Result<&'static Hip, Failure>,
        handle: *mut c_void,
        base: *const c_void,
    ) -> Result<(Arc<File>, Memory), Failure> {
        Lookup::new(self).resolve(hip, handle, base)
    }

    /// Finds what several transfers name.
    pub(crate) fn look_up(&self) -> Lookup<'_> {
        Lookup::new(self)
    }

    /// Registers a stream; the driver may be closed and stays so.
    ///
    /// # Errors
    ///
    /// 5022 for a stream already registered and for unknown flags, else what HIP said.
    pub(crate) fn register_stream(
        &self,
        hip: impl FnOnce() -> Result<&'static Hip, Failure>,
        behaviour: &Behaviour,
        stream: hipStream_t,
        flags: u32,
    ) -> Result<(), Failure> {
        Pinned::give_back();
        if self.stream(stream).is_some() {
            return Err(Failure::INVALID_VALUE);
        }
        Stream::check_flags(flags)?;
        let entry = Stream::to_register(hip()?, behaviour, stream, flags)?;
        self.write().insert_stream(stream.addr(), entry)
    }

    /// Removes a stream.
    ///
    /// # Errors
    ///
    /// 5022 if it is not registered.
    pub(crate) fn deregister_stream(&self, stream: hipStream_t) -> Result<(), Failure> {
        let removed = self.write().remove_stream(stream.addr())?;
        removed.order().retire();
        drop(removed);
        Pinned::give_back();
        Ok(())
    }

    /// The registration of a stream.
    pub(crate) fn stream(&self, stream: hipStream_t) -> Option<Arc<Stream>> {
        self.read().stream(stream.addr())
    }
}

#[cfg(test)]
mod tests;

#[cfg(all(test, shuttle))]
mod interleavings;
