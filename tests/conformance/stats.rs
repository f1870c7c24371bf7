//! HF-STATS: what is counted, and where it appears.

use hipfile_sys::{hipFilePerGpuStats_t, hipFileStatsLevel1_t};

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::{self, Memory};
use crate::raw::{self, Moved, OK, e};

use hipfile_tests::shim::{self, Action};

const SIZE: usize = 64 * 1024;

pub fn cases() -> Vec<Case> {
    let all = [access(), counters(), levels(), devices()].into_iter().flatten();
    all.map(|case| case.needs(Need::Stats)).collect()
}

fn access() -> Vec<Case> {
    vec![
        case("HF-STATS-01 HF-STATS-02 NULL is E(5022), and asking opens nothing", || {
            assert_eq!(raw::stats_of_null(), [e(5022); 3]);
            raw::stats1();
            raw::stats2();
            raw::stats3();
            assert_eq!(raw::count(), 0);
        }),
        case("HF-STATS-03 the whole struct is written", || {
            // The room is full of ones before the call.
            assert!(bytes_of(&raw::stats1()).iter().all(|byte| *byte == 0));
            assert!(bytes_of(&raw::stats2()).iter().all(|byte| *byte == 0));
            assert!(bytes_of(&raw::stats3()).iter().all(|byte| *byte == 0));
        }),
        case("HF-STATS-16 level 0 answers OK with zeros", || {
            transfers(3, 2);
            assert!(bytes_of(&raw::stats3()).iter().all(|byte| *byte == 0));
        })
        .env("HIPFILE_STATS_LEVEL", "0"),
        case("HF-STATS-17 counters outlive closing and opening the driver", || {
            transfers(3, 0);
            while raw::count() > 0 {
                assert_eq!(raw::driver_close(), OK);
            }
            assert_eq!(raw::stats1().read_ops.ok, 3);
            transfers(2, 0);
            assert_eq!(raw::stats1().read_ops.ok, 5);
        }),
        case("HF-STATS-22 reading while others transfer is safe, and totals are exact afterwards", || {
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            let at = memory.at;
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(move || {
                        for _ in 0..500 {
                            assert_eq!(raw::read(handle, at, PAGE, 0, 0), Moved::Number(PAGE as isize));
                        }
                    });
                }
                scope.spawn(|| {
                    for _ in 0..500 {
                        assert!(raw::stats3().detailed.basic.read_ops.ok <= 2000);
                    }
                });
            });
            let stats = raw::stats1();
            assert_eq!((stats.read_ops.ok, stats.read_bytes), (2000, 2000 * PAGE as u64));
        }),
    ]
}

