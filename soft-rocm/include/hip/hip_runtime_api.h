/*
 * The slice of the HIP runtime API that hipFile programs need.
 *
 * This header is written for the software ROCm of this repository. It declares what the software
 * libamdhip64 exports and nothing more; names, values, sizes and signatures are those of HIP 7, so
 * that a program compiled against it runs on AMD's libamdhip64.so.7 as well. It is usable from C11
 * and from C++17.
 *
 * Define __HIP_PLATFORM_AMD__ (or __HIP_PLATFORM_NVIDIA__) before including it, as with AMD's header.
 *
 * Conventions
 *  - Every function that returns hipError_t answers hipSuccess or one of the codes it names. Unless it
 *    says otherwise, a failing call also becomes the calling thread's last error (hipGetLastError).
 *  - Every function answers hipErrorNotInitialized in a child made by fork(), where the parent had used
 *    the library: device memory is not carried over.
 *  - Sizes and offsets are bytes.
 */
#ifndef HIP_RUNTIME_API_H
#define HIP_RUNTIME_API_H

#if !defined(__HIP_PLATFORM_AMD__) && !defined(__HIP_PLATFORM_NVIDIA__)
#error "define __HIP_PLATFORM_AMD__ or __HIP_PLATFORM_NVIDIA__ before including hip/hip_runtime_api.h"
#endif

#include <stddef.h>
#include <stdint.h>

/** Version of the API declared here. */
#define HIP_VERSION_MAJOR 7
/** See HIP_VERSION_MAJOR. */
#define HIP_VERSION_MINOR 14
/** See HIP_VERSION_MAJOR. */
#define HIP_VERSION_PATCH 0
/** The three parts in one number, as hipRuntimeGetVersion() reports them. */
#define HIP_VERSION (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)

#if defined(__cplusplus) && __cplusplus >= 201703L
#define HIP_RUNTIME_API_NODISCARD [[nodiscard]]
#else
#define HIP_RUNTIME_API_NODISCARD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ------------------------------------------------------------------------------------- */

