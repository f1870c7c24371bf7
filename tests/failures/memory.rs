//! Devices and memory: hip-alloc without streams.

use hip_alloc::{Device, DeviceAttribute, DeviceBuffer, PinnedBuffer};

use crate::entry::{About, Entry, Named, all, done, kept};
use crate::stage::{LEN, OTHER};

pub fn entries() -> Vec<Entry> {
    let named: &[Named] = &[
        ("Device::count", |_| done(Device::count()?)),
        ("Device::new", |_| done(Device::new(OTHER)?)),
        ("Device::all", |_| done(Device::all()?)),
        ("Device::current", |_| done(Device::current()?)),
        ("Device::make_current", |stage| done(stage.buffer().device().make_current()?)),
        ("Device::memory_info", |stage| done(stage.buffer().device().memory_info()?)),
        ("Device::attribute", |stage| done(stage.buffer().device().attribute(DeviceAttribute::WARP_SIZE)?)),
        ("Device::stream_priorities", |stage| done(stage.buffer().device().stream_priorities()?)),
        ("DeviceBuffer::new", |stage| kept(stage, DeviceBuffer::new(LEN)?)),
        ("DeviceBuffer::zeroed", |stage| kept(stage, DeviceBuffer::zeroed(LEN)?)),
        ("DeviceBuffer::with_alignment", |stage| kept(stage, DeviceBuffer::with_alignment(LEN, 1 << 16)?)),
        ("DeviceBuffer::from_host", |stage| kept(stage, DeviceBuffer::from_host(&[1; LEN])?)),
        ("DeviceBuffer::copy_to_host", |stage| Ok(stage.buffer().copy_to_host(1, &mut [0; 9])?)),
        ("DeviceBuffer::copy_from_host", |stage| Ok(stage.buffer().copy_from_host(1, &[0; 9])?)),
        ("DeviceBuffer::to_vec", |stage| done(stage.buffer().to_vec()?)),
        ("DeviceBuffer::fill", |stage| Ok(stage.buffer().fill(1)?)),
        ("DeviceBuffer::slice", |stage| done(stage.buffer().slice(3..9)?)),
        ("DeviceBuffer::slice_mut", |stage| done(stage.buffer().slice_mut(3..9)?)),
        ("DeviceSlice::slice", |stage| done(stage.buffer().as_slice().slice(3..9)?)),
        ("DeviceSlice::split_at", |stage| done(stage.buffer().as_slice().split_at(9)?)),
        ("DeviceSliceMut::slice", |stage| done(stage.buffer().as_mut_slice().slice(3..9)?)),
        ("DeviceSliceMut::slice_mut", |stage| done(stage.buffer().as_mut_slice().slice_mut(3..9)?)),
        ("DeviceSliceMut::split_at_mut", |stage| done(stage.buffer().as_mut_slice().split_at_mut(9)?)),
        ("DeviceSlice::copy_to_host", |stage| Ok(stage.buffer().slice(3..)?.copy_to_host(1, &mut [0; 9])?)),
        ("DeviceSlice::to_vec", |stage| done(stage.buffer().slice(3..9)?.to_vec()?)),
        ("DeviceSliceMut::copy_to_host", |stage| {
            Ok(stage.buffer().slice_mut(3..)?.copy_to_host(1, &mut [0; 9])?)
        }),
        ("DeviceSliceMut::copy_from_host", |stage| {
            Ok(stage.buffer().slice_mut(3..)?.copy_from_host(1, &[0; 9])?)
        }),
        ("DeviceSliceMut::to_vec", |stage| done(stage.buffer().slice_mut(3..9)?.to_vec()?)),
        ("DeviceSliceMut::fill", |stage| Ok(stage.buffer().slice_mut(3..)?.fill(1)?)),
        ("DeviceSlice::typed", |stage| done(stage.buffer().as_slice().typed::<u32>()?)),
        ("DeviceSliceMut::typed", |stage| done(stage.buffer().as_mut_slice().typed::<u32>()?)),
        ("TypedSlice::slice", |stage| done(stage.buffer().as_slice().typed::<u32>()?.slice(3..)?)),
        ("TypedSlice::copy_to_host", |stage| {
            Ok(stage.buffer().as_slice().typed::<u32>()?.copy_to_host(1, &mut [0; 9])?)
        }),
        ("TypedSlice::to_vec", |stage| done(stage.buffer().as_slice().typed::<u32>()?.to_vec()?)),
        ("TypedSliceMut::slice_mut", |stage| {
            done(stage.buffer().as_mut_slice().typed::<u32>()?.slice_mut(3..)?)
        }),
        ("TypedSliceMut::copy_from_host", |stage| {
            Ok(stage.buffer().as_mut_slice().typed::<u32>()?.copy_from_host(1, &[0; 9])?)
        }),
        ("DeviceBuffer::free", |stage| match stage.buffer.take().expect("it is there").free() {
            Ok(()) => Ok(()),
            Err(failed) => {
                let (error, buffer) = failed.into_parts();
                stage.buffer = Some(buffer);
                Err(error.into())
            }
        }),
        ("DeviceBuffer::into_raw", |stage| match stage.buffer.take().expect("it is there").into_raw() {
            Ok(raw) => {
                // SAFETY: requires what `into_raw` gave, once; holds.
                stage.buffer = Some(unsafe { DeviceBuffer::from_raw(raw) });
                Ok(())
            }
            Err(failed) => {
                let (error, buffer) = failed.into_parts();
                stage.buffer = Some(buffer);
                Err(error.into())
            }
        }),
        ("drop of DeviceBuffer", |stage| done(stage.buffer.take())),
        ("PinnedBuffer::zeroed", |stage| kept(stage, PinnedBuffer::zeroed(LEN)?)),
        ("PinnedBuffer::from_slice", |stage| kept(stage, PinnedBuffer::from_slice(&[1; LEN])?)),
        ("drop of PinnedBuffer", |stage| done(stage.host.take())),
    ];
    all(About::Operation, named).collect()
}
