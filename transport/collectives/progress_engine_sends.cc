// The engine's sending half: windows, full channels, and announcements of this endpoint's progress.
#include <algorithm>
#include <array>

#include "core/gathered_message.h"
#include "transport/collectives/progress_engine.h"

namespace ingot::inline transport_collectives {
namespace {

constexpr std::size_t kJoinedBytes = 256;  // a longer message is not copied into one piece

}  // namespace

// Announces this endpoint's progress to its senders, if they wait for that or may soon.
void ProgressEngine::announce(EngineGroup& group, const Schedule& schedule) {
  for (const auto& source : schedule.sources_) {
    const auto behind = static_cast<std::uint32_t>(group.next.after(group.peers[source.peer.value()].announced));
    if (!source.waits_for_start && behind < kAnnounceOperations) continue;
    if (!blocked_[source.peer.value()].empty() || !transmit_started(group, source.peer)) {
      block(source.peer, {nullptr, 0, ScheduleHeader{ScheduleClass::kStarted, group.id, 0, {}}.encode()});
    }
  }
}

void ProgressEngine::note_started(EngineGroup& group, EndpointId peer, OperationSequence started) {
  OperationSequence& known = group.peers[peer.value()].started;
  if (started.after(known) <= 0) return;
  known = started;
  if (group.too_soon.empty()) return;
  // Tries all sends to that peer again; those that must still wait are queued again in their order.
  const auto others = std::stable_partition(group.too_soon.begin(), group.too_soon.end(), [&](const NodeRef& ref) {
    return ref.schedule->nodes_[ref.node].peer != peer;
  });
  ready_.insert(ready_.end(), others, group.too_soon.end());
  group.too_soon.erase(others, group.too_soon.end());
}

void ProgressEngine::send(NodeRef ref) {
  Schedule& schedule = *ref.schedule;
  Schedule::Node& node = schedule.nodes_[ref.node];
  EngineGroup& group = *groups_[schedule.group_.value()];
  const std::int32_t ahead = schedule.sequence_.after(group.peers[node.peer.value()].started);
  const bool eager = one_copy_.by != nullptr && !refuses_[node.peer.value()] ? node.eager_offer : node.eager;
  if (ahead >= (eager ? static_cast<std::int32_t>(kEagerOperations) : 0)) {
    ++counters_.too_soon;
    group.too_soon.push_back(ref);
  } else if (!blocked_[node.peer.value()].empty() || !transmit(schedule, node)) {
    block(node.peer, {&schedule, ref.node, 0});
  } else {
    complete_sent(schedule, node);
  }
}

// An offered payload is complete when it is answered.
void ProgressEngine::complete_sent(Schedule& schedule, const Schedule::Node& node) {
  if (node.blockers_left != Schedule::kOffered) complete(schedule, node);
}

bool ProgressEngine::offers(const Schedule::Node& node) const {
  return one_copy_.by != nullptr && node.source.size() >= one_copy_.bytes_min && !refuses_[node.peer.value()];
}

bool ProgressEngine::transmit(Schedule& schedule, Schedule::Node& node) {
  const bool offered = offers(node);
  const ScheduleClass message_class = offered ? ScheduleClass::kOffer : ScheduleClass::kData;
  const std::uint64_t word = ScheduleHeader{message_class, schedule.group_, node.tag, schedule.sequence_}.encode();
  const auto header = std::as_bytes(std::span(&word, 1));
  const PayloadOffer offer = offered ? one_copy_.by->offer(node.source) : PayloadOffer{};
  const GatheredMessage message(header, offered ? std::as_bytes(std::span(&offer, 1)) : node.source);
  if (message.size() > kJoinedBytes) {
    if (!transport_.send_gathered(node.peer, message)) return false;
  } else {
    std::array<std::byte, kJoinedBytes> joined;
    message.copy_to(joined.data());
    if (!transport_.send(node.peer, std::span(joined).first(message.size()))) return false;
  }
  ++counters_.sent;
  if (offered) {
    node.blockers_left = Schedule::kOffered;
    ++schedule.offers_left_;
  }
  OperationSequence& announced = groups_[schedule.group_.value()]->peers[node.peer.value()].announced;
  if (schedule.sequence_.next().after(announced) > 0) announced = schedule.sequence_.next();
  return true;
}

bool ProgressEngine::transmit_started(EngineGroup& group, EndpointId peer) {
  const std::uint64_t word = ScheduleHeader{ScheduleClass::kStarted, group.id, 0, group.next}.encode();
  if (!transport_.send(peer, std::as_bytes(std::span(&word, 1)))) return false;
  ++counters_.announced;
  group.peers[peer.value()].announced = group.next;
  return true;
}

void ProgressEngine::block(EndpointId peer, Blocked entry) {
  BlockedQueue& queue = blocked_[peer.value()];
  if (queue.empty()) blocked_peers_.push_back(peer);
  queue.entries.push_back(entry);
  ++counters_.full;
}

// Sends what now fits, in the order of blocking; returns the number of messages.
int ProgressEngine::retry_blocked() {
  int sent = 0;
  for (std::size_t i = 0; i < blocked_peers_.size();) {
    const EndpointId peer = blocked_peers_[i];
    BlockedQueue& queue = blocked_[peer.value()];
    for (; !queue.empty() && retry(peer, queue.entries[queue.first]); ++sent) ++queue.first;
    drop_front(queue.entries, queue.first);
    if (!queue.empty()) {
      ++i;
      continue;
    }
    blocked_peers_[i] = blocked_peers_.back();
    blocked_peers_.pop_back();
  }
  return sent;
}

bool ProgressEngine::retry(EndpointId peer, Blocked entry) {
  const ScheduleHeader header = ScheduleHeader::decode(entry.header);
  if (header.message_class == ScheduleClass::kStarted) {
    EngineGroup* group = groups_[header.group.value()].get();
    return group == nullptr || transmit_started(*group, peer);
  }
  if (entry.header != 0) {
    if (!transport_.send(peer, std::as_bytes(std::span(&entry.header, 1)))) return false;
    if (entry.schedule != nullptr) complete(*entry.schedule, entry.schedule->nodes_[entry.node]);
    return true;
  }
  Schedule::Node& node = entry.schedule->nodes_[entry.node];
  if (!transmit(*entry.schedule, node)) return false;
  complete_sent(*entry.schedule, node);
  return true;
}

}  // namespace ingot::transport_collectives
