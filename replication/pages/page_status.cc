#include "replication/pages/page_status.h"

#include <algorithm>
#include <span>

namespace ingot::inline replication_pages {

namespace {

bool runs(const DaemonPage* daemon, std::size_t replica) {
  if (daemon == nullptr) return true;
  // Until a new incarnation is up, the page still shows the dead one's state.
  return static_cast<ProcessState>(daemon->replicas[replica].state.get()) == ProcessState::kUp;
}

}  // namespace

AgreementStatus blocked_status(const ReplicaPage& page, std::uint64_t now_ns) {
  AgreementStatus status;
  status.blocked = page[ReplicaCounter::kBlocked].get() != 0;
  if (!status.blocked) return status;
  status.blocked_by = ReplicaSet::from_bits(page[ReplicaCounter::kBlockedBy].get());
  status.why = static_cast<Blocked>(page[ReplicaCounter::kBlockedWhy].get());
  status.blocked_from = Slot(page[ReplicaCounter::kBlockedFrom].get());
  status.blocked_to = Slot(page[ReplicaCounter::kBlockedTo].get());
  const std::uint64_t since_ns = page[ReplicaCounter::kBlockedSinceNs].get();
  const bool known = since_ns != 0 && since_ns <= now_ns;
  status.blocked_ms = known ? (now_ns - since_ns) / 1'000'000 : 0;
  return status;
}

bool any_replica_runs(const DaemonPage& daemon, std::size_t replicas) {
  const std::span all(daemon.replicas);
  return std::ranges::any_of(all.first(replicas), [](const ProcessEntry& entry) {
    const auto state = static_cast<ProcessState>(entry.state.get());
    return state == ProcessState::kUp || state == ProcessState::kStarting;
  });
}

std::string no_replica_runs() {
  return std::string(kNoReplicaRuns) + "; it ends when enough of them go on or are started again";
}

std::string who_is_blocked(const std::vector<const ReplicaPage*>& pages, const DaemonPage* daemon, EndpointId leader,
                           std::uint64_t now_ns) {
  if (daemon != nullptr && !any_replica_runs(*daemon, pages.size())) return no_replica_runs();
  std::string sentence;
  for (std::size_t id = 0; id < pages.size(); ++id) {
    const EndpointId replica(static_cast<std::uint16_t>(id));
    if (!runs(daemon, id) || (!sentence.empty() && replica != leader)) continue;
    const AgreementStatus status = blocked_status(*pages[id], now_ns);
    if (status.blocked) sentence = blocked_sentence(replica, status);
  }
  return sentence;
}

}  // namespace ingot::replication_pages
