#include "services/scc/chip_group.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/planning/cost_model_derive.h"
#include "core/stable_hash.h"
#include "services/launch/tree_launch.h"

namespace ingot::inline services_scc {
namespace {

absl::StatusOr<scc::ChipOptions> chip_options(const SccConfig& config) {
  scc::ChipOptions options;
  options.seed = config.seed;
  options.cost_model = config.cost_model;
  options.stack_bytes = kReplicaStackBytes;
  if (auto status = scc::parse_clocks(config.clocks, options.clocks); !status.ok()) return status;
  if (auto status = scc::validate(options); !status.ok()) return status;
  return options;
}

template <typename Object>
std::uint64_t hash_of_words(const Object& object, std::uint64_t seed = 0) {
  static_assert(sizeof object % sizeof(std::uint64_t) == 0, "nothing but words: padding would be hashed, too");
  return hash_bytes({reinterpret_cast<const char*>(&object), sizeof object}, seed);
}

ProcessState state_in(const DaemonPage& page, int replica) {
  return static_cast<ProcessState>(page.replicas[static_cast<std::size_t>(replica)].state.get());
}

}  // namespace

ChipGroup::ChipGroup(const DaemonConfig& config, ChipPlacement placement, std::unique_ptr<scc::Chip> chip,
                     scc::ChipFabric fabric)
    : config_(config), placement_(std::move(placement)), fabric_(std::move(fabric)), chip_(std::move(chip)) {}

ChipGroup::~ChipGroup() {
  leaving_ = true;
  chip_.reset();
}

absl::StatusOr<std::unique_ptr<ChipGroup>> ChipGroup::create(const DaemonConfig& config, const SccConfig& scc,
                                                             std::function<void(const std::string&)> log) {
  auto placement = place_on_chip(scc, config.replicas);
  if (!placement.ok()) return placement.status();
  auto options = chip_options(scc);
  if (!options.ok()) return options.status();
  auto chip = scc::Chip::create(*options);
  if (!chip.ok()) return chip.status();
  auto fabric = scc::lay_out(config.transport, placement->endpoints());
  if (!fabric.ok()) return fabric.status();
  std::unique_ptr<ChipGroup> group(
      new ChipGroup(config, *std::move(placement), *std::move(chip), *std::move(fabric)));
  if (auto status = group->make_replicas(); !status.ok()) return status;
  group->context_.emplace(ChipContext{.config = group->config_,
                                                .fabric = group->fabric_,
                                                .pages = group->view_.replicas,
                                                .segments = {},
                                                .daemon = group->daemon_.get(),
                                                .trees = {},
                                                .cycles_per_message = scc.cycles_per_message,
                                                .log = std::move(log),
                                                .fence = [raw = group.get()](ReplicaIncarnation name) {
                                                  return raw->fence(name.id.value());
                                                }});
  for (const auto& replica : group->replicas_) group->context_->segments.push_back(replica->segments());
  if (auto status = group->plan_trees(); !status.ok()) return status;
  group->start(scc);
  return group;
}

absl::Status ChipGroup::make_replicas() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  daemon_->start_unix_ms.set(
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()));
  daemon_->supervisor_start_unix_ms.set(daemon_->start_unix_ms.get());
  daemon_->supervisor_pid.set(static_cast<std::uint64_t>(::getpid()));
  view_.daemon = daemon_.get();
  for (int id = 0; id < config_.replicas; ++id) {
    auto replica = ChipReplica::create(id);
    if (!replica.ok()) return replica.status();
    view_.replicas.push_back(&(*replica)->page());
    replicas_.push_back(*std::move(replica));
  }
  return absl::OkStatus();
}

// Plans with the SCC's own costs, so a group's trees depend on its cores.
absl::Status ChipGroup::plan_trees() {
  TreePlan plan;
  plan.replicas = config_.replicas;
  plan.voters = config_.voters;
  plan.shape = config_.tree;
  if (config_.replicas > 1) {
    std::vector<CoreId> cores;
    for (const int core : placement_.replicas) {
      plan.core.push_back(static_cast<int>(cores.size()));
      cores.emplace_back(static_cast<std::uint16_t>(core));
    }
    auto machine = restrict_to(derive_scc(), cores);
    if (!machine.ok()) return machine.status();
    plan.machine = *std::move(machine);
  }
  auto trees = read_trees(launch_trees(plan), config_, daemon_.get());
  if (!trees.ok()) return trees.status();
  context_->trees = *std::move(trees);
  return absl::OkStatus();
}

void ChipGroup::start(const SccConfig& scc) {
  for (int id = 0; id < config_.replicas; ++id) {
    ProcessEntry& entry = daemon_->replicas[static_cast<std::size_t>(id)];
    entry.core.set(static_cast<std::uint64_t>(placement_.replicas[static_cast<std::size_t>(id)]));
    entry.incarnation.set(1);
    note_state(id, ProcessState::kUp);
    chip_->start(placement_.replicas[static_cast<std::size_t>(id)], [this, id](scc::Core& core) {
      const absl::Cleanup died = [this, id] {
        if (!leaving_) chip_->at(chip_->now_ps(), [this, id] { note_death(id); });
      };
      replicas_[static_cast<std::size_t>(id)]->run(*context_, core);
    });
  }
  Gateway::Options options;
  options.replicas = config_.replicas;
  options.session = mix(scc.seed, 1) | 1;
  options.cycles_per_message = scc.cycles_per_message;
  options.daemon = daemon_.get();
  gateway_ = std::make_unique<Gateway>(options);
  daemon_->front_end.core.set(static_cast<std::uint64_t>(placement_.gateway));
  daemon_->front_end.incarnation.set(1);
  daemon_->front_end.state.set(static_cast<std::uint64_t>(ProcessState::kUp));
  daemon_->layout_version.set_release(kPageLayoutVersion);
  chip_->start(placement_.gateway, [this](scc::Core& core) { gateway_->run(fabric_, core); });
}

