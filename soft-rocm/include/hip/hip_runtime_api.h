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
#define HIP_RUNTIME_API_DEFAULT(value) = value
#else
#define HIP_RUNTIME_API_DEFAULT(value)
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
    /** The operation is not permitted now, for example in a function that a stream called. */
    hipErrorNotPermitted = 800,
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
    /** Copies that can run beside kernels. */
    hipDeviceAttributeAsyncEngineCount = 2,
    /** 1 if pinned host memory can be mapped into the device's address space. */
    hipDeviceAttributeCanMapHostMemory = 3,
    /** 1 if devices use registered host memory by its host address. */
    hipDeviceAttributeCanUseHostPointerForRegisteredMem = 4,
    /** Clock of the compute units in kHz. */
    hipDeviceAttributeClockRate = 5,
    /** Who may use the device; 0: everyone. */
    hipDeviceAttributeComputeMode = 6,
    /** 1 if kernels can run beside each other. */
    hipDeviceAttributeConcurrentKernels = 8,
    /** 1 if host and device may use managed memory at the same time. */
    hipDeviceAttributeConcurrentManagedAccess = 9,
    /** 1 if cooperative kernels can be launched. */
    hipDeviceAttributeCooperativeLaunch = 10,
    /** 1 if the device shares the host's memory. */
    hipDeviceAttributeIntegrated = 16,
    /** 1 if there is a limit on the time of a kernel. */
    hipDeviceAttributeKernelExecTimeout = 18,
    /** Size of the second-level cache. */
    hipDeviceAttributeL2CacheSize = 19,
    /** First number of the architecture. */
    hipDeviceAttributeComputeCapabilityMajor = 23,
    /** 1 if the device has managed memory. */
    hipDeviceAttributeManagedMemory = 24,
    /** Most threads in a block along x. */
    hipDeviceAttributeMaxBlockDimX = 26,
    /** Most threads in a block along y. */
    hipDeviceAttributeMaxBlockDimY = 27,
    /** Most threads in a block along z. */
    hipDeviceAttributeMaxBlockDimZ = 28,
    /** Most blocks in a grid along x. */
    hipDeviceAttributeMaxGridDimX = 29,
    /** Most blocks in a grid along y. */
    hipDeviceAttributeMaxGridDimY = 30,
    /** Most blocks in a grid along z. */
    hipDeviceAttributeMaxGridDimZ = 31,
    /** Most threads in a block. */
    hipDeviceAttributeMaxThreadsPerBlock = 56,
    /** Most threads in a compute unit. */
    hipDeviceAttributeMaxThreadsPerMultiProcessor = 57,
    /** Longest row of a copy in two dimensions. */
    hipDeviceAttributeMaxPitch = 58,
    /** Width of the memory bus in bits. */
    hipDeviceAttributeMemoryBusWidth = 59,
    /** Clock of the memory in kHz. */
    hipDeviceAttributeMemoryClockRate = 60,
    /** Second number of the architecture. */
    hipDeviceAttributeComputeCapabilityMinor = 61,
    /** Number of compute units. */
    hipDeviceAttributeMultiprocessorCount = 63,
    /** 1 if devices can use host memory that is not pinned. */
    hipDeviceAttributePageableMemoryAccess = 65,
    /** PCI bus of the device. */
    hipDeviceAttributePciBusId = 67,
    /** Number of the device on its PCI bus. */
    hipDeviceAttributePciDeviceId = 68,
    /** PCI domain of the device. */
    hipDeviceAttributePciDomainID = 69,
    /** Most registers for a block. */
    hipDeviceAttributeMaxRegistersPerBlock = 71,
    /** Most shared memory for a block. */
    hipDeviceAttributeMaxSharedMemoryPerBlock = 74,
    /** 1 if streams have priorities. */
    hipDeviceAttributeStreamPrioritiesSupported = 78,
    /** Constant memory. */
    hipDeviceAttributeTotalConstantMemory = 83,
    /** Memory of the device, at most INT_MAX; hipDeviceTotalMem() knows all of it. */
    hipDeviceAttributeTotalGlobalMem = 84,
    /** 1 if an address says which device or host memory it belongs to. */
    hipDeviceAttributeUnifiedAddressing = 85,
    /** Threads in a wavefront. */
    hipDeviceAttributeWarpSize = 87,
    /** 1 if memory can be allocated in the order of a stream. */
    hipDeviceAttributeMemoryPoolsSupported = 88,
    /** 1 if the host reaches all of the device's memory. */
    hipDeviceAttributeIsLargeBar = 10011,
    /** 1 if streams can wait for a value in memory. */
    hipDeviceAttributeCanUseStreamWaitValue = 10013
} hipDeviceAttribute_t;

/** An ordinal: devices are numbered from 0. */
typedef int hipDevice_t;

/** Identifies a device beyond this process. */
typedef struct hipUUID_t {
    /** 16 characters, without a NUL at the end. */
    char bytes[16];
} hipUUID;

