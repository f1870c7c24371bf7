/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * @file hipfile.h
 * The C interface of hipFile 0.5: file I/O directly between storage and the memory of AMD GPUs.
 *
 * Written for the software ROCm of this project and for its Rust bindings, which are generated from this file.
 * The declarations describe the interface of AMD's library, so that a program compiled against this header runs on
 * either library. Usable from C11 and C++17. Define `__HIP_PLATFORM_AMD__` before including it, as HIP asks.
 *
 * Conventions used below:
 *
 * - Sizes, lengths and offsets are bytes unless a unit is named.
 * - "Error 5022" stands for a `hipFileError_t` whose `err` is 5022 and whose `hip_drv_err` is `hipSuccess`.
 * - The library is *open* while its use count is above zero. Some functions open it implicitly and say so.
 * - Every function may be called from any thread at any time.
 * - Lines that begin with "Since" name the release which brought the entity; everything else exists since 0.2.
 */
#ifndef HIPFILE_H
#define HIPFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

#include <hip/hip_runtime_api.h>

/** Major version of the interface this header describes. */
#define HIPFILE_VERSION_MAJOR 0
/** Minor version of the interface this header describes. */
#define HIPFILE_VERSION_MINOR 5
/** Patch level of the interface this header describes. */
#define HIPFILE_VERSION_PATCH 0

/** Every error code of hipFile lies above this number; HIP's and errno's lie below. */
#define HIPFILE_BASE_ERR 5000

/* Warns callers who drop a result, where the language has a word for it. */
#if defined(__cplusplus)
#if __cplusplus >= 201703L
#define HIPFILE_NODISCARD [[nodiscard]]
#endif
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202000L
#define HIPFILE_NODISCARD [[nodiscard]]
#endif
#ifndef HIPFILE_NODISCARD
#define HIPFILE_NODISCARD
#endif

struct timespec; /* strict C99 leaves it out of time.h */

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------ results */

/**
 * What a hipFile operation ended with.
 *
 * The numbers are stable. 5021 and 5032 are unused. A library newer than this header may return numbers not
 * listed here.
 */
typedef enum {
    hipFileSuccess = 0,                    /**< The operation succeeded. */
    hipFileDriverNotInitialized = 5001,    /**< The library is not open. */
    hipFileDriverInvalidProps = 5002,      /**< A driver property is invalid. */
    hipFileDriverUnsupportedLimit = 5003,  /**< A driver property has an unsupported value. */
    hipFileDriverVersionMismatch = 5004,   /**< The versions of library and kernel driver do not fit. */
    hipFileDriverVersionReadError = 5005,  /**< The version of the kernel driver cannot be read. */
    hipFileDriverClosing = 5006,           /**< The library is closing or closed. */
    hipFilePlatformNotSupported = 5007,    /**< hipFile does not support this platform. */
    hipFileIONotSupported = 5008,          /**< hipFile does not support this file or kind of handle. */
    hipFileDeviceNotSupported = 5009,      /**< hipFile does not support this GPU. */
    hipFileDriverError = 5010,             /**< The kernel driver failed. */
    hipFileHipDriverError = 5011,          /**< A HIP call failed; `hip_drv_err` holds its code. */
    hipFileHipPointerInvalid = 5012,       /**< Not a GPU pointer. */
    hipFileHipMemoryTypeInvalid = 5013,    /**< The memory is not device memory. */
    hipFileHipPointerRangeError = 5014,    /**< The range leaves the allocation. */
    hipFileHipContextMismatch = 5015,      /**< The pointer belongs to another GPU context. */
    hipFileInvalidMappingSize = 5016,      /**< The access leaves the pinned memory. */
    hipFileInvalidMappingRange = 5017,     /**< The access leaves the mapped memory. */
    hipFileInvalidFileType = 5018,         /**< This type of file is not supported. */
    hipFileInvalidFileOpenFlag = 5019,     /**< The file was opened with unsupported flags. */
    hipFileDIONotSet = 5020,               /**< The file was opened without `O_DIRECT`. */
    hipFileInvalidValue = 5022,            /**< An argument has an invalid value. */
    hipFileMemoryAlreadyRegistered = 5023, /**< The device pointer is registered already. */
    hipFileMemoryNotRegistered = 5024,     /**< The device pointer is not registered. */
    hipFilePermissionDenied = 5025,        /**< Access to the device or file is denied. */
    hipFileDriverAlreadyOpen = 5026,       /**< The library is open already. */
    hipFileHandleNotRegistered = 5027,     /**< The file handle is not registered. */
    hipFileHandleAlreadyRegistered = 5028, /**< The file descriptor is registered already. */
    hipFileDeviceNotFound = 5029,          /**< There is no such device. */
    hipFileInternalError = 5030,           /**< Anything else, and whatever is not implemented. */
    hipFileGetNewFDFailed = 5031,          /**< No further file descriptor can be had. */
    hipFileDriverSetupError = 5033,        /**< The kernel driver cannot be initialised. */
    hipFileIODisabled = 5034,              /**< Configuration forbids GPU I/O on this file. */
    hipFileBatchSubmitFailed = 5035,       /**< A batch cannot be submitted. */
    hipFileGPUMemoryPinningFailed = 5036,  /**< Device memory cannot be pinned. */
    hipFileBatchFull = 5037,               /**< The batch has no room for the operations. */
    hipFileAsyncNotSupported = 5038,       /**< Asynchronous I/O is not supported. */
    hipFileIOMaxError = 5039               /**< Marks the end of the list; never an outcome. */
} hipFileOpError_t;

