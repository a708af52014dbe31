// What messages cost on one machine: for each ordered pair of cores, how long the sender and the receiver are busy.
//
// On a multicore, sending and receiving take longer than a message's flight, so trees are planned from these two
// matrices (Smelt, OSDI 2016). They are not symmetric.
//
// A plain value; const use is safe from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/types.h"

namespace ingot::inline core_planning {

// One core of a machine file; in a model with hyperthreads, one hardware thread.
struct MachineCore {
  CoreId id;
  int numa_node = 0;
  int package = 0;
  bool operator==(const MachineCore&) const = default;
};

// A square matrix of cycles by core index, row: sender, column: receiver.
class CycleMatrix {
 public:
  CycleMatrix() = default;
  explicit CycleMatrix(int cores) : cores_(cores), cells_(static_cast<std::size_t>(cores) * cores, 0.0) {}

  int cores() const { return cores_; }
  bool empty() const { return cells_.empty(); }
  double at(int from, int to) const { return cells_[static_cast<std::size_t>(from) * cores_ + to]; }
  void set(int from, int to, double cycles) { cells_[static_cast<std::size_t>(from) * cores_ + to] = cycles; }
  bool operator==(const CycleMatrix&) const = default;

 private:
  int cores_ = 0;
  std::vector<double> cells_;
};

// Cores have indexes 0 .. size() - 1, in the order of the machine file; ids are for people and files.
struct CostModel {
  std::string name;
  double frequency_hz = 0;  // of the cycles; 0: unknown
  std::vector<MachineCore> cores;
  CycleMatrix send;        // how long one message keeps the sender busy
  CycleMatrix receive;     // how long the receiver is busy with one message that it waits for
  CycleMatrix overlapped;  // likewise, with each further message of several; may be empty: unknown
  CycleMatrix round_trip;  // a batch of 8 messages there and 8 back, a cross-check; may be empty: unknown
  bool operator==(const CostModel&) const = default;

  int size() const { return static_cast<int>(cores.size()); }

  // From the start of a send until an idle receiver has the message.
  double edge(int from, int to) const { return send.at(from, to) + receive.at(from, to); }

  // How much a message adds to the time of a receiver that also has others to receive: the part of `receive` that does
  // not overlap. Measured, or else derived from `send` (docs/trees.md says why). At most receive.at(from, to).
  double occupancy(int from, int to) const;

  int index_of(CoreId id) const;  // -1: no such core
};

// Checks that predictions are meaningful. Errors: INVALID_ARGUMENT with one sentence about the first defect: no cores,
// missing, negative, infinite or zero costs, costs of a core to itself, an id twice.
absl::Status validate(const CostModel& model);

// All such defects and suspicious values, one sentence each: wild asymmetry, costs that cannot be cycles, round trips
// that contradict the one-way costs.
// REQUIRES: matrices as large as the list of cores, or empty.
std::vector<std::string> defects(const CostModel& model);

// The model of these cores alone, in this order. Errors: INVALID_ARGUMENT (no core, an unknown core, a core twice).
absl::StatusOr<CostModel> restrict_to(const CostModel& model, std::span<const CoreId> group);

// How far the two directions of a pair differ: the dearer over the cheaper; 1 is symmetric.
struct Asymmetry {
  double median = 1;
  double most = 1;
  int from = -1, to = -1;  // the pair that differs most, from the dearer side; -1: there is no pair
};
Asymmetry asymmetry(const CostModel& model);

}  // namespace ingot::core_planning