/** What kernels can do: a bit each. */
typedef struct hipDeviceArch_t {
    /** Atomic operations on 32-bit integers in global memory. */
    unsigned int hasGlobalInt32Atomics : 1;
    /** Atomic exchange of floats in global memory. */
    unsigned int hasGlobalFloatAtomicExch : 1;
    /** Atomic operations on 32-bit integers in shared memory. */
    unsigned int hasSharedInt32Atomics : 1;
    /** Atomic exchange of floats in shared memory. */
    unsigned int hasSharedFloatAtomicExch : 1;
    /** Atomic addition of floats. */
    unsigned int hasFloatAtomicAdd : 1;
    /** Atomic operations on 64-bit integers in global memory. */
    unsigned int hasGlobalInt64Atomics : 1;
    /** Atomic operations on 64-bit integers in shared memory. */
    unsigned int hasSharedInt64Atomics : 1;
    /** Double precision. */
    unsigned int hasDoubles : 1;
    /** Votes of a wavefront. */
    unsigned int hasWarpVote : 1;
    /** Ballots of a wavefront. */
    unsigned int hasWarpBallot : 1;
    /** Exchange between the threads of a wavefront. */
    unsigned int hasWarpShuffle : 1;
    /** Shifts across two words. */
    unsigned int hasFunnelShift : 1;
    /** Fences for the whole system. */
    unsigned int hasThreadFenceSystem : 1;
    /** Barriers that count. */
    unsigned int hasSyncThreadsExt : 1;
    /** Surface functions. */
    unsigned int hasSurfaceFuncs : 1;
    /** Grids in three dimensions. */
    unsigned int has3dGrid : 1;
    /** Kernels that launch kernels. */
    unsigned int hasDynamicParallelism : 1;
} hipDeviceArch_t;

/** HIP 6 changed the structure and kept its name by these two. */
#define hipDeviceProp_t hipDeviceProp_tR0600
/** See hipDeviceProp_t. */
#define hipGetDeviceProperties hipGetDevicePropertiesR0600