/** Result of most functions: a hipFile code, and HIP's code where `err` is `hipFileHipDriverError`. */
typedef struct HIPFILE_NODISCARD {
    hipFileOpError_t err;   /**< What the operation ended with. */
    hipError_t hip_drv_err; /**< HIP's code if `err` is 5011, else `hipSuccess`. */
} hipFileError_t;

/**
 * True if |x| is above `HIPFILE_BASE_ERR`. Apply it to negative results only: a byte count above 5000 is "an error"
 * too, and a value that does not fit an int is cut down to one.
 */
#define IS_HIPFILE_ERR(x) (abs((int)(x)) > HIPFILE_BASE_ERR)
/** Text for |x|, a hipFile code of either sign. */
#define HIPFILE_ERRSTR(x) (hipFileGetOpErrorString((hipFileOpError_t)abs((int)(x))))
/** True if the `hipFileError_t` e carries a HIP error. */
#define IS_HIP_DRV_ERR(e) ((e).err == hipFileHipDriverError)
/** The HIP error inside the `hipFileError_t` e. */
#define HIP_DRV_ERR(e) ((e).hip_drv_err)

/**
 * Returns a fixed English phrase for a code: never null, valid for ever, without punctuation or number.
 * Numbers that are no hipFile code, negative ones included, give "Unknown hipFile error".
 */
const char *hipFileGetOpErrorString(hipFileOpError_t status);

/**
 * Stores the version of the library that runs, which may differ from `HIPFILE_VERSION_MAJOR` and its siblings.
 * Any pointer may be null. Always succeeds and never opens the library.
 */
hipFileError_t hipFileGetVersion(unsigned int *major, unsigned int *minor, unsigned int *patch);

/* ----------------------------------------------------------------------------------------------- opening, closing */

/** Adds one to the use count, opening the library if it was zero. */
hipFileError_t hipFileDriverOpen(void);

/**
 * Takes one from the use count. At zero the tables of files and buffers are emptied; the handles become invalid.
 * Since 0.5 the last close also drops every batch and blocks while its operations run.
 *
 * Errors: 5001 if the use count is zero already.
 */
hipFileError_t hipFileDriverClose(void);

/** Returns the use count, or -1 if it cannot be had. */
int64_t hipFileUseCount(void);

/* ---------------------------------------------------------------------------------------------- driver properties */

/** File systems and transports the kernel driver supports: bit positions in `driver_status_flags`. */
typedef enum {
    hipFileLustreSupported = 0,       /**< Lustre. */
    hipFileWekaFSSupported = 1,       /**< WekaFS. */
    hipFileNFSSupported = 2,          /**< NFS. */
    hipFileGPFSSupported = 3,         /**< GPFS. */
    hipFileNVMeSupported = 4,         /**< Local NVMe. */
    hipFileNVMeoFSupported = 5,       /**< NVMe over fabrics. */
    hipFileSCSISupported = 6,         /**< SCSI. */
    hipFileScaleFluxCSDSupported = 7, /**< ScaleFlux computational storage. */
    hipFileNVMeshSupported = 8,       /**< NVMesh. */
    hipFileBeeGFSSupported = 9,       /**< BeeGFS. */
    hipFileNVMeP2PSupported = 11,     /**< NVMe peer to peer. */
    hipFileScatefsSupported = 12      /**< ScaTeFS. */
} hipFileDriverStatusFlags_t;

/** Modes of the kernel driver: bit positions in `driver_control_flags`. */
typedef enum {
    hipFileUsePollMode = 0,    /**< Completions are polled for. */
    hipFileAllowCompatMode = 1 /**< I/O may go through host memory. */
} hipFileDriverControlFlags_t;

/** Features of the library: bit positions in `feature_flags`. */
typedef enum {
    hipFileDynRoutingSupported = 0,  /**< Dynamic routing. */
    hipFileBatchIOSupported = 1,     /**< Batches. */
    hipFileStreamsSupported = 2,     /**< Operations ordered on streams. */
    hipFileParallelIOSupported = 3   /**< One request served by several threads. */
} hipFileFeatureFlags_t;

