// How one endpoint copies a payload out of another endpoint's memory, without the transport in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/types.h"

namespace ingot::inline transport {

// Where a payload lies: sent as a message, in this machine's byte order.
struct PayloadOffer {
  std::uint64_t address = 0;  // in the offering endpoint's memory
  std::uint32_t bytes = 0;
  std::uint32_t epoch = 0;    // of the offering endpoint
};

enum class CopyResult : std::uint8_t {
  kCopied,
  kWithdrawn,   // the epoch is over; the target's content is undefined, here and below
  kImpossible,  // the kernel refuses, the memory is not there, or the offering endpoint is dead
};

// One endpoint's side. Used by the thread that runs the endpoint's loop only. No call blocks or allocates.
class DirectCopy {
 public:
  virtual ~DirectCopy() = default;

  // The payload stays as it is until its receiver has answered, or until withdraw.
  virtual PayloadOffer offer(std::span<const std::byte> payload) = 0;

  // Ends the epoch, and with it all offers made so far: no copy of one succeeds any more, and the memory may be changed
  // when this returns.
  virtual void withdraw() = 0;

  // Copies what another endpoint has offered. REQUIRES: target.size() == offer.bytes.
  virtual CopyResult copy(EndpointId from, const PayloadOffer& offer, std::span<std::byte> target) = 0;
};

}  // namespace ingot::transport