/** What hipGetDeviceProperties() knows about a device. 1472 bytes on 64-bit systems. Limits of what is not there are 0. */
typedef struct hipDeviceProp_tR0600 {
    /** Name. */
    char name[256];
    /** As hipDeviceGetUuid(). */
    hipUUID uuid;
    /** Not used on Linux. */
    char luid[8];
    /** Not used on Linux. */
    unsigned int luidDeviceNodeMask;
    /** Memory of the device. */
    size_t totalGlobalMem;
    /** hipDeviceAttributeMaxSharedMemoryPerBlock */
    size_t sharedMemPerBlock;
    /** hipDeviceAttributeMaxRegistersPerBlock */
    int regsPerBlock;
    /** hipDeviceAttributeWarpSize */
    int warpSize;
    /** hipDeviceAttributeMaxPitch */
    size_t memPitch;
    /** hipDeviceAttributeMaxThreadsPerBlock */
    int maxThreadsPerBlock;
    /** hipDeviceAttributeMaxBlockDimX and the two after it */
    int maxThreadsDim[3];
    /** hipDeviceAttributeMaxGridDimX and the two after it */
    int maxGridSize[3];
    /** hipDeviceAttributeClockRate */
    int clockRate;
    /** hipDeviceAttributeTotalConstantMemory */
    size_t totalConstMem;
    /** hipDeviceAttributeComputeCapabilityMajor */
    int major;
    /** hipDeviceAttributeComputeCapabilityMinor */
    int minor;
    /** Alignment of textures. */
    size_t textureAlignment;
    /** Alignment of the rows of textures. */
    size_t texturePitchAlignment;
    /** 1 if copies can run beside kernels. */
    int deviceOverlap;
    /** hipDeviceAttributeMultiprocessorCount */
    int multiProcessorCount;
    /** hipDeviceAttributeKernelExecTimeout */
    int kernelExecTimeoutEnabled;
    /** hipDeviceAttributeIntegrated */
    int integrated;
    /** hipDeviceAttributeCanMapHostMemory */
    int canMapHostMemory;
    /** hipDeviceAttributeComputeMode */
    int computeMode;
    /** Limit of textures. */
    int maxTexture1D;
    /** Limit of textures. */
    int maxTexture1DMipmap;
    /** Limit of textures. */
    int maxTexture1DLinear;
    /** Limits of textures. */
    int maxTexture2D[2];
    /** Limits of textures. */
    int maxTexture2DMipmap[2];
    /** Limits of textures. */
    int maxTexture2DLinear[3];
    /** Limits of textures. */
    int maxTexture2DGather[2];
    /** Limits of textures. */
    int maxTexture3D[3];
    /** Limits of textures. */
    int maxTexture3DAlt[3];
    /** Limit of textures. */
    int maxTextureCubemap;
    /** Limits of textures. */
    int maxTexture1DLayered[2];
    /** Limits of textures. */
    int maxTexture2DLayered[3];
    /** Limits of textures. */
    int maxTextureCubemapLayered[2];
    /** Limit of surfaces. */
    int maxSurface1D;
    /** Limits of surfaces. */
    int maxSurface2D[2];
    /** Limits of surfaces. */
    int maxSurface3D[3];
    /** Limits of surfaces. */
    int maxSurface1DLayered[2];
    /** Limits of surfaces. */
    int maxSurface2DLayered[3];
    /** Limit of surfaces. */
    int maxSurfaceCubemap;
    /** Limits of surfaces. */
    int maxSurfaceCubemapLayered[2];
    /** Alignment of surfaces. */
    size_t surfaceAlignment;
    /** hipDeviceAttributeConcurrentKernels */
    int concurrentKernels;
    /** 1 if memory is checked for errors. */
    int ECCEnabled;
    /** hipDeviceAttributePciBusId */
    int pciBusID;
    /** hipDeviceAttributePciDeviceId */
    int pciDeviceID;
    /** hipDeviceAttributePciDomainID */
    int pciDomainID;
    /** Not used on Linux. */
    int tccDriver;
    /** hipDeviceAttributeAsyncEngineCount */
    int asyncEngineCount;
    /** hipDeviceAttributeUnifiedAddressing */
    int unifiedAddressing;
    /** hipDeviceAttributeMemoryClockRate */
    int memoryClockRate;
    /** hipDeviceAttributeMemoryBusWidth */
    int memoryBusWidth;
    /** hipDeviceAttributeL2CacheSize */
    int l2CacheSize;
    /** Second-level cache that can be set aside. */
    int persistingL2CacheMaxSize;
    /** hipDeviceAttributeMaxThreadsPerMultiProcessor */
    int maxThreadsPerMultiProcessor;
    /** hipDeviceAttributeStreamPrioritiesSupported */
    int streamPrioritiesSupported;
    /** 1 if global memory is cached in the first level. */
    int globalL1CacheSupported;
    /** 1 if local memory is cached in the first level. */
    int localL1CacheSupported;
    /** Shared memory of a compute unit. */
    size_t sharedMemPerMultiprocessor;
    /** Registers of a compute unit. */
    int regsPerMultiprocessor;
    /** hipDeviceAttributeManagedMemory */
    int managedMemory;
    /** 1 if the board has more than one device. */
    int isMultiGpuBoard;
    /** Number of the board. */
    int multiGpuBoardGroupID;
    /** 1 if atomic operations reach host memory. */
    int hostNativeAtomicSupported;
    /** How much faster single precision is. */
    int singleToDoublePrecisionPerfRatio;
    /** hipDeviceAttributePageableMemoryAccess */
    int pageableMemoryAccess;
    /** hipDeviceAttributeConcurrentManagedAccess */
    int concurrentManagedAccess;
    /** 1 if kernels can be interrupted. */
    int computePreemptionSupported;
    /** hipDeviceAttributeCanUseHostPointerForRegisteredMem */
    int canUseHostPointerForRegisteredMem;
    /** hipDeviceAttributeCooperativeLaunch */
    int cooperativeLaunch;
    /** 1 if cooperative kernels can span devices. */
    int cooperativeMultiDeviceLaunch;
    /** Shared memory of a block on request. */
    size_t sharedMemPerBlockOptin;
    /** 1 if devices use the host's page tables. */
    int pageableMemoryAccessUsesHostPageTables;
    /** 1 if the host reaches managed memory on the device. */
    int directManagedMemAccessFromHost;
    /** Most blocks on a compute unit. */
    int maxBlocksPerMultiProcessor;
    /** Longest window of an access policy. */
    int accessPolicyMaxWindowSize;
    /** Shared memory the runtime takes. */
    size_t reservedSharedMemPerBlock;
    /** 1 if host memory can be registered. */
    int hostRegisterSupported;
    /** 1 if there are sparse arrays. */
    int sparseHipArraySupported;
    /** 1 if host memory can be registered for reading. */
    int hostRegisterReadOnlySupported;
    /** 1 if there are timeline semaphores. */
    int timelineSemaphoreInteropSupported;
    /** hipDeviceAttributeMemoryPoolsSupported */
    int memoryPoolsSupported;
    /** 1 if other devices can reach the memory. */
    int gpuDirectRDMASupported;
    /** How such writes are flushed. */
    unsigned int gpuDirectRDMAFlushWritesOptions;
    /** How such writes are ordered. */
    int gpuDirectRDMAWritesOrdering;
    /** How memory pools can be shared. */
    unsigned int memoryPoolSupportedHandleTypes;
    /** 1 if arrays can be mapped later. */
    int deferredMappingHipArraySupported;
    /** 1 if events can be shared. */
    int ipcEventSupported;
    /** 1 if clusters can be launched. */
    int clusterLaunch;
    /** 1 if functions have one address everywhere. */
    int unifiedFunctionPointers;
    /** 0 */
    int reserved[63];
    /** 0 */
    int hipReserved[32];
    /** Name of the architecture. */
    char gcnArchName[256];
    /** Most shared memory of a compute unit. */
    size_t maxSharedMemoryPerMultiProcessor;
    /** Rate of the clock that kernels read, in kHz. */
    int clockInstructionRate;
    /** What kernels can do. */
    hipDeviceArch_t arch;
    /** NULL */
    unsigned int *hdpMemFlushCntl;
    /** NULL */
    unsigned int *hdpRegFlushCntl;
    /** 1 if cooperative kernels can differ between devices. */
    int cooperativeMultiDeviceUnmatchedFunc;
    /** 1 if their grids can. */
    int cooperativeMultiDeviceUnmatchedGridDim;
    /** 1 if their blocks can. */
    int cooperativeMultiDeviceUnmatchedBlockDim;
    /** 1 if their shared memory can. */
    int cooperativeMultiDeviceUnmatchedSharedMem;
    /** hipDeviceAttributeIsLargeBar */
    int isLargeBar;
    /** Revision of the chip. */
    int asicRevision;
} hipDeviceProp_tR0600;

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

