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

namespace ingot {

struct ConfigEntry {
  enum class Kind : std::uint8_t { kLeaderChange = 1, kAcceptorChange = 2 };
  using Command = std::shared_ptr<const std::string>;

  Kind kind = Kind::kLeaderChange;
  ReplicaIncarnation leader;    // the author
  ReplicaIncarnation acceptor;  // LeaderChange: the one before, unchanged
  // Decided below it, as a majority of the voters knew when it was written: so that need not be repeated. AcceptorChange:
  // or higher, at most `decided`; nobody leads in the new epoch who does not know it.
  Slot base;
  // AcceptorChange: all that can have been stored so far from `base` on. Slots below `decided` were decided when it was
  // written, the others may or may not have been.
  Slot decided;
  std::vector<std::pair<Slot, Command>> in_flight;
};

std::string encode_entry(const ConfigEntry& entry);

// Nothing, if the bytes are not what encode_entry gives for some entry of a group with so many voters.
std::optional<ConfigEntry> decode_entry(std::string_view bytes, int voters);

}  // namespace ingot
