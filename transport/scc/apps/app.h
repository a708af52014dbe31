// Three applications on the simulated SCC, each with any broadcast, or with point-to-point sends (papers, section 4):
// an integer matrix product, n-body, and bucket sort in two variants.
//
//   matmul      C = A x B, whole numbers of 32 bits. Core 0 has A and B; the others get B and A (or, point to point, B
//               and their rows of A), and send their rows of C to core 0
//   nbody       each core moves its share of the particles, 32 bytes each; in every step all exchange their positions
//   bucketsort  48 buckets of 32-bit keys, shared out evenly.
//               "root": core 0 has the keys and gets them back sorted; it broadcasts all of them, or, point to point,
//               cuts them into buckets itself and sends each core its own
//               "spread": each core has a part of the keys; at the end each has the keys of its buckets, sorted
//
// The papers give the three applications and the two variants of the last; all details are Ingot's
// (docs/design/scc-software.md). Computation runs natively, and is charged to the core as operations times cycles for
// each. Every result is compared with a sequential run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/scc/options.h"

namespace ingot::scc::inline transport_scc_apps {

inline constexpr std::string_view kPointToPoint = "point-to-point";  // besides the names of broadcasts

inline constexpr std::size_t kMatrixRowsMax = 2000;
inline constexpr std::size_t kParticlesMax = 100'000;
inline constexpr std::size_t kSortKeysMax = 4'000'000;
inline constexpr int kNBodyStepsMax = 1000;
inline constexpr int kBuckets = 48;
inline constexpr std::uint64_t kCyclesPerOperationMax = 1'000'000;

struct AppPoint {
  std::string app = "matmul";          // by name, see application_table()
  std::string broadcast = "modmpb";    // a broadcast's name, or kPointToPoint
  std::size_t size = 256;              // rows and columns, particles, or keys
  std::string variant = {};            // of bucketsort: "root" (also if empty) or "spread"
  int cores = kCores;                  // cores 0 to cores - 1 take part
  int steps = 2;                       // of n-body
  std::uint64_t cycles_per_operation = 0;  // core cycles; 0: the table's
};

struct AppResult {
  double compute_s = 0;      // virtual computing time of the busiest core
  double communicate_s = 0;  // the rest of the run: sending, receiving and waiting
  std::uint64_t cycles_per_operation = 0;
  std::uint64_t accesses = 0;  // simulated
  std::uint64_t trace_hash = 0;
};

struct ApplicationInfo {
  std::string_view name;
  std::string_view operation;          // the counted operation
  std::uint64_t cycles_per_operation;  // on a P54C; assumed
  std::string_view source;
  std::size_t size_max;
};
std::span<const ApplicationInfo> application_table();

// Errors: INVALID_ARGUMENT with one sentence.
absl::Status validate(const AppPoint& point);

// Runs the application on a new chip with these options. Errors: as validate; INTERNAL if the result differs from the
// sequential run's; those of Chip::create and Chip::run.
absl::StatusOr<AppResult> run_app(const ChipOptions& options, const AppPoint& point);

}  // namespace ingot::scc::transport_scc_apps
