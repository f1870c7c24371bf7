//! SND-10, SND-12, SND-13: copies and fills of scopes reach HIP only with memory of the right length and device.

use super::fake;
use crate::{Device, DeviceBuffer, ErrorKind, Stream, StreamRef};

/// A buffer on device 1.
fn on_second(bytes: &[u8]) -> DeviceBuffer {
    let _guard = Device::new(1).unwrap().make_current().unwrap();
    DeviceBuffer::from_host(bytes).unwrap()
}

#[test]
fn bytes_arrive_on_the_device_of_the_stream() {
    fake::install();
    let stream = {
        let _guard = Device::new(1).unwrap().make_current().unwrap();
        Stream::new().unwrap()
    };
    let (mut one, mut two) = (on_second(b"........"), on_second(b"--------"));
    let mut back = [0; 4];
    stream.scope(|scope| {
        let (head, tail) = one.as_mut_slice().split_at_mut(3).unwrap();
        scope.copy_from_host(head, b"abc").unwrap();
        scope.fill(tail, b'z').unwrap();
    });
    fake::calls();
    stream.scope(|scope| {
        scope.copy(two.slice_mut(2..6).unwrap(), one.slice(1..5).unwrap()).unwrap();
        scope.copy_to_host(one.slice(..4).unwrap(), &mut back).unwrap();
    });
    let on_device = |call| ["hipGetDevice", "hipSetDevice", call, "hipMemcpy", "hipSetDevice"];
    let [copy, wait] = ["hipMemcpyAsync", "hipStreamSynchronize"].map(on_device);
    let wait: Vec<_> = wait.into_iter().filter(|call| *call != "hipMemcpy").collect();
    assert_eq!(fake::calls(), [&copy[..], &copy[..], &wait[..]].concat());
    assert_eq!(one.to_vec().unwrap(), b"abczzzzz");
    assert_eq!(two.to_vec().unwrap(), b"--bczz--");
    assert_eq!(back, *b"abcz");
    assert_eq!(fake::current_device(), 0);
}

#[test]
fn memory_of_another_device_is_refused_before_hip_is_asked() {
    fake::install();
    let stream = Stream::new().unwrap();
    let (mut here, mut there) = (DeviceBuffer::new(4).unwrap(), on_second(b"there"));
    let mut host = [0; 5];
    fake::calls();
    let errors = stream.scope(|scope| {
        let within = scope.copy(here.as_mut_slice(), there.slice(..4).unwrap()).unwrap_err();
        [scope.copy_to_host(there.as_slice(), &mut host).unwrap_err(), within]
    });
    let others = stream.scope(|scope| {
        let (head, tail) = there.as_mut_slice().split_at_mut(1).unwrap();
        [scope.copy_from_host(head, b"t").unwrap_err(), scope.fill(tail, 0).unwrap_err()]
    });
    let within = stream.scope(|scope| scope.copy(there.slice_mut(..0).unwrap(), here.slice(..0).unwrap()));
    for error in errors.into_iter().chain(others).chain(within.err()) {
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let (operation, text) = (error.operation(), error.to_string());
        assert_eq!(text, format!("{operation}: a stream of device 0 can't use memory of device 1"));
    }
    assert_eq!(fake::calls(), [""; 0]);
}

#[test]
fn lengths_that_differ_are_refused_and_empty_memory_is_left_alone() {
    fake::install();
    let stream = Stream::new().unwrap();
    let (mut one, two) = (DeviceBuffer::new(4).unwrap(), DeviceBuffer::new(8).unwrap());
    let (mut host, mut nothing) = ([0; 3], [0; 0]);
    fake::calls();
    let mut errors = Vec::new();
    stream.scope(|scope| {
        errors.extend(scope.copy(one.as_mut_slice(), two.as_slice()).err());
        errors.extend(scope.copy_to_host(two.as_slice(), &mut host).err());
        scope.copy_to_host(two.slice(8..).unwrap(), &mut nothing).unwrap();
    });
    stream.scope(|scope| errors.extend(scope.copy_from_host(one.as_mut_slice(), b"12345").err()));
    stream.scope(|scope| {
        let (rest, none) = one.as_mut_slice().split_at_mut(4).unwrap();
        scope.fill(none, 1).unwrap();
        scope.copy(rest.split_at_mut(0).unwrap().0, two.slice(3..3).unwrap()).unwrap();
    });
    stream.scope(|scope| scope.copy_from_host(one.slice_mut(4..).unwrap(), b"")).unwrap();
    let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "Scope::copy: 8 bytes can't be copied into 4",
            "Scope::copy_to_host: 8 bytes can't be copied into 3",
            "Scope::copy_from_host: 5 bytes can't be copied into 4",
        ]
    );
    assert!(errors.iter().all(|error| error.kind() == ErrorKind::InvalidInput));
    assert_eq!(fake::calls(), [""; 0]);
}

#[test]
fn what_could_not_be_put_into_the_stream_is_waited_for_all_the_same() {
    fake::install();
    let stream = Stream::new().unwrap();
    let mut buffer = DeviceBuffer::new(4).unwrap();
    for function in ["hipMemcpyAsync", "hipMemsetAsync"] {
        fake::fail(function, 1, 2);
        fake::calls();
        let error = stream.scope(|scope| match function {
            "hipMemcpyAsync" => scope.copy_from_host(buffer.as_mut_slice(), b"1234"),
            _ => scope.fill(buffer.as_mut_slice(), 0),
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::OutOfMemory);
        assert_eq!(fake::calls(), ["hipGetDevice", function, "hipGetDevice", "hipStreamSynchronize"]);
    }
}

#[test]
fn a_device_that_can_not_be_entered_leaves_nothing_to_wait_for() {
    fake::install();
    let stream = StreamRef::default_of(Device::new(1).unwrap());
    let mut buffer = on_second(b"1234");
    for call in ["hipGetDevice", "hipSetDevice"] {
        fake::fail(call, 1, 719);
        fake::calls();
        let error = stream.scope(|scope| {
            let error = scope.fill(buffer.as_mut_slice(), 0).unwrap_err();
            assert!(format!("{scope:?}").contains("pending: false"), "{scope:?}");
            error
        });
        assert_eq!((error.operation(), error.kind()), ("Scope::fill", ErrorKind::Hip));
        assert_eq!(fake::calls().last(), Some(&call), "no wait");
    }
}
