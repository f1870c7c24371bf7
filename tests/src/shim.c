/*
 * A library put before HIP and libc (LD_PRELOAD), which counts, fails, shortens and holds calls as told.
 *
 * It carries the SONAME of the HIP it stands for, so whoever looks for HIP finds it. The functions below are
 * wrapped; every other function of HIP is forwarded by a jump (shim.rs generates those, as weak symbols, from
 * the symbol table of the real library). It is told what to do by calls of the hfshim_ functions.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* What a rule does to the calls it applies to. The same numbers stand in shim.rs. */
enum action {
    NOTHING = 0,
    ERROR = 1,            /* HIP: returns `value`. System call: -1 with errno `value`. */
    STATUS = 2,           /* hipAmdFile*: status `value`, nothing moved, the call itself succeeds. */
    STATUS_AND_ERROR = 3, /* As STATUS, and the call returns hipErrorUnknown. */
    SHORT = 4,            /* At most `value` bytes move. */
    PRETEND = 5,          /* Nothing moves, `value` bytes are reported (-1: all that were asked for). */
    HOLD = 6,             /* Waits until released, then goes on. */
    HIDE = 7              /* hipGetProcAddress, softrocm_host_address: as if the runtime had no such function. */
};

struct rule {
    char name[40];
    int action;
    int64_t value;
    uint64_t first, count; /* applies to the calls first, first+1, … (count of them, 0: all), from 1 */
};

struct function {
    char name[40];
    uint64_t calls, all, inner, waiting; /* inner: of all, those that HIP's own file functions made */
    int64_t last[3];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static struct rule rules[64];
static struct function functions[32];
static void *real_hip;
static __thread int in_file_function;

static struct function *function(const char *name) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (functions[i].name[0] == 0)
            strncpy(functions[i].name, name, sizeof functions[i].name - 1);
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    }
    abort();
}

/* Counts a call and finds what is to be done to it. A held call waits here. */
static struct rule begin(const char *name, int64_t a, int64_t b, int64_t c) {
    struct rule found;
    memset(&found, 0, sizeof found);
    pthread_mutex_lock(&lock);
    struct function *f = function(name);
    uint64_t nth = ++f->calls;
    f->all++;
    f->inner += in_file_function;
    f->last[0] = a;
    f->last[1] = b;
    f->last[2] = c;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct rule *r = &rules[i];
        if (r->action != NOTHING && strcmp(r->name, name) == 0 && nth >= r->first &&
            (r->count == 0 || nth < r->first + r->count)) {
            found = *r;
            if (r->action == HOLD) {
                f->waiting++;
                while (r->action == HOLD)
                    pthread_cond_wait(&released, &lock);
                f->waiting--;
            }
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void *real(const char *name) {
    return real_hip ? dlsym(real_hip, name) : NULL;
}

/* ------------------------------------------------------------------------------ told by the tests */

void hfshim_rule(const char *name, int action, int64_t value, uint64_t first, uint64_t count) {
    pthread_mutex_lock(&lock);
    function(name)->calls = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].action == NOTHING) {
            strncpy(rules[i].name, name, sizeof rules[i].name - 1);
            rules[i].value = value;
            rules[i].first = first;
            rules[i].count = count;
            rules[i].action = action;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* Forgets the rules for a function; calls held there go on. */
void hfshim_release(const char *name) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].name, name) == 0)
            memset(&rules[i], 0, sizeof rules[i]);
    pthread_cond_broadcast(&released);
    pthread_mutex_unlock(&lock);
}

uint64_t hfshim_calls(const char *name) {
    pthread_mutex_lock(&lock);
    uint64_t calls = function(name)->calls;
    pthread_mutex_unlock(&lock);
    return calls;
}

/* Calls by whoever is not HIP's own file functions, since the process began. */
uint64_t hfshim_outer(const char *name) {
    pthread_mutex_lock(&lock);
    struct function *f = function(name);
    uint64_t calls = f->all - f->inner;
    pthread_mutex_unlock(&lock);
    return calls;
}

uint64_t hfshim_waiting(const char *name) {
    pthread_mutex_lock(&lock);
    uint64_t waiting = function(name)->waiting;
    pthread_mutex_unlock(&lock);
    return waiting;
}

int64_t hfshim_last(const char *name, int argument) {
    pthread_mutex_lock(&lock);
    int64_t value = function(name)->last[argument];
    pthread_mutex_unlock(&lock);
    return value;
}

/* ------------------------------------------------------------------------------------ system calls */

static ssize_t transfer(const char *name, long number, int fd, void *bytes, size_t size, off_t offset) {
    struct rule rule = begin(name, fd, (int64_t)size, offset);
    switch (rule.action) {
    case ERROR:
        errno = (int)rule.value;
        return -1;
    case SHORT:
        size = size < (size_t)rule.value ? size : (size_t)rule.value;
        break;
    case PRETEND:
        return rule.value < 0 ? (ssize_t)size : (ssize_t)rule.value;
    default:
        break;
    }
    return syscall(number, fd, bytes, size, offset);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset) {
    return transfer("pread", SYS_pread64, fd, bytes, size, offset);
}

