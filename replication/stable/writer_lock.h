// Who writes a segment, and whether that thread is still there: a robust mutex that the one writer locks for life.
//
// When a thread ends, however it ends, the kernel marks the robust mutexes that it held, after its last instruction and
// before it frees the process's memory: within a tenth of a millisecond of a kill. From then on the segment is final.
// A time-out never says so much: a writer that is stopped, or starved, still holds its lock.
//
// The lock lies in the writer's own segment, which the others map read-only. They do not try to lock it: they read the
// mutex's futex word, whose values are the kernel's interface (futex(2), robust lists): 0, the owner's thread id, or
// FUTEX_OWNER_DIED.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace ingot {

enum class WriterState : std::uint8_t {
  kNone,   // no writer has taken the segment yet
  kAlive,  // it may still write, even if it is stopped
  kGone,   // it died or left: it will never write again, and all that it wrote is visible to who saw this
};

// Lies in shared memory, written by the owner (and, at its death, the kernel) only. Zero-filled: never locked.
struct alignas(64) WriterLock {
  // Makes and locks the mutex; the calling thread is the writer from now on. At most once in a segment's incarnation.
  void acquire();
  // Before the memory is unmapped by a writer that lives on. By the thread that acquired; by another one, after that
  // thread has ended, it does nothing.
  void release();

  // Any process, any memory: whatever the bytes are, the answer is one of the three.
  WriterState state() const;

  // The futex word, to sleep on until the writer is gone: the kernel then wakes one of those who sleep on it.
  const std::uint32_t* word() const;

 private:
  pthread_mutex_t mutex_;                  // its first word is the futex word
  std::atomic<std::uint32_t> was_locked_;  // 0 until acquire is done
};
static_assert(sizeof(WriterLock) == 64);

}  // namespace ingot
