/* A file through device memory and back, in C: write it from the device, read it into the device, compare. */
#include <errno.h>
#include <fcntl.h>
#include <hip/hip_runtime_api.h>
#include <hipfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 10007, CAPACITY = 16384, GAP = 512 };

static void check_hip(hipError_t error, const char *what) {
    if (error != hipSuccess) {
        fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
        exit(1);
    }
}

static void check(hipFileError_t error, const char *what) {
    if (error.err != hipFileSuccess) {
        fprintf(stderr, "%s: %s\n", what, HIPFILE_ERRSTR(error.err));
        exit(1);
    }
}

static void check_count(ssize_t count, const char *what) {
    if (count != SIZE) {
        fprintf(stderr, "%s: %zd, errno %d\n", what, count, errno);
        exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    unsigned major, minor, patch;
    check(hipFileGetVersion(&major, &minor, &patch), "hipFileGetVersion");
    printf("hipFile %u.%u.%u\n", major, minor, patch);

    unsigned char *sent = malloc(SIZE), *got = malloc(SIZE);
    if (!sent || !got)
        return 1;
    for (int i = 0; i < SIZE; i++)
        sent[i] = (unsigned char)(i * 31 + i / 251);

    check(hipFileDriverOpen(), "hipFileDriverOpen");
    int fd = open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0) {
        perror(argv[1]);
        return 1;
    }
    hipFileDescr_t description = {.type = hipFileHandleTypeOpaqueFD, .handle.fd = fd, .fs_ops = NULL};
    hipFileHandle_t file;
    check(hipFileHandleRegister(&file, &description), "hipFileHandleRegister");

    void *memory;
    check_hip(hipMalloc(&memory, CAPACITY), "hipMalloc");
    check(hipFileBufRegister(memory, CAPACITY, 0), "hipFileBufRegister");
    check_hip(hipMemcpy((char *)memory + GAP, sent, SIZE, hipMemcpyHostToDevice), "hipMemcpy to the device");
    check_count(hipFileWrite(file, memory, SIZE, 0, GAP), "hipFileWrite");

    check_hip(hipMemset(memory, 0, CAPACITY), "hipMemset");
    check_count(hipFileRead(file, memory, CAPACITY - GAP, 0, GAP), "hipFileRead");
    check_hip(hipMemcpy(got, (char *)memory + GAP, SIZE, hipMemcpyDeviceToHost), "hipMemcpy to the host");
    if (memcmp(sent, got, SIZE) != 0 || lseek(fd, 0, SEEK_END) != SIZE) {
        fprintf(stderr, "what came back is not what was sent\n");
        return 1;
    }

    check(hipFileBufDeregister(memory), "hipFileBufDeregister");
    hipFileHandleDeregister(file);
    check(hipFileDriverClose(), "hipFileDriverClose");
    check_hip(hipFree(memory), "hipFree");
    close(fd);
    free(sent);
    free(got);
    printf("%d bytes and back\n", SIZE);
    return 0;
}
