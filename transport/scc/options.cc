#include "transport/scc/options.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ingot::scc::inline transport_scc {
namespace {

constexpr std::size_t kStackBytesMin = 32 * 1024;
constexpr std::size_t kStackBytesMax = std::size_t{64} << 20;
constexpr double kConstantMax = 1e12;
constexpr std::uint64_t kDelayCyclesMax = 1'000'000'000;

absl::Status check_clock(const char* domain, int mhz, int max) {
  if (mhz >= kClockMhzMin && mhz <= max) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the ", domain, " clock cannot run at ", mhz, " MHz: ", kClockMhzMin,
                                                 " to ", max, " MHz are possible"));
}

absl::Status check_clocks(const Clocks& clocks) {
  if (auto status = check_clock("core", clocks.core_mhz, kCoreMhzMax); !status.ok()) return status;
  if (auto status = check_clock("mesh", clocks.mesh_mhz, kMeshMhzMax); !status.ok()) return status;
  return check_clock("memory", clocks.memory_mhz, kMemoryMhzMax);
}

absl::Status check_sizes(const ChipOptions& options) {
  if (options.private_bytes == 0 || options.private_bytes % kLutEntryBytes != 0 ||
      options.private_bytes > kPrivateBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("a core cannot have ", options.private_bytes,
                                                   " bytes of private memory: multiples of ", kLutEntryBytes, " up to ",
                                                   kPrivateBytesMax, " are possible"));
  }
  if (options.stack_bytes < kStackBytesMin || options.stack_bytes > kStackBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("a core's stack cannot have ", options.stack_bytes, " bytes: ",
                                                   kStackBytesMin, " to ", kStackBytesMax, " are possible"));
  }
  if (options.start_skew_core_cycles > kDelayCyclesMax || options.jitter_core_cycles > kDelayCyclesMax) {
    return absl::InvalidArgumentError(absl::StrCat("start skew and jitter are at most ", kDelayCyclesMax, " cycles"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status parse_clocks(std::string_view text, Clocks& clocks) {
  const std::vector<absl::string_view> fields = absl::StrSplit(absl::string_view(text.data(), text.size()), '/');
  Clocks parsed;
  if (fields.size() != 3 || !absl::SimpleAtoi(fields[0], &parsed.core_mhz) ||
      !absl::SimpleAtoi(fields[1], &parsed.mesh_mhz) || !absl::SimpleAtoi(fields[2], &parsed.memory_mhz)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", absl::string_view(text.data(), text.size()),
        "\" is no clock setting: give core, mesh and memory clock in MHz, for example 533/800/800"));
  }
  if (auto status = check_clocks(parsed); !status.ok()) return status;
  clocks = parsed;
  return absl::OkStatus();
}

absl::Status parse_cost_model(std::string_view text, CostModel& model) {
  if (text == "logp") {
    model = CostModel::kLogP;
  } else if (text == "wgr") {
    model = CostModel::kWgr;
  } else {
    return absl::InvalidArgumentError(absl::StrCat("\"", absl::string_view(text.data(), text.size()),
                                                   "\" is no cost model of the chip: logp and wgr are known"));
  }
  return absl::OkStatus();
}

absl::Status set_constant(ChipOptions& options, std::string_view name, double value) {
  if (!(value >= 0 && value <= kConstantMax)) {
    return absl::InvalidArgumentError(absl::StrCat("a constant of the chip is a number from 0 to ", kConstantMax));
  }
  for (const ConstantInfo& info : constant_table()) {
    if (info.name != name) continue;
    options.constants[static_cast<std::size_t>(info.constant)] = value;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("the chip has no constant \"",
                                                 absl::string_view(name.data(), name.size()), "\""));
}

absl::Status validate(const ChipOptions& options) {
  if (auto status = check_clocks(options.clocks); !status.ok()) return status;
  if (auto status = check_sizes(options); !status.ok()) return status;
  if (options.shared_type != MemoryType::kUncached && options.shared_type != MemoryType::kMpbTyped) {
    return absl::InvalidArgumentError("shared memory is uncached or MPB-typed: nothing keeps caches coherent");
  }
  if (!(options.virtual_seconds_max > 0 && options.virtual_seconds_max <= kVirtualSecondsMax)) {
    return absl::InvalidArgumentError(absl::StrCat("a run lasts more than 0 and up to ", kVirtualSecondsMax,
                                                   " virtual seconds, not ", options.virtual_seconds_max));
  }
  for (std::size_t i = 0; i < kConstants; ++i) {
    if (options.constants[i] >= 0 && options.constants[i] <= kConstantMax) continue;
    const std::string_view name = constant_table()[i].name;
    return absl::InvalidArgumentError(absl::StrCat("the constant ", absl::string_view(name.data(), name.size()),
                                                   " is a number from 0 to ", kConstantMax, ", not ",
                                                   options.constants[i]));
  }
  return absl::OkStatus();
}

}  // namespace ingot::scc::transport_scc
