// The memory that nghttp2 takes for one connection: counted and bounded for the connection and for its loop.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>

#include "services/rpc/server/holdings.h"

namespace ingot::rpc::inline server {

// At a bound nghttp2 gets no more and the session fails. Not moved, and not destroyed before the session.
class SessionMemory {
 public:
  SessionMemory(std::size_t bytes_max, Holdings& all);
  SessionMemory(const SessionMemory&) = delete;
  SessionMemory& operator=(const SessionMemory&) = delete;

  nghttp2_mem* functions() { return &functions_; }
  std::size_t bytes() const { return bytes_; }
  // Whether nghttp2 was refused memory, at this connection's own bound or at that of all connections.
  bool refused() const { return refused_; }
  bool refused_by_own() const { return refused_by_own_; }
  // For the last frames of the connection, which say why it ends.
  void lift_bounds() { lifted_ = true; }

 private:
  static void* allocate(std::size_t size, void* self);
  static void* allocate_zeroed(std::size_t number, std::size_t size, void* self);
  static void* reallocate(void* memory, std::size_t size, void* self);
  static void release(void* memory, void* self);
  bool may_take(std::size_t more);
  void* counted(void* memory);
  void uncount(std::size_t bytes);

  const std::size_t bytes_max_;
  Holdings& all_;
  std::size_t bytes_ = 0;
  bool refused_ = false;
  bool refused_by_own_ = false;
  bool lifted_ = false;
  nghttp2_mem functions_;
};

}  // namespace ingot::rpc::server