absl::Status ChipGroup::check(const ChipInput& input) const {
  if (input.kind == ChipInput::Kind::kRequest) return absl::OkStatus();
  if (input.replica < 0 || input.replica >= config_.replicas) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no replica ", input.replica, "; there are 0 to ", config_.replicas - 1));
  }
  const ProcessState state = state_in(*daemon_, input.replica);
  if (state == ProcessState::kDead) {
    return absl::FailedPreconditionError(
        absl::StrCat("replica ", input.replica, " is dead; a simulated core that was killed stays so"));
  }
  if (input.kind == ChipInput::Kind::kContinue && state != ProcessState::kStopped) {
    return absl::FailedPreconditionError(absl::StrCat("replica ", input.replica, " is not stopped"));
  }
  return absl::OkStatus();
}

absl::Status ChipGroup::inject(ChipInput input) {
  if (auto status = check(input); !status.ok()) return status;
  // The new state is noted at once, so that the next check sees it.
  if (input.kind == ChipInput::Kind::kStop) note_state(input.replica, ProcessState::kStopped);
  if (input.kind == ChipInput::Kind::kContinue) note_state(input.replica, ProcessState::kUp);
  if (input.kind == ChipInput::Kind::kKill) note_state(input.replica, ProcessState::kDead);
  disturbed_ = true;
  chip_->at(boundary_, [this, input = std::move(input)] { act(input); });
  return absl::OkStatus();
}

void ChipGroup::act(const ChipInput& input) {
  if (input.kind == ChipInput::Kind::kRequest) {
    gateway_->hand_in(input.request);
    chip_->ring(placement_.gateway);
    return;
  }
  const int core = placement_.replicas[static_cast<std::size_t>(input.replica)];
  if (input.kind == ChipInput::Kind::kStop) chip_->stop(core);
  if (input.kind == ChipInput::Kind::kContinue) chip_->resume(core);
  if (input.kind == ChipInput::Kind::kKill) chip_->kill(core);
}

// Called by another replica's program. A core has one incarnation.
bool ChipGroup::fence(int replica) {
  if (state_in(*daemon_, replica) == ProcessState::kDead) return false;
  note_state(replica, ProcessState::kDead);
  chip_->kill(placement_.replicas[static_cast<std::size_t>(replica)]);
  return true;
}

// Stands for the kernel of the host: by now the program's stack is unwound and its segment's lock released.
void ChipGroup::note_death(int replica) {
  note_state(replica, ProcessState::kDead);
  daemon_->deaths.add_release(1);
  ring_all();
}

void ChipGroup::ring_all() {
  for (const int core : placement_.replicas) chip_->ring(core);
  chip_->ring(placement_.gateway);
}

void ChipGroup::note_state(int replica, ProcessState state) {
  daemon_->replicas[static_cast<std::size_t>(replica)].state.set(static_cast<std::uint64_t>(state));
}

ChipGroup::Progress ChipGroup::round() {
  constexpr auto kEndPs = static_cast<std::uint64_t>(scc::kVirtualSecondsMax * 1e12);
  if (std::exchange(disturbed_, false)) length_ = kRoundMinPs;
  if (boundary_ + length_ > kEndPs) return Progress::kTimeOut;
  ++rounds_;
  const auto progress = chip_->advance(boundary_ + length_);
  const bool more = progress == scc::Chip::Progress::kDeadline;
  boundary_ = more ? boundary_ + length_ : std::max(boundary_, chip_->now_ps());
  length_ = std::min(2 * length_, kRoundMaxPs);
  return more ? Progress::kMore : Progress::kIdle;
}

bool ChipGroup::all_dead() const {
  for (int id = 0; id < config_.replicas; ++id) {
    if (state_in(*daemon_, id) != ProcessState::kDead) return false;
  }
  return true;
}

std::vector<ChipReply> ChipGroup::take_replies() { return gateway_->take_replies(); }

ChipSummary ChipGroup::summary() {
  const scc::Statistics& statistics = chip_->statistics();
  ChipSummary summary;
  summary.rounds = rounds_;
  summary.virtual_ps = boundary_;
  summary.core_cycles = chip_->costs().to_core_cycles(boundary_);
  summary.accesses = statistics.accesses();
  summary.trace_hash = chip_->trace_hash();
  summary.statistics_hash = hash_of_words(statistics);
  for (const ReplicaPage* page : view_.replicas) {
    summary.replicas.push_back({(*page)[ReplicaCounter::kAppliedSlots].get(), (*page)[ReplicaCounter::kDigest].get(),
                                hash_of_words(*page)});
  }
  return summary;
}

}  // namespace ingot::services_scc