/** The part of the properties that describes the kernel driver. */
typedef struct {
    uint32_t major_version;        /**< Major version of the kernel driver. */
    uint32_t minor_version;        /**< Minor version of the kernel driver. */
    uint64_t poll_thresh_size;     /**< Largest request that is polled for, in KiB. */
    uint64_t max_direct_io_size;   /**< Largest single direct transfer, in KiB. */
    uint32_t driver_status_flags;  /**< Bits at the positions of `hipFileDriverStatusFlags_t`. */
    uint32_t driver_control_flags; /**< Bits at the positions of `hipFileDriverControlFlags_t`. */
} hipFileNvfsProps_t;

/** Properties and limits, see `hipFileDriverGetProperties`. */
typedef struct {
    hipFileNvfsProps_t nvfs;              /**< The kernel driver. */
    uint32_t feature_flags;               /**< Bits at the positions of `hipFileFeatureFlags_t`. */
    uint64_t max_device_cache_size;       /**< Device memory for caching, in KiB. */
    uint64_t per_buffer_cache_size;       /**< Cache of one buffer, in KiB. */
    uint64_t max_device_pinned_mem_size;  /**< Device memory that may be pinned, in KiB. */
    uint32_t max_batch_io_count;          /**< Largest number of operations in a batch. */
    uint32_t max_batch_io_timeout_msecs;  /**< Longest time a batch may take, in milliseconds. */
} hipFileDriverProps_t;

/**
 * Fills in the properties in force.
 *
 * Errors: AMD's library implements none of this and returns 5030 without looking at the argument.
 */
hipFileError_t hipFileDriverGetProperties(hipFileDriverProps_t *props);

/**
 * Chooses polling for requests up to the given size in KiB.
 *
 * Errors: AMD's library returns 5030 without looking at the arguments.
 */
hipFileError_t hipFileDriverSetPollMode(bool poll, size_t poll_threshold_size);

/**
 * Sets the largest single direct transfer, in KiB.
 *
 * Errors: AMD's library returns 5030 without looking at the argument.
 */
hipFileError_t hipFileDriverSetMaxDirectIOSize(size_t max_direct_io_size);

/**
 * Sets how much device memory serves as cache, in KiB.
 *
 * Errors: AMD's library returns 5030 without looking at the argument.
 */
hipFileError_t hipFileDriverSetMaxCacheSize(size_t max_cache_size);

/**
 * Sets how much device memory may be pinned, in KiB.
 *
 * Errors: AMD's library returns 5030 without looking at the argument.
 */
hipFileError_t hipFileDriverSetMaxPinnedMemSize(size_t max_pinned_mem_size);

/* ---------------------------------------------------------------------------------------------------------- files */

/** An offset in a file or in a buffer, in bytes. 64 bits wide. */
typedef off_t hoff_t;

/** A registered file. Opaque; never null once registered. */
typedef void *hipFileHandle_t;

/** Flag of `hipFileRDMAInfo_t`: the memory is registered for RDMA. */
#define HIPFILE_RDMA_REGISTER 1
/** Flag of `hipFileRDMAInfo_t`: transfers may complete out of order. */
#define HIPFILE_RDMA_RELAXED_ORDERING 2

/** Describes a buffer to a user-space file system that transfers by RDMA. */
typedef struct {
    int version;          /**< Version of this description. */
    int desc_len;         /**< Length of `desc_str`. */
    const char *desc_str; /**< The description. */
} hipFileRDMAInfo_t;

/**
 * A user-space file system that transfers by RDMA. Its functions get the handle of the file's description first.
 * AMD's library has no use for it.
 */
typedef struct {
    /** Returns the name of the file system. */
    const char *(*fs_type)(const void *handle);
    /** Lists the addresses the file system can be reached at; returns their number. */
    int (*getRDMADeviceList)(const void *handle, struct sockaddr **hostaddrs);
    /** Rates an address for a transfer of the given buffer, size and file offset. */
    int (*getRDMADevicePriority)(const void *handle, char *buffer, size_t size, hoff_t offset,
                                 struct sockaddr *hostaddr);
    /** Reads from the file offset into the buffer; returns the bytes moved. */
    ssize_t (*read)(const void *handle, char *buffer, size_t size, hoff_t offset, hipFileRDMAInfo_t *info);
    /** Writes the buffer at the file offset; returns the bytes moved. */
    ssize_t (*write)(const void *handle, const char *buffer, size_t size, hoff_t offset, hipFileRDMAInfo_t *info);
} hipFileFSOps_t;

/** What a `hipFileDescr_t` describes a file by. */
typedef enum {
    hipFileHandleTypeOpaqueFD = 1,    /**< A POSIX file descriptor, the only kind AMD's library takes. */
    hipFileHandleTypeOpaqueWin32 = 2, /**< A Windows file handle. */
    hipFileHandleTypeUserspaceFS = 3  /**< A file of a user-space file system. */
} hipFileFileHandleType_t;

