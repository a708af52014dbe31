#include "transport/host/cross_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "core/check.h"

namespace ingot::inline transport_host {
namespace {

std::span<CrossMemoryEntry> entries_of(std::span<std::byte> directory) {
  INGOT_CHECK(reinterpret_cast<std::uintptr_t>(directory.data()) % alignof(CrossMemoryEntry) == 0);
  return {reinterpret_cast<CrossMemoryEntry*>(directory.data()), directory.size() / sizeof(CrossMemoryEntry)};
}

// No load behind it is performed before the loads of the copy before it.
void copy_then_look() {
#if defined(__SANITIZE_THREAD__)
  std::atomic_signal_fence(std::memory_order_seq_cst);  // ThreadSanitizer has no fences; x86 keeps the loads' order
#else
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

bool read_process(pid_t process, std::uint64_t address, std::span<std::byte> target) {
  while (!target.empty()) {
    const iovec local{target.data(), target.size()};
    const iovec remote{reinterpret_cast<void*>(address), target.size()};
    const ssize_t copied = ::process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (copied <= 0) return false;
    target = target.subspan(static_cast<std::size_t>(copied));
    address += static_cast<std::uint64_t>(copied);
  }
  return true;
}

}  // namespace

CrossMemory::CrossMemory(std::span<std::byte> directory, EndpointId self)
    : entries_(entries_of(directory)),
      own_(entries_[self.value()]),
      process_(static_cast<std::uint32_t>(::getpid())) {
  INGOT_CHECK(self.value() < entries_.size(), "the directory has an entry for each endpoint");
  own_.process.store(process_, std::memory_order_relaxed);
  own_.owner.acquire();
}

CrossMemory::~CrossMemory() {
  withdraw();
  own_.owner.release();
}

PayloadOffer CrossMemory::offer(std::span<const std::byte> payload) {
  return {reinterpret_cast<std::uintptr_t>(payload.data()), static_cast<std::uint32_t>(payload.size()),
          own_.epoch.load(std::memory_order_relaxed)};
}

void CrossMemory::withdraw() {
  own_.epoch.store(own_.epoch.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  store_store_fence();  // what the memory is used for next is seen after this
}

CopyResult CrossMemory::copy(EndpointId from, const PayloadOffer& offer, std::span<std::byte> target) {
  INGOT_CHECK(from.value() < entries_.size() && target.size() == offer.bytes);
  const CrossMemoryEntry& entry = entries_[from.value()];
  const auto withdrawn = [&] { return entry.epoch.load(std::memory_order_relaxed) != offer.epoch; };
  if (entry.owner.state() != WriterState::kAlive) return CopyResult::kImpossible;
  if (withdrawn()) return CopyResult::kWithdrawn;
  const std::uint32_t process = entry.process.load(std::memory_order_relaxed);
  if (process == process_) {
    std::memcpy(target.data(), reinterpret_cast<const void*>(offer.address), target.size());
  } else if (!read_process(static_cast<pid_t>(process), offer.address, target)) {
    return withdrawn() ? CopyResult::kWithdrawn : CopyResult::kImpossible;
  }
  copy_then_look();
  if (withdrawn()) return CopyResult::kWithdrawn;
  return entry.owner.state() == WriterState::kAlive ? CopyResult::kCopied : CopyResult::kImpossible;
}

}  // namespace ingot::transport_host
