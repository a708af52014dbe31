// What an event loop runs, whatever the machine below.
#pragma once

#include <cstdint>

namespace ingot {

// Something a loop runs: one endpoint with its replica or client. Used by the loop's thread only.
class Pollable {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  virtual ~Pollable() = default;

  // One bounded round of work. Returns how much was done; 0: nothing. `now_ns` is CLOCK_MONOTONIC.
  virtual int poll(std::uint64_t now_ns) = 0;

  // Called after the loop has announced that it will sleep: true if a poll would find something to do.
  virtual bool readable() = 0;

  // When poll must be called again even if nothing arrives (CLOCK_MONOTONIC), or kNever.
  virtual std::uint64_t deadline_ns() const = 0;
};

}  // namespace ingot