/** A stream: a queue of work on one device. NULL is the default stream of the current device. */
typedef struct ihipStream_t *hipStream_t;

/** What an event is behind its handle; no caller sees inside. */
struct ihipEvent_t;

/** An event: a place in the work of a stream. */
typedef struct ihipEvent_t *hipEvent_t;

/** What a module is behind its handle; there are none here. */
struct ihipModule_t;

/** A module: kernels loaded from a file or memory. */
typedef struct ihipModule_t *hipModule_t;

/** What a function of a module is behind its handle; there are none here. */
struct ihipModuleSymbol_t;

/** A kernel of a module. */
typedef struct ihipModuleSymbol_t *hipFunction_t;

/** Extent of a grid or block. */
typedef struct dim3 {
    /** Columns. */
    uint32_t x;
    /** Rows. */
    uint32_t y;
    /** Layers. */
    uint32_t z;
#ifdef __cplusplus
    constexpr dim3(uint32_t x_ = 1, uint32_t y_ = 1, uint32_t z_ = 1) : x(x_), y(y_), z(z_) {}
#endif
} dim3;

/** A function that a stream calls when it reaches its place. */
typedef void (*hipHostFn_t)(void *userData);

/** A function that a stream calls when it reaches its place, with the stream and the outcome of what was before it. */
typedef void (*hipStreamCallback_t)(hipStream_t stream, hipError_t status, void *userData);

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

/** The default stream, by a name of its own. */
#define hipStreamLegacy ((hipStream_t)1)
/** A stream that the calling thread has for itself on the current device. */
#define hipStreamPerThread ((hipStream_t)2)

/** A stream that keeps order with the default stream. */
#define hipStreamDefault 0x0u
/** A stream that keeps no order with the default stream. */
#define hipStreamNonBlocking 0x1u

/** An event with times, which hipEventSynchronize() waits for as the library likes. */
#define hipEventDefault 0x0u
/** hipEventSynchronize() sleeps rather than spins; it always does here. */
#define hipEventBlockingSync 0x1u
/** An event without times. */
#define hipEventDisableTiming 0x2u
/** An event for other processes; not supported. */
#define hipEventInterprocess 0x4u
/** No fence for the host; no effect here. */
#define hipEventDisableSystemFence 0x20000000u
/** A fence for the device; no effect here. */
#define hipEventReleaseToDevice 0x40000000u
/** A fence for the host; no effect here. */
#define hipEventReleaseToSystem 0x80000000u

/** Waits until (*ptr & mask) >= value, both without a sign. */
#define hipStreamWaitValueGte 0x0u
/** Waits until (*ptr & mask) == value. */
#define hipStreamWaitValueEq 0x1u
/** Waits until ((*ptr & mask) & value) != 0. */
#define hipStreamWaitValueAnd 0x2u
/** Waits until ~((*ptr & mask) | (value & mask)) != 0. */
#define hipStreamWaitValueNor 0x3u

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

/** The runtime chooses how the host waits. */
#define hipDeviceScheduleAuto 0x0u
/** The host waits by looking again and again. */
#define hipDeviceScheduleSpin 0x1u
/** The host gives way to other threads while it waits. */
#define hipDeviceScheduleYield 0x2u
/** The host sleeps while it waits. */
#define hipDeviceScheduleBlockingSync 0x4u
/** The bits of the four above. */
#define hipDeviceScheduleMask 0x7u
/** Pinned host memory can be mapped; it always can. */
#define hipDeviceMapHost 0x8u
/** Local memory keeps its size after a kernel; ignored. */
#define hipDeviceLmemResizeToMax 0x10u

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
 * The device with an ordinal, which is the ordinal.
 *
 * Errors: answers hipErrorInvalidValue if device is NULL; hipErrorInvalidDevice if there is no such device.
 */
hipError_t hipDeviceGet(hipDevice_t *device, int ordinal);

/**
 * Everything about a device in one structure.
 *
 * Errors: answers hipErrorInvalidValue if prop is NULL; hipErrorInvalidDevice if there is no such device.
 */
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *prop, int deviceId);

/**
 * Name of a device, cut to len bytes with the NUL at the end.
 *
 * Errors: answers hipErrorInvalidValue if name is NULL or len is not positive; hipErrorInvalidDevice if there is no such
 * device.
 */
hipError_t hipDeviceGetName(char *name, int len, hipDevice_t device);

/**
 * What identifies a device beyond this process.
 *
 * Errors: answers hipErrorInvalidValue if uuid is NULL; hipErrorInvalidDevice if there is no such device.
 */
hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device);

/**
 * Place of a device on the PCI bus, such as "0000:01:00.0".
 *
 * Errors: answers hipErrorInvalidValue if pciBusId is NULL or len is less than 13; hipErrorInvalidDevice if there is no
 * such device.
 */
hipError_t hipDeviceGetPCIBusId(char *pciBusId, int len, int device);

/**
 * The device at a place on the PCI bus, in the form of hipDeviceGetPCIBusId().
 *
 * Errors: answers hipErrorInvalidValue if a pointer is NULL or there is no device at that place.
 */
hipError_t hipDeviceGetByPCIBusId(int *device, const char *pciBusId);

