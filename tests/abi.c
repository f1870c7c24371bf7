/*
 * The ABI of hipfile.h and of the part of HIP it rests on, typed a second time.
 *
 * Nothing here is derived from the headers it is compiled against: sizes, offsets, values and prototypes
 * come from docs/src/contract.md, so a header (ours or AMD's) that says something else does not compile.
 * It is compiled as C11 and as C++17. Linked, the program prints one `name=value` line for each fact, which
 * the `abi` test compares with the constants and layouts of hipfile-sys.
 */
#include <assert.h>
#include <hipfile.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

/* What arrived with 0.5 is left out on the headers of older releases. */
#if HIPFILE_VERSION_MAJOR > 0 || HIPFILE_VERSION_MINOR >= 5
#define WITH_STATS 1
#else
#define WITH_STATS 0
#endif

/* ------------------------------------------------------------------------------------------ sizes */

/* Statements on sizes:
 * HF-ABI-01 HF-ABI-02 HF-ABI-03 HF-ABI-04 HF-ABI-05 HF-ABI-06 HF-ABI-07 HF-ABI-08 HF-ABI-09
 * HF-ABI-10 HF-ABI-11 HF-ABI-12 HF-ABI-13 HF-ABI-26 */
#define SIZES(X)                                                                                             \
    X(hipFileError_t, 8)                                                                                     \
    X(hipFileDescr_t, 24)                                                                                    \
    X(hipFileFSOps_t, 40)                                                                                    \
    X(hipFileRDMAInfo_t, 16)                                                                                 \
    X(hipFileDriverProps_t, 72)                                                                              \
    X(hipFileIOParams_t, 64)                                                                                 \
    X(hipFileIOEvents_t, 24)                                                                                 \
    X(hipFileOpError_t, 4)                                                                                   \
    X(hipFileDriverStatusFlags_t, 4)                                                                         \
    X(hipFileDriverControlFlags_t, 4)                                                                        \
    X(hipFileFeatureFlags_t, 4)                                                                              \
    X(hipFileFileHandleType_t, 4)                                                                            \
    X(hipFileOpcode_t, 4)                                                                                    \
    X(hipFileStatus_t, 4)                                                                                    \
    X(hipFileBatchMode_t, 4)                                                                                 \
    X(hipFileSizeTConfigParameter_t, 4)                                                                      \
    X(hipFileBoolConfigParameter_t, 4)                                                                       \
    X(hipFileStringConfigParameter_t, 4)                                                                     \
    X(hipFileHandle_t, 8)                                                                                    \
    X(hipFileBatchHandle_t, 8)                                                                               \
    X(hoff_t, 8)                                                                                             \
    X(hipError_t, 4)                                                                                         \
    X(hipStream_t, 8)

#define STATS_SIZES(X)                                                                                       \
    X(hipFileOpCounter_t, 16)                                                                                \
    X(hipFileStatsLevel1_t, 512)                                                                             \
    X(hipFileStatsLevel2_t, 1024)                                                                            \
    X(hipFilePerGpuStats_t, 248)                                                                             \
    X(hipFileStatsLevel3_t, 5000)

#define HIP_SIZES(X) X(hipPointerAttribute_t, 32) X(hipMemoryType, 4) X(hipMemcpyKind, 4)

/* ---------------------------------------------------------------- offsets: type, field, offset, size */

/* Statements on offsets:
 * HF-ABI-01 HF-ABI-02 HF-ABI-03 HF-ABI-04 HF-ABI-05 HF-ABI-06 HF-ABI-07 HF-ABI-08 HF-ABI-09
 * HF-ABI-10 HF-ABI-11 HF-ABI-12 HF-ABI-13 */
