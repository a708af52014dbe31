// Entries of the configuration log, and their bytes.
//
//   u8 kind: 1 LeaderChange, 2 AcceptorChange
//   u16 leader, u32 its incarnation, u16 acceptor, u32 its incarnation
//   u64 base
//   AcceptorChange: u64 decided, then the in-flight entries: u64 slot and `bytes` command each, in ascending order
//
// All slots from base to below decided are in the in-flight entries.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replication/agreement/agreement.h"

namespace ingot::inline replication_agreement_one_paxos {

struct ConfigEntry {
  enum class Kind : std::uint8_t { kLeaderChange = 1, kAcceptorChange = 2 };
  using Command = std::shared_ptr<const std::string>;

  Kind kind = Kind::kLeaderChange;
  ReplicaIncarnation leader;    // the author
  ReplicaIncarnation acceptor;  // LeaderChange: as in the entry before
  // Slots below it were decided on a majority of the voters when the entry was written, so they need not be repeated.
  // An AcceptorChange may have a higher base, at most `decided`; then no replica leads in the new epoch without knowing
  // the slots below it.
  Slot base;
  // AcceptorChange: the end of the slots that were decided when it was written. The in-flight entries cover every slot
  // that can have been stored so far from `base` on; those from `decided` on may or may not be decided.
  Slot decided;
  std::vector<std::pair<Slot, Command>> in_flight;
};

std::string encode_entry(const ConfigEntry& entry);

// Nothing, unless the bytes are what encode_entry writes for an entry of a group with so many voters.
std::optional<ConfigEntry> decode_entry(std::string_view bytes, int voters);

}  // namespace ingot::replication_agreement_one_paxos