/** The file itself, in the form named by the `type` of a `hipFileDescr_t`. */
typedef union {
    int fd;      /**< The descriptor, for `hipFileHandleTypeOpaqueFD`. */
    void *hFile; /**< The handle, for `hipFileHandleTypeOpaqueWin32`. */
} hipFileDescrHandle_t;

/** Describes a file to `hipFileHandleRegister`. */
typedef struct {
    hipFileFileHandleType_t type; /**< Which member of `handle` counts. */
    hipFileDescrHandle_t handle;  /**< The file. */
    const hipFileFSOps_t *fs_ops; /**< For `hipFileHandleTypeUserspaceFS`, else ignored. */
} hipFileDescr_t;

/**
 * Registers a file for I/O and stores its handle in `*fh`. Opens the library on success.
 *
 * The library keeps the number of the descriptor, not the descriptor: it stays the caller's and must stay open until
 * the file is deregistered. A second descriptor of the file is opened inside. Neither `descr` nor `*fh` is touched
 * after the call, and `*fh` only on success.
 *
 * Errors: 5022 if a pointer is null; 5008 for a type other than `hipFileHandleTypeOpaqueFD`; 5028 if the descriptor's
 * number is registered already; 5030 if the descriptor is not open, or the file cannot be examined or opened again.
 */
hipFileError_t hipFileHandleRegister(hipFileHandle_t *fh, hipFileDescr_t *descr);

/**
 * Removes a registration. Does nothing, and cannot say so, if the handle is null or unknown, if the library is
 * closed, or while I/O on the handle is in flight: then the registration stays. Never closes the caller's descriptor.
 */
void hipFileHandleDeregister(hipFileHandle_t fh);

/* -------------------------------------------------------------------------------------------------------- buffers */

/**
 * Registers `length` bytes of device memory at `buffer_base`. Opens the library first, even if it then fails.
 *
 * Registration makes I/O cheaper; memory that is not registered works too. It is found again by exactly this pointer.
 * The memory must stay allocated until it is deregistered. `flags` is ignored. A length of zero is accepted, but then
 * every I/O fails with 5022.
 *
 * Errors: 5023 if exactly this pointer is registered already; 5022 if it is null or unknown to HIP; 5013 if it is not
 * device memory; 5014 if the range leaves the allocation; 5011 if HIP fails otherwise.
 */
hipFileError_t hipFileBufRegister(const void *buffer_base, size_t length, int flags);

/**
 * Removes the registration of exactly this pointer.
 *
 * Errors: 5006 if the library is closed; 5024 if the pointer is not registered; 5030 while I/O on the buffer is in
 * flight: then the registration stays.
 */
hipFileError_t hipFileBufDeregister(const void *buffer_base);

/* ------------------------------------------------------------------------------------------------ synchronous I/O */

/**
 * Reads `size` bytes at `file_offset` into device memory at `buffer_base + buffer_offset`.
 *
 * Returns the bytes moved: fewer than asked for at the end of the file, above 0x7ffff000 bytes, or when the system
 * moved fewer; zero at or past the end. The position of the descriptor is neither used nor changed.
 *
 * Errors are negative. -1: a system call failed and `errno` says why (EINVAL also if the library is closed or, since
 * 0.4, if an offset is negative). Below -5000: a negated hipFile code: 5027 for an unknown handle, 5022 for a null
 * buffer or a range outside it, 5013 if it is not device memory, 5030 if no path takes the request. Anything between:
 * a negated HIP code. As `hipErrorInvalidValue` is 1, set `errno` to zero before the call: -1 that leaves it zero is
 * that HIP error.
 */
ssize_t hipFileRead(hipFileHandle_t fh, void *buffer_base, size_t size, hoff_t file_offset, hoff_t buffer_offset);

/**
 * Writes `size` bytes at `file_offset` from device memory at `buffer_base + buffer_offset`.
 *
 * Results and errors are those of `hipFileRead`. Do not count on the data being durable: some paths flush it, others
 * do not.
 */
ssize_t hipFileWrite(hipFileHandle_t fh, const void *buffer_base, size_t size, hoff_t file_offset,
                     hoff_t buffer_offset);

/* ----------------------------------------------------------------------------------------------- asynchronous I/O */

/** Flag of `hipFileStreamRegister`: `*buffer_offset_p` is final when an operation is submitted. */
#define HIPFILE_STREAM_FIXED_BUF_OFFSET 1
/** Flag of `hipFileStreamRegister`: `*file_offset_p` is final when an operation is submitted. */
#define HIPFILE_STREAM_FIXED_FILE_OFFSET 2
/** Flag of `hipFileStreamRegister`: `*size_p` is final when an operation is submitted. */
#define HIPFILE_STREAM_FIXED_FILE_SIZE 4
/** Flag of `hipFileStreamRegister`: sizes and offsets are multiples of the page size. Without effect. */
#define HIPFILE_STREAM_PAGE_ALIGNED_INPUTS 8
/** All flags `hipFileStreamRegister` knows. */
#define HIPFILE_STREAM_FLAGS_MASK 0xf

