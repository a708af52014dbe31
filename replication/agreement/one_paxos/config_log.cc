#include "replication/agreement/one_paxos/config_log.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/rule.h"
#include "core/wire.h"
#include "replication/agreement/one_paxos/configuration.h"
#include "replication/stable/view.h"

namespace ingot::inline replication_agreement_one_paxos {

namespace {
constexpr int kRoundTicks = 4;      // without a majority a round is retransmitted, then begun again
constexpr int kBackOffTicksMax = 64;
constexpr int kAskTicks = 4;        // ask() repeats after so many ticks without an answer, this many times;
constexpr int kAskTimes = 8;        // then another message must show the gap
}  // namespace

ConfigLog::ConfigLog(const GroupConfig& group, const Peers& peers, const Learner& learner, Mailbox& mailbox)
    : peers_(peers),
      learner_(learner),
      mailbox_(mailbox),
      self_(group.self),
      voters_(group.voters),
      voting_(group.self.value() < group.voters),
      leader_changes_(static_cast<std::size_t>(group.bounds.leader_changes)) {
  const auto entry = std::make_shared<const ConfigEntry>(initial_entry(group));
  entries_.push_back({std::make_shared<const std::string>(encode_entry(*entry)), entry});
  if (group.incarnation == Incarnation(1)) return;
  const bool inherits = voting_ && group.predecessor != nullptr && group.predecessor->may_be_inherited() &&
                        (!INGOT_RULE("inherit") || inherit(group.predecessor->configuration));
  inheriting_ = voting_ = inherits && INGOT_RULE("votes");
}

void ConfigLog::start(Effects& effects) {
  if (inheriting_) store(effects);
}

// False: not the stored state of a replica.
bool ConfigLog::inherit(std::string_view stored) {
  if (stored.empty()) return true;
  WireReader in(stored);
  const std::uint64_t first = in.u64();
  const std::uint64_t next_kept = in.u64();
  std::vector<Decided> entries;
  for (std::uint32_t left = in.u32(); left > 0 && !in.failed(); --left) {
    const auto bytes = std::make_shared<const std::string>(in.bytes());
    auto entry = decode_entry(*bytes, voters_);
    if (!entry) return false;
    entries.push_back({bytes, std::make_shared<const ConfigEntry>(std::move(*entry))});
  }
  const std::uint64_t promised = in.u64();
  const std::uint64_t accepted = in.u64();
  const auto accepted_entry = std::make_shared<const std::string>(in.bytes());
  if (!in.ok() || first == 0 || next_kept <= first || entries.empty()) return false;
  if (accepted > 0 && !decode_entry(*accepted_entry, voters_)) return false;
  first_ = first;
  next_kept_ = next_kept;
  entries_ = std::move(entries);
  promised_ = promised;
  accepted_ = accepted;
  if (accepted > 0) accepted_entry_ = accepted_entry;
  return true;
}

void ConfigLog::store(Effects& effects) {
  if (!voting_ || !INGOT_RULE("configuration-stored")) return;
  WireWriter out;
  out.u64(first_).u64(next_kept_).u32(static_cast<std::uint32_t>(entries_.size()));
  for (const Decided& decided : entries_) out.bytes(*decided.bytes);
  out.u64(promised_).u64(accepted_).bytes(accepted_entry_ ? std::string_view(*accepted_entry_) : "");
  effects.stable.push_back({StableWrite::Kind::kConfiguration, Epoch(), Ballot(), Slot(),
                            std::make_shared<const std::string>(out.take())});
}

// ---- Proposer -------------------------------------------------------------------------------------------------------

void ConfigLog::propose(Author author, Effects& effects) {
  INGOT_CHECK(votes() && !proposing());
  author_ = std::move(author);
  mine_ = nullptr;
  rounds_ = 0;
  start_round(effects);
}

// Numbers are never used twice: a round begins with the replica's own promise, which is stored and inherited.
void ConfigLog::start_round(Effects& effects) {
  const std::uint64_t round = std::max(promised_, highest_seen_) / kVotersMax + 1;
  number_ = round * kVotersMax + self_.value();
  phase_ = Phase::kPrepare;
  value_ = nullptr;
  best_ = 0;
  answered_.clear();
  known_ = learner_.decided();
  ticks_ = 0;
  wait_ticks_ = kRoundTicks;
  ++rounds_;
  send_round(effects);
}

Message ConfigLog::round() const {
  Message message{.type = phase_ == Phase::kPrepare ? MessageType::kConfigPrepare : MessageType::kConfigAccept,
                  .slot = next_index(),
                  .number = number_};
  if (phase_ == Phase::kAccept) message.command = value_;
  return message;
}

void ConfigLog::resend(EndpointId peer, Effects& effects) {
  const bool asks = phase_ == Phase::kPrepare || phase_ == Phase::kAccept;
  if (asks && peer.value() < voters_ && !answered_.contains(peer)) mailbox_.send(peer, round(), effects);
}

void ConfigLog::send_round(Effects& effects) {
  const Message message = round();
  for (const EndpointId voter : ReplicaSet::first(voters_) - answered_) mailbox_.send(voter, message, effects);
}

bool ConfigLog::majority() const {
  return INGOT_RULE("entry-majority") ? 2 * answered_.size() > voters_ : 2 * answered_.size() >= voters_;
}

void ConfigLog::on_promise(EndpointId from, const Message& message, Effects& effects) {
  if (phase_ != Phase::kPrepare || message.slot != next_index() || message.number != number_) return;
  WireReader in(message.payload);
  const Slot decided(in.u64());
  if (in.failed()) return mailbox_.refuse();
  if (in.remaining() > 0) {
    const std::uint64_t accepted = in.u64();
    const std::string_view entry = in.rest();
    if (!decode_entry(entry, voters_)) return mailbox_.refuse();
    if (accepted > best_ && INGOT_RULE("entry-adopted")) {
      best_ = accepted;
      value_ = std::make_shared<const std::string>(entry);
    }
  }
  if (message.verdict) known_ = std::min(known_, decided);
  answered_.insert(from);
  if (!majority()) return;
  if (!value_) {
    if (!mine_) mine_ = std::make_shared<const std::string>(encode_entry(author_(known_, effects)));
    value_ = mine_;
  }
  phase_ = Phase::kAccept;
  answered_.clear();
  ticks_ = 0;
  send_round(effects);
}

void ConfigLog::on_accepted(EndpointId from, const Message& message, Effects& effects) {
  if (phase_ != Phase::kAccept || message.slot != next_index() || message.number != number_) return;
  answered_.insert(from);
  if (!majority()) return;
  const Message decided{.type = MessageType::kConfigDecided, .slot = next_index(), .command = value_};
  mailbox_.broadcast(decided, effects);
  append(tip() + 1, value_, false, effects);
}

void ConfigLog::on_reject(const Message& message) {
  if (message.slot != next_index()) return;
  highest_seen_ = std::max(highest_seen_, message.number);
  if ((phase_ == Phase::kPrepare || phase_ == Phase::kAccept) && message.number > number_) back_off();
}

// Voters with lower ids retry sooner, so two rivals do not compete for long.
void ConfigLog::back_off() {
  phase_ = Phase::kBackOff;
  ticks_ = 0;
  wait_ticks_ = std::min(1 << std::min(rounds_, 6), kBackOffTicksMax) + 2 * self_.value();
}

void ConfigLog::tick(Effects& effects) {
  if (asked_ && ++asked_ticks_ >= kAskTicks) {
    asked_ = false;
    if (++asked_times_ < kAskTimes) ask(asked_peer_, effects);
  }
  if (!proposing() || ++ticks_ < wait_ticks_) return;
  ticks_ = 0;
  if (phase_ == Phase::kBackOff) return start_round(effects);
  wait_ticks_ = std::min(2 * wait_ticks_, kBackOffTicksMax);
  ++rounds_;
  send_round(effects);
}

// ---- Voter ----------------------------------------------------------------------------------------------------------

// Whether a proposer's message is about the next index of this replica. If the proposer is behind, this sends it the
// missing entries; if this replica is behind, it asks for them.
bool ConfigLog::is_next(EndpointId from, const Message& message, Effects& effects) {
  if (message.slot.value() <= tip()) {
    tell(from, message.slot.value() == 0 ? 0 : message.slot.value() - 1, effects);
    return false;
  }
  if (message.slot > next_index()) ask(from, effects);
  return message.slot == next_index() && voting_ && from.value() < voters_;
}

void ConfigLog::on_prepare(EndpointId from, const Message& message, Effects& effects) {
  if (!is_next(from, message, effects)) return;
  if (message.number < promised_) {
    mailbox_.send(from, {.type = MessageType::kConfigReject, .slot = message.slot, .number = promised_}, effects);
    return;
  }
  if (message.number > promised_) {
    promised_ = message.number;
    store(effects);
  }
  Message promise{.type = MessageType::kConfigPromise, .slot = message.slot, .number = message.number,
                  .verdict = peers_.caught_up(self_)};
  WireWriter payload;
  payload.u64(learner_.decided().value());
  if (accepted_ > 0) payload.u64(accepted_).raw(*accepted_entry_);
  promise.command = std::make_shared<const std::string>(payload.take());
  promise.payload = *promise.command;
  mailbox_.send(from, std::move(promise), effects);
}

void ConfigLog::on_accept(EndpointId from, const Message& message, Effects& effects) {
  if (!is_next(from, message, effects)) return;
  if (message.number < promised_ && INGOT_RULE("entry-promise-kept")) {
    mailbox_.send(from, {.type = MessageType::kConfigReject, .slot = message.slot, .number = promised_}, effects);
    return;
  }
  auto bytes = command_of(message);
  if (!decode_entry(*bytes, voters_)) return mailbox_.refuse();
  if (message.number > accepted_) {
    promised_ = accepted_ = message.number;
    accepted_entry_ = std::move(bytes);
    store(effects);
  }
  mailbox_.send(from, {.type = MessageType::kConfigAccepted, .slot = message.slot, .number = message.number}, effects);
}

// ---- All replicas ---------------------------------------------------------------------------------------------------

void ConfigLog::receive(EndpointId from, const Message& message, Effects& effects) {
  switch (message.type) {
    case MessageType::kConfigPrepare:
      return on_prepare(from, message, effects);
    case MessageType::kConfigPromise:
      return from.value() < voters_ ? on_promise(from, message, effects) : mailbox_.refuse();
    case MessageType::kConfigAccept:
      return on_accept(from, message, effects);
    case MessageType::kConfigAccepted:
      return from.value() < voters_ ? on_accepted(from, message, effects) : mailbox_.refuse();
    case MessageType::kConfigReject:
      return on_reject(message);
    case MessageType::kConfigDecided:
      return on_decided(from, message, effects);
    case MessageType::kConfigFetch:
      return tell(from, message.slot.value() == 0 ? 0 : message.slot.value() - 1, effects);
    default:
      mailbox_.refuse();
  }
}

// An AcceptorChange starts a new history, so it may follow a gap. A LeaderChange may if the sender keeps no entry
// between it and that of the same epoch.
void ConfigLog::on_decided(EndpointId from, const Message& message, Effects& effects) {
  const std::uint64_t index = message.slot.value();
  if (index <= tip()) return;
  asked_ = false;
  asked_times_ = 0;
  const bool after_gap = message.verdict && (message.epoch == epoch() || !INGOT_RULE("gap-in-one-epoch"));
  if (!append(index, command_of(message), after_gap, effects)) ask(from, effects);
}

bool ConfigLog::append(std::uint64_t index, Bytes bytes, bool after_gap, Effects& effects) {
  auto entry = decode_entry(*bytes, voters_);
  if (!entry || index > kConfigurationEntriesMax) {
    mailbox_.refuse();
    return true;
  }
  const bool epoch_begins = entry->kind == ConfigEntry::Kind::kAcceptorChange;
  if (index != tip() + 1 && !epoch_begins && !after_gap) return false;
  if (epoch_begins) {
    entries_.clear();
    first_ = index;
    next_kept_ = index + 1;
  } else if (index != tip() + 1) {
    entries_.resize(1);
    next_kept_ = index;
  }
  entries_.push_back({std::move(bytes), std::make_shared<const ConfigEntry>(std::move(*entry))});
  if (entries_.size() > 1 + leader_changes_) {
    entries_.erase(entries_.begin() + 1);
    ++next_kept_;
  }
  promised_ = accepted_ = highest_seen_ = 0;
  accepted_entry_ = nullptr;
  if (!INGOT_RULE("at-ballot-plus-one") && committed() && *entries_.back().bytes != *mine_) start_round(effects);
  else give_up();
  store(effects);
  return true;
}

void ConfigLog::ask(EndpointId peer, Effects& effects) {
  if (asked_ || peer == self_) return;
  if (peer != asked_peer_) asked_times_ = 0;
  asked_ = true;
  asked_peer_ = peer;
  asked_ticks_ = 0;
  mailbox_.send(peer, {.type = MessageType::kConfigFetch, .slot = next_index()}, effects);
}

void ConfigLog::tell(EndpointId peer, std::uint64_t known_tip, Effects& effects) {
  if (peer == self_) return;
  for (std::uint64_t index = std::max(first_, known_tip + 1); index <= tip(); ++index) {
    if (!keeps(index)) index = next_kept_;
    const bool after_gap = index == next_kept_ && next_kept_ > first_ + 1;
    mailbox_.send(peer, {.type = MessageType::kConfigDecided, .epoch = after_gap ? epoch() : Epoch(),
                         .slot = Slot(index), .verdict = after_gap, .command = decided(index).bytes}, effects);
  }
}

}  // namespace ingot::replication_agreement_one_paxos
