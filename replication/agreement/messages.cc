#include "replication/agreement/messages.h"

#include "core/check.h"
#include "core/wire.h"
#include "replication/agreement/limits.h"
#include "replication/requests/limits.h"

namespace ingot::inline replication_agreement {

namespace {

// What follows the header, and whether the verdict has a meaning.
struct Shape {
  enum class Payload { kNone, kCommand, kEntries, kVotes, kConfiguration };
  bool known = true;
  bool verdict = false;
  bool number = false;
  bool target = false;
  Payload payload = Payload::kNone;
};

Shape shape_of(MessageType type) {
  using Payload = Shape::Payload;
  switch (type) {
    case MessageType::kAccepted:
    case MessageType::kChosen:
    case MessageType::kFetch:
    case MessageType::kCommitHint:
    case MessageType::kTwoPhaseAcknowledge:
    case MessageType::kConfigFetch:
    case MessageType::kSuspectLeader:
      return {};
    case MessageType::kTwoPhaseVote:
    case MessageType::kTwoPhaseOutcome:
    case MessageType::kHello:
      return {.verdict = true};
    case MessageType::kAbandon:
    case MessageType::kReadProbe:
    case MessageType::kReadConfirm:
    case MessageType::kPing:
    case MessageType::kConfigPrepare:
    case MessageType::kConfigAccepted:
    case MessageType::kConfigReject:
      return {.number = true};
    case MessageType::kPong:
      return {.verdict = true, .number = true};
    case MessageType::kAccept:
    case MessageType::kLearn:
    case MessageType::kTwoPhasePrepare:
      return {.payload = Payload::kCommand};
    case MessageType::kFetched:
      return {.number = true, .payload = Payload::kEntries};
    case MessageType::kPrepare:
    case MessageType::kStepDown:
      return {.number = true, .target = true};
    case MessageType::kPromise:
    case MessageType::kSteppedDown:
      return {.verdict = true, .number = true, .payload = Payload::kVotes};
    case MessageType::kConfigPromise:
      return {.verdict = true, .number = true, .payload = Payload::kConfiguration};
    case MessageType::kConfigAccept:
      return {.number = true, .payload = Payload::kConfiguration};
    case MessageType::kConfigDecided:
      return {.verdict = true, .payload = Payload::kConfiguration};
  }
  return {.known = false};
}

// Whether the number is a slot.
bool number_is_slot(MessageType type) {
  return type == MessageType::kAbandon || type == MessageType::kFetched || type == MessageType::kPrepare ||
         type == MessageType::kPromise;
}

std::uint32_t configuration_index(std::uint64_t index) {
  INGOT_CHECK(index <= kConfigurationEntriesMax);
  return static_cast<std::uint32_t>(index);
}

bool entries_parse(std::string_view payload) {
  WireReader in(payload);
  int entries = 0;
  while (!in.failed() && in.remaining() > 0) {
    if (in.bytes().size() > kBatchBytesMax || ++entries > kFetchEntriesMax) return false;
  }
  return in.ok();
}

bool votes_parse(std::string_view payload) {
  WireReader in(payload);
  std::uint64_t next = 0;
  while (!in.failed() && in.remaining() > 0) {
    const std::uint64_t slot = in.u64();
    in.u32();
    if (slot < next || slot >= kSlotsMax || in.bytes().size() > kBatchBytesMax) return false;
    next = slot + 1;
  }
  return in.ok();
}

bool payload_parses(Shape::Payload shape, std::string_view payload) {
  switch (shape) {
    case Shape::Payload::kNone:
      return payload.empty();
    case Shape::Payload::kCommand:
      return payload.size() <= kBatchBytesMax;
    case Shape::Payload::kEntries:
      return entries_parse(payload);
    case Shape::Payload::kVotes:
      return votes_parse(payload);
    case Shape::Payload::kConfiguration:
      return payload.size() <= kConfigurationEntryBytesMax;
  }
  return false;
}

}  // namespace

SharedMessage gather(const Message& message) {
  static_assert(kAgreementHeaderBytes + sizeof message.number + sizeof(std::uint32_t) <=
                SharedMessage::kHeaderBytesMax);
  const Shape shape = shape_of(message.type);
  const auto write_header = [&](auto& out) {
    out.u8(static_cast<std::uint8_t>(MessageClass::kAgreement)).u8(kAgreementWireVersion);
    out.u8(static_cast<std::uint8_t>(message.type)).u8(message.verdict && shape.verdict);
    out.u32(message.incarnation.value());
    out.u32(configuration_index(message.epoch.value())).u32(configuration_index(message.ballot.value()));
    out.u64(message.slot.value());
    if (shape.number) out.u64(message.number);
    if (shape.target) out.u32(message.target.value());
  };
  const bool copied = !message.command && !message.payload.empty();
  if (shape.payload == Shape::Payload::kNone) return {write_header, nullptr};
  return {write_header, copied ? std::make_shared<const std::string>(message.payload) : message.command};
}

std::optional<Message> decode_message(std::string_view bytes) {
  WireReader in(bytes);
  const bool ours = in.u8() == static_cast<std::uint8_t>(MessageClass::kAgreement) && in.u8() == kAgreementWireVersion;
  Message message;
  message.type = static_cast<MessageType>(in.u8());
  const std::uint8_t verdict = in.u8();
  message.verdict = verdict == 1;
  message.incarnation = Incarnation(in.u32());
  message.epoch = Epoch(in.u32());
  message.ballot = Ballot(in.u32());
  message.slot = Slot(in.u64());
  const Shape shape = shape_of(message.type);
  if (shape.number) message.number = in.u64();
  if (shape.target) message.target = Incarnation(in.u32());
  if (!in.failed()) message.payload = in.rest();
  const bool well_formed = in.ok() && ours && shape.known && verdict <= (shape.verdict ? 1 : 0);
  if (!well_formed || message.slot.value() >= kSlotsMax) return std::nullopt;
  if (number_is_slot(message.type) && message.number >= kSlotsMax) return std::nullopt;
  if (!payload_parses(shape.payload, message.payload)) return std::nullopt;
  return message;
}

std::shared_ptr<const std::string> command_of(const Message& message,
                                              const std::shared_ptr<const std::string>& known) {
  if (message.command) return message.command;
  return known && *known == message.payload ? known : std::make_shared<const std::string>(message.payload);
}

std::vector<std::string_view> entries_of(const Message& message) {
  std::vector<std::string_view> entries;
  WireReader in(message.payload);
  while (in.remaining() > 0) entries.push_back(in.bytes());
  return entries;
}

std::vector<Vote> votes_of(const Message& message) {
  std::vector<Vote> votes;
  WireReader in(message.payload);
  while (in.remaining() > 0) {
    const Slot slot(in.u64());
    const Ballot ballot(in.u32());
    votes.push_back({slot, ballot, in.bytes()});
  }
  return votes;
}

void append_vote(const Vote& vote, WireWriter& out) {
  out.u64(vote.slot.value()).u32(configuration_index(vote.ballot.value())).bytes(vote.command);
}

const char* name_of(MessageType type) {
  switch (type) {
    case MessageType::kAccept:
      return "Accept";
    case MessageType::kAccepted:
      return "Accepted";
    case MessageType::kLearn:
      return "Learn";
    case MessageType::kChosen:
      return "Chosen";
    case MessageType::kAbandon:
      return "Abandon";
    case MessageType::kFetch:
      return "Fetch";
    case MessageType::kFetched:
      return "Fetched";
    case MessageType::kCommitHint:
      return "CommitHint";
    case MessageType::kReadProbe:
      return "ReadProbe";
    case MessageType::kReadConfirm:
      return "ReadConfirm";
    case MessageType::kTwoPhasePrepare:
      return "Prepare";
    case MessageType::kTwoPhaseVote:
      return "Vote";
    case MessageType::kTwoPhaseOutcome:
      return "Outcome";
    case MessageType::kTwoPhaseAcknowledge:
      return "Acknowledge";
    case MessageType::kPrepare:
      return "LeaderPrepare";
    case MessageType::kPromise:
      return "Promise";
    case MessageType::kStepDown:
      return "StepDown";
    case MessageType::kSteppedDown:
      return "SteppedDown";
    case MessageType::kPing:
      return "Ping";
    case MessageType::kPong:
      return "Pong";
    case MessageType::kSuspectLeader:
      return "SuspectLeader";
    case MessageType::kHello:
      return "Hello";
    case MessageType::kConfigPrepare:
      return "ConfigPrepare";
    case MessageType::kConfigPromise:
      return "ConfigPromise";
    case MessageType::kConfigAccept:
      return "ConfigAccept";
    case MessageType::kConfigAccepted:
      return "ConfigAccepted";
    case MessageType::kConfigReject:
      return "ConfigReject";
    case MessageType::kConfigDecided:
      return "ConfigDecided";
    case MessageType::kConfigFetch:
      return "ConfigFetch";
  }
  return "unknown";
}

}  // namespace ingot::replication_agreement
