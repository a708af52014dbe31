// The messages between replicas when one of them needs a snapshot.
//
//   offset  0  u8   MessageClass::kSnapshot
//           1  u8   kSnapshotWireVersion
//           2  u8   type
//           3  u8   zero
//           4  u32  incarnation of the replica that asks; answers repeat it
//           8  u64  round, counted by the asker; answers repeat it, and an answer of an earlier round is late
//          16       kAsk   u64 above  name  u64 offset
//                   kPart  name  u64 offset  the file's bytes from there on, to the end of the message
//                   name   u64 slot  u64 bytes of the file  u64 checksum; all zero: none
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/types.h"
#include "replication/replica/snapshots/format.h"

namespace ingot::inline replication_replica_snapshots {

inline constexpr std::uint8_t kSnapshotWireVersion = 1;

enum class SnapshotMessageType : std::uint8_t {
  // Asks for a snapshot that holds more than the slots below `above`. The asker has `offset` bytes of the file `name`.
  // In the current round, the message confirms that these bytes have arrived. Otherwise it begins a new round: from
  // `offset` on if the peer has that very file, or else with another file.
  kAsk = 1,
  kWait = 2,  // a snapshot is being made
  kNone = 3,  // the peer has no snapshot that would help, and cannot make one
  kPart = 4,
};

struct SnapshotMessage {
  SnapshotMessageType type = SnapshotMessageType::kNone;
  Incarnation incarnation{};
  std::uint64_t round = 0;
  Slot above{};
  SnapshotName name;
  std::uint64_t offset = 0;
  std::string_view data;  // kPart: 1 to kSnapshotPartBytes bytes, inside of the named file
};

std::string encode(const SnapshotMessage& message);

// Nothing unless encode() wrote the bytes. The result's data is a view into `bytes`.
std::optional<SnapshotMessage> decode_snapshot_message(std::string_view bytes);

}  // namespace ingot::replication_replica_snapshots
