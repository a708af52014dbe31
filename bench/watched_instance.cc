#include "bench/watched_instance.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replication/stable/view.h"
#include "transport/host/descriptor.h"

namespace ingot::bench {
namespace {

namespace fs = std::filesystem;

// The memory segments of which a process holds descriptors, by name; several may have one name.
std::multimap<std::string, fs::path> memory_of(pid_t pid) {
  std::multimap<std::string, fs::path> found;
  std::error_code gone;
  for (const auto& each : fs::directory_iterator(absl::StrCat("/proc/", pid, "/fd"), gone)) {
    std::string target = fs::read_symlink(each.path(), gone).string();
    if (!gone && absl::StartsWith(target, "/memfd:")) {
      target = target.substr(7);
      found.emplace(target.substr(0, target.find(" (deleted)")), each.path());
    }
  }
  return found;
}

absl::StatusOr<Segment> map(const fs::path& path) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return absl::NotFoundError(absl::StrCat(path.string(), " cannot be opened"));
  return Segment::map(fd.get(), Segment::Access::kReadOnly);
}

std::uint32_t incarnation_in(const Segment& segment) {
  const auto incarnation = StableView::incarnation_in(segment.bytes());
  return incarnation ? incarnation->value() : 0;
}

// The segment of the replica's newest incarnation: names end in the incarnation's number where there are several.
absl::StatusOr<Segment> newest_stable(const std::multimap<std::string, fs::path>& memory, const std::string& prefix) {
  Segment newest;
  for (const auto& [name, path] : memory) {
    if (name != prefix && !absl::StartsWith(name, prefix + "-")) continue;
    auto segment = map(path);
    if (!segment.ok()) return segment.status();
    if (newest.size() == 0 || incarnation_in(*segment) > incarnation_in(newest)) newest = *std::move(segment);
  }
  if (newest.size() == 0) return absl::NotFoundError(absl::StrCat("there is no memory called ", prefix));
  return newest;
}

}  // namespace

absl::StatusOr<WatchedInstance> WatchedInstance::attach(pid_t supervisor, const std::string& name, int replicas) {
  const auto memory = memory_of(supervisor);
  WatchedInstance instance;
  const auto keep = [&](const std::string& which) -> absl::StatusOr<std::byte*> {
    const auto found = memory.find(absl::StrCat(name, which));
    if (found == memory.end()) return absl::NotFoundError(absl::StrCat("there is no memory called ", name, which));
    auto segment = map(found->second);
    if (!segment.ok()) return segment.status();
    instance.segments_.push_back(*std::move(segment));
    return instance.segments_.back().data();
  };
  const auto daemon = keep("-daemon");
  if (!daemon.ok()) return daemon.status();
  instance.daemon_ = reinterpret_cast<const DaemonPage*>(*daemon);
  for (int id = 0; id < replicas; ++id) {
    const auto page = keep(absl::StrCat("-page-", id));
    if (!page.ok()) return page.status();
    instance.pages_.push_back(reinterpret_cast<const ReplicaPage*>(*page));
    auto stable = newest_stable(memory, absl::StrCat(name, "-stable-", id));
    if (!stable.ok()) return stable.status();
    instance.stable_segments_.push_back(stable->bytes());
    instance.segments_.push_back(*std::move(stable));
  }
  return instance;
}

std::uint64_t WatchedInstance::greatest(ReplicaCounter id) const {
  std::uint64_t value = 0;
  for (int replica = 0; replica < replicas(); ++replica) value = std::max(value, counter(replica, id));
  return value;
}

bool WatchedInstance::all_up() const {
  for (int id = 0; id < replicas(); ++id) {
    if (state(id) != ProcessState::kUp) return false;
  }
  return true;
}

Roles WatchedInstance::settled(std::uint64_t lag_slots) const {
  const std::uint64_t applied = greatest(ReplicaCounter::kAppliedSlots);
  Roles roles;
  for (int id = 0; id < replicas(); ++id) {
    const ProcessEntry& entry = daemon_->replicas[id];
    const bool up = state(id) == ProcessState::kUp && pages_[id]->incarnation.get_acquire() == entry.incarnation.get();
    if (!up || counter(id, ReplicaCounter::kAppliedSlots) + lag_slots < applied) return {};
    const Roles seen{static_cast<int>(counter(id, ReplicaCounter::kLeader)),
                     static_cast<int>(counter(id, ReplicaCounter::kAcceptor))};
    if (id > 0 && (seen.leader != roles.leader || seen.acceptor != roles.acceptor)) return {};
    roles = seen;
  }
  const bool distinct = roles.leader != roles.acceptor || replicas() == 1;
  return distinct ? roles : Roles{};
}

bool WatchedInstance::marked_dead(int replica) const {
  return StableView::writer_state(stable_segments_[static_cast<std::size_t>(replica)]) == WriterState::kGone;
}

}  // namespace ingot::bench
