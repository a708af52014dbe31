#include "replication/stable/writer_lock.h"

#include <linux/futex.h>

#include <cstddef>
#include <type_traits>

#include "core/check.h"

namespace ingot {

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
  __atomic_fetch_or(&mutex_.__data.__lock, static_cast<int>(FUTEX_WAITERS), __ATOMIC_RELAXED);
  was_locked_.store(1, std::memory_order_release);  // pairs with state(), which must not take a half-made lock for free
}

void WriterLock::release() {
  if (state() != WriterState::kAlive) return;  // the owner was another thread: the kernel has marked its mutex
  INGOT_CHECK(::pthread_mutex_unlock(&mutex_) == 0, "only the writer itself lets go");
}

WriterState WriterLock::state() const {
  if (was_locked_.load(std::memory_order_acquire) == 0) return WriterState::kNone;
  // Acquire: pairs with the kernel's mark or the unlock's release, which follow all of the writer's stores.
  const auto word = static_cast<unsigned>(__atomic_load_n(&mutex_.__data.__lock, __ATOMIC_ACQUIRE));
  if ((word & FUTEX_OWNER_DIED) != 0 || (word & FUTEX_TID_MASK) == 0) return WriterState::kGone;
  return WriterState::kAlive;
}

const std::uint32_t* WriterLock::word() const { return reinterpret_cast<const std::uint32_t*>(&mutex_.__data.__lock); }

}  // namespace ingot
