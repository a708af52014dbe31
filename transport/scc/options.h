// The options of a simulated chip.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "transport/scc/address.h"
#include "transport/scc/constants.h"

namespace ingot::scc::inline transport_scc {

// The clock domains. The default is the setting of all the papers.
struct Clocks {
  int core_mhz = 533;
  int mesh_mhz = 800;
  int memory_mhz = 800;
};

inline constexpr int kClockMhzMin = 100;  // of any domain: the chip's own tools can set these
inline constexpr int kCoreMhzMax = 1000;
inline constexpr int kMeshMhzMax = 2000;
inline constexpr int kMemoryMhzMax = 1200;

// Parses "533/800/800" (core/mesh/memory, MHz). Errors: INVALID_ARGUMENT.
absl::Status parse_clocks(std::string_view text, Clocks& clocks);

// How a write is charged. kLogP (OC-Bcast): a core waits for the acknowledgement of each line. kWgr (Rotta et al.): a
// write to an MPB costs its issue, and the next access waits for the gap; the core's own MPB is reached without the
// router.
enum class CostModel : std::uint8_t { kLogP, kWgr };
constexpr std::array<const char*, 2> enum_names(CostModel) { return {"logp", "wgr"}; }

// Parses "logp" or "wgr". Errors: INVALID_ARGUMENT.
absl::Status parse_cost_model(std::string_view text, CostModel& model);

struct ChipOptions {
  Clocks clocks = {};
  CostModel cost_model = CostModel::kLogP;
  // Decides ties between cores at the same virtual time, and the two delays below. Never affects a result.
  std::uint64_t seed = 1;
  // Each core starts up to so much later than time 0, depending on the seed.
  std::uint64_t start_skew_core_cycles = 0;
  // Each line or word over the mesh takes up to so much longer, depending on the seed: explores schedules.
  std::uint64_t jitter_core_cycles = 0;
  // Private memory of each core in bytes: whole 16 MiB pages, 1 to kPrivateEntries of them. Host memory is used only
  // where it is touched.
  std::size_t private_bytes = 4 * kLutEntryBytes;
  // How shared memory is mapped at start: kUncached or kMpbTyped.
  MemoryType shared_type = MemoryType::kUncached;
  std::size_t stack_bytes = 256 * 1024;  // of each core's fibre: 32 KiB to 64 MiB
  // A run that reaches this virtual time ends with DEADLINE_EXCEEDED: a guard against cores that poll for ever without
  // wait_until. At most kVirtualSecondsMax.
  double virtual_seconds_max = 3600;
  // If not empty: the file for a Chrome/Perfetto trace of the run. Events beyond trace_events_max are only counted.
  std::string trace_path = {};
  std::uint64_t trace_events_max = 2'000'000;
  std::array<double, kConstants> constants = default_constants();
};

inline constexpr double kVirtualSecondsMax = 18'000;

// Sets a constant by its name in constant_table(). Errors: INVALID_ARGUMENT (no such name; not from 0 to 1e12).
absl::Status set_constant(ChipOptions& options, std::string_view name, double value);

// Errors: INVALID_ARGUMENT with one sentence that says what is wrong and what is allowed.
absl::Status validate(const ChipOptions& options);

}  // namespace ingot::scc::transport_scc
