// The shared memory of an instance, as one of its processes maps it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/types.h"
#include "replication/pages/instance_view.h"
#include "replication/pages/view_page.h"
#include "replication/stable/incarnation_segments.h"
#include "replication/stable/view.h"
#include "services/config/daemon_config.h"
#include "services/launch/launch_spec.h"
#include "transport/host/fabric.h"
#include "transport/host/segment.h"

namespace ingot::inline services_instance {

// Maps the fabric read-write, and every page and stable segment read-only. Takes ownership of the fabric's descriptors;
// the caller closes the others. Thread-safe once attached, except for destruction and forget_stable_segments().
class InstanceMemory {
 public:
  // Errors: INVALID_ARGUMENT (a page is too small, or the fabric has another number of endpoints), others as for
  // Fabric::attach and Segment::map.
  static absl::StatusOr<std::unique_ptr<InstanceMemory>> attach(const LaunchSpec& spec);

  Fabric& fabric() { return fabric_; }
  // By endpoint: the inbox, and the incarnation that it belongs to.
  std::vector<std::span<std::byte>> inboxes() const;
  const std::vector<Incarnation>& incarnations() const { return incarnations_; }
  const InstanceView& view() const { return view_; }
  // What the view's publisher shows; null: the instance has no view.
  const ViewPage* view_page() const { return view_page_; }
  // By replica: the stable segments of its incarnations that are kept. Empty after forget_stable_segments().
  const std::vector<IncarnationSegments>& stable_segments() const { return stable_segments_; }
  // Drops this object's references to the stable segments; to be called once every replica of the process has its own.
  // Otherwise the segments of incarnations that no longer count would stay mapped.
  void forget_stable_segments() { stable_segments_.clear(); }

  // What the replica's predecessor, the newest earlier incarnation that counts, had stored, for
  // GroupConfig::predecessor. Null: there was none, or its segment cannot be read. REQUIRES: forget_stable_segments()
  // has not been called.
  std::shared_ptr<const StableView> predecessor(int replica, bool with_records) const;

 private:
  InstanceMemory(Fabric fabric) : fabric_(std::move(fabric)) {}
  absl::Status map_stable(const ReplicaLaunch& launch);

  Fabric fabric_;
  std::vector<Segment> segments_;
  InstanceView view_;
  const ViewPage* view_page_ = nullptr;
  std::vector<Incarnation> incarnations_;
  std::vector<IncarnationSegments> stable_segments_;
};

// For add_incarnation and release_segments (replication/stable/incarnation_segments.h), given the descriptor of an
// ended incarnation's stable segment: whether it counts, and what it holds. A segment that is unknown or cannot be
// mapped counts, and its extent is unknown.
bool incarnation_counts(int stable_fd, std::uint32_t incarnation);
std::optional<StableExtent> stable_extent(int stable_fd);

// Maps a stable segment read-only; null for -1, whose content is unknown. Errors as for Segment::map.
absl::StatusOr<std::shared_ptr<const Segment>> map_stable_segment(int fd);

}  // namespace ingot::services_instance
