// What the C++ programs of this folder share: errors as exceptions, device memory and a file that clean up after
// themselves.
#pragma once

#include <fcntl.h>
#include <hip/hip_runtime_api.h>
#include <hipfile.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

[[noreturn]] inline void fail(const std::string &what) {
    throw std::runtime_error(what);
}

inline void check(hipError_t error) {
    if (error != hipSuccess)
        fail(hipGetErrorString(error));
}

inline void check(hipFileError_t error) {
    if (error.err != hipFileSuccess)
        fail(HIPFILE_ERRSTR(error.err));
}

template <typename T> void equal(const std::string &what, T found, T expected) {
    if (found != expected)
        fail(what + ": " + std::to_string(found) + " instead of " + std::to_string(expected));
}

// Device memory, registered.
class Memory {
public:
    explicit Memory(std::size_t bytes) : size(bytes) {
        check(hipMalloc(&start, size));
        check(hipFileBufRegister(start, size, 0));
    }
    ~Memory() {
        (void)hipFileBufDeregister(start);
        (void)hipFree(start);
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    void put(const std::vector<std::uint8_t> &bytes) {
        check(hipMemcpy(start, bytes.data(), bytes.size(), hipMemcpyHostToDevice));
    }
    std::vector<std::uint8_t> get() const {
        std::vector<std::uint8_t> bytes(size);
        check(hipMemcpy(bytes.data(), start, size, hipMemcpyDeviceToHost));
        return bytes;
    }
    void *start = nullptr;
    const std::size_t size;
};

// A new file, registered.
class File {
public:
    explicit File(const char *path) : fd(open(path, O_RDWR | O_CREAT | O_EXCL, 0600)) {
        hipFileDescr_t description{};
        description.type = hipFileHandleTypeOpaqueFD;
        description.handle.fd = fd;
        check(hipFileHandleRegister(&handle, &description));
    }
    ~File() {
        hipFileHandleDeregister(handle);
        close(fd);
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    void put(const std::vector<std::uint8_t> &bytes) {
        equal("pwrite", pwrite(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    }
    std::vector<std::uint8_t> get(std::size_t size) const {
        std::vector<std::uint8_t> bytes(size);
        equal("pread", pread(fd, bytes.data(), size, 0), static_cast<ssize_t>(size));
        return bytes;
    }
    hipFileHandle_t handle = nullptr;

private:
    int fd;
};
