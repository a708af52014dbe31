// The shared memory of an instance as one process of it sees it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/types.h"
#include "replication/pages/instance_view.h"
#include "replication/stable/incarnation_segments.h"
#include "replication/stable/view.h"
#include "services/config/daemon_config.h"
#include "services/process/launch_spec.h"
#include "transport/host/fabric.h"
#include "transport/host/segment.h"

namespace ingot {

// Maps the fabric read-write, and every page and stable segment read-only. Moves the descriptors of the fabric in; the
// others are the caller's to close. Thread-safe once attached, but for destruction and forget_stable_segments().
class InstanceMemory {
 public:
  // Errors as for Fabric::attach and Segment::map.
  static absl::StatusOr<std::unique_ptr<InstanceMemory>> attach(const LaunchSpec& spec);

  Fabric& fabric() { return fabric_; }
  // The inboxes of all endpoints, by id, and whose lives they are of.
  std::vector<std::span<std::byte>> inboxes() const;
  const std::vector<Incarnation>& incarnations() const { return incarnations_; }
  const InstanceView& view() const { return view_; }
  // The stable segments of all replicas' lives that count, by id; until they are forgotten.
  const std::vector<IncarnationSegments>& stable_segments() const { return stable_segments_; }
  // Once everybody who needs them shares them: from then on nothing here keeps those of incarnations that no longer
  // count.
  void forget_stable_segments() { stable_segments_.clear(); }

  // What the replica's incarnation before the one of `spec` had stored, for GroupConfig::predecessor. Null: there was none, or it
  // cannot be read. REQUIRES: they are not forgotten.
  std::shared_ptr<const StableView> predecessor(int replica, bool with_records) const;

 private:
  InstanceMemory(Fabric fabric) : fabric_(std::move(fabric)) {}
  absl::Status map_stable(const ReplicaLaunch& launch);

  Fabric fabric_;
  std::vector<Segment> segments_;
  InstanceView view_;
  std::vector<Incarnation> incarnations_;
  std::vector<IncarnationSegments> stable_segments_;
};

// Of an ended incarnation, by its stable segment: for add_incarnation (replication/stable/incarnation_segments.h). What cannot be looked at is kept.
bool incarnation_counts(int stable_fd, std::uint32_t incarnation);
bool incarnation_is_needed(int stable_fd, Slot published);

// A stable segment for those who only read it.
absl::StatusOr<std::shared_ptr<const Segment>> map_stable_segment(int fd);

}  // namespace ingot
