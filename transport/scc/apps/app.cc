#include "transport/scc/apps/app.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "transport/scc/apps/program.h"

namespace ingot::scc::inline transport_scc_apps {
namespace {

using Make = std::unique_ptr<Application> (*)(const AppPoint& point, std::uint64_t seed);

constexpr ApplicationInfo kApplications[] = {
    {"matmul", "multiply and add", 28,
     "assumed: imul 10, loads, add, store and loop 4 (P54C), and 14 for one line in eight of B, which comes from DRAM",
     kMatrixRowsMax},
    {"nbody", "pair of particles", 150,
     "assumed: a square root 70, a division 39, 18 additions and multiplications with their loads (P54C's FPU)",
     kParticlesMax},
    {"bucketsort", "look at a key", 15,
     "assumed: load, compare, store, and a branch that is mispredicted half of the time; m keys are sorted by m log2 m",
     kSortKeysMax},
};
constexpr Make kMakers[] = {make_matrix_product, make_n_body, make_bucket_sort};
static_assert(std::size(kMakers) == std::size(kApplications));

std::optional<std::size_t> find(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kApplications); ++i) {
    if (kApplications[i].name == name) return i;
  }
  return std::nullopt;
}

absl::Status check_range(std::string_view what, std::uint64_t value, std::uint64_t min, std::uint64_t max) {
  if (value >= min && value <= max) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(what), " cannot be ", value, ": ", min, " to ", max, " are possible"));
}

absl::Status check_names(const AppPoint& point) {
  if (!find(point.app)) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no application \"", point.app, "\": there are matmul, nbody and bucketsort"));
  }
  if (point.broadcast != kPointToPoint && find_broadcast(point.broadcast) == nullptr) {
    std::string names;
    for (const auto& each : broadcast_algorithms()) names += std::string(each.name) + ", ";
    return absl::InvalidArgumentError(absl::StrCat("there is no broadcast \"", point.broadcast, "\": there are ", names,
                                                   "and ", std::string(kPointToPoint)));
  }
  const bool known = point.variant.empty() ||
                     (point.app == "bucketsort" && (point.variant == "root" || point.variant == "spread"));
  if (known) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("there is no variant \"", point.variant, "\" of ", point.app,
                                                 ": bucketsort has root and spread, the others have none"));
}

// Times of a finished run.
AppResult result_of(Chip& chip, const std::array<std::unique_ptr<Worker>, kCores>& workers, Picoseconds duration) {
  Picoseconds compute = 0;
  for (const auto& worker : workers) {
    if (worker != nullptr) compute = std::max(compute, worker->compute_ps());
  }
  AppResult result;
  result.compute_s = static_cast<double>(compute) * 1e-12;
  result.communicate_s = static_cast<double>(duration - compute) * 1e-12;
  result.accesses = chip.statistics().accesses();
  result.trace_hash = chip.trace_hash();
  return result;
}

}  // namespace

std::span<const ApplicationInfo> application_table() { return kApplications; }

absl::Status validate(const AppPoint& point) {
  absl::Status status = check_names(point);
  if (!status.ok()) return status;
  status.Update(check_range("the size", point.size, 1, kApplications[*find(point.app)].size_max));
  if (point.cores < 2 || point.cores > kCores) {
    status.Update(absl::InvalidArgumentError(
        absl::StrCat("the number of cores cannot be ", point.cores, ": 2 to ", kCores, " are possible")));
  }
  if (point.steps < 1 || point.steps > kNBodyStepsMax) {
    status.Update(absl::InvalidArgumentError(
        absl::StrCat("the number of steps cannot be ", point.steps, ": 1 to ", kNBodyStepsMax, " are possible")));
  }
  status.Update(check_range("cycles per operation", point.cycles_per_operation, 0, kCyclesPerOperationMax));
  return status;
}

absl::StatusOr<AppResult> run_app(const ChipOptions& options, const AppPoint& point) {
  if (absl::Status status = validate(point); !status.ok()) return status;
  const std::size_t which = *find(point.app);
  const auto application = kMakers[which](point, options.seed);
  ChipOptions with_room = options;
  with_room.private_bytes = (application->private_bytes() + kLutEntryBytes - 1) / kLutEntryBytes * kLutEntryBytes;
  auto chip = Chip::create(with_room);
  if (!chip.ok()) return chip.status();
  BroadcastSetup setup{.group = Group::first(point.cores), .plans = nullptr};
  if (absl::Status status = prepare(setup, with_room); !status.ok()) return status;
  application->fill(**chip, setup.group);
  const std::uint64_t cycles =
      point.cycles_per_operation != 0 ? point.cycles_per_operation : kApplications[which].cycles_per_operation;
  std::array<std::unique_ptr<Worker>, kCores> workers;
  const Picoseconds begin = (*chip)->now_ps();
  absl::Status status = (*chip)->run(setup.group.cores(), [&](Core& core) {
    auto& worker = workers[static_cast<std::size_t>(core.id())];
    worker = std::make_unique<Worker>(core, setup, find_broadcast(point.broadcast), cycles);
    application->run(*worker);
  });
  if (!status.ok()) return status;
  AppResult result = result_of(**chip, workers, (*chip)->now_ps() - begin);
  result.cycles_per_operation = cycles;
  status = application->check(**chip, setup.group);
  if (!status.ok()) {
    return absl::InternalError(absl::StrCat(point.app, " with ", point.broadcast, ", size ", point.size, ", ",
                                            point.cores, " cores, seed ", options.seed, ": ",
                                            std::string(status.message())));
  }
  return result;
}

}  // namespace ingot::scc::transport_scc_apps
