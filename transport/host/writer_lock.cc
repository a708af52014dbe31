#include "transport/host/writer_lock.h"

#include <linux/futex.h>

#include <atomic>
#include <cstddef>
#include <type_traits>

#include "core/check.h"

namespace ingot::inline transport_host {

// state() reads the futex word, which glibc has at this offset on every machine.
static_assert(offsetof(pthread_mutex_t, __data.__lock) == 0 &&
              std::is_same_v<decltype(pthread_mutex_t::__data.__lock), int>);

void WriterLock::acquire() {
  INGOT_CHECK(was_locked_.load(std::memory_order_relaxed) == 0, "a segment has one writer in its life");
  pthread_mutexattr_t attributes;
  INGOT_CHECK(::pthread_mutexattr_init(&attributes) == 0);
  INGOT_CHECK(::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
  INGOT_CHECK(::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
  INGOT_CHECK(::pthread_mutex_init(&mutex_, &attributes) == 0);
  INGOT_CHECK(::pthread_mutexattr_destroy(&attributes) == 0);
  INGOT_CHECK(::pthread_mutex_lock(&mutex_) == 0);
  // A reader cannot set this bit, since its mapping is read-only; without the bit the kernel would wake no sleeper.
  futex_word().fetch_or(FUTEX_WAITERS, std::memory_order_relaxed);
  was_locked_.store(1, std::memory_order_release);  // pairs with state(), which must not take a half-made lock for free
}

void WriterLock::release() {
  if (state() != WriterState::kAlive) return;  // the owner was another thread: the kernel has marked its mutex
  INGOT_CHECK(::pthread_mutex_unlock(&mutex_) == 0, "only the writer itself lets go");
}

WriterState WriterLock::state() const {
  if (was_locked_.load(std::memory_order_acquire) == 0) return WriterState::kNone;
  // Acquire: pairs with the kernel's mark or the unlock's release, which follow all of the writer's stores.
  const std::uint32_t word = futex_word().load(std::memory_order_acquire);
  if ((word & FUTEX_OWNER_DIED) != 0 || (word & FUTEX_TID_MASK) == 0) return WriterState::kGone;
  return WriterState::kAlive;
}

SharedCell<std::uint32_t>& WriterLock::futex_word() const {
  return *static_cast<SharedCell<std::uint32_t>*>(static_cast<void*>(&mutex_.__data.__lock));
}

const std::uint32_t* WriterLock::word() const { return reinterpret_cast<const std::uint32_t*>(&mutex_.__data.__lock); }

}  // namespace ingot::transport_host