#define OFFSETS(X)                                                                                           \
    X(hipFileError_t, err, 0, 4)                                                                             \
    X(hipFileError_t, hip_drv_err, 4, 4)                                                                     \
    X(hipFileDescr_t, type, 0, 4)                                                                            \
    X(hipFileDescr_t, handle, 8, 8)                                                                          \
    X(hipFileDescr_t, handle.fd, 8, 4)                                                                       \
    X(hipFileDescr_t, handle.hFile, 8, 8)                                                                    \
    X(hipFileDescr_t, fs_ops, 16, 8)                                                                         \
    X(hipFileFSOps_t, fs_type, 0, 8)                                                                         \
    X(hipFileFSOps_t, getRDMADeviceList, 8, 8)                                                               \
    X(hipFileFSOps_t, getRDMADevicePriority, 16, 8)                                                          \
    X(hipFileFSOps_t, read, 24, 8)                                                                           \
    X(hipFileFSOps_t, write, 32, 8)                                                                          \
    X(hipFileRDMAInfo_t, version, 0, 4)                                                                      \
    X(hipFileRDMAInfo_t, desc_len, 4, 4)                                                                     \
    X(hipFileRDMAInfo_t, desc_str, 8, 8)                                                                     \
    X(hipFileDriverProps_t, nvfs, 0, 32)                                                                     \
    X(hipFileDriverProps_t, nvfs.major_version, 0, 4)                                                        \
    X(hipFileDriverProps_t, nvfs.minor_version, 4, 4)                                                        \
    X(hipFileDriverProps_t, nvfs.poll_thresh_size, 8, 8)                                                     \
    X(hipFileDriverProps_t, nvfs.max_direct_io_size, 16, 8)                                                  \
    X(hipFileDriverProps_t, nvfs.driver_status_flags, 24, 4)                                                 \
    X(hipFileDriverProps_t, nvfs.driver_control_flags, 28, 4)                                                \
    X(hipFileDriverProps_t, feature_flags, 32, 4)                                                            \
    X(hipFileDriverProps_t, max_device_cache_size, 40, 8)                                                    \
    X(hipFileDriverProps_t, per_buffer_cache_size, 48, 8)                                                    \
    X(hipFileDriverProps_t, max_device_pinned_mem_size, 56, 8)                                               \
    X(hipFileDriverProps_t, max_batch_io_count, 64, 4)                                                       \
    X(hipFileDriverProps_t, max_batch_io_timeout_msecs, 68, 4)                                               \
    X(hipFileIOParams_t, mode, 0, 4)                                                                         \
    X(hipFileIOParams_t, u.batch.devPtr_base, 8, 8)                                                          \
    X(hipFileIOParams_t, u.batch.file_offset, 16, 8)                                                         \
    X(hipFileIOParams_t, u.batch.devPtr_offset, 24, 8)                                                       \
    X(hipFileIOParams_t, u.batch.size, 32, 8)                                                                \
    X(hipFileIOParams_t, fh, 40, 8)                                                                          \
    X(hipFileIOParams_t, opcode, 48, 4)                                                                      \
    X(hipFileIOParams_t, cookie, 56, 8)                                                                      \
    X(hipFileIOEvents_t, cookie, 0, 8)                                                                       \
    X(hipFileIOEvents_t, status, 8, 4)                                                                       \
    X(hipFileIOEvents_t, ret, 16, 8)

#define L1(X, field, offset, size) X(hipFileStatsLevel1_t, field, offset, size)
#define GPU(X, field, offset) X(hipFilePerGpuStats_t, field, offset, 8)

