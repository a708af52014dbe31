#include "replication/view/heap/memory.h"

#include <sys/mman.h>

#include "absl/status/status.h"

namespace ingot::inline replication_view_heap {
namespace {

class PrivateMemory final : public HeapMemory {
 public:
  explicit PrivateMemory(std::span<std::byte> bytes) : bytes_(bytes) {}
  ~PrivateMemory() override { ::munmap(bytes_.data(), bytes_.size()); }
  PrivateMemory(const PrivateMemory&) = delete;
  PrivateMemory& operator=(const PrivateMemory&) = delete;

  std::span<std::byte> bytes() const override { return bytes_; }
  bool populate(std::uint64_t offset, std::uint64_t bytes) override {
    return ::madvise(bytes_.data() + offset, bytes, MADV_POPULATE_WRITE) == 0;
  }
  bool punch(std::uint64_t offset, std::uint64_t bytes) override {
    return ::madvise(bytes_.data() + offset, bytes, MADV_DONTNEED) == 0;
  }

 private:
  std::span<std::byte> bytes_;
};

class SharedMemory final : public HeapMemory {
 public:
  explicit SharedMemory(Segment segment) : segment_(std::move(segment)) {}

  std::span<std::byte> bytes() const override { return segment_.bytes(); }
  bool populate(std::uint64_t offset, std::uint64_t bytes) override {
    return ::madvise(segment_.data() + offset, bytes, MADV_POPULATE_WRITE) == 0;
  }
  bool punch(std::uint64_t offset, std::uint64_t bytes) override {
    return ::madvise(segment_.data() + offset, bytes, MADV_REMOVE) == 0;
  }

 private:
  Segment segment_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HeapMemory>> private_heap_memory(std::size_t bytes) {
  void* const mapped =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return absl::ResourceExhaustedError("no address space for the store");
  return std::make_unique<PrivateMemory>(std::span(static_cast<std::byte*>(mapped), bytes));
}

absl::StatusOr<std::unique_ptr<HeapMemory>> shared_heap_memory(int fd) {
  auto segment = Segment::map(fd, Segment::Access::kReadWrite);
  if (!segment.ok()) return segment.status();
  return std::make_unique<SharedMemory>(*std::move(segment));
}

}  // namespace ingot::replication_view_heap
