// A replicated group on a simulated chip, without a clock, a thread or a file: inputs are injected between two rounds,
// and replies are taken after one. The same options, and the same inputs before the same rounds, give the same run, bit
// for bit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replication/pages/instance_view.h"
#include "replication/pages/pages.h"
#include "services/config/daemon_config.h"
#include "services/config/scc_config.h"
#include "services/scc/chip_placement.h"
#include "services/scc/chip_replica.h"
#include "services/scc/gateway.h"
#include "services/scc/limits.h"
#include "transport/scc/chip.h"

namespace ingot::inline services_scc {

// An input from outside: a request, or a fault of a replica's core.
struct ChipInput {
  enum class Kind : std::uint8_t { kRequest, kStop, kContinue, kKill };
  Kind kind = Kind::kRequest;
  ChipRequest request;  // for kRequest
  int replica = 0;      // for the other kinds
};

// The state at the end of a run: equal for equal runs, and almost certainly different for others.
struct ChipSummary {
  struct Replica {
    std::uint64_t applied_slots = 0;
    std::uint64_t digest = 0;
    std::uint64_t page_hash = 0;  // of all counters of its page
    bool operator==(const Replica&) const = default;
  };
  std::uint64_t rounds = 0;
  std::uint64_t virtual_ps = 0;
  std::uint64_t core_cycles = 0;      // of one core, since the start
  std::uint64_t accesses = 0;         // of memory, all cores
  std::uint64_t trace_hash = 0;       // of every access and its time
  std::uint64_t statistics_hash = 0;  // of all counters of the chip
  std::vector<Replica> replicas;
  bool operator==(const ChipSummary&) const = default;
};

// Not thread-safe: created, used and destroyed by one thread.
class ChipGroup {
 public:
  // Starts a program on every core of the placement; nothing runs before the first round. `log`, if not empty, gets
  // lines for the operator. Errors: INVALID_ARGUMENT with one sentence (flags), RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<ChipGroup>> create(const DaemonConfig& config, const SccConfig& scc,
                                                           std::function<void(const std::string&)> log = {});
  ~ChipGroup();

  // Takes effect when the next round begins. Errors for a fault, which then changes nothing: INVALID_ARGUMENT (no such
  // replica), FAILED_PRECONDITION (it is dead; it is not stopped).
  absl::Status inject(ChipInput input);
  // Returns the error that inject() would return, and changes nothing.
  absl::Status check(const ChipInput& input) const;

  enum class Progress {
    kIdle,     // nothing happens on the chip until the next input
    kMore,
    kTimeOut,  // the chip's clock is at its limit: see kVirtualSecondsMax
  };
  Progress round();
  std::vector<ChipReply> take_replies();  // since the last call
  bool all_dead() const;                  // true: the state is gone

  std::uint64_t rounds() const { return rounds_; }
  std::uint64_t boundary_ps() const { return boundary_; }     // when the next round begins
  std::uint64_t round_length_ps() const { return length_; }   // how long the next round will be
  const InstanceView& view() const { return view_; }          // readable by any thread
  const ChipPlacement& placement() const { return placement_; }
  const RequestLatencies& latencies() const { return gateway_->latencies(); }
  scc::Chip& chip() { return *chip_; }
  ChipSummary summary();

 private:
  ChipGroup(const DaemonConfig& config, ChipPlacement placement, std::unique_ptr<scc::Chip> chip,
            scc::ChipFabric fabric);
  absl::Status make_replicas();
  absl::Status plan_trees();
  void start(const SccConfig& scc);
  void act(const ChipInput& input);
  bool fence(int replica);
  void note_state(int replica, ProcessState state);
  void note_death(int replica);
  void ring_all();

  const DaemonConfig config_;
  const ChipPlacement placement_;
  std::unique_ptr<DaemonPage> daemon_ = std::make_unique<DaemonPage>();
  const scc::ChipFabric fabric_;
  std::vector<std::unique_ptr<ChipReplica>> replicas_;
  InstanceView view_;
  std::optional<ChipContext> context_;
  std::unique_ptr<Gateway> gateway_;
  std::unique_ptr<scc::Chip> chip_;  // its programs use all of the above
  bool leaving_ = false;
  std::uint64_t rounds_ = 0;
  std::uint64_t boundary_ = 0;
  std::uint64_t length_ = kRoundMinPs;
  bool disturbed_ = false;  // there was an input since the last round
};

}  // namespace ingot::services_scc
