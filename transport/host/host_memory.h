// The host as a Memory: lines of 64 bytes in ordinary mapped memory, shared by threads or by processes.
//
// Inboxes are given as the calling process maps them: different processes may map them at different addresses, so no
// inbox contains an address. Cells are lock-free atomics, payload is plain memory, so a thread sanitizer sees every
// order that the protocols depend on.
//
// Assumption beyond C++ (true on x86 and Arm, whose single-copy atomicity covers it; tests/transport/contract_test): an
// aligned 64-bit acquire load that sees a byte stored with release synchronises with that store. Under a thread
// sanitizer, which tracks cells by address, read_line loads byte by byte instead.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/types.h"
#include "transport/host/fence.h"
#include "transport/memory.h"

namespace ingot::inline transport_host {

class HostMemory {
 public:
  static constexpr std::size_t kLineBytes = 64;
  using Line = std::byte*;

  // `inboxes` by endpoint, each aligned to kLineBytes and outliving this object.
  // REQUIRES: self is one of them.
  HostMemory(EndpointId self, std::vector<std::span<std::byte>> inboxes) : self_(self), inboxes_(std::move(inboxes)) {
    INGOT_CHECK(self_.value() < inboxes_.size());
    for (const auto& inbox : inboxes_) check_aligned(inbox);
  }

  // Replaces an endpoint's inbox by another of the same size.
  void set_inbox(EndpointId endpoint, std::span<std::byte> inbox) {
    check_aligned(inbox);
    INGOT_CHECK(inbox.size() >= inboxes_[endpoint.value()].size());
    inboxes_[endpoint.value()] = inbox;
  }

  std::uint32_t inbox_lines(EndpointId inbox) const {
    return static_cast<std::uint32_t>(inboxes_[inbox.value()].size() / kLineBytes);
  }
  Line line(EndpointId inbox, std::uint32_t index) const {
    return inboxes_[inbox.value()].data() + std::size_t{index} * kLineBytes;
  }

  Word load_word(Line line, std::uint32_t index, Site site) const { return load<Word>(line + 4 * index, site); }
  void store_word(Line line, std::uint32_t index, Word v, Site site) { store<Word>(line + 4 * index, v, site); }
  std::uint8_t load_byte(Line line, std::uint32_t index, Site site) const {
    return load<std::uint8_t>(line + index, site);
  }
  void store_byte(Line line, std::uint32_t index, std::uint8_t v, Site site) {
    store<std::uint8_t>(line + index, v, site);
  }

  void read_line(Line line, std::byte* out, Site site) const {
#if defined(__SANITIZE_THREAD__)
    using Unit = std::uint8_t;
#else
    using Unit = std::uint64_t;
#endif
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kLineBytes; i += sizeof(Unit)) {
      const Unit unit = load<Unit>(line + i, site);
      std::memcpy(out + i, &unit, sizeof unit);
    }
  }

  void copy_in(Line line, std::uint32_t offset, std::span<const std::byte> in) {
    copy_short(line + offset, in.data(), in.size());
  }
  void copy_out(Line line, std::uint32_t offset, std::byte* out, std::size_t bytes) const {
    std::memcpy(out, line + offset, bytes);
  }

  Word draw(Line line, Site /*acquire*/, Site /*release*/) {
    return std::atomic_ref<Word>(*reinterpret_cast<Word*>(line)).fetch_add(1, std::memory_order_acq_rel);
  }

  void store_load_fence() { ingot::store_load_fence(); }
  void prefetch(Line line) const { __builtin_prefetch(line); }

  EndpointId self() const { return self_; }
  int endpoints() const { return static_cast<int>(inboxes_.size()); }

  Cycles now() const {
#if defined(__x86_64__)
    return Cycles(__builtin_ia32_rdtsc());
#else
    return Cycles(static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
#endif
  }

 private:
  // memcpy of at most a line, without a call: two moves of a fixed size, which may overlap.
  static void copy_short(std::byte* to, const std::byte* from, std::size_t bytes) {
    const auto ends = [=](auto size) {
      std::byte first[size], last[size];
      std::memcpy(first, from, size);
      std::memcpy(last, from + bytes - size, size);
      std::memcpy(to, first, size);
      std::memcpy(to + bytes - size, last, size);
    };
    if (bytes >= 32) return ends(std::integral_constant<std::size_t, 32>());
    if (bytes >= 16) return ends(std::integral_constant<std::size_t, 16>());
    if (bytes >= 8) return ends(std::integral_constant<std::size_t, 8>());
    if (bytes >= 4) return ends(std::integral_constant<std::size_t, 4>());
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
  }

  // Each order is a constant in its own branch: for an order that is not a constant the compiler generates the
  // strongest.
  template <typename T>
  [[gnu::always_inline]] static T load(const std::byte* cell, Site site) {
    static_assert(std::atomic_ref<T>::is_always_lock_free);
    const std::atomic_ref<T> object(*reinterpret_cast<T*>(const_cast<std::byte*>(cell)));
    return order_of(site) == Order::kAcquire ? object.load(std::memory_order_acquire)
                                             : object.load(std::memory_order_relaxed);
  }
  template <typename T>
  [[gnu::always_inline]] static void store(std::byte* cell, T v, Site site) {
    static_assert(std::atomic_ref<T>::is_always_lock_free);
    const std::atomic_ref<T> object(*reinterpret_cast<T*>(cell));
    if (order_of(site) == Order::kRelease) {
      object.store(v, std::memory_order_release);
    } else {
      object.store(v, std::memory_order_relaxed);
    }
  }

  static void check_aligned(std::span<std::byte> inbox) {
    INGOT_CHECK(reinterpret_cast<std::uintptr_t>(inbox.data()) % kLineBytes == 0, "inboxes are made of lines");
  }

  const EndpointId self_;
  std::vector<std::span<std::byte>> inboxes_;
};

static_assert(Memory<HostMemory>);

}  // namespace ingot::transport_host
