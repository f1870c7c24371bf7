/*
 * What the software ROCm has beyond AMD's libraries. AMD's do not export these functions: a program that is to run on
 * both looks them up with dlsym(RTLD_DEFAULT, "softrocm_…").
 *
 * Define __HIP_PLATFORM_AMD__ (or __HIP_PLATFORM_NVIDIA__) before including it, as for hip/hip_runtime_api.h. Usable
 * from C11 and from C++17. Every function may be called from any thread at any time.
 */
#ifndef SOFTROCM_H
#define SOFTROCM_H

#include <stddef.h>

#include <hip/hip_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- libamdhip64: memory ------------------------------------------------------------------------- */

/**
 * Address through which host code reads and writes size bytes of device memory from device_ptr on; NULL unless they lie
 * wholly inside one live allocation, and while a plan of faults names a copy (hipMemcpy and its kin), so that nothing
 * goes around the copy. The address is for use before the allocation is freed.
 */
void *softrocm_host_address(const void *device_ptr, size_t size);

/**
 * Moves size bytes between a file, from file_offset on, and device memory, from device_ptr on, that host code can't reach:
 * by pinned memory, with several threads if it is much. is_write 0 reads the file. Stores in *moved how many bytes were
 * moved, fewer at the file's end and where an error ended it.
 *
 * Answers 0, or errno if an error came before the first byte. Answers -1, and moves nothing, where
 * softrocm_host_address() has an address, unless the range lies wholly inside one live allocation, and while a plan of
 * faults names a copy.
 */
int softrocm_file_transfer(int fd, long long file_offset, void *device_ptr, size_t size, int is_write, size_t *moved);

/* ---- libamdhip64: streams ------------------------------------------------------------------------ */

/**
 * As hipLaunchHostFunc(), but calls launched this way one after the other on a stream may overlap each other. What else
 * is on the stream waits for all of them, and they wait for all before. They run on threads that all streams share,
 * 4 at least, and must not wait for each other.
 */
hipError_t softrocm_launch_concurrent(hipStream_t stream, hipHostFn_t fn, void *userData);

/**
 * Holds what a stream has not started yet, until softrocm_stream_resume() or hipStreamDestroy(); what runs goes on. What
 * waits for the stream waits that long. Of many reads that may run side by side, a thread starts up to eight at once, to do
 * them one after the other.
 *
 * Errors: answers hipErrorInvalidHandle if there is no such stream.
 */
hipError_t softrocm_stream_pause(hipStream_t stream);

/**
 * Lets a stream go on; nothing happens if it was not paused. Also lets go what a plan of faults holds at this moment
 * (stream:pause), on any stream. Errors: as softrocm_stream_pause().
 */
hipError_t softrocm_stream_resume(hipStream_t stream);

/* ---- libamdhip64 and libhipfile: scripted faults and delays --------------------------------------- */

/**
 * Replaces the plan of faults and delays of libamdhip64, first that of the variable SOFT_ROCM_FAULTS. spec is written as
 * the variable is; NULL or "" is no plan. Counters start from 0, and calls that the plan before held go on.
 *
 * Answers 0; or -1 if spec is not accepted or the process is a forked child. The plan in force then stays, and error, if
 * it is not NULL, says why: a C string, cut to error_len bytes. After success error is the empty string.
 */
int softrocm_hip_set_faults(const char *spec, char *error, size_t error_len);

/** How many calls of libamdhip64 the action `pause` holds at this moment. */
size_t softrocm_hip_held_calls(void);

/**
 * How many calls of libamdhip64 an entry of the plan in force has counted so far, those that pass its path= and size=,
 * whether anything happened to them or not. Entries are numbered from 1 as they are written; 0 if there is no such entry.
 * An entry that changes nothing, such as "hipMalloc:delay=0us", counts calls.
 */
size_t softrocm_hip_counted_calls(size_t entry);

/** softrocm_hip_set_faults() for libhipfile, which has a plan and counters of its own. */
int softrocm_hipfile_set_faults(const char *spec, char *error, size_t error_len);

/** softrocm_hip_held_calls() for libhipfile. */
size_t softrocm_hipfile_held_calls(void);

/** softrocm_hip_counted_calls() for libhipfile. */
size_t softrocm_hipfile_counted_calls(size_t entry);

#ifdef __cplusplus
}
#endif

#endif