/** Result of a call. Names that share a value are older and newer spellings of one code. */
typedef enum HIP_RUNTIME_API_NODISCARD hipError_t {
    /** The call did what was asked. */
    hipSuccess = 0,
    /** An argument is out of range, or a pointer is not what the call needs. */
    hipErrorInvalidValue = 1,
    /** Not enough memory. */
    hipErrorOutOfMemory = 2,
    /** Older spelling of hipErrorOutOfMemory. */
    hipErrorMemoryAllocation = 2,
    /** The runtime is not usable in this process. */
    hipErrorNotInitialized = 3,
    /** Older spelling of hipErrorNotInitialized. */
    hipErrorInitializationError = 3,
    /** The runtime is being taken down. */
    hipErrorDeinitialized = 4,
    /** Profiling is disabled. */
    hipErrorProfilerDisabled = 5,
    /** Profiling has not been initialised. */
    hipErrorProfilerNotInitialized = 6,
    /** Profiling is running already. */
    hipErrorProfilerAlreadyStarted = 7,
    /** Profiling has been stopped already. */
    hipErrorProfilerAlreadyStopped = 8,
    /** A launch configuration asks for more than the device has. */
    hipErrorInvalidConfiguration = 9,
    /** A pitch is out of range. */
    hipErrorInvalidPitchValue = 12,
    /** A symbol is not known. */
    hipErrorInvalidSymbol = 13,
    /** A pointer is not a device pointer. */
    hipErrorInvalidDevicePointer = 17,
    /** The direction of a copy is not one of hipMemcpyKind. */
    hipErrorInvalidMemcpyDirection = 21,
    /** The kernel driver is older than the runtime needs. */
    hipErrorInsufficientDriver = 35,
    /** A launch has no configuration. */
    hipErrorMissingConfiguration = 52,
    /** An earlier launch failed. */
    hipErrorPriorLaunchFailure = 53,
    /** A device function is not known. */
    hipErrorInvalidDeviceFunction = 98,
    /** There is no device. */
    hipErrorNoDevice = 100,
    /** A device ordinal is out of range. */
    hipErrorInvalidDevice = 101,
    /** A kernel image is invalid. */
    hipErrorInvalidImage = 200,
    /** A context is invalid. */
    hipErrorInvalidContext = 201,
    /** The context is current already. */
    hipErrorContextAlreadyCurrent = 202,
    /** Mapping failed. */
    hipErrorMapFailed = 205,
    /** Older spelling of hipErrorMapFailed. */
    hipErrorMapBufferObjectFailed = 205,
    /** Unmapping failed. */
    hipErrorUnmapFailed = 206,
    /** The array is mapped. */
    hipErrorArrayIsMapped = 207,
    /** The resource is mapped already. */
    hipErrorAlreadyMapped = 208,
    /** No kernel image fits the device. */
    hipErrorNoBinaryForGpu = 209,
    /** The resource has been acquired already. */
    hipErrorAlreadyAcquired = 210,
    /** The resource is not mapped. */
    hipErrorNotMapped = 211,
    /** The resource is not mapped as an array. */
    hipErrorNotMappedAsArray = 212,
    /** The resource is not mapped as a pointer. */
    hipErrorNotMappedAsPointer = 213,
    /** Memory has an error that ECC could not repair. */
    hipErrorECCNotCorrectable = 214,
    /** The device does not have this limit. */
    hipErrorUnsupportedLimit = 215,
    /** The context is bound to another thread. */
    hipErrorContextAlreadyInUse = 216,
    /** The devices cannot reach each other's memory. */
    hipErrorPeerAccessUnsupported = 217,
    /** A kernel file is invalid. */
    hipErrorInvalidKernelFile = 218,
    /** A graphics context is invalid. */
    hipErrorInvalidGraphicsContext = 219,
    /** Kernel source is invalid. */
    hipErrorInvalidSource = 300,
    /** A file is missing. */
    hipErrorFileNotFound = 301,
    /** A symbol of a shared object is missing. */
    hipErrorSharedObjectSymbolNotFound = 302,
    /** A shared object could not be initialised. */
    hipErrorSharedObjectInitFailed = 303,
    /** The operating system refused. */
    hipErrorOperatingSystem = 304,
    /** A handle, such as a stream, is not valid. */
    hipErrorInvalidHandle = 400,
    /** Older spelling of hipErrorInvalidHandle. */
    hipErrorInvalidResourceHandle = 400,
    /** The object is in a state that does not allow the call. */
    hipErrorIllegalState = 401,
    /** What was asked for does not exist. */
    hipErrorNotFound = 500,
    /** Work has not completed yet; not a failure. */
    hipErrorNotReady = 600,
    /** The device touched memory that is not its own. */
    hipErrorIllegalAddress = 700,
    /** A launch needs more resources than the device has. */
    hipErrorLaunchOutOfResources = 701,
    /** A kernel ran too long. */
    hipErrorLaunchTimeOut = 702,
    /** Peer access is enabled already. */
    hipErrorPeerAccessAlreadyEnabled = 704,
    /** Peer access has not been enabled. */
    hipErrorPeerAccessNotEnabled = 705,
    /** The process is in use already. */
    hipErrorSetOnActiveProcess = 708,
    /** The context has been destroyed. */
    hipErrorContextIsDestroyed = 709,
    /** An assertion failed in a kernel. */
    hipErrorAssert = 710,
    /** The host memory is registered already. */
    hipErrorHostMemoryAlreadyRegistered = 712,
    /** The host memory is not registered. */
    hipErrorHostMemoryNotRegistered = 713,
    /** A kernel failed. */
    hipErrorLaunchFailure = 719,
    /** A cooperative launch has too many blocks. */
    hipErrorCooperativeLaunchTooLarge = 720,
    /** The operation is not supported here. */
    hipErrorNotSupported = 801,
    /** The operation is not allowed while a stream is captured. */
    hipErrorStreamCaptureUnsupported = 900,
    /** An earlier error made the capture invalid. */
    hipErrorStreamCaptureInvalidated = 901,
    /** The operation would merge two captures. */
    hipErrorStreamCaptureMerge = 902,
    /** The capture was not started on this stream. */
    hipErrorStreamCaptureUnmatched = 903,
    /** A forked stream was not joined to its capture. */
    hipErrorStreamCaptureUnjoined = 904,
    /** The operation would cross the border of a capture. */
    hipErrorStreamCaptureIsolation = 905,
    /** The operation would depend on the NULL stream during a capture. */
    hipErrorStreamCaptureImplicit = 906,
    /** The event was recorded by a capture. */
    hipErrorCapturedEvent = 907,
    /** The capture was started by another thread. */
    hipErrorStreamCaptureWrongThread = 908,
    /** An executable graph could not be updated. */
    hipErrorGraphExecUpdateFailure = 910,
    /** A channel descriptor is invalid. */
    hipErrorInvalidChannelDescriptor = 911,
    /** A texture is invalid. */
    hipErrorInvalidTexture = 912,
    /** A failure without a code of its own. */
    hipErrorUnknown = 999,
    /** A runtime memory call failed. */
    hipErrorRuntimeMemory = 1052,
    /** A runtime call other than a memory call failed. */
    hipErrorRuntimeOther = 1053
} hipError_t;