/**
 * Declares what the operations submitted to a stream promise. Optional. Never opens the library. A null stream is
 * the default stream. Destroying the stream does not remove the registration.
 *
 * Errors: 5022 if the stream is registered already or a flag is unknown; 5011 if HIP fails.
 */
hipFileError_t hipFileStreamRegister(hipStream_t stream, unsigned int flags);

/**
 * Removes a stream's registration; operations under way are not affected.
 *
 * Errors: 5022 if the stream is not registered.
 */
hipFileError_t hipFileStreamDeregister(hipStream_t stream);

/**
 * Submits a read to a stream and returns. The outcome is stored in `*bytes_read_p` once the stream has passed it:
 * the bytes moved, -1 if a system call failed, or a negated hipFile code. It is zero before that.
 *
 * Size and offsets are read at submission and, unless the stream is registered with the matching flag, again when
 * the stream reaches the operation; all four pointers must stay valid until the stream has passed it, also when the
 * submission failed. A size read later may be smaller than at submission, but not larger.
 *
 * Errors: 5022 if a pointer other than the stream is null, a range leaves the buffer, the buffer lies on another GPU
 * than the stream, or the library is closed (this call then opens it); 5027 for an unknown handle; 5030 if the memory
 * is not device memory or no path takes the request; 5011 if HIP fails.
 */
hipFileError_t hipFileReadAsync(hipFileHandle_t fh, void *buffer_base, size_t *size_p, hoff_t *file_offset_p,
                                hoff_t *buffer_offset_p, ssize_t *bytes_read_p, hipStream_t stream);

/** Submits a write to a stream and returns. All rules and errors are those of `hipFileReadAsync`. */
hipFileError_t hipFileWriteAsync(hipFileHandle_t fh, void *buffer_base, size_t *size_p, hoff_t *file_offset_p,
                                 hoff_t *buffer_offset_p, ssize_t *bytes_written_p, hipStream_t stream);

/* --------------------------------------------------------------------------------------------------------- batches */

/** A batch of operations. Opaque. */
typedef void *hipFileBatchHandle_t;

/** What one operation of a batch does. */
typedef enum {
    hipFileBatchRead = 0, /**< From the file into device memory. */
    hipFileBatchWrite = 1 /**< From device memory into the file. */
} hipFileOpcode_t;

/** How a batch's operation is described. */
typedef enum {
    hipFileBatch = 1 /**< By the member `batch` of the union `u`. */
} hipFileBatchMode_t;

/** State of a batch's operation. Events carry Complete, Failed or Canceled. */
typedef enum {
    hipFileWaiting = 1,   /**< Not yet queued. */
    hipFilePending = 2,   /**< Queued or running. */
    hipFileInvalid = 4,   /**< Refused. */
    hipFileCanceled = 8,  /**< Canceled before it began. */
    hipFileComplete = 16, /**< Done; `ret` holds the bytes moved. */
    hipFileTimeout = 32,  /**< Ran out of time. */
    hipFileFailed = 64    /**< Failed; `ret` holds the negative reason. */
} hipFileStatus_t;

/** What to move where, in an operation of a batch. */
typedef struct {
    void *devPtr_base;    /**< Base of the device memory. */
    hoff_t file_offset;   /**< Where in the file, in bytes. */
    hoff_t devPtr_offset; /**< Where behind `devPtr_base`, in bytes. */
    size_t size;          /**< How much, in bytes. */
} hipFileIOBatchParams_t;

/** Holds the description a `hipFileBatchMode_t` names. */
typedef union {
    hipFileIOBatchParams_t batch; /**< For `hipFileBatch`. */
} hipFileIOParamsUnion_t;

/** One operation of a batch. */
typedef struct {
    hipFileBatchMode_t mode;  /**< Always `hipFileBatch`. */
    hipFileIOParamsUnion_t u; /**< What to move. */
    hipFileHandle_t fh;       /**< The file. */
    hipFileOpcode_t opcode;   /**< Read or write. */
    void *cookie;             /**< Returned with the event; never looked at. */
} hipFileIOParams_t;

/** Outcome of one operation of a batch. */
typedef struct {
    void *cookie;           /**< The cookie of the operation. */
    hipFileStatus_t status; /**< Complete, Failed or Canceled. */
    size_t ret;             /**< Bytes moved; if Failed, a negative number to be read as `ssize_t`. */
} hipFileIOEvents_t;

/**
 * Creates a batch with room for `max_nr` operations, 1 to 128. Never opens the library. Batches run since 0.5;
 * libraries before it accept operations and never run them.
 *
 * Errors: 5022 if the pointer is null or the number out of range.
 */
