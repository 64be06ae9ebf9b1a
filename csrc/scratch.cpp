#include "scratch.hpp"

#include <cstddef>
#include <new>

namespace mercer {
namespace {

constexpr std::align_val_t kCacheLine{64};

class Buffer {
public:
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { release(); }

    void* at_least(int64_t bytes) {
        if (bytes > capacity_) {
            release();
            memory_ = ::operator new(static_cast<std::size_t>(bytes), kCacheLine);
            capacity_ = bytes;
        }
        return memory_;
    }

private:
    void release() {
        if (memory_) ::operator delete(memory_, kCacheLine);
        memory_ = nullptr;
        capacity_ = 0;
    }

    void* memory_ = nullptr;
    int64_t capacity_ = 0;
};

}  // namespace

void* scratch(Slot slot, int64_t bytes) {
    thread_local Buffer buffers[static_cast<int>(Slot::count)];
    return buffers[static_cast<int>(slot)].at_least(bytes);
}

}  // namespace mercer