/**
 * Memory of a device.
 *
 * Errors: answers hipErrorInvalidValue if bytes is NULL; hipErrorInvalidDevice if there is no such device.
 */
hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device);

/**
 * The two numbers of a device's architecture; 0 and 0 here, as there is none.
 *
 * Errors: answers hipErrorInvalidValue if a pointer is NULL; hipErrorInvalidDevice if there is no such device.
 */
hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device);

/**
 * Sets how the host waits for the current device: one of hipDeviceSchedule..., and the bits after it. Remembered, without
 * an effect.
 *
 * Errors: answers hipErrorInvalidValue if flags is anything else; hipErrorInvalidDevice if there is no device.
 */
hipError_t hipSetDeviceFlags(unsigned int flags);

/**
 * The flags of hipSetDeviceFlags(); hipDeviceScheduleAuto before.
 *
 * Errors: answers hipErrorInvalidValue if flags is NULL; hipErrorInvalidDevice if there is no device.
 */
hipError_t hipGetDeviceFlags(unsigned int *flags);

/**
 * Waits for all work of the current device, then frees its device, managed and signal memory, and takes back its
 * flags and its access to peers. Pinned and registered memory stays.
 *
 * Errors: answers hipErrorInvalidDevice if there is no device; hipErrorNotPermitted in a function that a stream called.
 */
hipError_t hipDeviceReset(void);

/**
 * Whether a device can use the memory of another: 1 for any two, 0 for a device and itself.
 *
 * Errors: answers hipErrorInvalidValue if canAccessPeer is NULL; hipErrorInvalidDevice if there is no such device.
 */
hipError_t hipDeviceCanAccessPeer(int *canAccessPeer, int deviceId, int peerDeviceId);

/**
 * Lets the current device use the memory of another. flags is 0. Copies work without it.
 *
 * Errors: answers hipErrorInvalidValue if flags is not 0; hipErrorInvalidDevice if there is no such device or it is the
 * current one; hipErrorPeerAccessAlreadyEnabled if it may already.
 */
hipError_t hipDeviceEnablePeerAccess(int peerDeviceId, unsigned int flags);

/**
 * Ends what hipDeviceEnablePeerAccess() began.
 *
 * Errors: answers hipErrorInvalidDevice if there is no such device; hipErrorPeerAccessNotEnabled if there is nothing to
 * end.
 */
hipError_t hipDeviceDisablePeerAccess(int peerDeviceId);

/**
 * Waits for all work of the current device: that of every stream, destroyed ones included.
 *
 * Errors: answers hipErrorInvalidDevice if there is no device; hipErrorNotPermitted in a function that a stream called;
 * the first error that an operation of the device ended with and nobody was told yet.
 */
hipError_t hipDeviceSynchronize(void);

/* ---- Streams ----------------------------------------------------------------------------------- */

/*
 * A stream does its operations one after the other, in the order of their submission. Submitting does not wait.
 *
 * The default stream of a device keeps order with the blocking streams of that device: an operation of the default
 * stream starts when all that was submitted to them before has completed, and an operation of a blocking stream starts
 * when all that was submitted to the default stream before has completed. Streams made with hipStreamNonBlocking take no
 * part in this. hipMemcpy() and hipMemset() are operations of the default stream that the caller waits for.
 *
 * A stream argument may be NULL or hipStreamLegacy (the default stream of the current device), hipStreamPerThread, or a
 * handle from hipStreamCreate...(). Any other value, such as the handle of a destroyed stream, is answered with
 * hipErrorInvalidHandle.
 *
 * An operation that fails when its turn comes leaves its error with its stream. The next wait for the stream or its
 * device, or the next query of the stream, answers it, once.
 *
 * In a function that a stream called, calls that wait for streams or events answer hipErrorNotPermitted; blocking copies
 * and fills, and freeing memory, are done there without waiting for any stream. Submitting is allowed.
 */

/**
 * Creates a blocking stream of the current device.
 *
 * Errors: answers hipErrorInvalidValue if stream is NULL; hipErrorInvalidDevice if there is no device.
 */
hipError_t hipStreamCreate(hipStream_t *stream);

/**
 * Creates a stream of the current device; flags is hipStreamDefault or hipStreamNonBlocking.
 *
 * Errors: answers hipErrorInvalidValue if stream is NULL or flags is anything else; hipErrorInvalidDevice if there is no
 * device.
 */
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned int flags);

/**
 * As hipStreamCreateWithFlags(), with a priority, which is kept and has no effect. A priority outside
 * hipDeviceGetStreamPriorityRange() stands for the nearest one inside.
 *
 * Errors: as hipStreamCreateWithFlags().
 */
hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned int flags, int priority);

/**
 * The least and the most urgent priority, 1 and -1. Either pointer may be NULL.
 *
 * Errors: answers hipErrorInvalidDevice if there is no device.
 */
hipError_t hipDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority);

/**
 * Destroys a stream and returns at once; what was submitted is still done.
 *
 * Errors: answers hipErrorInvalidHandle if stream did not come from hipStreamCreate...() or was destroyed.
 */
hipError_t hipStreamDestroy(hipStream_t stream);

/**
 * Waits for all work of a stream; for the default stream, of the blocking streams of its device too.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such stream; hipErrorInvalidDevice if there is no device;
 * hipErrorNotPermitted in a function that a stream called; the error of an operation of the stream.
 */
