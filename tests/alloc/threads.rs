//! Buffers and slices on several threads.

use std::sync::Arc;
use std::thread;

use hip_alloc::DeviceBuffer;

#[test]
fn a_shared_buffer_is_read_by_many() {
    let bytes: Vec<u8> = (0..1 << 16).map(|i| (i % 251) as u8).collect();
    let buffer = Arc::new(DeviceBuffer::from_host(&bytes).unwrap());
    let readers: Vec<_> = (0..8)
        .map(|reader| {
            let (buffer, bytes) = (Arc::clone(&buffer), bytes.clone());
            thread::spawn(move || {
                for round in 0..50 {
                    let start = reader * 1000 + round;
                    let part = buffer.slice(start..start + 4097).unwrap();
                    assert_eq!(part.to_vec().unwrap(), &bytes[start..start + 4097]);
                }
            })
        })
        .collect();
    readers.into_iter().for_each(|reader| reader.join().unwrap());
}

#[test]
fn halves_are_written_at_once() {
    let mut buffer = DeviceBuffer::zeroed(1 << 16).unwrap();
    for value in 1..20 {
        let (mut head, mut tail) = buffer.as_mut_slice().split_at_mut(12_345).unwrap();
        thread::scope(|scope| {
            scope.spawn(move || head.fill(value).unwrap());
            scope.spawn(move || tail.fill(!value).unwrap());
        });
        let bytes = buffer.to_vec().unwrap();
        assert!(bytes[..12_345].iter().all(|byte| *byte == value));
        assert!(bytes[12_345..].iter().all(|byte| *byte == !value));
    }
}

#[test]
fn buffers_made_here_end_there() {
    let (sender, receiver) = std::sync::mpsc::channel::<DeviceBuffer>();
    let consumer = thread::spawn(move || {
        let mut sum = 0;
        for (index, buffer) in receiver.into_iter().enumerate() {
            sum += buffer.to_vec().unwrap().iter().map(|byte| u64::from(*byte)).sum::<u64>();
            if index % 2 == 0 {
                buffer.free().unwrap();
            }
        }
        sum
    });
    thread::scope(|scope| {
        for _ in 0..4 {
            let sender = sender.clone();
            scope.spawn(move || {
                for value in 0..50 {
                    sender.send(DeviceBuffer::from_host(&[value; 100]).unwrap()).unwrap();
                }
            });
        }
    });
    drop(sender);
    assert_eq!(consumer.join().unwrap(), 4 * 100 * (0..50).sum::<u64>());
}
