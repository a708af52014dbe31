// The unit of stable storage: agreement issues these writes, and the store executes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/types.h"

namespace ingot::inline replication_stable {

// Bytes of a kConfiguration; agreement/limits.h checks its encoding against it.
inline constexpr std::size_t kStableConfigurationBytesMax = 6209 * 1024;

// One thing to store in the replica's own stable storage.
struct StableWrite {
  enum class Kind : std::uint8_t {
    kPromise,   // epoch, ballot: as acceptor, promised
    kAccepted,  // epoch, ballot, slot, command: as acceptor or participant, voted for
    kProposed,  // epoch, ballot, slot, command: as leader, proposed
    kLeading,   // epoch, ballot: as leader, took over
    kTrimmed,   // slot: entries below it are no longer needed
    kOutcome,   // slot; ballot 1 = committed, 0 = aborted (2PC)
    // command: the replica's whole state of the configuration log, decided entries and its own votes (ballot numbers
    // and the accepted entry), as agreement encodes it. Replaces the former state in one step. At most
    // kStableConfigurationBytesMax bytes. The other fields are zero.
    kConfiguration,
  };
  Kind kind;
  Epoch epoch;
  Ballot ballot;
  Slot slot;
  std::shared_ptr<const std::string> command;  // null where the kind has none
};

}  // namespace ingot::replication_stable