hipError_t hipStreamSynchronize(hipStream_t stream);

/**
 * Whether all work has completed that hipStreamSynchronize() would wait for: hipSuccess or hipErrorNotReady, which does
 * not become the last error.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such stream; the error of an operation of the stream.
 */
hipError_t hipStreamQuery(hipStream_t stream);

/**
 * Flags a stream was created with.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such stream; hipErrorInvalidValue if flags is NULL.
 */
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int *flags);

/**
 * Priority of a stream.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such stream; hipErrorInvalidValue if priority is NULL.
 */
hipError_t hipStreamGetPriority(hipStream_t stream, int *priority);

/**
 * Device of a stream.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such stream; hipErrorInvalidValue if device is NULL.
 */
hipError_t hipStreamGetDevice(hipStream_t stream, int *device);

/**
 * Calls fn(userData) when the stream reaches it. Later operations of the stream wait until it returns. It runs on a
 * thread of the library.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such stream; hipErrorInvalidValue if fn is NULL;
 * hipErrorOutOfMemory if no thread can be started.
 */
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t fn, void *userData);

/**
 * Calls callback(stream, hipSuccess, userData) when the stream reaches it. Later operations of the stream wait until it
 * returns. flags is 0.
 *
 * Errors: as hipLaunchHostFunc(); hipErrorInvalidValue also if flags is not 0.
 */
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *userData,
                                unsigned int flags);

/**
 * Has a stream wait until the 4 bytes at ptr, which it reads again and again, fulfil a condition: flags is one of
 * hipStreamWaitValue.... ptr is aligned memory of the library: device, managed, signal, pinned or registered. Polling
 * backs off to about 4000 times a second.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such stream; hipErrorInvalidValue if ptr is not such memory or
 * flags is anything else; hipErrorOutOfMemory if no thread can be started.
 */
hipError_t hipStreamWaitValue32(hipStream_t stream, void *ptr, uint32_t value, unsigned int flags,
                                uint32_t mask HIP_RUNTIME_API_DEFAULT(0xFFFFFFFFu));

/**
 * hipStreamWaitValue32() for 8 bytes.
 *
 * Errors: as hipStreamWaitValue32().
 */
hipError_t hipStreamWaitValue64(hipStream_t stream, void *ptr, uint64_t value, unsigned int flags,
                                uint64_t mask HIP_RUNTIME_API_DEFAULT(0xFFFFFFFFFFFFFFFFull));

/**
 * Has a stream store 4 bytes at ptr, as one access; what the stream did before is visible to who sees the value. flags
 * is 0, ptr as for hipStreamWaitValue32().
 *
 * Errors: answers hipErrorInvalidHandle if there is no such stream; hipErrorInvalidValue if ptr is not such memory or
 * flags is not 0; hipErrorOutOfMemory if no thread can be started.
 */
hipError_t hipStreamWriteValue32(hipStream_t stream, void *ptr, uint32_t value, unsigned int flags);

/**
 * hipStreamWriteValue32() for 8 bytes.
 *
 * Errors: as hipStreamWriteValue32().
 */
hipError_t hipStreamWriteValue64(hipStream_t stream, void *ptr, uint64_t value, unsigned int flags);

/* ---- Events ------------------------------------------------------------------------------------ */

/*
 * An event argument that is no live event, NULL among them, is answered with hipErrorInvalidHandle.
 */

/**
 * Creates an event of the current device, with times.
 *
 * Errors: answers hipErrorInvalidValue if event is NULL; hipErrorInvalidDevice if there is no device.
 */
hipError_t hipEventCreate(hipEvent_t *event);

/**
 * Creates an event of the current device; flags is made of the hipEvent... bits.
 *
 * Errors: answers hipErrorInvalidValue if event is NULL or a bit is unknown; hipErrorNotSupported for
 * hipEventInterprocess; hipErrorInvalidDevice if there is no device.
 */
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned int flags);

/**
 * Destroys an event. Who waits for it goes on waiting for what was recorded.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such event.
 */
hipError_t hipEventDestroy(hipEvent_t event);

/**
 * Records the place after what was submitted to a stream so far. The event forgets what it recorded before.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such event or stream, or if they are of different devices;
 * hipErrorOutOfMemory if no thread can be started.
 */
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream HIP_RUNTIME_API_DEFAULT(NULL));

/**
 * Waits until the stream has passed what the event recorded last; does not wait if it recorded nothing.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such event; hipErrorNotPermitted in a function that a stream
 * called; the error of an operation of the stream.
 */
hipError_t hipEventSynchronize(hipEvent_t event);

/**
 * Whether the stream has passed what the event recorded last: hipSuccess, also if it recorded nothing, or
 * hipErrorNotReady, which does not become the last error.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such event; the error of an operation of the stream.
 */
hipError_t hipEventQuery(hipEvent_t event);

/**
 * Time in milliseconds between the moments at which streams passed two events.
 *
 * Errors: answers hipErrorInvalidValue if ms is NULL; hipErrorInvalidHandle if there is no such event, one recorded
 * nothing or one was made without times; hipErrorNotReady, which does not become the last error, if one was not passed
 * yet.
 */
hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop);

