// malloc that counts, for a whole program; under a sanitizer, which has a malloc of its own, hooks of that.
#include <cstddef>

#include "tests/fuzz/heap_meter.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define INGOT_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INGOT_SANITIZED
#endif

#include <atomic>

namespace {

std::atomic<std::size_t> live_bytes{0};

}  // namespace

namespace ingot::fuzz {

std::size_t live_heap_bytes() { return live_bytes.load(std::memory_order_relaxed); }

}  // namespace ingot::fuzz

#ifdef INGOT_SANITIZED

extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                                         void (*)(const volatile void*));
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void*);

namespace {

// The sanitizer's own count holds what is in quarantine, too. Earlier memory that is freed now wraps the count around,
// which differences of it do not mind.
[[maybe_unused]] const int hooks = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t size) { live_bytes.fetch_add(size, std::memory_order_relaxed); },
    [](const volatile void* memory) {
      if (memory == nullptr) return;
      live_bytes.fetch_sub(__sanitizer_get_allocated_size(memory), std::memory_order_relaxed);
    });

}  // namespace

#else

#include <malloc.h>

#include <cerrno>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

void* counted(void* memory) {
  if (memory != nullptr) live_bytes.fetch_add(::malloc_usable_size(memory), std::memory_order_relaxed);
  return memory;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) { return counted(__libc_malloc(size)); }
void* calloc(std::size_t number, std::size_t size) { return counted(__libc_calloc(number, size)); }
void* memalign(std::size_t alignment, std::size_t size) { return counted(__libc_memalign(alignment, size)); }
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }

int posix_memalign(void** to, std::size_t alignment, std::size_t size) {
  void* memory = memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *to = memory;
  return 0;
}

void free(void* memory) {
  if (memory == nullptr) return;
  live_bytes.fetch_sub(::malloc_usable_size(memory), std::memory_order_relaxed);
  __libc_free(memory);
}

void* realloc(void* old, std::size_t size) {
  const std::size_t before = old == nullptr ? 0 : ::malloc_usable_size(old);
  void* fresh = __libc_realloc(old, size);
  if (fresh == nullptr && size != 0) return nullptr;  // the old one is still there
  live_bytes.fetch_sub(before, std::memory_order_relaxed);
  return counted(fresh);
}

}  // extern "C"

#endif
