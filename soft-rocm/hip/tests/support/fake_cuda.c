/* NVIDIA's driver as far as the software ROCm calls it, for machines without a GPU. Device memory is at addresses that nobody may
 * touch; its bytes are at the same place of a second mapping.
 *
 * What is enqueued happens when it is waited for, no sooner: who does not wait finds nothing done.
 *
 * FAKE_CUDA_DEVICES: how many there are (1). FAKE_CUDA_MEMORY: bytes each has (64 MiB). FAKE_CUDA_FAIL=NAME:N: from its Nth call
 * on, from 1, that function answers 999. FAKE_CUDA_REPORT: at exit it prints how much is still mapped. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GRANULE = 2 << 20, MOST = 4096 };
enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, ALREADY_PINNED = 712, UNKNOWN = 999 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int initialized, calls_of_failing;
static uintptr_t base;
static char *alias;
static size_t reserved;
static unsigned char mapped[MOST]; /* a byte a granule: 1 + device */
static struct { uintptr_t start; size_t len; } pinned[MOST], maps[MOST];
static struct { size_t len; int is_mapped; } created[MOST];
static size_t used[64];
/* The contexts of the thread, each the number of its device and one more; the last is current. */
static _Thread_local uintptr_t contexts[8];
static _Thread_local int depth;
static int current(void) { return (int)contexts[depth - 1] - 1; }

static int devices(void) {
    const char *text = getenv("FAKE_CUDA_DEVICES");
    return text ? atoi(text) : 1;
}

static size_t memory(void) {
    const char *text = getenv("FAKE_CUDA_MEMORY");
    return text ? strtoull(text, NULL, 10) : 64u << 20;
}

static int fails(const char *name) {
    const char *plan = getenv("FAKE_CUDA_FAIL");
    size_t len = strlen(name);
    if (!plan || strncmp(plan, name, len) || plan[len] != ':') return 0;
    return __sync_add_and_fetch(&calls_of_failing, 1) >= atoi(plan + len + 1);
}

#define BEGIN(name) do { if (!initialized) return NOT_INITIALIZED; if (fails(name)) return UNKNOWN; } while (0)

static void report(void) {
    size_t count = 0;
    for (int i = 0; i < MOST; i++) count += mapped[i] != 0;
    fprintf(stderr, "fake cuda: %zu granules mapped, %zu bytes used\n", count, used[0]);
}

