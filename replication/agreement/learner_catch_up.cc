#include "replication/agreement/learner_catch_up.h"

#include <algorithm>
#include <utility>

#include "core/wire.h"
#include "replication/agreement/limits.h"

namespace ingot::inline replication_agreement {

CatchUp::CatchUp(const GroupConfig& group, const Learner& learner, Mailbox& mailbox)
    : self_(group.self), replicas_(group.replicas), learner_(learner), mailbox_(mailbox) {}

void CatchUp::ask(EndpointId peer, Effects& effects) {
  asked_ = true;
  waits_ = false;
  peer_ = peer;
  silent_ticks_ = 0;
  mailbox_.send(peer, {.type = MessageType::kFetch, .slot = learner_.decided()}, effects);
}

void CatchUp::answer_fetch(EndpointId from, const Message& fetch, Effects& effects) {
  const CommandLog& log = learner_.log();
  Message answer{.type = MessageType::kFetched, .slot = std::max(fetch.slot, log.first()),
                 .number = learner_.end().value()};
  WireWriter entries;
  if (fetch.slot >= log.first()) {
    int count = 0;
    for (Slot slot = fetch.slot; slot < log.end() && count < kFetchEntriesMax; slot = slot.next(), ++count) {
      entries.bytes(*log.at(slot));
      if (entries.size() >= kFetchBytesMax) break;
    }
  }
  answer.payload = entries.view();
  mailbox_.send(from, std::move(answer), effects);
}

void CatchUp::receive_fetched(EndpointId from, const Message& fetched, Learn learn, Effects& effects) {
  const Slot before = learner_.decided();
  Slot slot = fetched.slot;
  for (const std::string_view entry : entries_of(fetched)) {
    if (!learner_.knows(slot)) learn(slot, std::make_shared<const std::string>(entry));
    slot = slot.next();
  }
  const bool progress = before < learner_.decided();
  if (progress) {
    fruitless_ = 0;
    trimmed_ = false;
  }
  if (!asked_ || waits_ || from != peer_) return;
  if (!learner_.has_gap()) {
    asked_ = false;
  } else if (progress) {
    ask(from, effects);
  } else {
    trimmed_ = trimmed_ || (fetched.payload.empty() && learner_.decided() < fetched.slot);
    fruitless(effects);
  }
}

// The next peer is asked at the next tick, not at once: the missing entries may not be decided anywhere yet.
void CatchUp::fruitless(Effects& effects) {
  waits_ = true;
  if (++fruitless_ < replicas_ - 1) return;
  if (trimmed_ || lacks_trimmed()) effects.snapshot_needed = true;
  fruitless_ = 0;
  trimmed_ = false;
}

// At the next tick the same peer is asked again, from the new slot on.
void CatchUp::installed() {
  asked_ = waits_ = trimmed_ = false;
  fruitless_ = 0;
}

void CatchUp::send_commit_hint(EndpointId peer, Effects& effects) {
  if (learner_.end().value() == 0) return;
  mailbox_.send(peer, {.type = MessageType::kCommitHint, .slot = learner_.end()}, effects);
}

void CatchUp::tick(Effects& effects) {
  if (!learner_.has_gap()) {
    asked_ = false;
    return;
  }
  if (replicas_ == 1) {  // no peer to ask
    effects.snapshot_needed = true;
    return;
  }
  if (asked_ && !waits_) {
    if (++silent_ticks_ < kFetchTicks) return;
    fruitless(effects);
  }
  ask(next_peer(), effects);
}

EndpointId CatchUp::next_peer() const {
  int next = peer_.value();
  do {
    next = (next + 1) % replicas_;
  } while (next == self_.value());
  return EndpointId(static_cast<std::uint16_t>(next));
}

}  // namespace ingot::replication_agreement
