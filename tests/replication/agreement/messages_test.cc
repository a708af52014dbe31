// The messages of agreement: encoding and decoding are inverse, and no received message breaks a protocol.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/prng.h"
#include "core/wire.h"
#include "replication/agreement/limits.h"
#include "replication/agreement/messages.h"
#include "replication/agreement/registry.h"
#include "replication/requests/limits.h"
#include "tests/replication/agreement/trace.h"
#include "tests/seeds.h"

namespace ingot::testing {
namespace {

const std::vector<MessageType> kTypes{
    MessageType::kAccept,         MessageType::kAccepted,          MessageType::kLearn,
    MessageType::kChosen,         MessageType::kAbandon,        MessageType::kFetch,             MessageType::kFetched,
    MessageType::kCommitHint,           MessageType::kReadProbe,         MessageType::kReadConfirm,
    MessageType::kTwoPhasePrepare, MessageType::kTwoPhaseVote,     MessageType::kTwoPhaseOutcome,
    MessageType::kTwoPhaseAcknowledge, MessageType::kPrepare, MessageType::kPromise, MessageType::kStepDown,
    MessageType::kSteppedDown, MessageType::kPing, MessageType::kPong, MessageType::kSuspectLeader, MessageType::kHello,
    MessageType::kConfigPrepare, MessageType::kConfigPromise, MessageType::kConfigAccept,
    MessageType::kConfigAccepted, MessageType::kConfigReject, MessageType::kConfigDecided, MessageType::kConfigFetch};

bool carries_votes(MessageType type) { return type == MessageType::kPromise || type == MessageType::kSteppedDown; }

// Whether the type's payload is plain bytes.
bool carries_bytes(MessageType type) {
  switch (type) {
    case MessageType::kAccept:
    case MessageType::kLearn:
    case MessageType::kTwoPhasePrepare:
    case MessageType::kConfigPromise:
    case MessageType::kConfigAccept:
    case MessageType::kConfigDecided:
      return true;
    default:
      return false;
  }
}

std::string random_bytes(Prng& prng, std::size_t length_below) {
  std::string bytes(prng.below(length_below), '\0');
  for (char& byte : bytes) byte = static_cast<char>(prng.below(256));
  return bytes;
}

// Mostly small numbers, which protocols interpret; sometimes any number that the format can hold.
std::uint64_t random_number(Prng& prng, std::uint64_t below) {
  return prng.chance(0.8) ? prng.below(6) : prng.below(below);
}

struct OwnedMessage {
  Message message;
  std::string payload;
};

void fill(OwnedMessage& owned, Prng& prng) {
  Message& message = owned.message;
  message.type = kTypes[prng.below(kTypes.size())];
  message.incarnation = Incarnation(static_cast<std::uint32_t>(1 + prng.below(2)));
  message.epoch = Epoch(random_number(prng, kConfigurationEntriesMax));
  message.ballot = Ballot(random_number(prng, kConfigurationEntriesMax));
  message.slot = Slot(random_number(prng, kSlotsMax));
  message.number = random_number(prng, kSlotsMax);
  message.target = Incarnation(static_cast<std::uint32_t>(prng.below(3)));
  message.verdict = prng.chance(0.5);
  owned.payload = random_bytes(prng, 40);
  if (message.type == MessageType::kFetched) {
    WireWriter entries;
    for (std::uint64_t left = prng.below(4); left > 0; --left) entries.bytes(random_bytes(prng, 20));
    owned.payload = entries.take();
  } else if (carries_votes(message.type)) {
    WireWriter votes;
    std::uint64_t slot = prng.below(3);
    for (std::uint64_t left = prng.below(4); left > 0; --left, slot += 1 + prng.below(3)) {
      append_vote({Slot(slot), Ballot(prng.below(4)), random_bytes(prng, 20)}, votes);
    }
    owned.payload = votes.take();
  } else if (!carries_bytes(message.type)) {
    owned.payload.clear();
  }
  message.payload = owned.payload;
}

TEST_CASE("a message decodes to what was encoded") {
  const std::uint64_t seed = drawn_seed();
  Prng prng(seed);
  for (int round = 0; round < 20'000; ++round) {
    INFO("seed " << seed << " round " << round);
    OwnedMessage owned;
    fill(owned, prng);
    const std::string bytes = encode(owned.message);
    const auto decoded = decode_message(bytes);
    REQUIRE(decoded);
    CHECK(decoded->type == owned.message.type);
    CHECK(decoded->incarnation == owned.message.incarnation);
    CHECK(decoded->epoch == owned.message.epoch);
    CHECK(decoded->ballot == owned.message.ballot);
    CHECK(decoded->slot == owned.message.slot);
    CHECK(encode(*decoded) == bytes);
    CHECK(describe_message(bytes) != "malformed");
  }
}

TEST_CASE("the header is 24 bytes and the command follows") {
  const Message accept{.type = MessageType::kAccept, .epoch = Epoch(1), .ballot = Ballot(2), .slot = Slot(3),
                       .payload = "abc", .incarnation = Incarnation(4)};
  const std::string bytes = encode(accept);
  CHECK(bytes.size() == kAgreementHeaderBytes + 3);
  CHECK(bytes == std::string("\x01\x02\x01\0\x04\0\0\0\x01\0\0\0\x02\0\0\0\x03\0\0\0\0\0\0\0abc", 27));
}

// Bytes that decode are exactly the encoding of the result: no message has two encodings, and no byte is ignored.
TEST_CASE("a damaged message is refused or is another well-formed message") {
  const std::uint64_t seed = drawn_seed();
  Prng prng(seed);
  int refused = 0;
  for (int round = 0; round < 50'000; ++round) {
    INFO("seed " << seed << " round " << round);
    OwnedMessage owned;
    fill(owned, prng);
    std::string bytes = prng.chance(0.2) ? random_bytes(prng, 60) : encode(owned.message);
    for (std::uint64_t damages = 1 + prng.below(3); damages > 0 && !bytes.empty(); --damages) {
      if (prng.chance(0.3)) bytes.resize(prng.below(bytes.size() + 1));
      else bytes[prng.below(bytes.size())] = static_cast<char>(prng.below(256));
    }
    const auto decoded = decode_message(bytes);
    if (decoded) CHECK(encode(*decoded) == bytes);
    else ++refused;
  }
  CHECK(refused > 1000);
}

TEST_CASE("limits of the format") {
  CHECK(!decode_message(""));
  const auto decodes = [](Message message) { return decode_message(encode(message)).has_value(); };
  CHECK(decodes({.type = MessageType::kCommitHint, .slot = Slot(kSlotsMax - 1)}));
  CHECK(!decodes({.type = MessageType::kCommitHint, .slot = Slot(kSlotsMax)}));
  const std::string largest(kBatchBytesMax, 'x');
  CHECK(decodes({.type = MessageType::kAccept, .payload = largest}));
  const std::string too_large(kBatchBytesMax + 1, 'x');
  CHECK(!decodes({.type = MessageType::kAccept, .payload = too_large}));
  WireWriter entries;
  for (int i = 0; i <= kFetchEntriesMax; ++i) entries.bytes("");
  CHECK(!decodes({.type = MessageType::kFetched, .payload = entries.view()}));
  const std::string entry(kConfigurationEntryBytesMax, 'x');
  CHECK(decodes({.type = MessageType::kConfigDecided, .payload = entry}));
  CHECK(!decodes({.type = MessageType::kConfigDecided, .payload = entry + "x"}));
}

TEST_CASE("votes come in ascending order of slots, or the message is refused") {
  WireWriter votes;
  append_vote({Slot(3), Ballot(1), "c"}, votes);
  append_vote({Slot(5), Ballot(2), ""}, votes);
  const std::string bytes = encode({.type = MessageType::kPromise, .payload = votes.view()});
  const auto decoded = decode_message(bytes);
  REQUIRE(decoded);
  REQUIRE(votes_of(*decoded).size() == 2);
  CHECK(votes_of(*decoded)[1].slot == Slot(5));
  CHECK(votes_of(*decoded)[1].ballot == Ballot(2));
  CHECK(votes_of(*decoded)[0].command == "c");
  append_vote({Slot(5), Ballot(2), ""}, votes);
  CHECK(!decode_message(encode({.type = MessageType::kPromise, .payload = votes.view()})));
}

// Whatever well-formed message arrives, from any endpoint, a replica does not abort, decides each slot once and in
// order, and sends messages to existing other endpoints only.
TEST_CASE("a protocol survives any message") {
  const std::uint64_t seed = drawn_seed();
  Prng prng(seed);
  for (const char* kind : {"1paxos", "multipaxos", "2pc"}) {
    for (int incarnation = 0; incarnation < 300; ++incarnation) {
      const EndpointId self(static_cast<std::uint16_t>(prng.below(4)));
      const auto agreement = make_agreement(kind, {.replicas = 4, .voters = 3, .self = self});
      Slot next;
      for (int round = 0; round < 100; ++round) {
        INFO("seed " << seed << " " << kind << " life " << incarnation << " round " << round);
        OwnedMessage owned;
        fill(owned, prng);
        const EndpointId from(static_cast<std::uint16_t>(prng.below(6)));
        const std::uint64_t refused_before = agreement->refused_messages();
        Effects effects;
        if (prng.chance(0.1) && agreement->can_propose()) {
          agreement->propose(1, std::make_shared<const std::string>("x"), effects);
        }
        if (prng.chance(0.1)) agreement->read(1, effects);
        if (prng.chance(0.1) && agreement->wants_tick()) agreement->tick(effects);
        if (prng.chance(0.1)) agreement->peer_drained(EndpointId((self.value() + 1) % 4), effects);
        agreement->receive(from, encode(owned.message), effects);
        if (from == self || from.value() >= 4) REQUIRE(agreement->refused_messages() == refused_before + 1);
        for (const Decision& decision : effects.decided) {
          REQUIRE(decision.slot == next);
          next = next.next();
        }
        for (const Outgoing& outgoing : effects.messages) {
          REQUIRE((outgoing.broadcast || (outgoing.to != self && outgoing.to.value() < 4)));
          REQUIRE(describe_message(outgoing.message.joined()) != "malformed");
          REQUIRE(ReplicaSet::first(4).contains_all(outgoing.holders));
          REQUIRE(!outgoing.holders.contains(self));
          if (!outgoing.holders.empty()) REQUIRE(describe_message(outgoing.brief.joined()) != "malformed");
        }
        agreement->applied(next, effects);
        agreement->compact(Slot(prng.below(next.value() + 2)), effects);
      }
    }
  }
}

TEST_CASE("agreements are known by name") {
  CHECK(make_agreement("1paxos", {}) != nullptr);
  CHECK(make_agreement("multipaxos", {}) != nullptr);
  CHECK(make_agreement("2pc", {}) != nullptr);
  CHECK(make_agreement("raft", {}) == nullptr);
}

}  // namespace
}  // namespace ingot::testing
