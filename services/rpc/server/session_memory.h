// The memory that nghttp2 takes for one connection: counted, and bounded.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>

namespace ingot::rpc::inline server {

// At the bound nghttp2 gets no more and the session fails. Not moved, and not destroyed before the session.
class SessionMemory {
 public:
  explicit SessionMemory(std::size_t bytes_max);
  SessionMemory(const SessionMemory&) = delete;
  SessionMemory& operator=(const SessionMemory&) = delete;

  nghttp2_mem* functions() { return &functions_; }
  std::size_t bytes() const { return bytes_; }

 private:
  static void* allocate(std::size_t size, void* self);
  static void* allocate_zeroed(std::size_t number, std::size_t size, void* self);
  static void* reallocate(void* memory, std::size_t size, void* self);
  static void release(void* memory, void* self);
  void* counted(void* memory);

  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  nghttp2_mem functions_;
};

}  // namespace ingot::rpc::server
