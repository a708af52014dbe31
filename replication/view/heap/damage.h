// The first thing in a chain that cannot be so: a flipped bit, or a bug of the process that wrote it.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ingot::inline replication_view_heap {

// Once something is damaged the heap allocates and frees nothing more, and its owner ends with the status's sentence.
// Not thread-safe.
class HeapDamage {
 public:
  void report(const char* what, std::uint64_t offset) {
    if (what_ == nullptr) {
      what_ = what;
      offset_ = offset;
    }
  }
  bool found() const { return what_ != nullptr; }

  // DATA_LOSS with place and reason, or OK.
  absl::Status status() const {
    if (!found()) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat("the store's memory is damaged at byte ", offset_, ": ", what_));
  }

 private:
  const char* what_ = nullptr;
  std::uint64_t offset_ = 0;
};

}  // namespace ingot::replication_view_heap
