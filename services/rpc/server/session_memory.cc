#include "services/rpc/server/session_memory.h"

#include <malloc.h>

#include <cstdlib>

namespace ingot::rpc::inline server {

SessionMemory::SessionMemory(std::size_t bytes_max, Holdings& all)
    : bytes_max_(bytes_max), all_(all), functions_{this, &allocate, &release, &allocate_zeroed, &reallocate} {}

bool SessionMemory::may_take(std::size_t more) {
  const bool own = bytes_ + more <= bytes_max_;
  if (lifted_ || (own && all_.allows_http2(bytes_ + more))) return true;
  refused_ = true;
  refused_by_own_ = !own;
  return false;
}

void* SessionMemory::counted(void* memory) {
  if (memory == nullptr) return nullptr;
  const std::size_t bytes = malloc_usable_size(memory);
  bytes_ += bytes;
  all_.http2_bytes += bytes;
  return memory;
}

void SessionMemory::uncount(std::size_t bytes) {
  bytes_ -= bytes;
  all_.http2_bytes -= bytes;
}

void* SessionMemory::allocate(std::size_t size, void* self) {
  auto& memory = *static_cast<SessionMemory*>(self);
  return memory.may_take(size) ? memory.counted(std::malloc(size)) : nullptr;
}

void* SessionMemory::allocate_zeroed(std::size_t number, std::size_t size, void* self) {
  auto& memory = *static_cast<SessionMemory*>(self);
  return memory.may_take(number * size) ? memory.counted(std::calloc(number, size)) : nullptr;
}

void* SessionMemory::reallocate(void* old, std::size_t size, void* self) {
  auto& memory = *static_cast<SessionMemory*>(self);
  const std::size_t before = old == nullptr ? 0 : malloc_usable_size(old);
  if (size > before && !memory.may_take(size - before)) return nullptr;
  void* fresh = std::realloc(old, size);
  if (fresh == nullptr) return nullptr;
  memory.uncount(before);
  return memory.counted(fresh);
}

void SessionMemory::release(void* memory, void* self) {
  if (memory == nullptr) return;
  static_cast<SessionMemory*>(self)->uncount(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace ingot::rpc::server
