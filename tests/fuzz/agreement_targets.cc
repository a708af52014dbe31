// Messages between replicas, and the configuration log inside.
#include <memory>
#include <string>
#include <utility>

#include "core/check.h"
#include "replication/agreement/messages.h"
#include "replication/agreement/one_paxos/config_entry.h"
#include "tests/fuzz/targets.h"

namespace ingot::fuzz {

namespace {
constexpr int kVoters = 5;

ReplicaIncarnation random_name(Prng& rng) {
  return {EndpointId(static_cast<std::uint16_t>(rng.below(kVoters))), Incarnation(1 + rng.below(3))};
}
}  // namespace

void run_entry(std::string_view bytes) {
  for (const int voters : {1, 3, kVoters}) {
    const auto entry = decode_entry(bytes, voters);
    if (!entry) continue;
    INGOT_CHECK(encode_entry(*entry) == bytes, "an entry has one encoding");
    INGOT_CHECK(entry->leader.id.value() < voters && entry->acceptor.id.value() < voters, "roles are voters'");
    INGOT_CHECK(voters == 1 || entry->leader != entry->acceptor, "leader and acceptor are two");
    Slot next = entry->base;
    for (const auto& [slot, command] : entry->in_flight) {
      INGOT_CHECK(command != nullptr && (slot == next || (slot > next && next >= entry->decided)),
                  "no gap below decided");
      next = slot.next();
    }
    INGOT_CHECK(next >= entry->decided, "all that was decided is carried");
  }
}

std::string sample_entry(Prng& rng) {
  ConfigEntry entry;
  entry.kind = rng.chance(0.3) ? ConfigEntry::Kind::kLeaderChange : ConfigEntry::Kind::kAcceptorChange;
  entry.leader = random_name(rng);
  entry.acceptor = random_name(rng);
  if (entry.kind == ConfigEntry::Kind::kLeaderChange) return encode_entry(entry);
  entry.base = Slot(rng.below(1000));
  entry.decided = entry.base.plus(rng.below(4));
  Slot slot = entry.base;
  for (std::uint64_t left = rng.below(4); slot < entry.decided || left > 0; slot = slot.next()) {
    if (slot >= entry.decided) {
      slot = slot.plus(rng.below(3));
      --left;
    }
    entry.in_flight.emplace_back(slot, std::make_shared<const std::string>(rng.below(20), 'c'));
  }
  return encode_entry(entry);
}

void run_agreement(std::string_view bytes) {
  const auto message = decode_message(bytes);
  if (!message) return;
  INGOT_CHECK(encode(*message) == bytes, "a message has one encoding");
  if (message->type == MessageType::kFetched) (void)entries_of(*message);
  if (message->type == MessageType::kPromise || message->type == MessageType::kSteppedDown) (void)votes_of(*message);
}

std::string sample_agreement(Prng& rng) {
  static constexpr MessageType kTypes[] = {MessageType::kAccept,        MessageType::kLearn,
                                           MessageType::kAbandon,       MessageType::kFetched,
                                           MessageType::kPrepare,       MessageType::kPromise,
                                           MessageType::kConfigAccept,  MessageType::kConfigDecided,
                                           MessageType::kConfigPromise, MessageType::kTwoPhaseVote,
                                           MessageType::kChosen};
  Message message;
  message.type = kTypes[rng.below(std::size(kTypes))];
  message.incarnation = message.target = Incarnation(1 + rng.below(3));
  message.epoch = Epoch(1 + rng.below(3));
  message.ballot = Ballot(1 + rng.below(3));
  message.slot = Slot(rng.below(100));
  WireWriter payload;
  const std::string entry = sample_entry(rng);
  if (message.type == MessageType::kPromise) append_vote({Slot(rng.below(9)), Ballot(1), "vote"}, payload);
  if (message.type == MessageType::kFetched) payload.bytes("entry");
  if (message.type == MessageType::kConfigPromise) payload.u64(rng.below(9)).raw(entry);
  if (message.type == MessageType::kConfigAccept || message.type == MessageType::kConfigDecided) payload.raw(entry);
  if (message.type == MessageType::kAccept || message.type == MessageType::kLearn) payload.raw("command");
  message.payload = payload.view();
  return encode(message);
}

}  // namespace ingot::fuzz
