// What replicas say to each other when one of them needs a snapshot.
//
//   offset  0  u8   MessageClass::kSnapshot
//           1  u8   kSnapshotWireVersion
//           2  u8   type
//           3  u8   zero
//           4  u32  incarnation of the replica that asks; answers repeat it, and the round
//           8  u64  round, which the asker counts: an answer to an earlier one is late
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

namespace ingot {

inline constexpr std::uint8_t kSnapshotWireVersion = 1;

enum class SnapshotMessageType : std::uint8_t {
  // A snapshot of more than the slots below `above`, please. The asker has `offset` bytes of the file `name`. Of the round
  // that is under way it says that these have arrived; otherwise a new round begins there, if the file is at hand, or with
  // another file.
  kAsk = 1,
  kWait = 2,  // one is being made
  kNone = 3,  // there is none that would help
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

// Nothing unless encode wrote it. The result views `bytes`.
std::optional<SnapshotMessage> decode_snapshot_message(std::string_view bytes);

}  // namespace ingot
