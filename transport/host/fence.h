// The full fence of the sleeping handshake (transport/waker.h): every earlier store is visible to the other cores
// before any later load is performed. Works between processes that share memory, too.
#pragma once

#include <atomic>

#include "core/shared_cell.h"

namespace ingot::inline transport_host {

inline void store_load_fence() {
#ifdef INGOT_MODELLED_MEMORY
  if (memory_model != nullptr) return memory_model->store_load_fence();
#endif
  // TSan does not model fences, and GCC warns about that. TSan's check for data races needs none: all cells are atomic.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
  std::atomic_thread_fence(std::memory_order_seq_cst);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

}  // namespace ingot::transport_host