#define STATS_OFFSETS(X)                                                                                     \
    X(hipFileOpCounter_t, ok, 0, 8)                                                                          \
    X(hipFileOpCounter_t, err, 8, 8)                                                                         \
    L1(X, read_ops, 0, 16)                                                                                   \
    L1(X, write_ops, 16, 16)                                                                                 \
    L1(X, hdl_register_ops, 32, 16)                                                                          \
    L1(X, hdl_deregister_ops, 48, 16)                                                                        \
    L1(X, buf_register_ops, 64, 16)                                                                          \
    L1(X, buf_deregister_ops, 80, 16)                                                                        \
    L1(X, read_bytes, 96, 8)                                                                                 \
    L1(X, write_bytes, 104, 8)                                                                               \
    L1(X, read_bw_bytes_per_sec, 112, 8)                                                                     \
    L1(X, write_bw_bytes_per_sec, 120, 8)                                                                    \
    L1(X, read_lat_avg_us, 128, 8)                                                                           \
    L1(X, write_lat_avg_us, 136, 8)                                                                          \
    L1(X, read_ops_per_sec, 144, 8)                                                                          \
    L1(X, write_ops_per_sec, 152, 8)                                                                         \
    L1(X, read_lat_sum_us, 160, 8)                                                                           \
    L1(X, write_lat_sum_us, 168, 8)                                                                          \
    L1(X, batch_submit_ops, 176, 16)                                                                         \
    L1(X, batch_complete_ops, 192, 16)                                                                       \
    L1(X, batch_setup_ops, 208, 16)                                                                          \
    L1(X, batch_cancel_ops, 224, 16)                                                                         \
    L1(X, batch_destroy_ops, 240, 16)                                                                        \
    L1(X, batch_enqueued_ops, 256, 16)                                                                       \
    L1(X, batch_posix_enqueued_ops, 272, 16)                                                                 \
    L1(X, batch_processed_ops, 288, 16)                                                                      \
    L1(X, batch_posix_processed_ops, 304, 16)                                                                \
    L1(X, batch_nvfs_submit_ops, 320, 16)                                                                    \
    L1(X, batch_p2p_submit_ops, 336, 16)                                                                     \
    L1(X, batch_aio_submit_ops, 352, 16)                                                                     \
    L1(X, batch_iouring_submit_ops, 368, 16)                                                                 \
    L1(X, batch_mixed_io_submit_ops, 384, 16)                                                                \
    L1(X, batch_total_submit_ops, 400, 16)                                                                   \
    L1(X, batch_read_bytes, 416, 8)                                                                          \
    L1(X, batch_write_bytes, 424, 8)                                                                         \
    L1(X, batch_read_bw_bytes, 432, 8)                                                                       \
    L1(X, batch_write_bw_bytes, 440, 8)                                                                      \
    L1(X, batch_submit_lat_avg_us, 448, 8)                                                                   \
    L1(X, batch_completion_lat_avg_us, 456, 8)                                                               \
    L1(X, batch_submit_ops_per_sec, 464, 8)                                                                  \
    L1(X, batch_complete_ops_per_sec, 472, 8)                                                                \
    L1(X, batch_submit_lat_sum_us, 480, 8)                                                                   \
    L1(X, batch_completion_lat_sum_us, 488, 8)                                                               \
    L1(X, last_batch_read_bytes, 496, 8)                                                                     \
    L1(X, last_batch_write_bytes, 504, 8)                                                                    \
    X(hipFileStatsLevel2_t, basic, 0, 512)                                                                   \
    X(hipFileStatsLevel2_t, read_size_kb_hist, 512, 256)                                                     \
    X(hipFileStatsLevel2_t, write_size_kb_hist, 768, 256)                                                    \
    X(hipFilePerGpuStats_t, uuid, 0, 16)                                                                     \
    GPU(X, read_bytes, 16)                                                                                   \
    GPU(X, read_bw_bytes_per_sec, 24)                                                                        \
    GPU(X, read_utilization, 32)                                                                             \
    GPU(X, read_duration_us, 40)                                                                             \
    GPU(X, n_total_reads, 48)                                                                                \
    GPU(X, n_p2p_reads, 56)                                                                                  \
    GPU(X, n_nvfs_reads, 64)                                                                                 \
    GPU(X, n_posix_reads, 72)                                                                                \
    GPU(X, n_unaligned_reads, 80)                                                                            \
    GPU(X, n_dr_reads, 88)                                                                                   \
    GPU(X, n_sparse_regions, 96)                                                                             \
    GPU(X, n_inline_regions, 104)                                                                            \
    GPU(X, n_reads_err, 112)                                                                                 \
    GPU(X, write_bytes, 120)                                                                                 \
    GPU(X, write_bw_bytes_per_sec, 128)                                                                      \
    GPU(X, write_utilization, 136)                                                                           \
    GPU(X, write_duration_us, 144)                                                                           \
    GPU(X, n_total_writes, 152)                                                                              \
    GPU(X, n_p2p_writes, 160)                                                                                \
    GPU(X, n_nvfs_writes, 168)                                                                               \
    GPU(X, n_posix_writes, 176)                                                                              \
    GPU(X, n_unaligned_writes, 184)                                                                          \
    GPU(X, n_dr_writes, 192)                                                                                 \
    GPU(X, n_writes_err, 200)                                                                                \
    GPU(X, n_mmap, 208)                                                                                      \
    GPU(X, n_mmap_ok, 216)                                                                                   \
    GPU(X, n_mmap_err, 224)                                                                                  \
    GPU(X, n_mmap_free, 232)                                                                                 \
    GPU(X, reg_bytes, 240)                                                                                   \
    X(hipFileStatsLevel3_t, detailed, 0, 1024)                                                               \
    X(hipFileStatsLevel3_t, num_gpus, 1024, 4)                                                               \
    X(hipFileStatsLevel3_t, per_gpu_stats, 1032, 3968)

