// A file through device memory and back, in C++: write it from the device, read it into the device, compare.
#include <iostream>
#include <string>
#include <vector>

#include "resources.hpp"

namespace {

constexpr std::size_t size = 10007;

void round_trip(const char *path) {
    std::vector<std::uint8_t> sent(size);
    for (std::size_t i = 0; i < size; i++)
        sent[i] = static_cast<std::uint8_t>(i * 7 + i / 255);
    Memory memory(size);
    File file(path);
    memory.put(sent);
    equal("hipFileWrite", hipFileWrite(file.handle, memory.start, size, 0, 0), static_cast<ssize_t>(size));
    check(hipMemset(memory.start, 0, size));
    equal("hipFileRead", hipFileRead(file.handle, memory.start, size, 0, 0), static_cast<ssize_t>(size));
    if (memory.get() != sent)
        fail("what came back is not what was sent");
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