/* Whoever reads several things in one call must do without, so that the cases see each read. */
static ssize_t no_vectors(void) {
    errno = ENOSYS;
    return -1;
}

ssize_t preadv(int fd, const struct iovec *vectors, int count, off_t offset) {
    (void)fd, (void)vectors, (void)count, (void)offset;
    return no_vectors();
}

ssize_t preadv64(int fd, const struct iovec *vectors, int count, off64_t offset) {
    (void)fd, (void)vectors, (void)count, (void)offset;
    return no_vectors();
}

ssize_t pread64(int fd, void *bytes, size_t size, off_t offset) {
    return transfer("pread", SYS_pread64, fd, bytes, size, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
    return transfer("pwrite", SYS_pwrite64, fd, (void *)bytes, size, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset) {
    return transfer("pwrite", SYS_pwrite64, fd, (void *)bytes, size, offset);
}

static int sync_file(const char *name, long number, int fd) {
    struct rule rule = begin(name, fd, 0, 0);
    if (rule.action == ERROR) {
        errno = (int)rule.value;
        return -1;
    }
    return (int)syscall(number, fd);
}

int fdatasync(int fd) {
    return sync_file("fdatasync", SYS_fdatasync, fd);
}

int fsync(int fd) {
    return sync_file("fsync", SYS_fsync, fd);
}

/* HIDE: a kernel that does not report the alignment of direct I/O. */
int statx(int dir, const char *path, int flags, unsigned mask, struct statx *out) {
    struct rule rule = begin("statx", dir, flags, mask);
    if (rule.action == HIDE)
        mask &= ~0x2000u;
    int result = (int)syscall(SYS_statx, dir, path, flags, mask, out);
    if (rule.action == HIDE && result == 0)
        out->stx_mask &= ~0x2000u;
    return result;
}

/* --------------------------------------------------------------------------------------------- HIP */

int hipPointerGetAttributes(void *attributes, const void *pointer) {
    struct rule rule = begin("hipPointerGetAttributes", (intptr_t)pointer, 0, 0);
    if (rule.action == ERROR)
        return (int)rule.value;
    int (*next)(void *, const void *) = (int (*)(void *, const void *))real("hipPointerGetAttributes");
    return next(attributes, pointer);
}

int hipMemGetAddressRange(void **base, size_t *size, void *pointer) {
    struct rule rule = begin("hipMemGetAddressRange", (intptr_t)pointer, 0, 0);
    if (rule.action == ERROR)
        return (int)rule.value;
    int (*next)(void **, size_t *, void *) = (int (*)(void **, size_t *, void *))real("hipMemGetAddressRange");
    return next(base, size, pointer);
}

int hipMalloc(void **out, size_t size) {
    struct rule rule = begin("hipMalloc", (int64_t)size, 0, 0);
    if (rule.action == ERROR)
        return (int)rule.value;
    int (*next)(void **, size_t) = (int (*)(void **, size_t))real("hipMalloc");
    return next(out, size);
}

int hipFree(void *pointer) {
    struct rule rule = begin("hipFree", (intptr_t)pointer, 0, 0);
    if (rule.action == ERROR)
        return (int)rule.value;
    int (*next)(void *) = (int (*)(void *))real("hipFree");
    return next(pointer);
}

int hipMemcpy(void *to, const void *from, size_t size, int kind) {
    struct rule rule = begin("hipMemcpy", (int64_t)size, kind, 0);
    if (rule.action == ERROR)
        return (int)rule.value;
    int (*next)(void *, const void *, size_t, int) =
        (int (*)(void *, const void *, size_t, int))real("hipMemcpy");
    return next(to, from, size, kind);
}

int hipStreamSynchronize(void *stream) {
    struct rule rule = begin("hipStreamSynchronize", (intptr_t)stream, 0, 0);
    if (rule.action == ERROR)
        return (int)rule.value;
    int (*next)(void *) = (int (*)(void *))real("hipStreamSynchronize");
    return next(stream);
}

int hipSetDevice(int device) {
    struct rule rule = begin("hipSetDevice", device, 0, 0);
    if (rule.action == ERROR)
        return (int)rule.value;
    int (*next)(int) = (int (*)(int))real("hipSetDevice");
    return next(device);
}

int hipHostMalloc(void **out, size_t size, unsigned flags) {
    struct rule rule = begin("hipHostMalloc", (int64_t)size, flags, 0);
    if (rule.action == ERROR)
        return (int)rule.value;
    int (*next)(void **, size_t, unsigned) = (int (*)(void **, size_t, unsigned))real("hipHostMalloc");
    return next(out, size, flags);
}

int hipStreamGetDevice(void *stream, int *device) {
    struct rule rule = begin("hipStreamGetDevice", (intptr_t)stream, 0, 0);
    if (rule.action == ERROR)
        return (int)rule.value;
    int (*next)(void *, int *) = (int (*)(void *, int *))real("hipStreamGetDevice");
    return next(stream, device);
}

typedef int launch(void *, void (*)(void *), void *);

int hipLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
    struct rule rule = begin("hipLaunchHostFunc", (intptr_t)stream, 0, 0);
    return rule.action == ERROR ? (int)rule.value
                                : ((launch *)real("hipLaunchHostFunc"))(stream, function, data);
}

/* Counts as hipLaunchHostFunc, which it is where the real one has no such thing. */
int softrocm_launch_concurrent(void *stream, void (*function)(void *), void *data) {
    struct rule rule = begin("hipLaunchHostFunc", (intptr_t)stream, 0, 0);
    launch *next = (launch *)real("softrocm_launch_concurrent");
    if (rule.action == ERROR)
        return (int)rule.value;
    return next ? next(stream, function, data) : ((launch *)real("hipLaunchHostFunc"))(stream, function, data);
}

void *softrocm_host_address(const void *pointer, size_t size) {
    struct rule rule = begin("softrocm_host_address", (intptr_t)pointer, (int64_t)size, 0);
    void *(*next)(const void *, size_t) = (void *(*)(const void *, size_t))real("softrocm_host_address");
    return rule.action == HIDE || !next ? NULL : next(pointer, size);
}

union file {
    void *handle;
    int fd;
    uint8_t pad[8];
};
typedef int amd_file(union file, void *, uint64_t, int64_t, uint64_t *, int32_t *);

static int amd_transfer(const char *name, union file file, void *device, uint64_t size, int64_t offset,
                        uint64_t *moved, int32_t *status) {
    struct rule rule = begin(name, file.fd, (int64_t)size, offset);
    switch (rule.action) {
    case ERROR:
        return (int)rule.value;
    case STATUS:
    case STATUS_AND_ERROR:
        *moved = 0;
        *status = (int32_t)rule.value;
        return rule.action == STATUS ? 0 : 999;
    case PRETEND:
        *moved = rule.value < 0 ? size : (uint64_t)rule.value;
        *status = 0;
        return 0;
    case SHORT:
        size = size < (uint64_t)rule.value ? size : (uint64_t)rule.value;
        break;
    default:
        break;
    }
    in_file_function = 1;
    int result = ((amd_file *)real(name))(file, device, size, offset, moved, status);
    in_file_function = 0;
    return result;
}

int hipAmdFileRead(union file file, void *device, uint64_t size, int64_t offset, uint64_t *moved,
                   int32_t *status) {
    return amd_transfer("hipAmdFileRead", file, device, size, offset, moved, status);
}

int hipAmdFileWrite(union file file, void *device, uint64_t size, int64_t offset, uint64_t *moved,
                    int32_t *status) {
    return amd_transfer("hipAmdFileWrite", file, device, size, offset, moved, status);
}

/* The real one knows its own functions; where it has one that is wrapped here, the wrapper is given out. */
int hipGetProcAddress(const char *symbol, void **out, int version, uint64_t flags, int *status) {
    struct rule rule = begin("hipGetProcAddress", version, (int64_t)flags, 0);
    if (rule.action == ERROR)
        return (int)rule.value;
    int (*next)(const char *, void **, int, uint64_t, int *) =
        (int (*)(const char *, void **, int, uint64_t, int *))real("hipGetProcAddress");
    int result = next(symbol, out, version, flags, status);
    if (result == 0 && strcmp(symbol, "hipAmdFileRead") == 0)
        *out = (void *)hipAmdFileRead;
    if (result == 0 && strcmp(symbol, "hipAmdFileWrite") == 0)
        *out = (void *)hipAmdFileWrite;
    return result;
}

/* ------------------------------------------------------------------------------------- forwarding */

extern const char *const hfshim_names[];
extern void *hfshim_slots[];

static void missing(void) {
    fprintf(stderr, "hfshim: a function was called that the real HIP lacks\n");
    abort();
}

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("HFSHIM_REAL_HIP");
    real_hip = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!real_hip) {
        fprintf(stderr, "hfshim: %s\n", path ? dlerror() : "HFSHIM_REAL_HIP is not set");
        abort();
    }
    const char *hidden = getenv("HFSHIM_HIDE");
    if (hidden)
        hfshim_rule(hidden, HIDE, 0, 1, 0);
    for (size_t i = 0; hfshim_names[i]; i++) {
        hfshim_slots[i] = dlsym(real_hip, hfshim_names[i]);
        if (!hfshim_slots[i])
            hfshim_slots[i] = (void *)missing;
    }
}
