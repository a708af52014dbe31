// Creates a chip for a test, and runs single programs on it.
#pragma once

#include <catch2/catch.hpp>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "core/check.h"
#include "transport/scc/chip.h"

namespace ingot::test {

inline std::unique_ptr<scc::Chip> make_chip(const scc::ChipOptions& options = {}) {
  auto chip = scc::Chip::create(options);
  INGOT_CHECK(chip.ok());
  return *std::move(chip);
}

// Runs a program on one core, the others idle.
inline void on_core(scc::Chip& chip, int core, const scc::Chip::Program& program) {
  const std::array<int, 1> cores{core};
  const absl::Status status = chip.run(cores, program);
  INFO(status.ToString());
  REQUIRE(status.ok());
}

inline void on_cores(scc::Chip& chip, std::span<const int> cores, const scc::Chip::Program& program) {
  const absl::Status status = chip.run(cores, program);
  INFO(status.ToString());
  REQUIRE(status.ok());
}

// The duration of `what` on an otherwise idle chip, in nanoseconds.
inline double nanoseconds(scc::Core& core, const std::function<void()>& what) {
  const scc::Picoseconds from = core.now_ps();
  what();
  return static_cast<double>(core.now_ps() - from) * 1e-3;
}

}  // namespace ingot::test