#define HIP_OFFSETS(X)                                                                                       \
    X(hipPointerAttribute_t, type, 0, 4)                                                                     \
    X(hipPointerAttribute_t, device, 4, 4)                                                                   \
    X(hipPointerAttribute_t, devicePointer, 8, 8)                                                            \
    X(hipPointerAttribute_t, hostPointer, 16, 8)                                                             \
    X(hipPointerAttribute_t, isManaged, 24, 4)                                                               \
    X(hipPointerAttribute_t, allocationFlags, 28, 4)

/* ----------------------------------------------------------------------------------------- values */

/* Statements on values:
 * HF-ABI-14 HF-ABI-15 HF-ABI-16 HF-ABI-17 HF-ABI-18 HF-ABI-19 HF-ABI-20 HF-ABI-21 HF-ABI-22 */
#define VALUES(X)                                                                                            \
    X(HIPFILE_BASE_ERR, 5000)                                                                                \
    X(hipFileSuccess, 0)                                                                                     \
    X(hipFileDriverNotInitialized, 5001)                                                                     \
    X(hipFileDriverInvalidProps, 5002)                                                                       \
    X(hipFileDriverUnsupportedLimit, 5003)                                                                   \
    X(hipFileDriverVersionMismatch, 5004)                                                                    \
    X(hipFileDriverVersionReadError, 5005)                                                                   \
    X(hipFileDriverClosing, 5006)                                                                            \
    X(hipFilePlatformNotSupported, 5007)                                                                     \
    X(hipFileIONotSupported, 5008)                                                                           \
    X(hipFileDeviceNotSupported, 5009)                                                                       \
    X(hipFileDriverError, 5010)                                                                              \
    X(hipFileHipDriverError, 5011)                                                                           \
    X(hipFileHipPointerInvalid, 5012)                                                                        \
    X(hipFileHipMemoryTypeInvalid, 5013)                                                                     \
    X(hipFileHipPointerRangeError, 5014)                                                                     \
    X(hipFileHipContextMismatch, 5015)                                                                       \
    X(hipFileInvalidMappingSize, 5016)                                                                       \
    X(hipFileInvalidMappingRange, 5017)                                                                      \
    X(hipFileInvalidFileType, 5018)                                                                          \
    X(hipFileInvalidFileOpenFlag, 5019)                                                                      \
    X(hipFileDIONotSet, 5020)                                                                                \
    X(hipFileInvalidValue, 5022)                                                                             \
    X(hipFileMemoryAlreadyRegistered, 5023)                                                                  \
    X(hipFileMemoryNotRegistered, 5024)                                                                      \
    X(hipFilePermissionDenied, 5025)                                                                         \
    X(hipFileDriverAlreadyOpen, 5026)                                                                        \
    X(hipFileHandleNotRegistered, 5027)                                                                      \
    X(hipFileHandleAlreadyRegistered, 5028)                                                                  \
    X(hipFileDeviceNotFound, 5029)                                                                           \
    X(hipFileInternalError, 5030)                                                                            \
    X(hipFileGetNewFDFailed, 5031)                                                                           \
    X(hipFileDriverSetupError, 5033)                                                                         \
    X(hipFileIODisabled, 5034)                                                                               \
    X(hipFileBatchSubmitFailed, 5035)                                                                        \
    X(hipFileGPUMemoryPinningFailed, 5036)                                                                   \
    X(hipFileBatchFull, 5037)                                                                                \
    X(hipFileAsyncNotSupported, 5038)                                                                        \
    X(hipFileIOMaxError, 5039)                                                                               \
    X(hipFileLustreSupported, 0)                                                                             \
    X(hipFileWekaFSSupported, 1)                                                                             \
    X(hipFileNFSSupported, 2)                                                                                \
    X(hipFileGPFSSupported, 3)                                                                               \
    X(hipFileNVMeSupported, 4)                                                                               \
    X(hipFileNVMeoFSupported, 5)                                                                             \
    X(hipFileSCSISupported, 6)                                                                               \
    X(hipFileScaleFluxCSDSupported, 7)                                                                       \
    X(hipFileNVMeshSupported, 8)                                                                             \
    X(hipFileBeeGFSSupported, 9)                                                                             \
    X(hipFileNVMeP2PSupported, 11)                                                                           \
    X(hipFileScatefsSupported, 12)                                                                           \
    X(hipFileUsePollMode, 0)                                                                                 \
    X(hipFileAllowCompatMode, 1)                                                                             \
    X(hipFileDynRoutingSupported, 0)                                                                         \
    X(hipFileBatchIOSupported, 1)                                                                            \
    X(hipFileStreamsSupported, 2)                                                                            \
    X(hipFileParallelIOSupported, 3)                                                                         \
    X(hipFileHandleTypeOpaqueFD, 1)                                                                          \
    X(hipFileHandleTypeOpaqueWin32, 2)                                                                       \
    X(hipFileHandleTypeUserspaceFS, 3)                                                                       \
    X(hipFileBatchRead, 0)                                                                                   \
    X(hipFileBatchWrite, 1)                                                                                  \
    X(hipFileWaiting, 1)                                                                                     \
    X(hipFilePending, 2)                                                                                     \
    X(hipFileInvalid, 4)                                                                                     \
    X(hipFileCanceled, 8)                                                                                    \
    X(hipFileComplete, 16)                                                                                   \
    X(hipFileTimeout, 32)                                                                                    \
    X(hipFileFailed, 64)                                                                                     \
    X(hipFileBatch, 1)                                                                                       \
    X(HIPFILE_STREAM_FIXED_BUF_OFFSET, 1)                                                                    \
    X(HIPFILE_STREAM_FIXED_FILE_OFFSET, 2)                                                                   \
    X(HIPFILE_STREAM_FIXED_FILE_SIZE, 4)                                                                     \
    X(HIPFILE_STREAM_PAGE_ALIGNED_INPUTS, 8)                                                                 \
    X(HIPFILE_STREAM_FLAGS_MASK, 0xf)                                                                        \
    X(HIPFILE_RDMA_REGISTER, 1)                                                                              \
    X(HIPFILE_RDMA_RELAXED_ORDERING, 2)                                                                      \
    X(hipFileParamProfileStats, 0)                                                                           \
    X(hipFileParamExecutionMaxIOQueueDepth, 1)                                                               \
    X(hipFileParamExecutionMaxIOThreads, 2)                                                                  \
    X(hipFileParamExecutionMinIOThresholdSizeKB, 3)                                                          \
    X(hipFileParamExecutionMaxRequestParallelism, 4)                                                         \
    X(hipFileParamPropertiesMaxDirectIOSizeKB, 5)                                                            \
    X(hipFileParamPropertiesMaxDeviceCacheSizeKB, 6)                                                         \
    X(hipFileParamPropertiesPerBufferCacheSizeKB, 7)                                                         \
    X(hipFileParamPropertiesMaxDevicePinnedMemSizeKB, 8)                                                     \
    X(hipFileParamPropertiesIOBatchsize, 9)                                                                  \
    X(hipFileParamPollthresholdSizeKB, 10)                                                                   \
    X(hipFileParamPropertiesBatchIOTimeoutMs, 11)                                                            \
    X(hipFileParamPropertiesUsePollMode, 0)                                                                  \
    X(hipFileParamPropertiesAllowCompatMode, 1)                                                              \
    X(hipFileParamForceCompatMode, 2)                                                                        \
    X(hipFileParamFsMiscApiCheckAggressive, 3)                                                               \
    X(hipFileParamExecutionParallelIO, 4)                                                                    \
    X(hipFileParamProfileNvtx, 5)                                                                            \
    X(hipFileParamPropertiesAllowSystemMemory, 6)                                                            \
    X(hipFileParamUsePcip2pdma, 7)                                                                           \
    X(hipFileParamPreferIOUring, 8)                                                                          \
    X(hipFileParamForceOdirectMode, 9)                                                                       \
    X(hipFileParamSkipTopologyDetection, 10)                                                                 \
    X(hipFileParamStreamMemopsBypass, 11)                                                                    \
    X(hipFileParamLoggingLevel, 0)                                                                           \
    X(hipFileParamEnvLogfilePath, 1)                                                                         \
    X(hipFileParamLogDir, 2)