/** What a pointer refers to, numbered as since HIP 6. */
typedef enum hipMemoryType {
    /** Memory the runtime does not know: ordinary host memory. */
    hipMemoryTypeUnregistered = 0,
    /** Host memory that devices reach: from hipHostMalloc(), registered, or signal memory. */
    hipMemoryTypeHost = 1,
    /** Device memory, from hipMalloc(). */
    hipMemoryTypeDevice = 2,
    /** Managed memory, from hipMallocManaged(). */
    hipMemoryTypeManaged = 3,
    /** An array. */
    hipMemoryTypeArray = 10,
    /** Unified address space. */
    hipMemoryTypeUnified = 11
} hipMemoryType;

/** What hipPointerGetAttributes() knows about a pointer. 32 bytes on 64-bit systems. */
typedef struct hipPointerAttribute_t {
    /** What the pointer refers to. */
    enum hipMemoryType type;
    /** Ordinal of the device that owns the memory; hipInvalidDeviceId for unregistered memory. */
    int device;
    /** Address for device code; NULL if there is none. */
    void *devicePointer;
    /** Address for host code; NULL if there is none. */
    void *hostPointer;
    /** 1 for managed memory. */
    int isManaged;
    /** Flags given to hipHostMalloc(), hipHostRegister() or hipMallocManaged(); else 0. */
    unsigned int allocationFlags;
} hipPointerAttribute_t;

/** Direction of a copy. */
typedef enum hipMemcpyKind {
    /** Host to host. */
    hipMemcpyHostToHost = 0,
    /** Host to device. */
    hipMemcpyHostToDevice = 1,
    /** Device to host. */
    hipMemcpyDeviceToHost = 2,
    /** Device to device. */
    hipMemcpyDeviceToDevice = 3,
    /** Inferred from the two pointers. */
    hipMemcpyDefault = 4,
    /** Device to device, without use of the compute units. */
    hipMemcpyDeviceToDeviceNoCU = 1024
} hipMemcpyKind;

/** Attributes that hipDeviceGetAttribute() knows here. Other ids are answered with hipErrorInvalidValue. */
typedef enum hipDeviceAttribute_t {
    /** 1 if pinned host memory can be mapped into the device's address space. */
    hipDeviceAttributeCanMapHostMemory = 3,
    /** 1 if the device shares the host's memory. */
    hipDeviceAttributeIntegrated = 16,
    /** 1 if the device has managed memory. */
    hipDeviceAttributeManagedMemory = 24,
    /** Most threads in a block. */
    hipDeviceAttributeMaxThreadsPerBlock = 56,
    /** Number of compute units. */
    hipDeviceAttributeMultiprocessorCount = 63,
    /** Threads in a wavefront. */
    hipDeviceAttributeWarpSize = 87,
    /** 1 if streams can wait for a value in memory. */
    hipDeviceAttributeCanUseStreamWaitValue = 10013
} hipDeviceAttribute_t;

/** How hipGetProcAddress() fared. */
typedef enum hipDriverProcAddressQueryResult {
    /** The function was found. */
    HIP_GET_PROC_ADDRESS_SUCCESS = 0,
    /** There is no function of that name. */
    HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
    /** The function is newer than the version asked for. */
    HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2
} hipDriverProcAddressQueryResult;

/** What a stream is behind its handle; no caller sees inside. */
struct ihipStream_t;

/** A stream: a queue of work on one device. NULL is the default stream. */
typedef struct ihipStream_t *hipStream_t;

/** An address in device memory. */
typedef void *hipDeviceptr_t;

/** The file of hipAmdFileRead() and hipAmdFileWrite(): 8 bytes, passed by value. */
typedef union hipAmdFileHandle_t {
    /** Handle on systems whose files are not numbered. */
    void *handle;
    /** File descriptor. */
    int fd;
    /** Fixes the size. */
    uint8_t pad[8];
} hipAmdFileHandle_t;

