// Memory that processes share: cells, and plain bytes beside them that stores to cells publish.
//
// In every program a SharedCell is a std::atomic and a copy is a memcpy. Tests compile the same sources with
// INGOT_MODELLED_MEMORY: then each access goes to the model of a weaker machine than the one they run on
// (docs/design/testing.md, Weak memory).
#pragma once

#ifdef INGOT_MODELLED_MEMORY
#include "core/modelled_memory.h"
#else

#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace ingot::inline core {

template <typename T>
using SharedCell = std::atomic<T>;

// Between private memory and plain bytes of shared memory. A writer reads its own bytes without these.
inline void copy_to_shared(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}
inline void copy_from_shared(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

// Plain bytes of shared memory, read in place. The model needs `scratch` to copy them to.
inline std::string_view view_of_shared(const void* at, std::size_t bytes, std::string& /*scratch*/) {
  return {static_cast<const char*>(at), bytes};
}

// A load with acquire that sees a store behind this fence also sees all stores before it. The compiler keeps that
// order, too: it may move a later plain store before a release store, but not before this fence.
inline void store_store_fence() {
#if defined(__SANITIZE_THREAD__)
  std::atomic_signal_fence(std::memory_order_seq_cst);  // ThreadSanitizer has no fences; x86 keeps the stores' order
#else
  std::atomic_thread_fence(std::memory_order_release);
#endif
}

}  // namespace ingot::core

#endif