#define STATS_VALUES(X) X(HIPFILE_MAX_GPUS, 16) X(HIPFILE_GPU_UUID_LEN, 16)

#define HIP_VALUES(X)                                                                                        \
    X(hipSuccess, 0)                                                                                         \
    X(hipErrorInvalidValue, 1)                                                                               \
    X(hipErrorOutOfMemory, 2)                                                                                \
    X(hipErrorNotInitialized, 3)                                                                             \
    X(hipErrorNoDevice, 100)                                                                                 \
    X(hipErrorInvalidDevice, 101)                                                                            \
    X(hipErrorNotFound, 500)                                                                                 \
    X(hipErrorUnknown, 999)                                                                                  \
    X(hipMemcpyHostToHost, 0)                                                                                \
    X(hipMemcpyHostToDevice, 1)                                                                              \
    X(hipMemcpyDeviceToHost, 2)                                                                              \
    X(hipMemcpyDeviceToDevice, 3)                                                                            \
    X(hipMemcpyDefault, 4)                                                                                   \
    X(hipMemoryTypeUnregistered, 0)                                                                          \
    X(hipMemoryTypeHost, 1)                                                                                  \
    X(hipMemoryTypeDevice, 2)                                                                                \
    X(hipMemoryTypeManaged, 3)                                                                               \
    X(hipMemoryTypeArray, 10)                                                                                \
    X(hipMemoryTypeUnified, 11)