/** Ordinal that belongs to no device. */
#define hipInvalidDeviceId (-2)

/** Pinned memory with the runtime's defaults. */
#define hipHostMallocDefault 0x0u
/** Pinned memory that every device can use. */
#define hipHostMallocPortable 0x1u
/** Pinned memory mapped into the current device's address space. */
#define hipHostMallocMapped 0x2u
/** Pinned memory the host writes through a combining buffer. */
#define hipHostMallocWriteCombined 0x4u
/** Pinned memory placed by the caller's NUMA policy. */
#define hipHostMallocNumaUser 0x20000000u
/** Pinned memory kept coherent while kernels run. */
#define hipHostMallocCoherent 0x40000000u
/** Pinned memory made coherent between kernels only. */
#define hipHostMallocNonCoherent 0x80000000u

/** Host memory registered with the runtime's defaults. */
#define hipHostRegisterDefault 0x0u
/** Registered host memory that every device can use. */
#define hipHostRegisterPortable 0x1u
/** Registered host memory mapped into the current device's address space. */
#define hipHostRegisterMapped 0x2u
/** Registered memory of a device other than a GPU. */
#define hipHostRegisterIoMemory 0x4u
/** Registered host memory that is coherent between kernels only. */
#define hipExtHostRegisterCoarseGrained 0x8u

/** Device memory with the runtime's defaults. */
#define hipDeviceMallocDefault 0x0u
/** Device memory kept coherent while kernels run. */
#define hipDeviceMallocFinegrained 0x1u
/** Memory of 8 bytes for hipStreamWaitValue64() and its like. */
#define hipMallocSignalMemory 0x2u
/** Device memory that is not cached. */
#define hipDeviceMallocUncached 0x3u

/** Managed memory for the streams of every device. */
#define hipMemAttachGlobal 0x1u
/** Managed memory that starts out for the host. */
#define hipMemAttachHost 0x2u

/* ---- Errors ------------------------------------------------------------------------------------ */

/**
 * Name of a code, such as "hipErrorInvalidValue"; "hipErrorUnknown" for a code without one. Never NULL, never
 * freed; works without a device and in a forked child.
 */
const char *hipGetErrorName(hipError_t hip_error);

/**
 * Short text for a code, such as "invalid argument"; "unknown error" for a code without one. Never NULL, never
 * freed; works without a device and in a forked child.
 */
const char *hipGetErrorString(hipError_t hipError);

/** The calling thread's last error, which is then reset to hipSuccess. */
hipError_t hipGetLastError(void);

/** The calling thread's last error, which is kept. */
hipError_t hipPeekAtLastError(void);

/* ---- Runtime ----------------------------------------------------------------------------------- */

/**
 * Initialises the runtime; every call that needs it does so too.
 *
 * Errors: answers hipErrorInvalidValue if flags is not 0; hipErrorInvalidDevice if there is no device.
 */
hipError_t hipInit(unsigned int flags);

/**
 * Version of the driver, in the form of HIP_VERSION.
 *
 * Errors: answers hipErrorInvalidValue if driverVersion is NULL.
 */
hipError_t hipDriverGetVersion(int *driverVersion);

/**
 * Version of the runtime, in the form of HIP_VERSION.
 *
 * Errors: answers hipErrorInvalidValue if runtimeVersion is NULL.
 */
hipError_t hipRuntimeGetVersion(int *runtimeVersion);

/**
 * Address of the function named symbol. hipVersion is the version the caller was written for; flags is 0;
 * symbolStatus may be NULL.
 *
 * Errors: answers hipErrorInvalidValue if symbol or pfn is NULL, if flags is not 0, or if there is no such function
 * (*pfn is NULL then).
 */
hipError_t hipGetProcAddress(const char *symbol, void **pfn, int hipVersion, uint64_t flags,
                             hipDriverProcAddressQueryResult *symbolStatus);

/* ---- Devices ----------------------------------------------------------------------------------- */

/**
 * Number of devices.
 *
 * Errors: answers hipErrorInvalidValue if count is NULL; hipErrorNoDevice if there is none (*count is 0 then).
 */
hipError_t hipGetDeviceCount(int *count);

/**
 * The calling thread's current device; 0 in a thread that has not chosen one.
 *
 * Errors: answers hipErrorInvalidValue if deviceId is NULL; hipErrorInvalidDevice if there is no device.
 */
hipError_t hipGetDevice(int *deviceId);

