// What an instance keeps for its replicas' successors, when it lets go of it, and how its processes are told.
#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/planning/helper_cores.h"
#include "replication/agreement/limits.h"
#include "replication/agreement/registry.h"
#include "replication/pages/page_access.h"
#include "replication/stable/incarnation_segments.h"
#include "services/config/kept_segments.h"
#include "services/config/limits.h"
#include "services/instance/instance.h"
#include "services/instance/instance_memory.h"
#include "services/instance/limits.h"
#include "services/log/log.h"

namespace ingot::inline services_instance {

namespace {

// Memory that a segment takes: pages that were never written take none.
std::uint64_t allocated_bytes(int fd) {
  constexpr std::uint64_t kBlockBytes = 512;  // of stat::st_blocks
  struct stat info{};
  return fd >= 0 && ::fstat(fd, &info) == 0 ? static_cast<std::uint64_t>(info.st_blocks) * kBlockBytes : 0;
}

// Takes an Instance::StableIncarnation.
constexpr auto kExtent = [](const auto& each) { return stable_extent(each.fd.get()); };

}  // namespace

// ---- Stable segments ------------------------------------------------------------------------------------------------

// Where votes are no history, the next incarnation inherits all of them. The released segments are closed here: it is
// the processes that are told later that free their memory.
void Instance::release_segments() {
  std::vector<std::size_t> sizes;
  for (const auto& segments : stable_) sizes.push_back(segments.size());
  ingot::release_segments(std::span(stable_), needed_from(), kExtent);
  for (std::size_t id = 0; id < sizes.size(); ++id) releases_[id] += sizes[id] != stable_[id].size() ? 1 : 0;
  note_kept();
}

Slot Instance::needed_from() const {
  return traits_of(config_.agreement).votes_are_history ? snapshot_slot_ : Slot(kSlotsMax);
}

void Instance::note_kept() {
  std::uint64_t bytes = 0, segments = 0;
  const std::span<const std::deque<StableIncarnation>> kept(stable_);
  for_each_waiting(kept, needed_from(), kExtent, [&](const StableIncarnation& each) {
    bytes += allocated_bytes(each.fd.get());
    ++segments;
  });
  const std::uint64_t bytes_max = static_cast<std::uint64_t>(config_.kept_segments_mib) * kMib;
  const auto over = [&](std::uint64_t parts) {
    return parts * bytes > bytes_max || parts * segments > kKeptSegmentsMax;
  };
  const KeptSegments before = static_cast<KeptSegments>(page().kept_segments_state.get());
  const KeptSegments now = over(1) ? KeptSegments::kFull : over(2) ? KeptSegments::kMany : KeptSegments::kFew;
  publish_kept(page(), {now, segments, bytes});
  if (now == KeptSegments::kFull && before != now) {
    log_warning(describe_kept_full({now, segments, bytes}, config_.kept_segments_mib));
  } else if (before == KeptSegments::kFull && before != now) {
    log_info("a snapshot is published, and writes go on");
  }
}

// ---- Snapshots ------------------------------------------------------------------------------------------------------

bool Instance::hold_snapshot(Slot slot, Descriptor snapshot) {
  if (snapshot_.valid() && slot <= snapshot_slot_) return false;
  Descriptor older = std::exchange(snapshot_, std::move(snapshot));
  if (older.valid()) release_in_background(std::move(older), cores_without_loops(replicas_));
  snapshot_slot_ = slot;
  return true;
}

// The release pairs with the replicas' acquire: what they trim from now on, or take for released, is in the snapshot
// kept here. The slot never goes back, though a new supervisor may find an older snapshot only.
void Instance::publish_snapshot() {
  Counter& published = page().published_slot;
  published.set_release(std::max(published.get(), snapshot_slot_.value()));
  release_segments();
}

// ---- What processes are told ----------------------------------------------------------------------------------------

Told Instance::all_told() const {
  Told told{{}, releases_, snapshot_slot_, binding_};
  for (int endpoint = 0; endpoint <= config_.replicas; ++endpoint) {
    told.incarnations.push_back(incarnation(endpoint));
  }
  told.incarnations.push_back(publisher_incarnation_);
  return told;
}

absl::Status Instance::tell(SupervisionChannel& channel, Told& told) const {
  for (int id = 0; id < config_.replicas; ++id) {
    if (auto status = tell_incarnations(channel, id, told); !status.ok()) return status;
  }
  if (auto status = tell_front_end(channel, told); !status.ok()) return status;
  if (auto status = tell_publisher(channel, told); !status.ok()) return status;
  if (auto status = tell_socket(channel, told); !status.ok()) return status;
  if (!snapshot_.valid() || told.snapshot >= snapshot_slot_) return absl::OkStatus();
  const int fds[] = {snapshot_.get()};
  absl::Status status = channel.send(snapshot_message(snapshot_slot_, Incarnation(0)), fds);
  if (status.ok()) told.snapshot = snapshot_slot_;
  return status;
}

// Of the incarnations that have begun and ended since, only the kept segments are passed on.
absl::Status Instance::tell_incarnations(SupervisionChannel& channel, int replica, Told& told) const {
  std::uint32_t& known = told.incarnations[replica];
  for (const StableIncarnation& each : stable_[replica]) {
    if (each.incarnation <= known || !each.fd.valid()) continue;
    const bool ended = each.incarnation < incarnation(replica);
    SupervisionMessage message =
        incarnation_message(replica, each.incarnation, kept_before(replica, each.incarnation));
    message.mutable_incarnation()->set_ended(ended);
    const int fds[] = {ended ? each.fd.get() : inbox(replica), each.fd.get()};
    if (auto status = channel.send(message, std::span(fds).first(ended ? 1 : 2)); !status.ok()) return status;
    known = each.incarnation;
    told.releases[replica] = releases_[replica];
  }
  if (told.releases[replica] == releases_[replica]) return absl::OkStatus();
  absl::Status status = channel.send(kept_message(replica, kept_before(replica, incarnation(replica))));
  if (status.ok()) told.releases[replica] = releases_[replica];
  return status;
}

absl::Status Instance::tell_front_end(SupervisionChannel& channel, Told& told) const {
  const int endpoint = config_.replicas;
  std::uint32_t& known = told.incarnations[endpoint];
  if (known >= front_end_incarnation_) return absl::OkStatus();
  std::vector<int> inboxes;
  for (int each = endpoint; each < view_endpoint(config_); ++each) inboxes.push_back(inbox(each));
  absl::Status status = channel.send(incarnation_message(endpoint, front_end_incarnation_), inboxes);
  if (status.ok()) known = front_end_incarnation_;
  return status;
}

int Instance::inbox(int endpoint) const { return fabric_.descriptors()[1 + endpoint]; }  // control, inboxes, bells

std::vector<Incarnation> Instance::kept_before(int replica, std::uint32_t incarnation) const {
  std::vector<Incarnation> kept;
  for (const StableIncarnation& each : stable_[replica]) {
    if (each.incarnation < incarnation) kept.push_back(Incarnation(each.incarnation));
  }
  return kept;
}

}  // namespace ingot::services_instance