/* ------------------------------------------------------------------- prototypes: function, its type */

#define PROTOTYPES(X)                                                                                        \
    X(hipFileGetOpErrorString, const char *(*)(hipFileOpError_t))                                            \
    X(hipFileGetVersion, hipFileError_t (*)(unsigned *, unsigned *, unsigned *))                             \
    X(hipFileHandleRegister, hipFileError_t (*)(hipFileHandle_t *, hipFileDescr_t *))                        \
    X(hipFileHandleDeregister, void (*)(hipFileHandle_t))                                                    \
    X(hipFileBufRegister, hipFileError_t (*)(const void *, size_t, int))                                     \
    X(hipFileBufDeregister, hipFileError_t (*)(const void *))                                                \
    X(hipFileRead, ssize_t (*)(hipFileHandle_t, void *, size_t, hoff_t, hoff_t))                             \
    X(hipFileWrite, ssize_t (*)(hipFileHandle_t, const void *, size_t, hoff_t, hoff_t))                      \
    X(hipFileDriverOpen, hipFileError_t (*)(void))                                                           \
    X(hipFileDriverClose, hipFileError_t (*)(void))                                                          \
    X(hipFileUseCount, int64_t (*)(void))                                                                    \
    X(hipFileDriverGetProperties, hipFileError_t (*)(hipFileDriverProps_t *))                                \
    X(hipFileDriverSetPollMode, hipFileError_t (*)(bool, size_t))                                            \
    X(hipFileDriverSetMaxDirectIOSize, hipFileError_t (*)(size_t))                                           \
    X(hipFileDriverSetMaxCacheSize, hipFileError_t (*)(size_t))                                              \
    X(hipFileDriverSetMaxPinnedMemSize, hipFileError_t (*)(size_t))                                          \
    X(hipFileBatchIOSetUp, hipFileError_t (*)(hipFileBatchHandle_t *, unsigned))                             \
    X(hipFileBatchIOSubmit, hipFileError_t (*)(hipFileBatchHandle_t, unsigned, hipFileIOParams_t *, unsigned)) \
    X(hipFileBatchIOGetStatus,                                                                               \
      hipFileError_t (*)(hipFileBatchHandle_t, unsigned, unsigned *, hipFileIOEvents_t *, struct timespec *)) \
    X(hipFileBatchIOCancel, hipFileError_t (*)(hipFileBatchHandle_t))                                        \
    X(hipFileBatchIODestroy, void (*)(hipFileBatchHandle_t))                                                 \
    X(hipFileReadAsync, hipFileError_t (*)(hipFileHandle_t, void *, size_t *, hoff_t *, hoff_t *, ssize_t *, \
                                           hipStream_t))                                                     \
    X(hipFileWriteAsync, hipFileError_t (*)(hipFileHandle_t, void *, size_t *, hoff_t *, hoff_t *,           \
                                            ssize_t *, hipStream_t))                                         \
    X(hipFileStreamRegister, hipFileError_t (*)(hipStream_t, unsigned))                                      \
    X(hipFileStreamDeregister, hipFileError_t (*)(hipStream_t))                                              \
    X(hipFileGetParameterSizeT, hipFileError_t (*)(hipFileSizeTConfigParameter_t, size_t *))                 \
    X(hipFileGetParameterBool, hipFileError_t (*)(hipFileBoolConfigParameter_t, bool *))                     \
    X(hipFileGetParameterString, hipFileError_t (*)(hipFileStringConfigParameter_t, char *, int))            \
    X(hipFileSetParameterSizeT, hipFileError_t (*)(hipFileSizeTConfigParameter_t, size_t))                   \
    X(hipFileSetParameterBool, hipFileError_t (*)(hipFileBoolConfigParameter_t, bool))                       \
    X(hipFileSetParameterString, hipFileError_t (*)(hipFileStringConfigParameter_t, const char *))