/**
 * Has a stream wait until another has passed what the event recorded last before this call. flags is 0.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such stream or event; hipErrorInvalidValue if flags is not 0;
 * hipErrorOutOfMemory if no thread can be started.
 */
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event,
                              unsigned int flags HIP_RUNTIME_API_DEFAULT(0));

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
 * Frees memory from hipMalloc(), hipExtMallocWithFlags(), hipMallocManaged() or hipMallocAsync(), after all work of its
 * device has completed, or of all devices for memory that they share; NULL is allowed.
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
 * Frees memory from hipHostMalloc(), after all work of all devices has completed; NULL is allowed.
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
 * Ends a registration, after all work of all devices has completed.
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
 * hipMemcpy() from host memory to device memory.
 *
 * Errors: answers hipErrorInvalidValue if a pointer is NULL, if dst is not memory that devices reach or src none that
 * the host reaches, or if a range leaves its allocation.
 */
hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, const void *src, size_t sizeBytes);

/**
 * hipMemcpy() from device memory to host memory.
 *
 * Errors: answers hipErrorInvalidValue if a pointer is NULL, if dst is not memory that the host reaches or src none that
 * devices reach, or if a range leaves its allocation.
 */
hipError_t hipMemcpyDtoH(void *dst, hipDeviceptr_t src, size_t sizeBytes);

/**
 * hipMemcpy() from device memory to device memory.
 *
 * Errors: answers hipErrorInvalidValue if a pointer is NULL, if one is not memory that devices reach, or if a range leaves
 * its allocation.
 */
hipError_t hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes);

/**
 * Copies sizeBytes between the memory of two devices, or inside one. The pointers say where the memory is.
 *
 * Errors: answers hipErrorInvalidDevice if there is no such device; hipErrorInvalidValue if a pointer is NULL or ordinary
 * host memory, or if a range leaves its allocation.
 */
hipError_t hipMemcpyPeer(void *dst, int dstDeviceId, const void *src, int srcDeviceId, size_t sizeBytes);

/**
 * Fills device memory, or other memory that devices reach, with the low byte of value. Size 0 does nothing.
 *
 * Errors: answers hipErrorInvalidValue if dst is not such memory or the range leaves its allocation.
 */
hipError_t hipMemset(void *dst, int value, size_t sizeBytes);

/**
 * hipMemset() of count bytes.
 *
 * Errors: answers hipErrorInvalidValue if dest is not such memory or the range leaves its allocation.
 */
hipError_t hipMemsetD8(hipDeviceptr_t dest, unsigned char value, size_t count);

/**
 * Fills count elements of 2 bytes of device memory, or of memory that both sides reach. dest is aligned to 2 bytes.
 *
 * Errors: answers hipErrorInvalidValue if dest is not such memory or not aligned, or the range leaves its allocation.
 */
hipError_t hipMemsetD16(hipDeviceptr_t dest, unsigned short value, size_t count);

/**
 * Fills count elements of 4 bytes of device memory, or of memory that both sides reach. dest is aligned to 4 bytes.
 *
 * Errors: answers hipErrorInvalidValue if dest is not such memory or not aligned, or the range leaves its allocation.
 */
hipError_t hipMemsetD32(hipDeviceptr_t dest, int value, size_t count);

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

/* ---- Memory, in the order of a stream ----------------------------------------------------------- */

/*
 * Arguments are checked at submission, as by the calls that do not take a stream, and again when the stream reaches the
 * operation: memory that was freed meanwhile makes it end with hipErrorIllegalAddress. Host memory has to stay until the
 * operation has completed; it is read and written then and not before, pinned or not.
 *
 * Each answers hipErrorInvalidHandle if there is no such stream, and hipErrorOutOfMemory if no thread can be started.
 */

/**
 * hipMemcpy() in the order of a stream, without waiting for it.
 *
 * Errors: as hipMemcpy().
 */
hipError_t hipMemcpyAsync(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
                          hipStream_t stream HIP_RUNTIME_API_DEFAULT(NULL));

/**
 * hipMemcpyHtoD() in the order of a stream, without waiting for it.
 *
 * Errors: as hipMemcpyHtoD().
 */
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t dst, const void *src, size_t sizeBytes, hipStream_t stream);

/**
 * hipMemcpyDtoH() in the order of a stream, without waiting for it.
 *
 * Errors: as hipMemcpyDtoH().
 */
hipError_t hipMemcpyDtoHAsync(void *dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t stream);

/**
 * hipMemcpyDtoD() in the order of a stream, without waiting for it.
 *
 * Errors: as hipMemcpyDtoD().
 */
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t stream);

/**
 * hipMemcpy() in the order of a stream, which is waited for.
 *
 * Errors: as hipMemcpy(); the error of an operation of the stream.
 */
hipError_t hipMemcpyWithStream(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
                               hipStream_t stream);

/**
 * hipMemcpyPeer() in the order of a stream, without waiting for it.
 *
 * Errors: as hipMemcpyPeer().
 */
hipError_t hipMemcpyPeerAsync(void *dst, int dstDeviceId, const void *src, int srcDevice, size_t sizeBytes,
                              hipStream_t stream);

/**
 * hipMemset() in the order of a stream, without waiting for it.
 *
 * Errors: as hipMemset().
 */
hipError_t hipMemsetAsync(void *dst, int value, size_t sizeBytes, hipStream_t stream HIP_RUNTIME_API_DEFAULT(NULL));