hipFileError_t hipFileBatchIOSetUp(hipFileBatchHandle_t *batch_idp, unsigned int max_nr);

/**
 * Submits `nr` operations: all or, on an error, none. They run in no particular order. The array may be reused at
 * once. An operation keeps its room until its event was fetched. `flags` is ignored.
 *
 * Errors: 5022 for an unknown batch, `nr` of zero, a null array or an invalid field; 5001 if the library is closed;
 * 5027 for an unknown file; 5013 if memory is not device memory; 5037 if there is not enough room; 5011 if HIP fails;
 * 5030 if the work cannot be handed on.
 */
hipFileError_t hipFileBatchIOSubmit(hipFileBatchHandle_t batch_idp, unsigned int nr, hipFileIOParams_t *iocbp,
                                    unsigned int flags);

/**
 * Waits until `min_nr` operations ended, all did, or the timeout passed, and fetches up to `*nr` events into `iocbp`.
 * `*nr` becomes their number. A null timeout waits for ever. Running into the timeout is a success.
 *
 * Errors: 5022 for an unknown batch, a null pointer, `*nr` of zero, `min_nr` above `*nr` or above the capacity, or an
 * invalid timeout; 5030 before 0.5.
 */
hipFileError_t hipFileBatchIOGetStatus(hipFileBatchHandle_t batch_idp, unsigned int min_nr, unsigned int *nr,
                                       hipFileIOEvents_t *iocbp, struct timespec *timeout);

/**
 * Cancels the operations that have not begun. Those that run go on: memory and files stay in use until every event
 * was fetched.
 *
 * Errors: 5022 for an unknown batch; 5030 before 0.5.
 */
hipFileError_t hipFileBatchIOCancel(hipFileBatchHandle_t batch_idp);

/** Cancels, waits for what runs, and drops the batch with its events. Ignores an unknown batch. */
void hipFileBatchIODestroy(hipFileBatchHandle_t batch_idp);

/* ----------------------------------------------------------------------------------------- configuration parameters */

/** Parameters that are numbers. */
typedef enum {
    hipFileParamProfileStats = 0,                       /**< Level of statistics. */
    hipFileParamExecutionMaxIOQueueDepth = 1,           /**< Depth of the I/O queue. */
    hipFileParamExecutionMaxIOThreads = 2,              /**< Number of I/O threads. */
    hipFileParamExecutionMinIOThresholdSizeKB = 3,      /**< Smallest request that is split, in KiB. */
    hipFileParamExecutionMaxRequestParallelism = 4,     /**< Parts a request is split into. */
    hipFileParamPropertiesMaxDirectIOSizeKB = 5,        /**< Largest direct transfer, in KiB. */
    hipFileParamPropertiesMaxDeviceCacheSizeKB = 6,     /**< Device memory for caching, in KiB. */
    hipFileParamPropertiesPerBufferCacheSizeKB = 7,     /**< Cache of one buffer, in KiB. */
    hipFileParamPropertiesMaxDevicePinnedMemSizeKB = 8, /**< Device memory that may be pinned, in KiB. */
    hipFileParamPropertiesIOBatchsize = 9,              /**< Largest number of operations in a batch. */
    hipFileParamPollthresholdSizeKB = 10,               /**< Largest request that is polled for, in KiB. */
    hipFileParamPropertiesBatchIOTimeoutMs = 11         /**< Longest time a batch may take, in milliseconds. */
} hipFileSizeTConfigParameter_t;

/** Parameters that are on or off. */
typedef enum {
    hipFileParamPropertiesUsePollMode = 0,       /**< Poll for completions. */
    hipFileParamPropertiesAllowCompatMode = 1,   /**< I/O may go through host memory. */
    hipFileParamForceCompatMode = 2,             /**< I/O always goes through host memory. */
    hipFileParamFsMiscApiCheckAggressive = 3,    /**< Check arguments thoroughly. */
    hipFileParamExecutionParallelIO = 4,         /**< Serve a request by several threads. */
    hipFileParamProfileNvtx = 5,                 /**< Annotate for a profiler. */
    hipFileParamPropertiesAllowSystemMemory = 6, /**< Accept host memory. */
    hipFileParamUsePcip2pdma = 7,                /**< Use PCI peer-to-peer DMA. */
    hipFileParamPreferIOUring = 8,               /**< Prefer io_uring. */
    hipFileParamForceOdirectMode = 9,            /**< Always use `O_DIRECT`. */
    hipFileParamSkipTopologyDetection = 10,      /**< Do not examine the PCI topology. */
    hipFileParamStreamMemopsBypass = 11          /**< Avoid memory operations of streams. */
} hipFileBoolConfigParameter_t;

/** Parameters that are text. */
typedef enum {
    hipFileParamLoggingLevel = 0,   /**< Level of logging. */
    hipFileParamEnvLogfilePath = 1, /**< Path of the log file. */
    hipFileParamLogDir = 2          /**< Directory of log files. */
} hipFileStringConfigParameter_t;

