//! The same reads through the C function and through the safe interface, for an instruction counter.

use std::error::Error;

use hip_alloc::DeviceBuffer;

use crate::scene::Scene;

const LEN: usize = 4096;

/// `count` reads by the C function.
pub fn raw(count: u64) -> Result<(), Box<dyn Error>> {
    let scene = Scene::new(LEN)?;
    let mut memory = DeviceBuffer::new(LEN)?;
    let registered = scene.driver.register(&mut memory)?;
    let (handle, base) = (scene.handle.as_raw(), registered.as_ptr());
    for _ in 0..count {
        // SAFETY: requires a handle and memory that live; holds because both are locals that outlive the call.
        let n = unsafe { hipfile_sys::hipFileRead(handle, base, LEN, 0, 0) };
        if n != LEN as isize {
            return Err(format!("hipFileRead returned {n}").into());
        }
    }
    drop(registered);
    verify(&scene, &memory)
}

/// `count` reads by `read_at` into one slice.
pub fn safe(count: u64) -> Result<(), Box<dyn Error>> {
    let scene = Scene::new(LEN)?;
    let mut memory = DeviceBuffer::new(LEN)?;
    let mut registered = scene.driver.register(&mut memory)?;
    let mut slice = registered.slice_mut(..)?;
    for _ in 0..count {
        whole(scene.handle.read_at(slice.reborrow(), 0)?)?;
    }
    drop(registered);
    verify(&scene, &memory)
}

/// `count` reads by `read_at`, each into a slice made for it, as programs mostly write it.
pub fn sliced(count: u64) -> Result<(), Box<dyn Error>> {
    let scene = Scene::new(LEN)?;
    let mut memory = DeviceBuffer::new(LEN)?;
    let mut registered = scene.driver.register(&mut memory)?;
    for _ in 0..count {
        whole(scene.handle.read_at(registered.slice_mut(..)?, 0)?)?;
    }
    drop(registered);
    verify(&scene, &memory)
}

fn whole(n: usize) -> Result<(), String> {
    if n == LEN { Ok(()) } else { Err(format!("read_at returned {n}")) }
}

fn verify(scene: &Scene, memory: &DeviceBuffer) -> Result<(), Box<dyn Error>> {
    if scene.arrived(memory, LEN) { Ok(()) } else { Err("the bytes did not arrive".into()) }
}
