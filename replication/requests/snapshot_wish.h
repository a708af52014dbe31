// The command by which a client of the replicas asks for a snapshot that holds everything decided before it.
//
// It is agreed on like any command and changes nothing. Its answer names the slot below which a snapshot holds all that
// was acknowledged before; a replica whose turn it is (docs/design/snapshots.md) makes one at or above that slot soon,
// and hands it to the keeper of snapshots.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ingot::inline replication_requests {

inline constexpr std::uint8_t kSnapshotWishTag = 0xC8;  // the first and only byte of the command

inline std::string snapshot_wish() { return std::string(1, static_cast<char>(kSnapshotWishTag)); }

inline bool is_snapshot_wish(std::string_view command) {
  return command.size() == 1 && static_cast<std::uint8_t>(command.front()) == kSnapshotWishTag;
}

}  // namespace ingot::replication_requests
