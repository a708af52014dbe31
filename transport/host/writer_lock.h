// Tells whether a segment's writer thread still exists: a robust mutex that the one writer holds until it ends.
//
// When a thread ends, however it ends, or calls exec, the kernel marks the robust mutexes that it held, after its last
// instruction and before it frees the process's memory or number: within a tenth of a millisecond of a kill. From then
// on the segment is final. A timeout proves less: a stopped or starved writer still holds its lock.
//
// The lock lies in the writer's own segment, which the others map read-only. They do not lock it: they read the mutex's
// futex word, whose values are part of the kernel's interface (futex(2), robust lists): 0, the owner's thread id, or
// FUTEX_OWNER_DIED.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "core/shared_cell.h"

namespace ingot::inline transport_host {

enum class WriterState : std::uint8_t {
  kNone,   // no writer has taken the segment yet
  kAlive,  // it may still write, even if it is stopped
  kGone,   // died or released: it never writes again, and a reader that sees kGone sees all its writes
};

// In shared memory. Only the owner writes it, and the kernel at the owner's death. Zero-filled: never locked.
struct alignas(64) WriterLock {
  // Makes and locks the mutex; the calling thread is now the writer. At most once in a segment's life.
  void acquire();
  // For a writer that unmaps the memory and lives on. Called by the thread that acquired; from another thread, after
  // the first has ended, it has no effect.
  void release();

  // From any process, on any memory: whatever the bytes, the result is one of the three states.
  WriterState state() const;

  // The futex word, to sleep on until the writer is gone: the kernel then wakes one of the sleepers.
  const std::uint32_t* word() const;

 private:
  SharedCell<std::uint32_t>& futex_word() const;

  mutable pthread_mutex_t mutex_;         // its first word is the futex word
  SharedCell<std::uint32_t> was_locked_;  // 0 until acquire is done
};
static_assert(sizeof(WriterLock) == 64);

}  // namespace ingot::transport_host
