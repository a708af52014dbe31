// Memory of this process alone, in whole pages.
#pragma once

#include <sys/mman.h>

#include <cstddef>

#include "core/check.h"

namespace ingot::inline transport_host {

// Zero-filled memory that the kernel allocates where it is touched. Running out of address space is a failed check.
class PrivatePages {
 public:
  explicit PrivatePages(std::size_t bytes)
      : bytes_(bytes),
        start_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    INGOT_CHECK(start_ != MAP_FAILED);
  }
  PrivatePages(const PrivatePages&) = delete;
  PrivatePages& operator=(const PrivatePages&) = delete;
  ~PrivatePages() { ::munmap(start_, bytes_); }

  std::byte* start() const { return static_cast<std::byte*>(start_); }

 private:
  const std::size_t bytes_;
  void* const start_;
};

}  // namespace ingot::transport_host
