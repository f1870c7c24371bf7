//! SND-10: transfers on streams of a device that is not the current one, which stays what it was.

use std::mem;

use hipfile::alloc::{Device, DeviceBuffer};
use hipfile::{Batch, ErrorKind, Region, RegisteredStream, Request, StreamFlags};
use hipfile_tests::{library, soft};

use crate::fake::{self, Function};
use crate::support::{Prepared, pattern, prepared, stream};

const SIZE: usize = 16 * 1024;

/// SND-10. Whatever is done on the second device, and refused between the two, the first one is current before and after.
#[test]
fn the_current_device_stays() {
    soft::only("devices::the_current_device_stays", &[("SOFT_ROCM_DEVICE_COUNT", "2")], || {
        fake::install();
        let prepared = prepared(&pattern(SIZE, 1));
        let Prepared { driver, file, .. } = &prepared;
        let first = Device::current().unwrap();
        let second = Device::all().unwrap().into_iter().find(|device| *device != first).unwrap();
        let on = |device: Device| {
            let _current = device.make_current().unwrap();
            let region = driver.register(DeviceBuffer::zeroed(SIZE).unwrap()).unwrap().into_region();
            (stream(), region, DeviceBuffer::zeroed(SIZE).unwrap())
        };
        let (_, here, _) = on(first);
        let (far, region, mut memory) = on(second);
        let stays = |what: &str| assert_eq!(Device::current().unwrap(), first, "after {what}");
        let read = |region: Region| region.slice(..).unwrap().as_device().to_vec().unwrap();

        let registered = RegisteredStream::new(driver, far.clone(), StreamFlags::empty()).unwrap();
        stays("registering");
        let transfer = Request::read(file, region, 0).late(|values| values).submit(&registered);
        stays("submitting");
        let region = transfer.wait().unwrap().region;
        stays("waiting");
        let refused = file.read_owned(&registered, here, 0).wait().unwrap_err();
        assert_eq!(refused.error().kind(), ErrorKind::InvalidInput, "{refused}");
        let here = refused.into_parts().1.unwrap();
        assert_eq!(fake::calls(Function::ReadAsync), 1, "it was seen before the library was asked");
        stays("refusing");
        fake::streams::fates(|| fake::streams::Fate::RefusedAndWritten(5011, 719, 1));
        let refused = file.read_owned(&registered, region, 0).wait().unwrap_err();
        let region = refused.into_parts().1.unwrap();
        stays("a refusal of the library");
        fake::streams::fates(|| fake::streams::Fate::Honest);
        let ended = far.scope(|scope| {
            let ended = file.read_at_in(scope, memory.slice_mut(..).unwrap(), 0);
            stays("submitting in a scope");
            ended
        });
        stays("a scope");
        assert_eq!(ended.unwrap().result().unwrap().unwrap(), SIZE);
        assert_eq!(file.read_at_after(&far, memory.slice_mut(..).unwrap(), 0).unwrap(), SIZE);
        stays("waiting for a stream");
        if library::has_0_5() {
            let mut batch = Batch::new(driver, 2).unwrap();
            batch.submit([Request::read(file, here, 0), Request::read(file, region, 0).tag(1)]).unwrap();
            batch.wait(2, None).unwrap();
            stays("a batch");
            while let Some(done) = batch.try_next().unwrap() {
                assert_eq!(done.result.unwrap(), SIZE);
                assert!(read(done.region) == pattern(SIZE, 1));
            }
            mem::drop(batch);
            stays("dropping a batch");
        } else {
            mem::drop((here, region));
        }
        stays("dropping regions");
        mem::drop((registered, far, memory));
        stays("dropping everything");
    });
}
