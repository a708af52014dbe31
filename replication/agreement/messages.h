// Messages between the replicas' protocols. All protocols share one format, so one decoder refuses malformed messages.
//
//   offset  0  u8   MessageClass::kAgreement
//           1  u8   kAgreementWireVersion
//           2  u8   type
//           3  u8   verdict: 1 yes, commit or complete, 0 no or abort; 0 where the type has none
//           4  u32  incarnation of the sender
//           8  u32  epoch
//          12  u32  ballot
//          16  u64  slot
//          24       those of these fields that the type has, in this order:
//                   u64  number
//                   u32  target: the incarnation addressed; another one refuses the message
//                   the payload, to the end, one of: a command | entries, each `bytes` | votes, each u64 slot,
//                   u32 ballot, `bytes` | an entry of the configuration log (one_paxos/config_entry.h)
//
// A header of 24 bytes leaves room for a small command in one cache line of a channel.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "core/wire.h"
#include "replication/agreement/agreement.h"
#include "replication/requests/shared_message.h"

namespace ingot::inline replication_agreement {

inline constexpr std::uint8_t kAgreementWireVersion = 2;
inline constexpr std::size_t kAgreementHeaderBytes = 24;

enum class MessageType : std::uint8_t {
  kAccept = 1,     // leader -> acceptor or voter: store this command for the slot
  kAccepted = 2,   // voter -> leader (Multi-Paxos): stored
  kLearn = 3,      // the slot is decided, with this command
  kChosen = 10,    // the slot is decided, with the command that the receiver proposed or voted for under this ballot
  kAbandon = 4,    // acceptor -> leader: my epoch and promise; number: slots below it are trimmed
  kFetch = 5,      // learner -> any: send decided entries from slot on
  kFetched = 6,    // answer: entries from slot on (none and a higher slot: trimmed); number: slots below it are decided
  kCommitHint = 7,  // some slot just below slot is decided: a receiver that lacks any below it has missed messages
  kReadProbe = 8,    // leader -> acceptor or voter: is this epoch and ballot still the newest? number identifies it
  kReadConfirm = 9,  // answer: it is

  // ---- A new leader. Ballot: the new leader's.
  kPrepare = 16,  // leader -> acceptor or voter: promise, and send votes from slot on. number: the epoch's base
  kPromise = 17,  // answer: votes from the Prepare's slot to below slot; verdict: all sent. number: trimmed below it
  kStepDown = 18,       // new leader -> former one: step down, and send your proposals under ballot `number`
  kSteppedDown = 19,    // answer; verdict: takeover was complete. slot: decided below it; votes: proposals from there
  kPing = 20,           // asks for a sign of life; number: of the question
  kPong = 21,           // answer, also to a Hello (number 0); verdict: caught up. slot: decided below it
  kSuspectLeader = 23,  // to replicas that may lead: a client waits for the leader in vain
  kHello = 22,          // new incarnation -> all; slot: decided below it; verdict: caught up

  // ---- The configuration log: majority Paxos for the entry at index `slot`. number: a ballot number of that Paxos
  kConfigPrepare = 32,
  kConfigPromise = 33,   // payload: u64 decided slot; u64 number and entry accepted before, if any. verdict: caught up
  kConfigAccept = 34,    // payload: the entry
  kConfigAccepted = 35,
  kConfigReject = 36,    // number: promised
  // payload: the entry at this index. verdict: the sender keeps none between it and the first of its epoch
  kConfigDecided = 37,
  kConfigFetch = 38,     // send decided entries from this index on

  // 48 to 63 are for Multi-Paxos alone.
  kTwoPhasePrepare = 64,      // coordinator -> all: prepare this command in this slot
  kTwoPhaseVote = 65,         // participant -> coordinator
  kTwoPhaseOutcome = 66,      // coordinator -> all
  kTwoPhaseAcknowledge = 67,  // participant -> coordinator: slots below slot are applied here
};

// A decoded message, or one to send. `payload` is a view of the caller's memory. A message to send, also one to this
// replica itself, may instead carry the `command` object, which is then shared and not copied.
struct Message {
  MessageType type = MessageType::kCommitHint;
  Epoch epoch{};
  Ballot ballot{};
  Slot slot{};
  std::uint64_t number = 0;
  bool verdict = false;
  std::string_view payload{};
  std::shared_ptr<const std::string> command{};
  Incarnation incarnation{};  // of the sender, whose mailbox sets it
  Incarnation target{};       // the receiver's, where the type has one
};

// A slot with what was voted or proposed for it, in a Promise or SteppedDown.
struct Vote {
  Slot slot;
  Ballot ballot;
  std::string_view command;
};

// The message to send: it shares `command`, and copies `payload`.
SharedMessage gather(const Message& message);
// All of its bytes in one place.
inline std::string encode(const Message& message) { return gather(message).joined(); }

// Nothing, if any byte is not as described above: unknown version or type, a verdict or payload that the type does not
// have, entries or votes that do not parse or are not in order, a slot of kSlotsMax or more.
std::optional<Message> decode_message(std::string_view bytes);

// The command of an Accept, Learn or Prepare: a copy of its bytes, or `known` itself if that is not null and has equal
// bytes.
std::shared_ptr<const std::string> command_of(const Message& message,
                                              const std::shared_ptr<const std::string>& known = nullptr);

// The entries of a decoded Fetched.
std::vector<std::string_view> entries_of(const Message& message);

// The votes of a decoded Promise or SteppedDown. Senders write them in ascending order of slots.
std::vector<Vote> votes_of(const Message& message);
void append_vote(const Vote& vote, WireWriter& out);

// "Accept", "Learn", ... for traces.
const char* name_of(MessageType type);

}  // namespace ingot::replication_agreement
