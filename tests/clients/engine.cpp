// The engines in C++: asynchronous transfers with every combination of the flags that fix values, batches with and
// without cancel, and the statistics of all levels against what was done. Every step is checked; what was done is
// printed. The places of an operation live on the heap and are freed as soon as its stream has passed it, so that a
// library that touches them later is caught by AddressSanitizer.
#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "resources.hpp"

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t total = 128 * page;

// Bytes that differ from place to place and from seed to seed.
std::vector<std::uint8_t> pattern(std::uint64_t seed) {
    std::vector<std::uint8_t> bytes(total);
    std::uint64_t state = seed * 0x9e3779b97f4a7c15U | 1;
    for (auto &byte : bytes) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        byte = static_cast<std::uint8_t>(state >> 33);
    }
    return bytes;
}

// Holds a stream until it is opened.
class Gate {
public:
    explicit Gate(hipStream_t stream) {
        check(hipLaunchHostFunc(stream, &Gate::pass, this));
    }
    void open() {
        const std::lock_guard<std::mutex> hold(lock);
        is_open = true;
        changed.notify_all();
    }

private:
    static void pass(void *gate) {
        auto *self = static_cast<Gate *>(gate);
        std::unique_lock<std::mutex> hold(self->lock);
        self->changed.wait(hold, [self] { return self->is_open; });
    }
    std::mutex lock;
    std::condition_variable changed;
    bool is_open = false;
};

struct Values {
    std::size_t size;
    hoff_t file_offset;
    hoff_t buffer_offset;
};

// What an operation is given; the library uses it until the stream has passed the operation.
struct Places {
    Values values;
    ssize_t moved;
};

void copy(std::vector<std::uint8_t> &to, hoff_t at, const std::vector<std::uint8_t> &from, hoff_t start,
          std::size_t size) {
    std::copy_n(from.begin() + start, size, to.begin() + at);
}

// One operation that is submitted with some values and meets others; what moved must be what the flags say.
void late_values(File &file, Memory &memory, hipStream_t stream, unsigned flags, bool write, const Values &early,
                 const Values &late) {
    const Values expected{
        flags & HIPFILE_STREAM_FIXED_FILE_SIZE ? early.size : late.size,
        flags & HIPFILE_STREAM_FIXED_FILE_OFFSET ? early.file_offset : late.file_offset,
        flags & HIPFILE_STREAM_FIXED_BUF_OFFSET ? early.buffer_offset : late.buffer_offset,
    };
    auto in_file = pattern(1);
    auto in_memory = pattern(2);
    file.put(in_file);
    memory.put(in_memory);
    Gate gate(stream);
    auto places = std::make_unique<Places>(Places{early, 77});
    Values &values = places->values;
    check((write ? hipFileWriteAsync : hipFileReadAsync)(file.handle, memory.start, &values.size, &values.file_offset,
                                                         &values.buffer_offset, &places->moved, stream));
    equal<ssize_t>("the result before its turn", places->moved, 0);
    values = late;
    gate.open();
    check(hipStreamSynchronize(stream));
    equal("moved", places->moved, static_cast<ssize_t>(expected.size));
    places.reset();
    if (write)
        copy(in_file, expected.file_offset, in_memory, expected.buffer_offset, expected.size);
    else
        copy(in_memory, expected.buffer_offset, in_file, expected.file_offset, expected.size);
    if (file.get(total) != in_file || memory.get() != in_memory)
        fail("other bytes than flags " + std::to_string(flags) + " say");
}

void asynchronous(File &file, Memory &memory) {
    unsigned operations = 0;
    for (unsigned flags = 0; flags < 8; flags++) {
        hipStream_t stream = nullptr;
        check(hipStreamCreate(&stream));
        check(hipFileStreamRegister(stream, flags));
        for (unsigned changed = 0; changed < 8; changed++) {
            for (const bool write : {false, true}) {
                const Values early{8 * page, 2 * page, 3 * page};
                const Values late{
                    changed & 1 ? 5 * page + 1 : early.size,
                    static_cast<hoff_t>(changed & 2 ? 70 * page : early.file_offset),
                    static_cast<hoff_t>(changed & 4 ? 90 * page : early.buffer_offset),
                };
                // On the fast path a late size has to be aligned.
                const Values aligned{changed & 1 ? 5 * page : early.size, late.file_offset, late.buffer_offset};
                late_values(file, memory, stream, flags, write, early, aligned);
                // A size that is not aligned takes the fallback from the beginning.
                const Values odd{early.size - 1, early.file_offset, early.buffer_offset};
                late_values(file, memory, stream, flags, write, odd,
                            {changed & 1 ? late.size : odd.size, late.file_offset, late.buffer_offset});
                operations += 2;
            }
        }
        check(hipFileStreamDeregister(stream));
        check(hipStreamDestroy(stream));
    }
    std::cout << "async: 8 combinations of fixed values x 8 of late values x 2 directions x 2 sizes: " << operations
              << " operations\n";
}

// What the statistics must have counted.
struct Counted {
    std::uint64_t reads, read_bytes, writes, write_bytes;
};

constexpr unsigned most = 128;

void submit(hipFileBatchHandle_t batch, File &file, Memory &memory, hipFileOpcode_t opcode,
            std::array<char, most> &cookies) {
    std::vector<hipFileIOParams_t> entries(most);
    for (unsigned index = 0; index < most; index++) {
        auto &entry = entries[index];
        entry.mode = hipFileBatch;
        entry.u.batch.devPtr_base = memory.start;
        entry.u.batch.file_offset = entry.u.batch.devPtr_offset = static_cast<hoff_t>(index * page);
        entry.u.batch.size = page;
        entry.fh = file.handle;
        entry.opcode = opcode;
        entry.cookie = &cookies[index];
    }
    check(hipFileBatchIOSubmit(batch, most, entries.data(), 0));
}

