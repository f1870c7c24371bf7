//! hipfile-sys says what `abi.c` says: the program prints its table, this file prints the same from Rust.

use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};

use hipfile_sys::*;
use hipfile_tests::compiler::{Language, must_run, program, with_headers, with_libraries};
use hipfile_tests::rocm;

/// The number behind a constant, whichever type it has.
trait Number {
    fn number(self) -> i64;
}

impl Number for u32 {
    fn number(self) -> i64 {
        i64::from(self)
    }
}

macro_rules! newtypes {
    ($($type:ty),* $(,)?) => {
        $(impl Number for $type {
            fn number(self) -> i64 {
                i64::from(self.0)
            }
        })*
    };
}

newtypes!(
    hipFileOpError_t,
    hipFileDriverStatusFlags_t,
    hipFileDriverControlFlags_t,
    hipFileFeatureFlags_t,
    hipFileFileHandleType_t,
    hipFileOpcode_t,
    hipFileStatus_t,
    hipFileBatchMode_t,
    hipFileSizeTConfigParameter_t,
    hipFileBoolConfigParameter_t,
    hipFileStringConfigParameter_t,
);

type Table = BTreeMap<String, String>;

/// How many bytes the field that a projection reaches has.
fn field_size<S, F>(_: fn(*const S) -> *const F) -> usize {
    size_of::<F>()
}

macro_rules! sizes {
    ($table:ident: $($type:ident),* $(,)?) => {
        $($table.insert(format!("size {}", stringify!($type)), size_of::<$type>().to_string());)*
    };
}

macro_rules! fields {
    ($table:ident, $type:ident: $($($field:ident).+),* $(,)?) => {
        $({
            let offset = offset_of!($type, $($field).+);
            // SAFETY: requires a pointer whose field lies in bounds; holds never at run time, for it is not called.
            let size = field_size(|at: *const $type| unsafe { &raw const (*at).$($field).+ });
            let name = concat!($(".", stringify!($field)),+).replace(".type_", ".type");
            $table.insert(format!("field {}{name}", stringify!($type)), format!("{offset}+{size}"));
        })*
    };
}

macro_rules! values {
    ($table:ident: $($name:ident),* $(,)?) => {
        $($table.insert(format!("value {}", stringify!($name)), $name.number().to_string());)*
    };
}