/**
 * Stores a number in `*value`.
 *
 * Errors: AMD's library returns 5030 without looking at the arguments.
 */
hipFileError_t hipFileGetParameterSizeT(hipFileSizeTConfigParameter_t param, size_t *value);

/**
 * Stores a switch in `*value`.
 *
 * Errors: AMD's library returns 5030 without looking at the arguments.
 */
hipFileError_t hipFileGetParameterBool(hipFileBoolConfigParameter_t param, bool *value);

/**
 * Stores a text in the `len` bytes at `desc_str`.
 *
 * Errors: AMD's library returns 5030 without looking at the arguments.
 */
hipFileError_t hipFileGetParameterString(hipFileStringConfigParameter_t param, char *desc_str, int len);

/**
 * Sets a number.
 *
 * Errors: AMD's library returns 5030 without looking at the arguments.
 */
hipFileError_t hipFileSetParameterSizeT(hipFileSizeTConfigParameter_t param, size_t value);

/**
 * Sets a switch.
 *
 * Errors: AMD's library returns 5030 without looking at the arguments.
 */
hipFileError_t hipFileSetParameterBool(hipFileBoolConfigParameter_t param, bool value);

/**
 * Sets a text.
 *
 * Errors: AMD's library returns 5030 without looking at the arguments.
 */
hipFileError_t hipFileSetParameterString(hipFileStringConfigParameter_t param, const char *desc_str);

/* ----------------------------------------------------------------------------------------------------- statistics */

/** Number of GPUs `hipFileStatsLevel3_t` has room for. Since 0.5. */
#define HIPFILE_MAX_GPUS 16
/** Bytes of a GPU's identity in `hipFilePerGpuStats_t`. Since 0.5. */
#define HIPFILE_GPU_UUID_LEN 16

/** Counts operations by outcome. Since 0.5. */
typedef struct {
    uint64_t ok;  /**< How many succeeded. */
    uint64_t err; /**< How many failed. */
} hipFileOpCounter_t;

/**
 * Totals of the process since it first used the library. They never go back. Fields described as "always zero" are
 * not filled in by AMD's library. Since 0.5.
 */
typedef struct {
    hipFileOpCounter_t read_ops;                 /**< Reads. */
    hipFileOpCounter_t write_ops;                /**< Writes. */
    hipFileOpCounter_t hdl_register_ops;         /**< File registrations; failures are not counted. */
    hipFileOpCounter_t hdl_deregister_ops;       /**< Always zero. */
    hipFileOpCounter_t buf_register_ops;         /**< Buffer registrations; failures are not counted. */
    hipFileOpCounter_t buf_deregister_ops;       /**< Always zero. */
    uint64_t read_bytes;                         /**< Bytes read. */
    uint64_t write_bytes;                        /**< Bytes written. */
    uint64_t read_bw_bytes_per_sec;              /**< Bytes read per second spent reading. */
    uint64_t write_bw_bytes_per_sec;             /**< Bytes written per second spent writing. */
    uint64_t read_lat_avg_us;                    /**< Mean time of a read, in microseconds. */
    uint64_t write_lat_avg_us;                   /**< Mean time of a write, in microseconds. */
    uint64_t read_ops_per_sec;                   /**< Always zero. */
    uint64_t write_ops_per_sec;                  /**< Always zero. */
    uint64_t read_lat_sum_us;                    /**< Time spent reading, in microseconds. */
    uint64_t write_lat_sum_us;                   /**< Time spent writing, in microseconds. */
    hipFileOpCounter_t batch_submit_ops;         /**< Always zero. */
    hipFileOpCounter_t batch_complete_ops;       /**< Always zero. */
    hipFileOpCounter_t batch_setup_ops;          /**< Always zero. */
    hipFileOpCounter_t batch_cancel_ops;         /**< Always zero. */
    hipFileOpCounter_t batch_destroy_ops;        /**< Always zero. */
    hipFileOpCounter_t batch_enqueued_ops;       /**< Always zero. */
    hipFileOpCounter_t batch_posix_enqueued_ops; /**< Always zero. */
    hipFileOpCounter_t batch_processed_ops;      /**< Always zero. */
    hipFileOpCounter_t batch_posix_processed_ops; /**< Always zero. */
    hipFileOpCounter_t batch_nvfs_submit_ops;    /**< Always zero. */
    hipFileOpCounter_t batch_p2p_submit_ops;     /**< Always zero. */
    hipFileOpCounter_t batch_aio_submit_ops;     /**< Always zero. */
    hipFileOpCounter_t batch_iouring_submit_ops; /**< Always zero. */
    hipFileOpCounter_t batch_mixed_io_submit_ops; /**< Always zero. */
    hipFileOpCounter_t batch_total_submit_ops;   /**< Always zero. */
    uint64_t batch_read_bytes;                   /**< Always zero. */
    uint64_t batch_write_bytes;                  /**< Always zero. */
    uint64_t batch_read_bw_bytes;                /**< Always zero. */
    uint64_t batch_write_bw_bytes;               /**< Always zero. */
    uint64_t batch_submit_lat_avg_us;            /**< Always zero. */
    uint64_t batch_completion_lat_avg_us;        /**< Always zero. */
    uint64_t batch_submit_ops_per_sec;           /**< Always zero. */
    uint64_t batch_complete_ops_per_sec;         /**< Always zero. */
    uint64_t batch_submit_lat_sum_us;            /**< Always zero. */
    uint64_t batch_completion_lat_sum_us;        /**< Always zero. */
    uint64_t last_batch_read_bytes;              /**< Always zero. */
    uint64_t last_batch_write_bytes;             /**< Always zero. */
} hipFileStatsLevel1_t;

