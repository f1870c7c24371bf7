// A file through device memory and back, in C++: write it from the device, read it into the device, compare.
#include <fcntl.h>
#include <hip/hip_runtime_api.h>
#include <hipfile.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t size = 10007;

void check(hipError_t error) {
    if (error != hipSuccess)
        throw std::runtime_error(hipGetErrorString(error));
}

void check(hipFileError_t error) {
    if (error.err != hipFileSuccess)
        throw std::runtime_error(HIPFILE_ERRSTR(error.err));
}

void check(ssize_t count) {
    if (count != static_cast<ssize_t>(size))
        throw std::runtime_error("moved " + std::to_string(count));
}

class Memory {
public:
    Memory() {
        check(hipMalloc(&start, size));
        check(hipFileBufRegister(start, size, 0));
    }
    ~Memory() {
        (void)hipFileBufDeregister(start);
        (void)hipFree(start);
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    void *start = nullptr;
};

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
    hipFileHandle_t handle = nullptr;

private:
    int fd;
};

void round_trip(const char *path) {
    std::vector<unsigned char> sent(size), got(size);
    for (std::size_t i = 0; i < size; i++)
        sent[i] = static_cast<unsigned char>(i * 7 + i / 255);
    Memory memory;
    File file(path);
    check(hipMemcpy(memory.start, sent.data(), size, hipMemcpyHostToDevice));
    check(hipFileWrite(file.handle, memory.start, size, 0, 0));
    check(hipMemset(memory.start, 0, size));
    check(hipFileRead(file.handle, memory.start, size, 0, 0));
    check(hipMemcpy(got.data(), memory.start, size, hipMemcpyDeviceToHost));
    if (sent != got)
        throw std::runtime_error("what came back is not what was sent");
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    try {
        unsigned major, minor, patch;
        check(hipFileGetVersion(&major, &minor, &patch));
        std::cout << "hipFile " << major << '.' << minor << '.' << patch << '\n';
        check(hipFileDriverOpen());
        round_trip(argv[1]);
        check(hipFileDriverClose());
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    std::cout << size << " bytes and back\n";
    return 0;
}
