//! Reads that own their regions, by the safe interface: all submitted to one registered stream, which is then
//! waited for, and asked for their results.

use hip_alloc::{DeviceBuffer, Stream};
use hipfile::{OwnedTransfer, Region, RegisteredStream, Request, StreamFlags};

use crate::Result;
use crate::plain::Round;
use crate::rows::Row;
use crate::stage::Stage;

pub struct Owned<'s> {
    stage: &'s Stage,
    stream: RegisteredStream,
    /// Of the stage's memory, in the order of the file.
    regions: Vec<Region>,
    transfers: Vec<OwnedTransfer>,
    len: usize,
}

impl<'s> Owned<'s> {
    pub fn new(stage: &'s Stage, row: &Row) -> Result<Self> {
        let stream = RegisteredStream::new(&stage.scene.driver, Stream::new()?, StreamFlags::all())?;
        let regions = stage.take_memory()?.into_regions(row.len)?.collect();
        Ok(Self { stage, stream, regions, transfers: Vec::with_capacity(row.count), len: row.len })
    }
}

impl Round for Owned<'_> {
    fn round(&mut self) -> Result<()> {
        let Self { stage, stream, regions, transfers, len } = self;
        let offsets = (0..).step_by(*len);
        let submit = |(region, offset)| Request::read(&stage.scene.handle, region, offset).submit(&*stream);
        transfers.extend(regions.drain(..).zip(offsets).map(submit));
        // As the row of hipFileReadAsync waits, so that the two can be compared.
        stream.stream().synchronize()?;
        for transfer in transfers.drain(..) {
            let done = transfer.wait()?;
            if done.bytes != *len {
                return Err(format!("an owned read gave {} bytes", done.bytes).into());
            }
            regions.push(done.region);
        }
        Ok(())
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        let mut regions = self.regions.drain(..);
        let Some(mut whole) = regions.next() else { return };
        for region in regions {
            whole.unsplit(region).expect("the regions are in order");
        }
        self.stage.give_memory_back(whole.try_into_registered::<DeviceBuffer>().expect("all of the memory"));
    }
}
