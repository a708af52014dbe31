#include "services/scc/core_loop.h"

#include "absl/container/inlined_vector.h"

namespace ingot::inline services_scc {
namespace {

constexpr scc::Picoseconds kPsPerNs = 1000;

void count(Counter* counter) {
  if (counter != nullptr) counter->add(1);
}

}  // namespace

bool RoomWatch::send(EndpointId dest, std::span<const std::byte> message) {
  return note(dest, transport_.send(dest, message));
}

bool RoomWatch::send_gathered(EndpointId dest, const GatheredMessage& message) {
  return note(dest, transport_.send_gathered(dest, message));
}

bool RoomWatch::note(EndpointId dest, bool sent) {
  if (!sent) full_.insert(dest);
  return sent;
}

void RoomWatch::begin_round() {
  full_.clear();
  fragments_wait_ = false;
}

// The transport does not tell which peer a fragment waits for, so all are watched then.
std::vector<EndpointId> RoomWatch::full() const {
  std::vector<EndpointId> peers;
  for (std::uint16_t id = 0; id < endpoints_; ++id) {
    const bool waits = fragments_wait_ || full_.contains(id);
    if (waits && EndpointId(id) != self()) peers.emplace_back(id);
  }
  return peers;
}

void CoreLoop::run() {
  for (;;) {
    transport.begin_round();
    count(counters.polls);
    const int work = endpoint.poll(core.now_ps() / kPsPerNs);
    if (after_poll) after_poll();
    if (work > 0) {
      core.compute(static_cast<std::uint64_t>(work) * cycles_per_unit);
    } else {
      sleep();
    }
  }
}

// Polls its inbox, as a real core does, and the full inboxes that it waits for.
void CoreLoop::sleep() {
  const std::vector<EndpointId> full = transport.full();
  absl::InlinedVector<scc::Watch, 4> watch;
  const auto add = [&](EndpointId id) {
    const scc::Inbox& inbox = fabric.inboxes[id.value()];
    watch.push_back({inbox.base, inbox.lines * scc::kLineBytes});
  };
  add(transport.self());
  for (const EndpointId peer : full) add(peer);
  int polls = 0;
  const auto poll = [&] { return (++polls > 1 && !full.empty()) || endpoint.readable(); };
  const std::uint64_t due_ns = endpoint.deadline_ns();
  const scc::Picoseconds due = due_ns == Pollable::kNever ? ~scc::Picoseconds{0} : due_ns * kPsPerNs;
  count(counters.sleeps);
  if (core.wait_until(watch, poll, due, "a message, a request or a timer")) count(counters.wakeups);
}

}  // namespace ingot::services_scc
