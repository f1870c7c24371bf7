//! The memory layout of every struct on x86-64 and AArch64 Linux, asserted at compile time.
//!
//! bindgen's own assertions compare the header with itself. These numbers were typed from the interface's
//! description, so that a mistake in the header, or a header that moved on, stops the build.

use core::mem::{align_of, offset_of, size_of};

use crate::*;

/// Asserts size, alignment and the offset of every field.
macro_rules! layout {
    ($type:ty: $size:literal, align $align:literal { $($($field:ident).+ @ $offset:literal),+ $(,)? }) => {
        const _: () = {
            assert!(size_of::<$type>() == $size, concat!("size of ", stringify!($type)));
            assert!(align_of::<$type>() == $align, concat!("alignment of ", stringify!($type)));
            $(assert!(
                offset_of!($type, $($field).+) == $offset,
                concat!("offset of ", stringify!($type), ".", stringify!($($field).+)),
            );)+
        };
    };
}

layout!(hipFileError_t: 8, align 4 { err @ 0, hip_drv_err @ 4 });

layout!(hipFileDescr_t: 24, align 8 { type_ @ 0, handle @ 8, fs_ops @ 16 });
layout!(hipFileFSOps_t: 40, align 8 {
    fs_type @ 0, getRDMADeviceList @ 8, getRDMADevicePriority @ 16, read @ 24, write @ 32,
});
layout!(hipFileRDMAInfo_t: 16, align 8 { version @ 0, desc_len @ 4, desc_str @ 8 });

layout!(hipFileDriverProps_t: 72, align 8 {
    nvfs @ 0,
    nvfs.major_version @ 0,
    nvfs.minor_version @ 4,
    nvfs.poll_thresh_size @ 8,
    nvfs.max_direct_io_size @ 16,
    nvfs.driver_status_flags @ 24,
    nvfs.driver_control_flags @ 28,
    feature_flags @ 32,
    max_device_cache_size @ 40,
    per_buffer_cache_size @ 48,
    max_device_pinned_mem_size @ 56,
    max_batch_io_count @ 64,
    max_batch_io_timeout_msecs @ 68,
});

layout!(hipFileIOParams_t: 64, align 8 {
    mode @ 0,
    u @ 8,
    u.batch.devPtr_base @ 8,
    u.batch.file_offset @ 16,
    u.batch.devPtr_offset @ 24,
    u.batch.size @ 32,
    fh @ 40,
    opcode @ 48,
    cookie @ 56,
});
layout!(hipFileIOEvents_t: 24, align 8 { cookie @ 0, status @ 8, ret @ 16 });

layout!(hipFileOpCounter_t: 16, align 8 { ok @ 0, err @ 8 });
layout!(hipFileStatsLevel1_t: 512, align 8 {
    read_ops @ 0,
    write_ops @ 16,
    hdl_register_ops @ 32,
    hdl_deregister_ops @ 48,
    buf_register_ops @ 64,
    buf_deregister_ops @ 80,
    read_bytes @ 96,
    write_bytes @ 104,
    read_bw_bytes_per_sec @ 112,
    write_bw_bytes_per_sec @ 120,
    read_lat_avg_us @ 128,
    write_lat_avg_us @ 136,
    read_ops_per_sec @ 144,
    write_ops_per_sec @ 152,
    read_lat_sum_us @ 160,
    write_lat_sum_us @ 168,
    batch_submit_ops @ 176,
    batch_complete_ops @ 192,
    batch_setup_ops @ 208,
    batch_cancel_ops @ 224,
    batch_destroy_ops @ 240,
    batch_enqueued_ops @ 256,
    batch_posix_enqueued_ops @ 272,
    batch_processed_ops @ 288,
    batch_posix_processed_ops @ 304,
    batch_nvfs_submit_ops @ 320,
    batch_p2p_submit_ops @ 336,
    batch_aio_submit_ops @ 352,
    batch_iouring_submit_ops @ 368,
    batch_mixed_io_submit_ops @ 384,
    batch_total_submit_ops @ 400,
    batch_read_bytes @ 416,
    batch_write_bytes @ 424,
    batch_read_bw_bytes @ 432,
    batch_write_bw_bytes @ 440,
    batch_submit_lat_avg_us @ 448,
    batch_completion_lat_avg_us @ 456,
    batch_submit_ops_per_sec @ 464,
    batch_complete_ops_per_sec @ 472,
    batch_submit_lat_sum_us @ 480,
    batch_completion_lat_sum_us @ 488,
    last_batch_read_bytes @ 496,
    last_batch_write_bytes @ 504,
});
layout!(hipFileStatsLevel2_t: 1024, align 8 { basic @ 0, read_size_kb_hist @ 512, write_size_kb_hist @ 768 });
layout!(hipFilePerGpuStats_t: 248, align 8 {
    uuid @ 0,
    read_bytes @ 16,
    read_bw_bytes_per_sec @ 24,
    read_utilization @ 32,
    read_duration_us @ 40,
    n_total_reads @ 48,
    n_p2p_reads @ 56,
    n_nvfs_reads @ 64,
    n_posix_reads @ 72,
    n_unaligned_reads @ 80,
    n_dr_reads @ 88,
    n_sparse_regions @ 96,
    n_inline_regions @ 104,
    n_reads_err @ 112,
    write_bytes @ 120,
    write_bw_bytes_per_sec @ 128,
    write_utilization @ 136,
    write_duration_us @ 144,
    n_total_writes @ 152,
    n_p2p_writes @ 160,
    n_nvfs_writes @ 168,
    n_posix_writes @ 176,
    n_unaligned_writes @ 184,
    n_dr_writes @ 192,
    n_writes_err @ 200,
    n_mmap @ 208,
    n_mmap_ok @ 216,
    n_mmap_err @ 224,
    n_mmap_free @ 232,
    reg_bytes @ 240,
});
layout!(hipFileStatsLevel3_t: 5000, align 8 { detailed @ 0, num_gpus @ 1024, per_gpu_stats @ 1032 });

/// Enums pass as C ints, handles as pointers, offsets as 64 bits.
const _: () = {
    assert!(size_of::<hipFileOpError_t>() == 4 && size_of::<hipError_t>() == 4);
    assert!(size_of::<hipFileFileHandleType_t>() == 4 && size_of::<hipFileStatus_t>() == 4);
    assert!(size_of::<hipFileHandle_t>() == 8 && size_of::<hipFileBatchHandle_t>() == 8);
    assert!(size_of::<hipStream_t>() == 8 && size_of::<hoff_t>() == 8);
};