int cuInit(unsigned flags) {
    if (fails("cuInit")) return UNKNOWN;
    if (flags) return INVALID_VALUE;
    if (!devices()) return 100;
    if (!initialized && getenv("FAKE_CUDA_REPORT")) atexit(report);
    initialized = 1;
    return OK;
}
int cuDeviceGetCount(int *count) { BEGIN("cuDeviceGetCount"); *count = devices(); return OK; }
/* Handles are no ordinals. */
enum { HANDLE = 70 };
int cuDeviceGet(int *device, int ordinal) { BEGIN("cuDeviceGet"); *device = HANDLE + ordinal; return ordinal < devices() ? OK : INVALID_VALUE; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { BEGIN("cuDeviceTotalMem"); if (device < HANDLE) return INVALID_VALUE; *bytes = memory(); return OK; }
int cuDeviceGetName(char *name, int len, int device) { BEGIN("cuDeviceGetName"); snprintf(name, len, "Fake GPU %d", device - HANDLE); return OK; }
int cuDevicePrimaryCtxRetain(void **context, int device) { BEGIN("cuDevicePrimaryCtxRetain"); *context = (void *)(uintptr_t)(device - HANDLE + 1); return OK; }
int cuCtxPushCurrent_v2(void *context) { BEGIN("cuCtxPushCurrent"); if (!context || depth == 8) return INVALID_VALUE; contexts[depth++] = (uintptr_t)context; return OK; }
int cuCtxPopCurrent_v2(void **context) { *context = NULL; if (depth-- <= 0) abort(); return OK; }
int cuMemGetInfo_v2(size_t *free, size_t *total) { BEGIN("cuMemGetInfo"); if (!depth) return 201; *total = memory(); *free = memory() - used[current()]; return OK; }
int cuMemGetAllocationGranularity(size_t *bytes, const void *property, int kind) {
    BEGIN("cuMemGetAllocationGranularity"); (void)property; (void)kind; *bytes = GRANULE; return OK;
}
int cuMemAddressReserve(uint64_t *address, size_t len, size_t alignment, uint64_t hint, unsigned long long flags) {
    BEGIN("cuMemAddressReserve");
    if (base || hint || flags || len % GRANULE || len / GRANULE > MOST) return INVALID_VALUE;
    char *place = mmap(NULL, len + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    alias = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED || alias == MAP_FAILED) return OUT_OF_MEMORY;
    *address = base = ((uintptr_t)place + alignment - 1) / alignment * alignment;
    reserved = len;
    return OK;
}
struct property { int kind, handles, location, device; void *win32; unsigned char flags[8]; };
int cuMemCreate(unsigned long long *handle, size_t len, const struct property *property, unsigned long long flags) {
    BEGIN("cuMemCreate");
    if (flags || len % GRANULE || property->kind != 1 || property->location != 1 || property->device < HANDLE || property->device - HANDLE >= devices()) return INVALID_VALUE;
    pthread_mutex_lock(&lock);
    int code = OUT_OF_MEMORY;
    for (int i = 0; i < MOST && used[property->device - HANDLE] + len <= memory(); i++) if (!created[i].len) {
        created[i].len = len, created[i].is_mapped = 0, used[property->device - HANDLE] += len;
        *handle = (unsigned long long)(property->device - HANDLE) << 32 | (i + 1), code = OK;
        break;
    }
    pthread_mutex_unlock(&lock);
    return code;
}
static size_t granule(uint64_t address) { return (address - base) / GRANULE; }
static int inside(uint64_t address, size_t len) { return address >= base && len <= reserved && address - base <= reserved - len; }
int cuMemMap(uint64_t address, size_t len, size_t offset, unsigned long long handle, unsigned long long flags) {
    BEGIN("cuMemMap");
    unsigned slot = (unsigned)handle - 1, device = handle >> 32;
    if (offset || flags || !inside(address, len) || address % GRANULE || slot >= MOST || created[slot].len != len) return INVALID_VALUE;
    pthread_mutex_lock(&lock);
    int is_free = 1;
    for (size_t i = 0; i < len / GRANULE; i++) is_free &= !mapped[granule(address) + i];
    if (!is_free) return pthread_mutex_unlock(&lock), INVALID_VALUE;
    memset(mapped + granule(address), 1 + device, len / GRANULE);
    maps[granule(address)].start = address, maps[granule(address)].len = len;
    created[slot].is_mapped = 1;
    pthread_mutex_unlock(&lock);
    memset(alias + (address - base), 0xa5, len); /* nothing is promised of fresh memory */
    return OK;
}
int cuMemRelease(unsigned long long handle) {
    BEGIN("cuMemRelease");
    unsigned slot = (unsigned)handle - 1, device = handle >> 32;
    pthread_mutex_lock(&lock);
    if (!created[slot].is_mapped) used[device] -= created[slot].len;
    created[slot].len = 0;
    pthread_mutex_unlock(&lock);
    return OK;
}
struct access { int location, device, flags; };
int cuMemSetAccess(uint64_t address, size_t len, const struct access *access, size_t count) {
    BEGIN("cuMemSetAccess");
    int is_right = count == 1 && access->location == 1 && access->flags == 3;
    return is_right && inside(address, len) && mapped[granule(address)] == access->device - HANDLE + 1 ? OK : INVALID_VALUE;
}
int cuMemUnmap(uint64_t address, size_t len) {
    BEGIN("cuMemUnmap");
    if (!inside(address, len) || maps[granule(address)].len != len) return INVALID_VALUE;
    pthread_mutex_lock(&lock);
    used[mapped[granule(address)] - 1] -= len;
    maps[granule(address)].len = 0;
    memset(mapped + granule(address), 0, len / GRANULE);
    pthread_mutex_unlock(&lock);
    madvise(alias + (address - base), len, MADV_DONTNEED);
    return OK;
}
/* Where the bytes of a range are; NULL if the driver would refuse it. */
static char *reach(uint64_t address, size_t len) {
    if (address + len > base && address < base + reserved) {
        if (!inside(address, len)) return NULL;
        if (!depth || mapped[granule(address)] != current() + 1) return NULL;
        for (size_t i = granule(address); i <= granule(address + len - 1); i++) if (mapped[i] != mapped[granule(address)] || !mapped[i]) return NULL;
        return alias + (address - base);
    }
    for (int i = 0; i < MOST; i++) {
        uintptr_t end = pinned[i].start + pinned[i].len;
        if (pinned[i].len && address < end && address + len > pinned[i].start && (address < pinned[i].start || address + len > end)) return NULL;
    }
    return (char *)address;
}
/* What a thread's stream is to do: a copy, or a fill if there is no source. */
static _Thread_local struct { char *to, *from; size_t len, width; unsigned value; } queue[16];
static _Thread_local int queued;
static int enqueue(char *to, char *from, size_t len, size_t width, unsigned value, void *stream) {
    if (!depth) return 201;
    if (stream != (void *)2 || !to || queued == 16) return INVALID_VALUE;
    queue[queued].to = to, queue[queued].from = from, queue[queued].len = len;
    queue[queued].width = width, queue[queued++].value = value;
    return OK;
}
int cuMemcpyAsync(uint64_t dst, uint64_t src, size_t len, void *stream) {
    BEGIN("cuMemcpyAsync");
    char *to = reach(dst, len), *from = reach(src, len);
    if (!from) return INVALID_VALUE;
    if (to < from + len && from < to + len) abort(); /* nothing is promised of ranges that overlap */
    return enqueue(to, from, len, 0, 0, stream);
}
int cuMemsetD8Async(uint64_t dst, unsigned char value, size_t len, void *stream) {
    BEGIN("cuMemsetD8Async");
    return enqueue(reach(dst, len), NULL, len, 1, value, stream);
}
int cuMemsetD32Async(uint64_t dst, unsigned value, size_t count, void *stream) {
    BEGIN("cuMemsetD32Async");
    return dst % 4 ? INVALID_VALUE : enqueue(reach(dst, count * 4), NULL, count * 4, 4, value, stream);
}
int cuStreamSynchronize(void *stream) {
    BEGIN("cuStreamSynchronize");
    if (!depth || stream != (void *)2) return INVALID_VALUE;
    for (int i = 0; i < queued; i++) {
        if (queue[i].from) memcpy(queue[i].to, queue[i].from, queue[i].len);
        else for (size_t at = 0; at < queue[i].len; at += queue[i].width) memcpy(queue[i].to + at, &queue[i].value, queue[i].width);
    }
    queued = 0;
    return OK;
}
int cuMemHostRegister_v2(void *address, size_t len, unsigned flags) {
    BEGIN("cuMemHostRegister");
    if (!depth || flags != 1) return INVALID_VALUE;
    pthread_mutex_lock(&lock);
    int code = OUT_OF_MEMORY;
    uintptr_t start = (uintptr_t)address;
    for (int i = 0; i < MOST; i++) if (start < pinned[i].start + pinned[i].len && pinned[i].start < start + len) code = ALREADY_PINNED;
    for (int i = 0; i < MOST && code != ALREADY_PINNED; i++) if (!pinned[i].len) { pinned[i].start = (uintptr_t)address, pinned[i].len = len, code = OK; break; }
    pthread_mutex_unlock(&lock);
    return code;
}
int cuMemHostUnregister(void *address) {
    BEGIN("cuMemHostUnregister");
    for (int i = 0; i < MOST; i++) if (pinned[i].len && pinned[i].start == (uintptr_t)address) { pinned[i].len = 0; return OK; }
    return 713;
}