#define STATS_PROTOTYPES(X)                                                                                  \
    X(hipFileGetStatsL1, hipFileError_t (*)(hipFileStatsLevel1_t *))                                         \
    X(hipFileGetStatsL2, hipFileError_t (*)(hipFileStatsLevel2_t *))                                         \
    X(hipFileGetStatsL3, hipFileError_t (*)(hipFileStatsLevel3_t *))

#define HIP_PROTOTYPES(X)                                                                                    \
    X(hipInit, hipError_t (*)(unsigned))                                                                     \
    X(hipRuntimeGetVersion, hipError_t (*)(int *))                                                           \
    X(hipGetDeviceCount, hipError_t (*)(int *))                                                              \
    X(hipGetDevice, hipError_t (*)(int *))                                                                   \
    X(hipSetDevice, hipError_t (*)(int))                                                                     \
    X(hipDeviceSynchronize, hipError_t (*)(void))                                                            \
    X(hipStreamSynchronize, hipError_t (*)(hipStream_t))                                                     \
    X(hipMalloc, hipError_t (*)(void **, size_t))                                                            \
    X(hipFree, hipError_t (*)(void *))                                                                       \
    X(hipHostMalloc, hipError_t (*)(void **, size_t, unsigned))                                              \
    X(hipHostFree, hipError_t (*)(void *))                                                                   \
    X(hipMemcpy, hipError_t (*)(void *, const void *, size_t, hipMemcpyKind))                                \
    X(hipMemset, hipError_t (*)(void *, int, size_t))                                                        \
    X(hipMemGetInfo, hipError_t (*)(size_t *, size_t *))                                                     \
    X(hipMemGetAddressRange, hipError_t (*)(void **, size_t *, void *))                                      \
    X(hipPointerGetAttributes, hipError_t (*)(hipPointerAttribute_t *, const void *))                        \
    X(hipGetProcAddress,                                                                                     \
      hipError_t (*)(const char *, void **, int, uint64_t, hipDriverProcAddressQueryResult *))               \
    X(hipGetErrorName, const char *(*)(hipError_t))                                                          \
    X(hipGetErrorString, const char *(*)(hipError_t))

