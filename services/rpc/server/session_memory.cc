#include "services/rpc/server/session_memory.h"

#include <malloc.h>

#include <cstdlib>

namespace ingot::rpc::inline server {

SessionMemory::SessionMemory(std::size_t bytes_max)
    : bytes_max_(bytes_max), functions_{this, &allocate, &release, &allocate_zeroed, &reallocate} {}

void* SessionMemory::counted(void* memory) {
  if (memory != nullptr) bytes_ += malloc_usable_size(memory);
  return memory;
}

void* SessionMemory::allocate(std::size_t size, void* self) {
  auto& memory = *static_cast<SessionMemory*>(self);
  return memory.bytes_ + size > memory.bytes_max_ ? nullptr : memory.counted(std::malloc(size));
}

void* SessionMemory::allocate_zeroed(std::size_t number, std::size_t size, void* self) {
  auto& memory = *static_cast<SessionMemory*>(self);
  return memory.bytes_ + number * size > memory.bytes_max_ ? nullptr : memory.counted(std::calloc(number, size));
}

void* SessionMemory::reallocate(void* old, std::size_t size, void* self) {
  auto& memory = *static_cast<SessionMemory*>(self);
  const std::size_t before = old == nullptr ? 0 : malloc_usable_size(old);
  if (memory.bytes_ - before + size > memory.bytes_max_) return nullptr;
  void* fresh = std::realloc(old, size);
  if (fresh == nullptr) return nullptr;
  memory.bytes_ -= before;
  return memory.counted(fresh);
}

void SessionMemory::release(void* memory, void* self) {
  if (memory == nullptr) return;
  static_cast<SessionMemory*>(self)->bytes_ -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace ingot::rpc::server