/// Reads and writes of one page each.
fn transfers(reads: usize, writes: usize) {
    let file = File::of(&pattern(SIZE, 1));
    let handle = file.registered();
    let memory = Memory::new(SIZE);
    for _ in 0..reads {
        assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
    }
    for _ in 0..writes {
        assert_eq!(raw::write(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
    }
    raw::deregister(handle);
}

fn bytes_of<T>(value: &T) -> &[u8] {
    let start = std::ptr::from_ref(value).cast::<u8>();
    // SAFETY: requires initialised bytes; holds because the statistics were read into memory that was all set.
    unsafe { std::slice::from_raw_parts(start, size_of::<T>()) }
}

fn counters() -> Vec<Case> {
    vec![
        case("HF-STATS-04 HF-STATS-05 completed transfers are counted with their bytes", || {
            let file = File::of(&pattern(10_000, 2));
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            assert_eq!(raw::read(handle, memory.at, SIZE, 0, 0), Moved::Number(10_000));
            assert_eq!(raw::read(handle, memory.at, SIZE, 10_000, 0), Moved::Number(0));
            assert_eq!(raw::read(handle, memory.at, 100, 5, 0), Moved::Number(100));
            assert_eq!(raw::write(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
            assert_eq!(raw::write(handle, memory.at, 1, 0, 0), Moved::Number(1));
            let stats = raw::stats1();
            assert_eq!((stats.read_ops.ok, stats.read_ops.err, stats.read_bytes), (3, 0, 10_100));
            assert_eq!((stats.write_ops.ok, stats.write_ops.err, stats.write_bytes), (2, 0, PAGE as u64 + 1));
        }),
        case("HF-STATS-06 a failed transfer is counted as error, without bytes", || {
            let reader = File::opened(&pattern(SIZE, 3), libc::O_RDONLY);
            let memory = Memory::new(SIZE);
            let handle = reader.registered();
            assert_eq!(raw::write(handle, memory.at, 100, 0, 0), Moved::Os(libc::EBADF));
            let stats = raw::stats1();
            assert_eq!((stats.write_ops.ok, stats.write_ops.err, stats.write_bytes), (0, 1, 0));
            assert_eq!((stats.read_ops.ok, stats.read_ops.err), (0, 0));
        }),
        case(
            "HF-STATS-19 a retried transfer is an error of the fast path and a success of the fallback",
            || {
                let file = File::of(&pattern(SIZE, 3));
                let handle = file.registered();
                let memory = Memory::new(SIZE);
                shim::always("hipAmdFileRead", Action::Status(i64::from(libc::ENODEV)));
                assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
                let stats = raw::stats1();
                assert_eq!((stats.read_ops.ok, stats.read_ops.err, stats.read_bytes), (1, 1, PAGE as u64));
                let gpu = raw::stats3().per_gpu_stats[0];
                assert_eq!((gpu.n_nvfs_reads, gpu.n_posix_reads, gpu.n_reads_err), (0, 1, 1));
            },
        )
        .fast()
        .shim(),
        case("HF-STATS-07 what a range check refuses is not counted", || {
            let file = File::of(&pattern(SIZE, 4));
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            assert_eq!(raw::read(handle, memory.at, SIZE + 1, 0, 0), Moved::Number(-5022));
            assert_eq!(raw::write(handle, memory.at, PAGE, 0, SIZE as i64), Moved::Number(-5022));
            assert_eq!(raw::read(handle, memory.at, 1, -1, 0), Moved::Os(libc::EINVAL));
            assert_eq!(raw::read(0, memory.at, 1, 0, 0), Moved::Number(-5027));
            let stats = raw::stats1();
            assert_eq!((stats.read_ops.ok, stats.read_ops.err), (0, 0));
            assert_eq!((stats.write_ops.ok, stats.write_ops.err), (0, 0));
        }),
        case("HF-STATS-08 registrations that succeed are counted, and nothing that ends them", || {
            let file = File::empty();
            let memory = Memory::new(SIZE).registered();
            let handle = file.registered();
            assert_eq!(raw::register(file.number()).0, e(5028));
            assert_eq!(raw::buffer_register(memory.at, SIZE), e(5023));
            assert_eq!(raw::register(-1).0, e(5030));
            raw::deregister(handle);
            assert_eq!(raw::buffer_deregister(memory.at), OK);
            file.registered();
            let stats = raw::stats1();
            assert_eq!((stats.hdl_register_ops.ok, stats.hdl_register_ops.err), (2, 0));
            assert_eq!((stats.buf_register_ops.ok, stats.buf_register_ops.err), (1, 0));
            assert_eq!((stats.hdl_deregister_ops.ok, stats.buf_deregister_ops.ok), (0, 0));
        }),
    ]
}

fn levels() -> Vec<Case> {
    vec![
        case("HF-STATS-09 averages and bandwidths come from sums, 0 where there is none", || {
            let none = raw::stats1();
            assert_eq!((none.read_lat_avg_us, none.read_bw_bytes_per_sec), (0, 0));
            // Long enough that the sum is not 0.
            transfers(300, 20);
            let stats = raw::stats1();
            let derived =
                |sum: u64, ok: u64, bytes: u64| (sum / ok, (bytes * 1_000_000).checked_div(sum).unwrap_or(0));
            let read = derived(stats.read_lat_sum_us, stats.read_ops.ok, stats.read_bytes);
            assert_eq!((stats.read_lat_avg_us, stats.read_bw_bytes_per_sec), read);
            let write = derived(stats.write_lat_sum_us, stats.write_ops.ok, stats.write_bytes);
            assert_eq!((stats.write_lat_avg_us, stats.write_bw_bytes_per_sec), write);
            assert!(stats.write_lat_sum_us > 0, "twenty writes that are synced take longer than 1 µs");
        })
        .fallback(),
        case("HF-STATS-10 ops per second and all batch fields are 0", || {
            transfers(3, 3);
            let stats = raw::stats1();
            assert_eq!((stats.read_ops_per_sec, stats.write_ops_per_sec), (0, 0));
            let batch = std::mem::offset_of!(hipFileStatsLevel1_t, batch_submit_ops);
            assert!(bytes_of(&stats)[batch..].iter().all(|byte| *byte == 0));
        }),
        case("HF-STATS-11 level 2 holds level 1 and empty histograms", || {
            transfers(3, 2);
            let (one, two) = (raw::stats1(), raw::stats2());
            assert_eq!(bytes_of(&one), bytes_of(&two.basic));
            assert_eq!((two.read_size_kb_hist, two.write_size_kb_hist), ([0; 32], [0; 32]));
            assert_eq!(bytes_of(&raw::stats3().detailed), bytes_of(&two));
        }),
        case(
            "HF-STATS-12 HF-STATS-14 operations are told apart by path, unaligned ones on the fallback",
            || {
                let file = File::of(&pattern(SIZE, 5));
                let handle = file.registered();
                let memory = Memory::new(SIZE);
                for (size, offset) in [(PAGE, 0), (PAGE, PAGE as i64), (100, 1), (PAGE, 1), (PAGE + 1, 0)] {
                    assert_eq!(raw::read(handle, memory.at, size, offset, 0), Moved::Number(size as isize));
                    assert_eq!(raw::write(handle, memory.at, size, offset, 0), Moved::Number(size as isize));
                }
                let gpu = raw::stats3().per_gpu_stats[0];
                assert_eq!((gpu.n_nvfs_reads, gpu.n_posix_reads, gpu.n_total_reads), (2, 3, 5));
                assert_eq!((gpu.n_nvfs_writes, gpu.n_posix_writes, gpu.n_total_writes), (2, 3, 5));
                assert_eq!((gpu.n_unaligned_reads, gpu.n_unaligned_writes), (3, 3));
                assert_eq!((gpu.read_bytes, gpu.write_bytes), (16_485, 16_485));
                assert_eq!((gpu.n_reads_err, gpu.n_writes_err), (0, 0));
            },
        )
        .fast(),
        case("HF-STATS-31 fields for what there is not are 0", || {
            transfers(3, 3);
            let gpu = raw::stats3().per_gpu_stats[0];
            assert_eq!((gpu.read_utilization, gpu.write_utilization), (0, 0));
            assert_eq!((gpu.n_p2p_reads, gpu.n_p2p_writes, gpu.n_dr_reads, gpu.n_dr_writes), (0, 0, 0, 0));
            assert_eq!((gpu.n_sparse_regions, gpu.n_inline_regions), (0, 0));
        }),
        case("HF-STATS-32 the bandwidth of a GPU is its bytes times 10^6 by its time", || {
            transfers(300, 20);
            let gpu = raw::stats3().per_gpu_stats[0];
            let rate = |bytes: u64, time: u64| (bytes * 1_000_000).checked_div(time).unwrap_or(0);
            assert_eq!(gpu.read_bw_bytes_per_sec, rate(gpu.read_bytes, gpu.read_duration_us));
            assert_eq!(gpu.write_bw_bytes_per_sec, rate(gpu.write_bytes, gpu.write_duration_us));
            assert!(gpu.write_duration_us > 0, "twenty writes that are synced take longer than 1 µs");
            assert_eq!(gpu.write_duration_us, raw::stats1().write_lat_sum_us);
        })
        .fallback(),
        case("HF-STATS-15 buffer registrations appear as mappings, the uuid is zero", || {
            let first = Memory::new(SIZE).registered();
            let _second = Memory::new(SIZE).registered();
            assert_eq!(raw::buffer_deregister(first.at), OK);
            transfers(1, 0);
            let gpu = raw::stats3().per_gpu_stats[0];
            assert_eq!(
                (gpu.n_mmap, gpu.n_mmap_ok, gpu.n_mmap_err, gpu.n_mmap_free, gpu.reg_bytes),
                (2, 2, 0, 0, 0)
            );
            assert!(gpu.uuid.iter().all(|byte| *byte == 0));
        }),
    ]
}

fn devices() -> Vec<Case> {
    vec![
        case("HF-STATS-30 what devices beyond the sixteenth do is not counted", || {
            let file = File::of(&pattern(SIZE, 6));
            let handle = file.registered();
            for device in [15, 16, 17] {
                assert_eq!(hip::set_device(device), 0);
                let memory = Memory::new(PAGE);
                assert_eq!(raw::read(handle, memory.at, 100, 0, 0), Moved::Number(100));
            }
            let stats = raw::stats3();
            assert_eq!((stats.num_gpus, stats.detailed.basic.read_ops.ok), (1, 1));
            assert_eq!(stats.per_gpu_stats[15].n_total_reads, 1);
        })
        .fallback()
        .needs(Need::OurHip)
        .env("SOFT_ROCM_DEVICE_COUNT", "18"),
        case("HF-STATS-13 level 3 goes by ordinal and counts the active GPUs", || {
            let file = File::of(&pattern(SIZE, 6));
            let handle = file.registered();
            assert_eq!(hip::set_device(2), 0);
            let memory = Memory::new(SIZE);
            for _ in 0..3 {
                assert_eq!(raw::read(handle, memory.at, 100, 0, 0), Moved::Number(100));
            }
            let stats = raw::stats3();
            assert_eq!(stats.num_gpus, 1);
            let counted = |gpu: &hipFilePerGpuStats_t| gpu.n_total_reads;
            assert_eq!(stats.per_gpu_stats.iter().map(counted).collect::<Vec<_>>()[..4], [0, 0, 3, 0]);
            assert_eq!(hip::set_device(0), 0);
            let memory = Memory::new(SIZE);
            assert_eq!(raw::read(handle, memory.at, 100, 0, 0), Moved::Number(100));
            let stats = raw::stats3();
            assert_eq!(stats.num_gpus, 2);
            assert_eq!(stats.per_gpu_stats.iter().map(counted).collect::<Vec<_>>()[..4], [1, 0, 3, 0]);
            assert_eq!(stats.detailed.basic.read_ops.ok, 4);
        })
        .fallback()
        .needs(Need::SecondDevice)
        .env("SOFT_ROCM_DEVICE_COUNT", "3"),
        case("HF-STATS-06 a HIP failure on the fast path is an error of its GPU", || {
            let file = File::of(&pattern(SIZE, 7));
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            shim::always("hipAmdFileRead", Action::Error(999));
            assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Number(-999));
            assert_eq!(raw::stats1().read_ops.err, 1);
            assert_eq!(raw::stats3().per_gpu_stats[0].n_reads_err, 1);
            assert_eq!(raw::stats1().read_bytes, 0);
        })
        .fast()
        .shim(),
    ]
}