/// What the C program prints, from the Rust declarations.
fn rust_table() -> Table {
    let mut table = Table::new();
    let t = &mut table;
    sizes!(
        t:
        hipFileError_t, hipFileDescr_t, hipFileFSOps_t, hipFileRDMAInfo_t, hipFileDriverProps_t,
        hipFileIOParams_t, hipFileIOEvents_t, hipFileOpError_t, hipFileDriverStatusFlags_t,
        hipFileDriverControlFlags_t, hipFileFeatureFlags_t, hipFileFileHandleType_t, hipFileOpcode_t,
        hipFileStatus_t, hipFileBatchMode_t, hipFileSizeTConfigParameter_t,
        hipFileBoolConfigParameter_t, hipFileStringConfigParameter_t, hipFileHandle_t,
        hipFileBatchHandle_t, hoff_t, hipError_t, hipStream_t, hipFileOpCounter_t, hipFileStatsLevel1_t,
        hipFileStatsLevel2_t, hipFilePerGpuStats_t, hipFileStatsLevel3_t,
    );
    fields!(
        t, hipFileError_t:
        err, hip_drv_err,
    );
    fields!(
        t, hipFileDescr_t:
        type_, handle, handle.fd, handle.hFile, fs_ops,
    );
    fields!(
        t, hipFileFSOps_t:
        fs_type, getRDMADeviceList, getRDMADevicePriority, read, write,
    );
    fields!(
        t, hipFileRDMAInfo_t:
        version, desc_len, desc_str,
    );
    fields!(
        t, hipFileDriverProps_t:
        nvfs, nvfs.major_version, nvfs.minor_version, nvfs.poll_thresh_size, nvfs.max_direct_io_size,
        nvfs.driver_status_flags, nvfs.driver_control_flags, feature_flags, max_device_cache_size,
        per_buffer_cache_size, max_device_pinned_mem_size, max_batch_io_count,
        max_batch_io_timeout_msecs,
    );
    fields!(
        t, hipFileIOParams_t:
        mode, u.batch.devPtr_base, u.batch.file_offset, u.batch.devPtr_offset, u.batch.size, fh, opcode,
        cookie,
    );
    fields!(
        t, hipFileIOEvents_t:
        cookie, status, ret,
    );
    fields!(
        t, hipFileOpCounter_t:
        ok, err,
    );
    fields!(
        t, hipFileStatsLevel1_t:
        read_ops, write_ops, hdl_register_ops, hdl_deregister_ops, buf_register_ops, buf_deregister_ops,
        read_bytes, write_bytes, read_bw_bytes_per_sec, write_bw_bytes_per_sec, read_lat_avg_us,
        write_lat_avg_us, read_ops_per_sec, write_ops_per_sec, read_lat_sum_us, write_lat_sum_us,
        batch_submit_ops, batch_complete_ops, batch_setup_ops, batch_cancel_ops, batch_destroy_ops,
        batch_enqueued_ops, batch_posix_enqueued_ops, batch_processed_ops, batch_posix_processed_ops,
        batch_nvfs_submit_ops, batch_p2p_submit_ops, batch_aio_submit_ops, batch_iouring_submit_ops,
        batch_mixed_io_submit_ops, batch_total_submit_ops, batch_read_bytes, batch_write_bytes,
        batch_read_bw_bytes, batch_write_bw_bytes, batch_submit_lat_avg_us, batch_completion_lat_avg_us,
        batch_submit_ops_per_sec, batch_complete_ops_per_sec, batch_submit_lat_sum_us,
        batch_completion_lat_sum_us, last_batch_read_bytes, last_batch_write_bytes,
    );
    fields!(
        t, hipFileStatsLevel2_t:
        basic, read_size_kb_hist, write_size_kb_hist,
    );
    fields!(
        t, hipFilePerGpuStats_t:
        uuid, read_bytes, read_bw_bytes_per_sec, read_utilization, read_duration_us, n_total_reads,
        n_p2p_reads, n_nvfs_reads, n_posix_reads, n_unaligned_reads, n_dr_reads, n_sparse_regions,
        n_inline_regions, n_reads_err, write_bytes, write_bw_bytes_per_sec, write_utilization,
        write_duration_us, n_total_writes, n_p2p_writes, n_nvfs_writes, n_posix_writes,
        n_unaligned_writes, n_dr_writes, n_writes_err, n_mmap, n_mmap_ok, n_mmap_err, n_mmap_free,
        reg_bytes,
    );
    fields!(
        t, hipFileStatsLevel3_t:
        detailed, num_gpus, per_gpu_stats,
    );
    values!(
        t:
        HIPFILE_BASE_ERR, hipFileSuccess, hipFileDriverNotInitialized, hipFileDriverInvalidProps,
        hipFileDriverUnsupportedLimit, hipFileDriverVersionMismatch, hipFileDriverVersionReadError,
        hipFileDriverClosing, hipFilePlatformNotSupported, hipFileIONotSupported,
        hipFileDeviceNotSupported, hipFileDriverError, hipFileHipDriverError, hipFileHipPointerInvalid,
        hipFileHipMemoryTypeInvalid, hipFileHipPointerRangeError, hipFileHipContextMismatch,
        hipFileInvalidMappingSize, hipFileInvalidMappingRange, hipFileInvalidFileType,
        hipFileInvalidFileOpenFlag, hipFileDIONotSet, hipFileInvalidValue,
        hipFileMemoryAlreadyRegistered, hipFileMemoryNotRegistered, hipFilePermissionDenied,
        hipFileDriverAlreadyOpen, hipFileHandleNotRegistered, hipFileHandleAlreadyRegistered,
        hipFileDeviceNotFound, hipFileInternalError, hipFileGetNewFDFailed, hipFileDriverSetupError,
        hipFileIODisabled, hipFileBatchSubmitFailed, hipFileGPUMemoryPinningFailed, hipFileBatchFull,
        hipFileAsyncNotSupported, hipFileIOMaxError, hipFileLustreSupported, hipFileWekaFSSupported,
        hipFileNFSSupported, hipFileGPFSSupported, hipFileNVMeSupported, hipFileNVMeoFSupported,
        hipFileSCSISupported, hipFileScaleFluxCSDSupported, hipFileNVMeshSupported,
        hipFileBeeGFSSupported, hipFileNVMeP2PSupported, hipFileScatefsSupported, hipFileUsePollMode,
        hipFileAllowCompatMode, hipFileDynRoutingSupported, hipFileBatchIOSupported,
        hipFileStreamsSupported, hipFileParallelIOSupported, hipFileHandleTypeOpaqueFD,
        hipFileHandleTypeOpaqueWin32, hipFileHandleTypeUserspaceFS, hipFileBatchRead, hipFileBatchWrite,
        hipFileWaiting, hipFilePending, hipFileInvalid, hipFileCanceled, hipFileComplete,
        hipFileTimeout, hipFileFailed, hipFileBatch, HIPFILE_STREAM_FIXED_BUF_OFFSET,
        HIPFILE_STREAM_FIXED_FILE_OFFSET, HIPFILE_STREAM_FIXED_FILE_SIZE,
        HIPFILE_STREAM_PAGE_ALIGNED_INPUTS, HIPFILE_STREAM_FLAGS_MASK, HIPFILE_RDMA_REGISTER,
        HIPFILE_RDMA_RELAXED_ORDERING, hipFileParamProfileStats, hipFileParamExecutionMaxIOQueueDepth,
        hipFileParamExecutionMaxIOThreads, hipFileParamExecutionMinIOThresholdSizeKB,
        hipFileParamExecutionMaxRequestParallelism, hipFileParamPropertiesMaxDirectIOSizeKB,
        hipFileParamPropertiesMaxDeviceCacheSizeKB, hipFileParamPropertiesPerBufferCacheSizeKB,
        hipFileParamPropertiesMaxDevicePinnedMemSizeKB, hipFileParamPropertiesIOBatchsize,
        hipFileParamPollthresholdSizeKB, hipFileParamPropertiesBatchIOTimeoutMs,
        hipFileParamPropertiesUsePollMode, hipFileParamPropertiesAllowCompatMode,
        hipFileParamForceCompatMode, hipFileParamFsMiscApiCheckAggressive,
        hipFileParamExecutionParallelIO, hipFileParamProfileNvtx,
        hipFileParamPropertiesAllowSystemMemory, hipFileParamUsePcip2pdma, hipFileParamPreferIOUring,
        hipFileParamForceOdirectMode, hipFileParamSkipTopologyDetection, hipFileParamStreamMemopsBypass,
        hipFileParamLoggingLevel, hipFileParamEnvLogfilePath, hipFileParamLogDir, HIPFILE_MAX_GPUS,
        HIPFILE_GPU_UUID_LEN,
    );
    table
}

/// What the C program prints, run.
fn c_table() -> Table {
    let folder = tempfile::tempdir().unwrap();
    let built = folder.path().join("abi");
    let mut command = Language::C11.compiler();
    with_headers(&mut command).arg(rocm::workspace().join("tests/abi.c")).arg("-o").arg(&built);
    must_run(with_libraries(&mut command));
    let output = must_run(&mut program(&built));
    let split = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    String::from_utf8(output.stdout).unwrap().lines().filter_map(split).collect()
}

/// HF-ABI-01 to HF-ABI-22, HF-ABI-26 for the Rust declarations, and the macros of HF-ABI-23 and HF-ABI-25,
/// which the program checks as it runs.
///
/// Both directions count: what one side lacks fails as well as what differs. On headers older than 0.5 the
/// C side has no statistics.
#[test]
fn rust_declarations_equal_the_table() {
    let (c, mut rust) = (c_table(), rust_table());
    assert!(c.len() > 200, "only {} facts printed", c.len());
    if !c.contains_key("size hipFileOpCounter_t") {
        rust.retain(|name, _| c.contains_key(name));
    }
    assert_eq!(c, rust);
}