/**
 * hipMemsetD8() in the order of a stream, without waiting for it.
 *
 * Errors: as hipMemsetD8().
 */
hipError_t hipMemsetD8Async(hipDeviceptr_t dest, unsigned char value, size_t count,
                            hipStream_t stream HIP_RUNTIME_API_DEFAULT(NULL));

/**
 * hipMemsetD16() in the order of a stream, without waiting for it.
 *
 * Errors: as hipMemsetD16().
 */
hipError_t hipMemsetD16Async(hipDeviceptr_t dest, unsigned short value, size_t count,
                             hipStream_t stream HIP_RUNTIME_API_DEFAULT(NULL));

/**
 * hipMemsetD32() in the order of a stream, without waiting for it.
 *
 * Errors: as hipMemsetD32().
 */
hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count,
                             hipStream_t stream HIP_RUNTIME_API_DEFAULT(NULL));

/**
 * Allocates memory of a stream's device, at once: its address can be used right away.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such stream; else as hipMalloc().
 */
hipError_t hipMallocAsync(void **dev_ptr, size_t size, hipStream_t stream);

/**
 * Frees memory from hipMalloc() or hipMallocAsync() when the stream reaches it; NULL is allowed.
 *
 * Errors: answers hipErrorInvalidValue if dev_ptr is not the start of a live allocation.
 */
hipError_t hipFreeAsync(void *dev_ptr, hipStream_t stream);

/* ---- Kernels ------------------------------------------------------------------------------------ */

/*
 * There is nothing that could run a kernel. Programs that contain kernels load and run; every launch, and every load of
 * a module, is answered with hipErrorNoBinaryForGpu.
 */

/**
 * Launches a kernel.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such stream; else hipErrorNoBinaryForGpu.
 */
hipError_t hipLaunchKernel(const void *function_address, dim3 numBlocks, dim3 dimBlocks, void **args,
                           size_t sharedMemBytes, hipStream_t stream);

/**
 * Launches a kernel between two events.
 *
 * Errors: as hipLaunchKernel().
 */
hipError_t hipExtLaunchKernel(const void *function_address, dim3 numBlocks, dim3 dimBlocks, void **args,
                              size_t sharedMemBytes, hipStream_t stream, hipEvent_t startEvent,
                              hipEvent_t stopEvent, int flags);

/**
 * Launches a kernel of a module.
 *
 * Errors: as hipLaunchKernel().
 */
hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int gridDimX, unsigned int gridDimY,
                                 unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                 unsigned int blockDimZ, unsigned int sharedMemBytes, hipStream_t stream,
                                 void **kernelParams, void **extra);

/**
 * Loads a module from a file.
 *
 * Errors: answers hipErrorInvalidValue if a pointer is NULL; else hipErrorNoBinaryForGpu.
 */
hipError_t hipModuleLoad(hipModule_t *module, const char *fname);

/**
 * Loads a module from memory.
 *
 * Errors: as hipModuleLoad().
 */
hipError_t hipModuleLoadData(hipModule_t *module, const void *image);

/**
 * Unloads a module.
 *
 * Errors: answers hipErrorInvalidHandle: there are no modules.
 */
hipError_t hipModuleUnload(hipModule_t module);

/**
 * A kernel of a module.
 *
 * Errors: as hipModuleUnload().
 */
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *kname);

/* What compilers of HIP emit calls of, for programs that contain kernels. They work without a device. */

/** Notes the kernels of a program or library; answers a handle for the calls below, never NULL. */
void **__hipRegisterFatBinary(const void *data);

/** Notes one kernel. */
void __hipRegisterFunction(void **modules, const void *hostFunction, char *deviceFunction, const char *deviceName,
                           unsigned int threadLimit, void *tid, void *bid, dim3 *blockDim, dim3 *gridDim,
                           int *wSize);

/** Notes one variable of a kernel. */
void __hipRegisterVar(void **modules, void *var, char *hostVar, char *deviceVar, int ext, size_t size,
                      int constant, int global);

/** Forgets what was noted. */
void __hipUnregisterFatBinary(void **modules);

/** Keeps the configuration of the launch to come, for the calling thread. Answers hipSuccess. */
hipError_t __hipPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, hipStream_t stream);

/**
 * Gives the configuration back that the calling thread kept last. A pointer may be NULL.
 *
 * Errors: answers hipErrorMissingConfiguration if there is none.
 */
hipError_t __hipPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, hipStream_t *stream);

/* ---- Files ------------------------------------------------------------------------------------- */

/* Older runtimes lack these two: look them up with hipGetProcAddress() rather than linking them. */

/**
 * Reads up to size bytes at file_offset of a file straight into device memory, in one step. *size_copied is the
 * count; it is short at the end of the file. Size 0 does nothing.
 *
 * Errors: answers hipErrorInvalidValue if size_copied or status is NULL; hipErrorUnknown if the operating system refuses,
 * with its error number in *status (0 otherwise). Memory that is not wholly inside one allocation of device
 * memory is refused with EINVAL. With SOFT_ROCM_KFD_ALIGN=1 so is an address, size or offset that is not a multiple
 * of 4096.
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
#undef HIP_RUNTIME_API_DEFAULT

#endif /* HIP_RUNTIME_API_H */
