// Copies between the memories of processes of this machine: process_vm_readv, or memcpy between threads of one process.
//
// A directory in shared memory has an entry for each endpoint:
//
//   WriterLock   held by the endpoint's thread, one line
//   number       of its process
//   epoch        of its offers
//
// A process's number may be given to another process once the first is dead. So the reader checks the lock after the
// copy: if the kernel has not marked it, the number meant its owner during the whole copy. Then it checks the epoch: if
// it is still the offer's, the owner had not yet withdrawn the offer when the last byte was copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/shared_cell.h"
#include "core/types.h"
#include "transport/direct_copy.h"
#include "transport/host/writer_lock.h"

namespace ingot::inline transport_host {

struct alignas(64) CrossMemoryEntry {
  WriterLock owner;
  // Pairs with the acquire in WriterLock::state: stored before the lock is taken.
  SharedCell<std::uint32_t> process;
  SharedCell<std::uint32_t> epoch;
};
static_assert(sizeof(CrossMemoryEntry) == 128);

constexpr std::size_t cross_memory_bytes(int endpoints) {
  return static_cast<std::size_t>(endpoints) * sizeof(CrossMemoryEntry);
}

// One endpoint's side. Made, used and destroyed by the endpoint's thread; made once in a directory's life.
class CrossMemory final : public DirectCopy {
 public:
  // `directory`: cross_memory_bytes(endpoints) or more of shared memory, zero-filled at first, aligned to 64 bytes, the
  // same for all endpoints; it outlives this object. REQUIRES: self is one of them.
  CrossMemory(std::span<std::byte> directory, EndpointId self);
  CrossMemory(const CrossMemory&) = delete;
  CrossMemory& operator=(const CrossMemory&) = delete;
  // Ends the epoch, so no copy of this endpoint's offers succeeds any more.
  ~CrossMemory() override;

  PayloadOffer offer(std::span<const std::byte> payload) override;
  void withdraw() override;
  CopyResult copy(EndpointId from, const PayloadOffer& offer, std::span<std::byte> target) override;

 private:
  std::span<CrossMemoryEntry> entries_;  // by endpoint
  CrossMemoryEntry& own_;
  const std::uint32_t process_;
};

}  // namespace ingot::transport_host
