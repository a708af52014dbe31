#include "services/etcd/header.h"

#include "replication/pages/instance_view.h"

#include <algorithm>
#include <span>

namespace ingot::etcd {
namespace {

std::span<const ReplicaPage* const> voters(const DaemonConfig& config, const InstanceView& view) {
  return std::span(view.replicas).first(std::min<std::size_t>(config.voters, view.replicas.size()));
}

}  // namespace

void HeaderSource::fill(etcdserverpb::ResponseHeader* header) const {
  header->set_cluster_id(config_.cluster_id);
  header->set_member_id(config_.member_id);
  header->set_raft_term(term());
}

void HeaderSource::fill_with_revision(etcdserverpb::ResponseHeader* header) const {
  fill(header);
  header->set_revision(static_cast<std::int64_t>(greatest(ReplicaCounter::kStoreRevision)));
}

std::uint64_t HeaderSource::term() const {
  std::uint64_t term = 1;
  for (const ReplicaPage* page : voters(config_, view_)) {
    if (page != nullptr) term = std::max(term, (*page)[ReplicaCounter::kBallot].get());
  }
  return term;
}

std::uint64_t HeaderSource::greatest(ReplicaCounter id) const {
  std::uint64_t value = 0;
  for (const ReplicaPage* page : view_.replicas) {
    if (page != nullptr) value = std::max(value, (*page)[id].get());
  }
  return value;
}

std::uint64_t HeaderSource::newest(ReplicaCounter id) const {
  const ReplicaPage* newest = nullptr;
  const auto applied = [](const ReplicaPage* page) { return (*page)[ReplicaCounter::kAppliedSlots].get(); };
  for (const ReplicaPage* page : view_.replicas) {
    if (page != nullptr && (newest == nullptr || applied(page) > applied(newest))) newest = page;
  }
  return newest != nullptr ? (*newest)[id].get() : 0;
}

bool HeaderSource::has_leader() const {
  for (const ReplicaPage* page : voters(config_, view_)) {
    if (page != nullptr && (*page)[ReplicaCounter::kRole].get() == static_cast<std::uint64_t>(Role::kLeader)) {
      return true;
    }
  }
  return false;
}

}  // namespace ingot::etcd
