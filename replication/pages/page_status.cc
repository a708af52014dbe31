#include "replication/pages/page_status.h"

namespace ingot {

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
  status.blocked_by = EndpointId(static_cast<std::uint16_t>(page[ReplicaCounter::kBlockedBy].get()));
  status.why = static_cast<Blocked>(page[ReplicaCounter::kBlockedWhy].get());
  status.blocked_from = Slot(page[ReplicaCounter::kBlockedFrom].get());
  status.blocked_to = Slot(page[ReplicaCounter::kBlockedTo].get());
  const std::uint64_t since_ns = page[ReplicaCounter::kBlockedSinceNs].get();
  const bool known = since_ns != 0 && since_ns <= now_ns;
  status.blocked_ticks = known ? (now_ns - since_ns) / 1'000'000 / kTickMs : 0;
  return status;
}

std::string who_is_blocked(const std::vector<const ReplicaPage*>& pages, const DaemonPage* daemon, EndpointId leader,
                           std::uint64_t now_ns) {
  std::string sentence;
  for (std::size_t id = 0; id < pages.size(); ++id) {
    const EndpointId replica(static_cast<std::uint16_t>(id));
    if (!runs(daemon, id) || (!sentence.empty() && replica != leader)) continue;
    const AgreementStatus status = blocked_status(*pages[id], now_ns);
    if (status.blocked) sentence = blocked_sentence(replica, status);
  }
  return sentence;
}

}  // namespace ingot
