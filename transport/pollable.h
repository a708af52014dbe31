// The objects that an event loop runs, on any machine.
#pragma once

#include <cstdint>

namespace ingot::inline transport {

// One endpoint with its replica or client. Used by the loop's thread only.
class Pollable {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  virtual ~Pollable() = default;

  // One bounded round of work. Returns how much was done; 0: no work was found. `now_ns` is CLOCK_MONOTONIC.
  virtual int poll(std::uint64_t now_ns) = 0;

  // Called after the loop has announced its sleep: true if a poll would find work.
  virtual bool readable() = 0;

  // When poll must be called again without new messages (CLOCK_MONOTONIC), or kNever.
  virtual std::uint64_t deadline_ns() const = 0;
};

}  // namespace ingot::transport