/**
 * Makes a device current for the calling thread.
 *
 * Errors: answers hipErrorInvalidDevice if there is no such device.
 */
hipError_t hipSetDevice(int deviceId);

/**
 * One property of a device.
 *
 * Errors: answers hipErrorInvalidValue if pi is NULL or the attribute is not known; hipErrorInvalidDevice if there is no
 * such device.
 */
hipError_t hipDeviceGetAttribute(int *pi, hipDeviceAttribute_t attr, int deviceId);

/**
 * Waits for all work of the current device.
 *
 * Errors: answers hipErrorInvalidDevice if there is no device.
 */
hipError_t hipDeviceSynchronize(void);

/**
 * Waits for all work of a stream; NULL is the current device's default stream.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such stream; hipErrorInvalidDevice if there is no device.
 */
hipError_t hipStreamSynchronize(hipStream_t stream);

/* ---- Memory ------------------------------------------------------------------------------------ */

/**
 * Allocates memory of the current device, aligned to a page. A size of 0 gives NULL and hipSuccess.
 *
 * Errors: answers hipErrorInvalidValue if ptr is NULL; hipErrorOutOfMemory if no free range is long enough (*ptr is NULL
 * then).
 */
hipError_t hipMalloc(void **ptr, size_t size);

/**
 * As hipMalloc(), for a sort of memory that one of hipDeviceMalloc... or hipMallocSignalMemory names. Signal memory has
 * 8 bytes; host code may read and write it.
 *
 * Errors: answers hipErrorInvalidValue if ptr is NULL, if flags is another value or if signal memory is asked for with
 * another size; hipErrorOutOfMemory as hipMalloc().
 */
hipError_t hipExtMallocWithFlags(void **ptr, size_t sizeBytes, unsigned int flags);

/**
 * Allocates managed memory, aligned to a page: host code and devices use it by the same address. flags is
 * hipMemAttachGlobal or hipMemAttachHost. It takes no memory of the device.
 *
 * Errors: answers hipErrorInvalidValue if dev_ptr is NULL, if size is 0 or if flags is another value;
 * hipErrorOutOfMemory if the host has no memory left (*dev_ptr is NULL then).
 */
hipError_t hipMallocManaged(void **dev_ptr, size_t size, unsigned int flags);

/**
 * Frees memory from hipMalloc(), hipExtMallocWithFlags() or hipMallocManaged(); NULL is allowed.
 *
 * Errors: answers hipErrorInvalidValue if ptr is not the start of a live allocation, for example because it is free
 * already.
 */
hipError_t hipFree(void *ptr);

/**
 * Allocates pinned host memory, aligned to a page. A size of 0 gives NULL and hipSuccess. flags is made of the
 * hipHostMalloc... bits.
 *
 * Errors: answers hipErrorInvalidValue if ptr is NULL, if a bit is unknown or if memory is asked to be both coherent and
 * non-coherent; hipErrorOutOfMemory if the host has no memory left (*ptr is NULL then).
 */
hipError_t hipHostMalloc(void **ptr, size_t size, unsigned int flags);

/**
 * Frees memory from hipHostMalloc(); NULL is allowed.
 *
 * Errors: answers hipErrorInvalidValue if ptr is not the start of a live allocation of hipHostMalloc().
 */
hipError_t hipHostFree(void *ptr);

/**
 * Registers sizeBytes of the program's own memory with the runtime: from then on it passes for pinned host memory. flags
 * is made of the hipHostRegister... bits. Ends with hipHostUnregister(), which has to come before the memory is freed.
 *
 * Errors: answers hipErrorInvalidValue if hostPtr is NULL, if sizeBytes is 0, if a bit is unknown or if the range is not
 * host memory of the process; hipErrorHostMemoryAlreadyRegistered if a byte of it is registered, pinned or managed.
 */
hipError_t hipHostRegister(void *hostPtr, size_t sizeBytes, unsigned int flags);

/**
 * Ends a registration.
 *
 * Errors: answers hipErrorInvalidValue if hostPtr is NULL; hipErrorHostMemoryNotRegistered if it is not the start of
 * a registered range.
 */
hipError_t hipHostUnregister(void *hostPtr);

/**
 * Flags that pinned or registered host memory was made with; interior pointers are allowed.
 *
 * Errors: answers hipErrorInvalidValue if flagsPtr is NULL or hostPtr is no such memory.
 */
