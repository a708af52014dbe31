#include "services/instance/instance_memory.h"

#include <utility>

namespace ingot::inline services_instance {

namespace {

// Maps a page read-only and keeps its mapping in `segments`.
template <typename Page>
absl::StatusOr<const Page*> map_page(int fd, std::vector<Segment>& segments) {
  auto segment = Segment::map(fd, Segment::Access::kReadOnly);
  if (!segment.ok()) return segment.status();
  const Page* page = segment->as<Page>();
  if (page == nullptr) return absl::InvalidArgumentError("a page of the instance is too small");
  segments.push_back(std::move(*segment));
  return page;
}

}  // namespace

absl::StatusOr<std::unique_ptr<InstanceMemory>> InstanceMemory::attach(const LaunchSpec& spec) {
  auto fabric = Fabric::attach(spec.fabric_fds);
  if (!fabric.ok()) return fabric.status();
  std::unique_ptr<InstanceMemory> memory(new InstanceMemory(std::move(*fabric)));
  auto daemon = map_page<DaemonPage>(spec.daemon_page_fd, memory->segments_);
  if (!daemon.ok()) return daemon.status();
  memory->view_.daemon = *daemon;
  for (const ReplicaLaunch& launch : spec.replicas) {
    auto page = map_page<ReplicaPage>(launch.page_fd, memory->segments_);
    if (!page.ok()) return page.status();
    memory->view_.replicas.push_back(*page);
    if (auto status = memory->map_stable(launch); !status.ok()) return status;
  }
  memory->incarnations_.insert(memory->incarnations_.end(), static_cast<std::size_t>(front_end_endpoints(spec.config)),
                               Incarnation(spec.front_end_incarnation));
  if (has_view(spec.config)) memory->incarnations_.emplace_back(spec.publisher_incarnation);
  if (spec.view_page_fd >= 0) {
    auto page = map_page<ViewPage>(spec.view_page_fd, memory->segments_);
    if (!page.ok()) return page.status();
    memory->view_page_ = *page;
  }
  if (static_cast<int>(memory->incarnations_.size()) != memory->fabric_.endpoints()) {
    return absl::InvalidArgumentError("not a launch document: its fabric is for another number of replicas");
  }
  return memory;
}

absl::Status InstanceMemory::map_stable(const ReplicaLaunch& launch) {
  incarnations_.emplace_back(launch.incarnation);
  IncarnationSegments& segments = stable_segments_.emplace_back();
  for (const EarlierIncarnation& earlier : launch.earlier) {
    auto segment = map_stable_segment(earlier.stable_fd);
    if (!segment.ok()) return segment.status();
    segments.push_back({Incarnation(earlier.incarnation), *std::move(segment)});
  }
  auto segment = map_stable_segment(launch.stable_fd);
  if (!segment.ok()) return segment.status();
  segments.push_back({Incarnation(launch.incarnation), *std::move(segment)});
  return absl::OkStatus();
}

// The predecessor is the newest of the kept earlier segments: one that does not count is dropped when the next
// incarnation starts (add_incarnation, replication/stable/incarnation_segments.h). Its writer is dead, since the next
// incarnation exists.
std::shared_ptr<const StableView> InstanceMemory::predecessor(int replica, bool with_records) const {
  const IncarnationSegments& segments = stable_segments_[replica];
  if (segments.size() < 2) return nullptr;
  const IncarnationSegment& before = segments[segments.size() - 2];
  if (before.memory == nullptr) return nullptr;
  const auto segment = before.memory->bytes();
  auto view = with_records ? StableView::read(segment) : StableView::read_without_records(segment);
  if (view.ok()) return std::make_shared<const StableView>(*std::move(view));
  if (!absl::IsNotFound(view.status()) || before.incarnation != Incarnation(1)) return nullptr;
  StableView nothing;  // the first incarnation ended before it had opened its segment
  nothing.replica = EndpointId(static_cast<std::uint16_t>(replica));
  nothing.incarnation = before.incarnation;
  return std::make_shared<const StableView>(std::move(nothing));
}

bool incarnation_counts(int stable_fd, std::uint32_t incarnation) {
  const auto segment = Segment::map(stable_fd, Segment::Access::kReadOnly);
  return !segment.ok() || incarnation_counts(segment->bytes(), Incarnation(incarnation));
}

std::optional<StableExtent> stable_extent(int stable_fd) {
  const auto segment = Segment::map(stable_fd, Segment::Access::kReadOnly);
  return segment.ok() ? StableView::extent_in(segment->bytes()) : std::nullopt;
}

absl::StatusOr<std::shared_ptr<const Segment>> map_stable_segment(int fd) {
  if (fd < 0) return std::shared_ptr<const Segment>();
  auto segment = Segment::map(fd, Segment::Access::kReadOnly);
  if (!segment.ok()) return segment.status();
  return std::make_shared<const Segment>(*std::move(segment));
}

std::vector<std::span<std::byte>> InstanceMemory::inboxes() const {
  std::vector<std::span<std::byte>> inboxes;
  for (int i = 0; i < fabric_.endpoints(); ++i)
    inboxes.push_back(fabric_.inbox(EndpointId(static_cast<std::uint16_t>(i))));
  return inboxes;
}

}  // namespace ingot::services_instance