// Fetches an event for each operation, 10 at a time, and counts those that were canceled.
unsigned drain(hipFileBatchHandle_t batch, std::array<char, most> &cookies) {
    unsigned canceled = 0;
    cookies.fill(0);
    for (unsigned left = most; left > 0;) {
        std::vector<hipFileIOEvents_t> events(10);
        unsigned count = 10;
        check(hipFileBatchIOGetStatus(batch, 1, &count, events.data(), nullptr));
        if (count == 0)
            fail("an event is missing");
        for (unsigned index = 0; index < count; index++) {
            if ((*static_cast<char *>(events[index].cookie))++ != 0)
                fail("an event came twice");
            const bool complete = events[index].status == hipFileComplete && events[index].ret == page;
            if (!complete && (events[index].status != hipFileCanceled || events[index].ret != 0))
                fail("a batch operation failed");
            canceled += complete ? 0 : 1;
        }
        left -= count;
    }
    return canceled;
}

void batches(File &file, Memory &memory, Counted &counted) {
    std::array<char, most> cookies{};
    hipFileBatchHandle_t batch = nullptr;
    check(hipFileBatchIOSetUp(&batch, most));
    for (const hipFileOpcode_t opcode : {hipFileBatchRead, hipFileBatchWrite}) {
        const bool write = opcode == hipFileBatchWrite;
        file.put(pattern(3));
        memory.put(pattern(4));
        submit(batch, file, memory, opcode, cookies);
        equal("canceled operations", drain(batch, cookies), 0U);
        if (file.get(total) != pattern(write ? 4 : 3) || memory.get() != pattern(write ? 4 : 3))
            fail("a batch moved other bytes");
        (write ? counted.writes : counted.reads) += most;
        (write ? counted.write_bytes : counted.read_bytes) += total;
    }
    submit(batch, file, memory, hipFileBatchRead, cookies);
    check(hipFileBatchIOCancel(batch));
    const unsigned canceled = drain(batch, cookies);
    counted.reads += most - canceled;
    counted.read_bytes += (most - canceled) * page;
    hipFileBatchIODestroy(batch);
    std::cout << "batch: " << most << " reads, " << most << " writes, and " << most << " reads with a cancel, "
              << canceled << " of them canceled\n";
}

void synchronous(File &file, Memory &memory, Counted &counted) {
    for (const std::size_t size : {page, std::size_t{1}, total}) {
        equal("hipFileRead", hipFileRead(file.handle, memory.start, size, 0, 0), static_cast<ssize_t>(size));
        equal("hipFileWrite", hipFileWrite(file.handle, memory.start, size, 0, 0), static_cast<ssize_t>(size));
        counted.reads++, counted.writes++;
        counted.read_bytes += size, counted.write_bytes += size;
    }
}

void statistics(const Counted &counted) {
    auto level1 = std::make_unique<hipFileStatsLevel1_t>();
    auto level2 = std::make_unique<hipFileStatsLevel2_t>();
    auto level3 = std::make_unique<hipFileStatsLevel3_t>();
    check(hipFileGetStatsL1(level1.get()));
    check(hipFileGetStatsL2(level2.get()));
    check(hipFileGetStatsL3(level3.get()));
    for (const auto *basic : {level1.get(), &level2->basic, &level3->detailed.basic}) {
        equal("read_ops.ok", basic->read_ops.ok, counted.reads);
        equal("read_bytes", basic->read_bytes, counted.read_bytes);
        equal("write_ops.ok", basic->write_ops.ok, counted.writes);
        equal("write_bytes", basic->write_bytes, counted.write_bytes);
        equal("read_ops.err", basic->read_ops.err, std::uint64_t{0});
        equal("write_ops.err", basic->write_ops.err, std::uint64_t{0});
        equal("hdl_register_ops.ok", basic->hdl_register_ops.ok, std::uint64_t{1});
        equal("buf_register_ops.ok", basic->buf_register_ops.ok, std::uint64_t{1});
    }
    std::uint64_t reads = 0, read_bytes = 0, writes = 0, write_bytes = 0;
    for (const auto &gpu : level3->per_gpu_stats) {
        equal("paths of reads", gpu.n_nvfs_reads + gpu.n_posix_reads, gpu.n_total_reads);
        equal("paths of writes", gpu.n_nvfs_writes + gpu.n_posix_writes, gpu.n_total_writes);
        reads += gpu.n_total_reads, read_bytes += gpu.read_bytes;
        writes += gpu.n_total_writes, write_bytes += gpu.write_bytes;
    }
    equal("reads of all GPUs", reads, counted.reads);
    equal("bytes read by all GPUs", read_bytes, counted.read_bytes);
    equal("writes of all GPUs", writes, counted.writes);
    equal("bytes written by all GPUs", write_bytes, counted.write_bytes);
    equal("num_gpus", level3->num_gpus, 1U);
    std::cout << "stats: levels 1 to 3 say " << reads << " reads of " << read_bytes << " bytes and " << writes
              << " writes of " << write_bytes << " bytes\n";
}

void all(const char *path) {
    Counted counted{};
    check(hipFileDriverOpen());
    {
        File file(path);
        Memory memory(total);
        asynchronous(file, memory);
        batches(file, memory, counted);
        synchronous(file, memory, counted);
        statistics(counted);
    }
    check(hipFileDriverClose());
    equal<std::int64_t>("the use count", hipFileUseCount(), 0);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    try {
        all(argv[1]);
    } catch (const std::exception &error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
    std::cout << "done\n";
    return 0;
}
