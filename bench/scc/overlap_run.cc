#include "bench/scc/overlap_run.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/scc/overlap_member.h"
#include "transport/scc/chip.h"

namespace ingot::scc {
namespace {

absl::Status validate(const OverlapPoint& point) {
  if (point.cores < 2 || point.cores > kCores) {
    return absl::InvalidArgumentError(
        absl::StrCat("the number of cores cannot be ", point.cores, ": 2 to 48 are possible"));
  }
  if (point.children < 1 || point.children >= kCores) {
    return absl::InvalidArgumentError(
        absl::StrCat("a core of the tree cannot have ", point.children, " children: 1 to 47 are possible"));
  }
  if (point.bytes < sizeof(double) || point.bytes % sizeof(double) != 0 || point.bytes > kOverlapBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("a payload cannot have ", point.bytes,
                                                   " bytes: multiples of 8 up to ", kOverlapBytesMax, " are possible"));
  }
  return absl::OkStatus();
}

// A chip, its members, and runs of one operation on all of them.
class Experiment {
 public:
  explicit Experiment(const OverlapPoint& point) : point_(point), members_(static_cast<std::size_t>(point.cores)) {}

  absl::Status set_up(const ChipOptions& options) {
    auto fabric = lay_out_chunks(point_.cores);
    if (!fabric.ok()) return fabric.status();
    fabric_ = *std::move(fabric);
    auto chip = Chip::create(options);
    if (!chip.ok()) return chip.status();
    chip_ = *std::move(chip);
    absl::Status built;
    const absl::Status run = chip_->run(fabric_.cores, [&](Core& core) {
      auto& member = members_[static_cast<std::size_t>(core.id())];
      member = std::make_unique<OverlapMember>(core, fabric_, point_);
      built.Update(member->build());
    });
    return run.ok() ? built : run;
  }

  // Runs the operation once; the results of `part` by core.
  absl::StatusOr<std::vector<Picoseconds>> run(const std::function<Picoseconds(OverlapMember&)>& part) {
    for (auto& member : members_) member->prepare(round_);
    std::vector<Picoseconds> results(members_.size());
    begin_ps_ = chip_->now_ps();
    const absl::Status status = chip_->run(fabric_.cores, [&](Core& core) {
      const auto index = static_cast<std::size_t>(core.id());
      results[index] = part(*members_[index]);
    });
    if (!status.ok()) return status;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (!members_[i]->right(round_)) return absl::InternalError(absl::StrCat("core ", i, " has a wrong result"));
    }
    ++round_;
    return results;
  }

  Picoseconds begin_ps() const { return begin_ps_; }

 private:
  const OverlapPoint& point_;
  ChipFabric fabric_;
  std::unique_ptr<Chip> chip_;
  std::vector<std::unique_ptr<OverlapMember>> members_;
  Picoseconds begin_ps_ = 0;
  int round_ = 0;
};

double sum(const std::vector<Picoseconds>& values) {
  double total = 0;
  for (const Picoseconds value : values) total += static_cast<double>(value);
  return total;
}

absl::StatusOr<OverlapResult> measure(Experiment& experiment, const OverlapPoint& point, int repetitions) {
  double alone = 0, completion = 0, lost = 0, total = 0;
  for (int i = 0; i <= repetitions; ++i) {  // the first one is not counted: caches are cold
    const auto took = experiment.run([](OverlapMember& member) { return member.alone(); });
    if (!took.ok()) return took.status();
    if (i != 0) alone += static_cast<double>(*std::max_element(took->begin(), took->end()));
  }
  const auto computation = static_cast<Picoseconds>(alone / repetitions);
  for (int i = 0; i < repetitions; ++i) {
    OverlapRun run{.members = point.cores};
    const auto idle = experiment.run([&](OverlapMember& member) { return member.compute_until_all_finish(run); });
    if (!idle.ok()) return idle.status();
    completion += static_cast<double>(run.last_ps - experiment.begin_ps());
    lost += sum(*idle) / point.cores;
    const auto whole = experiment.run([&](OverlapMember& member) { return member.compute_then_wait(computation); });
    if (!whole.ok()) return whole.status();
    total += sum(*whole) / point.cores;
  }
  return OverlapResult{.completion_us = completion / repetitions * 1e-6,
                       .cpu_lost_percent = 100 * lost / completion,
                       .alone_us = alone / repetitions * 1e-6,
                       .overlap_percent = std::max(0.0, 100 * (1 - (total - alone) / alone))};
}

}  // namespace

absl::StatusOr<OverlapResult> measure_overlap(const ChipOptions& options, const OverlapPoint& point) {
  if (absl::Status status = validate(point); !status.ok()) return status;
  Experiment experiment(point);
  if (absl::Status status = experiment.set_up(options); !status.ok()) return status;
  const int by_size = point.bytes >= std::size_t{256} << 10 ? 1 : 3;
  return measure(experiment, point, point.repetitions != 0 ? point.repetitions : by_size);
}

}  // namespace ingot::scc