/* ------------------------------------------------------------------------------- the compile checks */

#define CHECK_SIZE(type, size) static_assert(sizeof(type) == (size), "size of " #type);
#define CHECK_OFFSET(type, field, offset, size)                                                              \
    static_assert(offsetof(type, field) == (offset), "offset of " #type "." #field);                         \
    static_assert(sizeof(((type *)0)->field) == (size), "size of " #type "." #field);
#define CHECK_VALUE(name, value) static_assert((long long)(name) == (value), "value of " #name);

#ifdef __cplusplus
/* Picks the overload of that type: AMD's C++ headers add templates beside some of the C functions. */
template <typename Expected> char accepts(Expected);
#define CHECK_PROTOTYPE(function, ...)                                                                       \
    static_assert(sizeof(accepts<std_type<__VA_ARGS__>::same>(&function)) == 1, "prototype of " #function);
template <typename T> struct std_type {
    typedef T same;
};
#else
#define CHECK_PROTOTYPE(function, ...)                                                                       \
    static_assert(_Generic(&function, __VA_ARGS__: 1, default: 0), "prototype of " #function);
static_assert(_Generic((hoff_t)0, off_t: 1, default: 0), "hoff_t is off_t");
static_assert(_Generic((hipFileHandle_t)0, void *: 1, default: 0), "a file handle is an opaque pointer");
static_assert(_Generic((hipFileBatchHandle_t)0, void *: 1, default: 0), "a batch handle is an opaque pointer");
#endif

SIZES(CHECK_SIZE)
HIP_SIZES(CHECK_SIZE)
OFFSETS(CHECK_OFFSET)
HIP_OFFSETS(CHECK_OFFSET)
VALUES(CHECK_VALUE)
HIP_VALUES(CHECK_VALUE)
PROTOTYPES(CHECK_PROTOTYPE)
HIP_PROTOTYPES(CHECK_PROTOTYPE)
#if WITH_STATS
STATS_SIZES(CHECK_SIZE)
STATS_OFFSETS(CHECK_OFFSET)
STATS_VALUES(CHECK_VALUE)
STATS_PROTOTYPES(CHECK_PROTOTYPE)
#endif

/* The macros that look at results. The ones that call the library are not evaluated here. */
static_assert(sizeof(HIPFILE_ERRSTR(5022)) == sizeof(const char *), "HIPFILE_ERRSTR gives a string");

static int macros(void) {
    hipFileError_t error;
    error.err = hipFileHipDriverError;
    error.hip_drv_err = hipErrorOutOfMemory;
    int wrong = 0;
    wrong |= IS_HIPFILE_ERR(-5000) ? 1 : 0;
    wrong |= IS_HIPFILE_ERR(-5001) ? 0 : 2;
    wrong |= IS_HIPFILE_ERR(5022) ? 0 : 4;
    wrong |= IS_HIPFILE_ERR(0) ? 8 : 0;
    wrong |= IS_HIPFILE_ERR(8192) ? 0 : 16; /* a byte count: true all the same */
    wrong |= IS_HIP_DRV_ERR(error) ? 0 : 32;
    wrong |= HIP_DRV_ERR(error) == hipErrorOutOfMemory ? 0 : 64;
    error.err = hipFileSuccess;
    wrong |= IS_HIP_DRV_ERR(error) ? 128 : 0;
    return wrong;
}

#define PRINT_SIZE(type, size) printf("size %s=%zu\n", #type, sizeof(type));
#define PRINT_OFFSET(type, field, offset, size)                                                              \
    printf("field %s.%s=%zu+%zu\n", #type, #field, offsetof(type, field), sizeof(((type *)0)->field));
#define PRINT_VALUE(name, value) printf("value %s=%lld\n", #name, (long long)(name));

int main(void) {
    SIZES(PRINT_SIZE)
    OFFSETS(PRINT_OFFSET)
    VALUES(PRINT_VALUE)
#if WITH_STATS
    STATS_SIZES(PRINT_SIZE)
    STATS_OFFSETS(PRINT_OFFSET)
    STATS_VALUES(PRINT_VALUE)
#endif
    return macros();
}
