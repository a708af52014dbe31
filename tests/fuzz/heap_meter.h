// What a server has allocated and not freed, in a process in which its test allocates, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ingot::fuzz {

// Of the whole process, as malloc counts them (counted_heap.cc), or a sanitizer does.
std::size_t live_heap_bytes();

// Test and server run by turns, on one thread; what each of them allocates it also frees. Not thread-safe.
class HeapMeter {
 public:
  // While it lives, the server runs, or the test does. They nest.
  class Section {
   public:
    Section(HeapMeter& meter, bool server) : meter_(meter), before_(meter.turn_to(server)) {}
    ~Section() { meter_.turn_to(before_); }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

   private:
    HeapMeter& meter_;
    const bool before_;
  };

  // REQUIRES: the test runs.
  std::int64_t server_bytes() const { return server_bytes_; }

 private:
  bool turn_to(bool server) {
    if (server == server_) return server_;
    const auto now = static_cast<std::int64_t>(live_heap_bytes());
    if (server_) server_bytes_ += now - since_;
    since_ = now;
    return std::exchange(server_, server);
  }

  bool server_ = false;
  std::int64_t since_ = 0;
  std::int64_t server_bytes_ = 0;
};

}  // namespace ingot::fuzz