hipError_t hipHostGetFlags(unsigned int *flagsPtr, void *hostPtr);

/**
 * Address that device code uses for pinned, registered, managed or signal memory; interior pointers are allowed. flags
 * is 0.
 *
 * Errors: answers hipErrorInvalidValue if devPtr is NULL, if flags is not 0 or if hstPtr is no such memory.
 */
hipError_t hipHostGetDevicePointer(void **devPtr, void *hstPtr, unsigned int flags);

/**
 * Copies sizeBytes and returns when they have arrived. A side that is not device memory may be any host memory;
 * pinned, registered, managed and signal memory passes for both. Ranges may overlap. Size 0 does nothing.
 *
 * Errors: answers hipErrorInvalidValue if a pointer is NULL or is not what kind says, or if a range leaves its
 * allocation; hipErrorInvalidMemcpyDirection if kind is not one of hipMemcpyKind.
 */
hipError_t hipMemcpy(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind);

/**
 * Fills device memory, or other memory that devices reach, with the low byte of value. Size 0 does nothing.
 *
 * Errors: answers hipErrorInvalidValue if dst is not such memory or the range leaves its allocation.
 */
hipError_t hipMemset(void *dst, int value, size_t sizeBytes);

/**
 * Free and total memory of the current device.
 *
 * Errors: answers hipErrorInvalidValue if a pointer is NULL.
 */
hipError_t hipMemGetInfo(size_t *free, size_t *total);

/**
 * What a pointer refers to; interior pointers are allowed. Memory the runtime does not know is answered with
 * hipSuccess and hipMemoryTypeUnregistered.
 *
 * Errors: answers hipErrorInvalidValue if a pointer is NULL.
 */
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *ptr);

/**
 * Start and length of the allocation that holds dptr, which may point inside. pbase and psize may be NULL.
 *
 * Errors: answers hipErrorNotFound if no live allocation holds it.
 */
hipError_t hipMemGetAddressRange(hipDeviceptr_t *pbase, size_t *psize, hipDeviceptr_t dptr);

/**
 * Length of the allocation that starts at ptr.
 *
 * Errors: answers hipErrorInvalidValue if size is NULL or ptr is not the start of a live allocation.
 */
hipError_t hipMemPtrGetInfo(void *ptr, size_t *size);

/* ---- Files ------------------------------------------------------------------------------------- */

/* Older runtimes lack these two: look them up with hipGetProcAddress() rather than linking them. */

/**
 * Reads up to size bytes at file_offset of a file straight into device memory, in one step. *size_copied is the
 * count; it is short at the end of the file. Size 0 does nothing.
 *
 * Errors: answers hipErrorInvalidValue if size_copied or status is NULL; hipErrorUnknown if the operating system refuses,
 * with its error number in *status (0 otherwise). Memory that is not wholly inside one allocation of device
 * memory is refused with EINVAL.
 */
hipError_t hipAmdFileRead(hipAmdFileHandle_t handle, void *devicePtr, uint64_t size, int64_t file_offset,
                          uint64_t *size_copied, int32_t *status);

/**
 * Writes up to size bytes of device memory to a file at file_offset, in one step. *size_copied is the count, which
 * may be short. Nothing is synchronised to storage. Size 0 does nothing.
 *
 * Errors: as hipAmdFileRead().
 */
hipError_t hipAmdFileWrite(hipAmdFileHandle_t handle, void *devicePtr, uint64_t size, int64_t file_offset,
                           uint64_t *size_copied, int32_t *status);

#ifdef __cplusplus
} /* extern "C" */

/** hipMalloc() for a pointer of any type. */
template <class T> inline hipError_t hipMalloc(T **ptr, size_t size) {
    return hipMalloc(reinterpret_cast<void **>(ptr), size);
}

/** hipHostMalloc() for a pointer of any type. */
template <class T>
inline hipError_t hipHostMalloc(T **ptr, size_t size, unsigned int flags = hipHostMallocDefault) {
    return hipHostMalloc(reinterpret_cast<void **>(ptr), size, flags);
}

/** hipMallocManaged() for a pointer of any type. */
template <class T>
inline hipError_t hipMallocManaged(T **ptr, size_t size, unsigned int flags = hipMemAttachGlobal) {
    return hipMallocManaged(reinterpret_cast<void **>(ptr), size, flags);
}
#endif

#undef HIP_RUNTIME_API_NODISCARD

#endif /* HIP_RUNTIME_API_H */
