// Tells an object whether its process was forked from the one in which the object was made. It is a page that the
// kernel wipes in a child, so the question costs one load.
#pragma once

#include <atomic>
#include <cstdint>

namespace ingot::inline replication_view_handle {

// Not thread-safe; the page is one for the whole process, and is never given back.
class ForkMark {
 public:
  ForkMark();

  // True once in each process but the one that made the object.
  bool is_new_process() {
    if (word_->load(std::memory_order_relaxed) == seen_) [[likely]] return false;
    return enter();
  }

 private:
  bool enter();

  std::atomic<std::uint64_t>* word_;
  std::uint64_t seen_ = 0;
};

}  // namespace ingot::replication_view_handle