/** Totals with histograms of sizes. Since 0.5. */
typedef struct {
    hipFileStatsLevel1_t basic;      /**< The totals. */
    uint64_t read_size_kb_hist[32];  /**< Always zero. */
    uint64_t write_size_kb_hist[32]; /**< Always zero. */
} hipFileStatsLevel2_t;

/** Totals of one GPU. Since 0.5. */
typedef struct {
    char uuid[HIPFILE_GPU_UUID_LEN]; /**< Identity of the GPU; always zero. */
    uint64_t read_bytes;             /**< Bytes read. */
    uint64_t read_bw_bytes_per_sec;  /**< Bytes read per second spent reading. */
    uint64_t read_utilization;       /**< Always zero. */
    uint64_t read_duration_us;       /**< Time spent reading, in microseconds. */
    uint64_t n_total_reads;          /**< Reads. */
    uint64_t n_p2p_reads;            /**< Always zero. */
    uint64_t n_nvfs_reads;           /**< Reads that took the fast path. */
    uint64_t n_posix_reads;          /**< Reads that went through host memory. */
    uint64_t n_unaligned_reads;      /**< Reads through host memory because of their alignment. */
    uint64_t n_dr_reads;             /**< Always zero. */
    uint64_t n_sparse_regions;       /**< Always zero. */
    uint64_t n_inline_regions;       /**< Always zero. */
    uint64_t n_reads_err;            /**< Reads that failed. */
    uint64_t write_bytes;            /**< Bytes written. */
    uint64_t write_bw_bytes_per_sec; /**< Bytes written per second spent writing. */
    uint64_t write_utilization;      /**< Always zero. */
    uint64_t write_duration_us;      /**< Time spent writing, in microseconds. */
    uint64_t n_total_writes;         /**< Writes. */
    uint64_t n_p2p_writes;           /**< Always zero. */
    uint64_t n_nvfs_writes;          /**< Writes that took the fast path. */
    uint64_t n_posix_writes;         /**< Writes that went through host memory. */
    uint64_t n_unaligned_writes;     /**< Writes through host memory because of their alignment. */
    uint64_t n_dr_writes;            /**< Always zero. */
    uint64_t n_writes_err;           /**< Writes that failed. */
    uint64_t n_mmap;                 /**< Buffer registrations of the whole process. */
    uint64_t n_mmap_ok;              /**< The same number. */
    uint64_t n_mmap_err;             /**< Always zero. */
    uint64_t n_mmap_free;            /**< Always zero. */
    uint64_t reg_bytes;              /**< Always zero. */
} hipFilePerGpuStats_t;

/** Totals of the process and of each GPU. Since 0.5. */
typedef struct {
    hipFileStatsLevel2_t detailed; /**< The process. */
    uint32_t num_gpus;             /**< GPUs that saw I/O. Not a bound for the array: look at all of it. */
    hipFilePerGpuStats_t per_gpu_stats[HIPFILE_MAX_GPUS]; /**< The GPUs, by their ordinal. */
} hipFileStatsLevel3_t;

/**
 * Stores the totals. All zero if the statistics are switched off by `HIPFILE_STATS_LEVEL=0`. Never opens the library.
 * Since 0.5.
 *
 * Errors: 5022 if the pointer is null; 5030 if the library could not set up its statistics.
 */
hipFileError_t hipFileGetStatsL1(hipFileStatsLevel1_t *stats);

/** Stores the totals and histograms. Rules and errors are those of `hipFileGetStatsL1`. Since 0.5. */
hipFileError_t hipFileGetStatsL2(hipFileStatsLevel2_t *stats);

/** Stores the totals by GPU too. Rules and errors are those of `hipFileGetStatsL1`. Since 0.5. */
hipFileError_t hipFileGetStatsL3(hipFileStatsLevel3_t *stats);

#ifdef __cplusplus
}
#endif

#endif /* HIPFILE_H */
