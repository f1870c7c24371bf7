//! What is registered, under the keys that the C interface knows it by.

use std::collections::HashMap;
use std::ffi::c_void;
use std::hash::{BuildHasherDefault, Hasher};
use std::os::fd::RawFd;
use std::sync::Arc;

use crate::batch::Batch;
use crate::buffer::Buffer;
use crate::failure::Failure;
use crate::file::File;
use crate::settings::Settings;
use crate::stream::Stream;

/// Handles are numbers that look like addresses: far from those a program may hold by mistake, and as far from each
/// other as objects are, so that a handle with an offset added is no handle.
const FIRST_HANDLE: usize = 0x4846_0000_0000;
const HANDLE_STEP: usize = 0x100;

type Map<K, V> = HashMap<K, V, BuildHasherDefault<KeyHasher>>;

/// The tables. Whoever holds an `Arc` of an entry beside the table is an operation in flight.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) use_count: i64,
    files: Map<usize, Arc<File>>,
    /// The handle of each registered descriptor.
    handles: Map<RawFd, usize>,
    last_handle: usize,
    buffers: Map<usize, Arc<Buffer>>,
    streams: Map<usize, Arc<Stream>>,
    batches: Map<usize, Arc<Batch>>,
    pub(crate) settings: Settings,
}

/// What a close takes out of the tables. Dropping it closes descriptors, which is better done without the lock.
#[derive(Debug)]
pub(crate) struct Dropped {
    _files: Map<usize, Arc<File>>,
    _buffers: Map<usize, Arc<Buffer>>,
}

impl Tables {
    pub(crate) const fn new() -> Self {
        Self {
            use_count: 0,
            files: map(),
            handles: map(),
            last_handle: FIRST_HANDLE,
            buffers: map(),
            streams: map(),
            batches: map(),
            settings: Settings::new(),
        }
    }

    /// Empties what a close to 0 empties. Streams stay registered, and batches are taken out apart.
    pub(crate) fn clear(&mut self) -> Dropped {
        self.handles.clear();
        self.settings = Settings::new();
        Dropped {
            _files: std::mem::replace(&mut self.files, map()),
            _buffers: std::mem::replace(&mut self.buffers, map()),
        }
    }

    #[inline]
    pub(crate) fn file(&self, handle: *mut c_void) -> Result<Arc<File>, Failure> {
        self.files.get(&handle.addr()).cloned().ok_or(Failure::FILE_NOT_REGISTERED)
    }

    /// Enters a file and gives it a handle, which is not null and was never given before.
    pub(crate) fn insert_file(&mut self, file: File) -> Result<*mut c_void, Failure> {
        if self.handles.contains_key(&file.number) {
            return Err(Failure::FILE_REGISTERED);
        }
        let handle = self.new_handle();
        self.handles.insert(file.number, handle);
        self.files.insert(handle, Arc::new(file));
        Ok(std::ptr::without_provenance_mut(handle))
    }

    /// A handle that nothing has or had.
    fn new_handle(&mut self) -> usize {
        self.last_handle += HANDLE_STEP;
        self.last_handle
    }

    /// Takes a file out, unless it is unknown or in use.
    pub(crate) fn remove_file(&mut self, handle: *mut c_void) -> Option<Arc<File>> {
        if Arc::strong_count(self.files.get(&handle.addr())?) > 1 {
            return None;
        }
        let file = self.files.remove(&handle.addr())?;
        self.handles.remove(&file.number);
        Some(file)
    }

    #[inline]
    pub(crate) fn buffer(&self, base: *const c_void) -> Option<Arc<Buffer>> {
        self.buffers.get(&base.addr()).cloned()
    }

    pub(crate) fn has_buffer(&self, base: *const c_void) -> bool {
        self.buffers.contains_key(&base.addr())
    }

    pub(crate) fn insert_buffer(&mut self, buffer: Buffer) -> Result<(), Failure> {
        if self.buffers.contains_key(&buffer.base) {
            return Err(Failure::BUFFER_REGISTERED);
        }
        self.buffers.insert(buffer.base, Arc::new(buffer));
        Ok(())
    }

    pub(crate) fn remove_buffer(&mut self, base: *const c_void) -> Result<(), Failure> {
        let buffer = self.buffers.get(&base.addr()).ok_or(Failure::BUFFER_NOT_REGISTERED)?;
        if Arc::strong_count(buffer) > 1 {
            return Err(Failure::INTERNAL);
        }
        self.buffers.remove(&base.addr());
        Ok(())
    }

    pub(crate) fn stream(&self, stream: usize) -> Option<Arc<Stream>> {
        self.streams.get(&stream).cloned()
    }

    pub(crate) fn insert_stream(&mut self, key: usize, stream: Stream) -> Result<(), Failure> {
        if self.streams.contains_key(&key) {
            return Err(Failure::INVALID_VALUE);
        }
        self.streams.insert(key, Arc::new(stream));
        Ok(())
    }

    pub(crate) fn remove_stream(&mut self, key: usize) -> Result<Arc<Stream>, Failure> {
        self.streams.remove(&key).ok_or(Failure::INVALID_VALUE)
    }

    pub(crate) fn batch(&self, handle: *mut c_void) -> Option<Arc<Batch>> {
        self.batches.get(&handle.addr()).cloned()
    }

    /// Enters a batch and gives it a handle, which is not null and was never given before.
    pub(crate) fn insert_batch(&mut self, batch: Arc<Batch>) -> *mut c_void {
        let handle = self.new_handle();
        self.batches.insert(handle, batch);
        std::ptr::without_provenance_mut(handle)
    }

    pub(crate) fn remove_batch(&mut self, handle: *mut c_void) -> Option<Arc<Batch>> {
        self.batches.remove(&handle.addr())
    }

    /// Takes out all batches.
    pub(crate) fn take_batches(&mut self) -> Vec<Arc<Batch>> {
        self.batches.drain().map(|(_, batch)| batch).collect()
    }
}

const fn map<K, V>() -> Map<K, V> {
    HashMap::with_hasher(BuildHasherDefault::new())
}

/// A hasher for keys that are one number. Addresses and handles share their low bits, so the high ones are mixed in.
#[derive(Debug, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn write_usize(&mut self, key: usize) {
        self.write_u64(key as u64);
    }

    fn write_i32(&mut self, key: i32) {
        self.write_u64(u64::from(key as u32));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    #[test]
    fn keys_on_page_borders_spread() {
        let hash = |key: usize| BuildHasherDefault::<KeyHasher>::new().hash_one(key);
        let slots: HashSet<_> = (1..=128_usize).map(|page| hash(page << 21) % 256).collect();
        assert!(slots.len() > 64, "{}", slots.len());
        let tags: HashSet<_> = (1..=128_usize).map(|page| hash(page << 12) >> 57).collect();
        assert!(tags.len() > 40, "{}", tags.len());
    }
}
