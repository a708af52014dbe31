#include "tests/replication/agreement/trace.h"

#include <sstream>

#include "core/wire.h"
#include "replication/agreement/messages.h"
#include "replication/agreement/one_paxos/config_entry.h"

namespace ingot::testing {

namespace {

const char* name_of(StableWrite::Kind kind) {
  switch (kind) {
    case StableWrite::Kind::kPromise:
      return "Promise";
    case StableWrite::Kind::kAccepted:
      return "Accepted";
    case StableWrite::Kind::kProposed:
      return "Proposed";
    case StableWrite::Kind::kLeading:
      return "Leading";
    case StableWrite::Kind::kTrimmed:
      return "Trimmed";
    case StableWrite::Kind::kOutcome:
      return "Outcome";
    case StableWrite::Kind::kConfiguration:
      return "Configuration";
  }
  return "unknown";
}

std::string name_text(ReplicaIncarnation name) {
  const std::string id = std::to_string(name.id.value());
  return name.incarnation == Incarnation(1) ? id : id + "." + std::to_string(name.incarnation.value());
}

// Long commands are shown by their length.
std::string quote(std::string_view command) {
  if (command.empty()) return "(no-op)";
  if (command.size() > 40) return "(" + std::to_string(command.size()) + " bytes)";
  return "`" + std::string(command) + "`";
}

void describe_store(std::ostream& out, int replica, const StableWrite& write) {
  out << replica << " stores " << name_of(write.kind);
  if (write.kind == StableWrite::Kind::kConfiguration) {
    out << " (" << write.command->size() << " bytes)\n";
    return;
  }
  out << " epoch " << write.epoch << " ballot " << write.ballot;
  if (write.kind == StableWrite::Kind::kPromise || write.kind == StableWrite::Kind::kLeading) {
    if (write.kind == StableWrite::Kind::kLeading && write.ballot > Ballot(1)) out << " from slot " << write.slot;
    out << "\n";
    return;
  }
  out << " slot " << write.slot;
  if (write.command) out << " " << quote(*write.command);
  out << "\n";
}

void describe_votes(std::ostream& out, const Message& message) {
  for (const Vote& vote : votes_of(message)) out << " " << vote.slot << " " << quote(vote.command);
}

void describe_entry(std::ostream& out, std::string_view bytes) {
  const auto entry = decode_entry(bytes, kVotersMax);
  if (!entry) {
    out << " no entry";
    return;
  }
  const bool leader = entry->kind == ConfigEntry::Kind::kLeaderChange;
  out << (leader ? " LeaderChange(" : " AcceptorChange(") << name_text(entry->leader) << ", "
      << name_text(entry->acceptor);
  if (!leader) out << ", base " << entry->base << ", decided " << entry->decided;
  for (const auto& [slot, command] : entry->in_flight) out << ", " << slot << " " << quote(*command);
  out << ")";
}

void describe_config(std::ostream& out, const Message& message) {
  out << " index " << message.slot;
  if (message.type != MessageType::kConfigDecided && message.type != MessageType::kConfigFetch) {
    out << " number " << message.number;
  }
  std::string_view entry = message.payload;
  const auto take_number = [&](const char* what) {
    if (entry.size() < sizeof(std::uint64_t)) return;
    out << what << WireReader(entry).u64();
    entry.remove_prefix(sizeof(std::uint64_t));
  };
  if (message.type == MessageType::kConfigPromise) {
    take_number(" decided ");
    take_number(" accepted ");
    if (!message.verdict) out << " not caught up";
  }
  if (!entry.empty()) describe_entry(out, entry);
  if (message.type == MessageType::kConfigDecided && message.verdict) out << " after a gap";
}

// Messages about changes of roles.
void describe_change(std::ostream& out, const Message& message) {
  switch (message.type) {
    case MessageType::kPrepare:
      out << " from slot " << message.slot << " base " << message.number;
      return;
    case MessageType::kPromise:
      out << " trimmed " << message.number << (message.verdict ? " all below " : " part below ") << message.slot << ":";
      return describe_votes(out, message);
    case MessageType::kStepDown:
      out << " asked for ballot " << message.number;
      return;
    case MessageType::kSteppedDown:
      out << " of ballot " << message.number << (message.verdict ? " led" : " never led") << ", decided "
          << message.slot << ":";
      return describe_votes(out, message);
    case MessageType::kPong:
      out << " number " << message.number << (message.verdict ? "" : " not caught up");
      return;
    case MessageType::kHello:
      out << " decided " << message.slot << (message.verdict ? " caught up" : "");
      return;
    case MessageType::kSuspectLeader:
      return;
    default:
      break;
  }
  if (message.type >= MessageType::kConfigPrepare && message.type <= MessageType::kConfigFetch) {
    return describe_config(out, message);
  }
  out << " slot " << message.slot;
}

void describe_holders(std::ostream& out, const Outgoing& outgoing) {
  if (outgoing.holders.empty()) return;
  const std::string brief = outgoing.brief.joined();
  const auto message = decode_message(brief);
  out << " (" << (message ? ingot::name_of(message->type) : "malformed") << " to";
  for (const EndpointId holder : outgoing.holders) out << " " << holder;
  out << ")";
}

}  // namespace

std::string describe_message(std::string_view bytes) {
  const auto message = decode_message(bytes);
  if (!message) return "malformed";
  std::ostringstream out;
  out << ingot::name_of(message->type);
  if (message->incarnation.value() > 1) out << " incarnation " << message->incarnation;
  if (message->epoch.value() > 0) out << " epoch " << message->epoch << " ballot " << message->ballot;
  switch (message->type) {
    case MessageType::kReadProbe:
    case MessageType::kReadConfirm:
    case MessageType::kPing:
      out << " number " << message->number;
      break;
    case MessageType::kAbandon:
      out << " trimmed " << message->number;
      break;
    case MessageType::kAccept:
    case MessageType::kLearn:
    case MessageType::kTwoPhasePrepare:
      out << " slot " << message->slot << " " << quote(message->payload);
      break;
    case MessageType::kFetched:
      out << " slot " << message->slot << " of " << message->number << ":";
      for (const std::string_view entry : entries_of(*message)) out << " " << quote(entry);
      break;
    case MessageType::kTwoPhaseVote:
      out << " slot " << message->slot << (message->verdict ? " yes" : " no");
      break;
    case MessageType::kTwoPhaseOutcome:
      out << " slot " << message->slot << (message->verdict ? " commit" : " abort");
      break;
    default:
      describe_change(out, *message);
  }
  return out.str();
}

std::string describe_effects(int replica, const Effects& effects) {
  std::ostringstream out;
  for (const StableWrite& write : effects.stable) describe_store(out, replica, write);
  for (const Outgoing& outgoing : effects.messages) {
    const std::string to = outgoing.broadcast ? "all" : std::to_string(outgoing.to.value());
    out << replica << " -> " << to << "  " << describe_message(outgoing.message.joined());
    describe_holders(out, outgoing);
    out << "\n";
  }
  for (const Decision& decision : effects.decided) {
    out << replica << " decides slot " << decision.slot << " " << quote(*decision.command) << "\n";
  }
  for (const ReadReady& read : effects.reads_ready) {
    out << replica << " may answer read " << read.read_id << " once slots below " << read.applied_needed
        << " are applied\n";
  }
  for (const Rejection& rejection : effects.rejected) {
    out << replica << " rejects " << (rejection.kind == Rejection::Kind::kRead ? "read " : "command ") << rejection.id
        << ": " << (rejection.why == Rejection::Why::kBusy ? "busy" : "not leader") << ", " << rejection.leader
        << " leads\n";
  }
  if (effects.snapshot_needed) out << replica << " needs a snapshot\n";
  for (const EndpointId suspect : effects.suspects) out << replica << " suspects " << suspect << "\n";
  if (effects.history_needed) out << replica << " needs what all segments hold\n";
  for (const ReplicaIncarnation name : effects.salvage_needed)
    out << replica << " needs the segment of " << name_text(name) << "\n";
  for (const ReplicaIncarnation name : effects.fence) out << replica << " would fence " << name_text(name) << "\n";
  return out.str();
}

std::string describe_waiting(const AgreementStatus& status) {
  if (status.why == Blocked::kNo) return "waits for nothing";
  const std::string whom = status.blocked_by.empty() ? "" : "waits for " + name_replicas(status.blocked_by) + ": ";
  return whom + std::string(text_of(status.why));
}

std::string describe_status(const AgreementStatus& status) {
  constexpr const char* kRoles[] = {"replica", "leader", "acceptor"};
  std::ostringstream out;
  out << kRoles[static_cast<int>(status.role)] << ", leader " << status.leader << " acceptor " << status.acceptor
      << " epoch " << status.epoch << " ballot " << status.ballot << " proposed " << status.proposed << " decided "
      << status.decided;
  if (status.blocked) {
    out << ", blocked" << (status.blocked_by.empty() ? "" : " by ");
    for (const EndpointId by : status.blocked_by) out << (by == *status.blocked_by.begin() ? "" : ", ") << by;
    out << " (" << text_of(status.why) << ")";
  }
  if (status.frozen) out << ", frozen";
  if (status.taking_over) out << ", taking over";
  if (!status.caught_up) out << ", not caught up";
  if (status.deposed) out << ", deposed by " << status.deposed_by;
  out << "\n";
  return out.str();
}

}  // namespace ingot::testing
