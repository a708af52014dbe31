// What a replica stores: the unit in which agreement hands out what must survive it, and stable storage takes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/types.h"

namespace ingot {

// Of a kConfiguration; agreement/limits.h holds its encoding against it.
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
    // command: all that the replica holds of the configuration log, decided entries and its own votes (ballot numbers
    // and the accepted entry), as agreement encodes it. Replaces what was stored before, in one step. At most
    // kStableConfigurationBytesMax bytes. The other fields are zero.
    kConfiguration,
  };
  Kind kind;
  Epoch epoch;
  Ballot ballot;
  Slot slot;
  std::shared_ptr<const std::string> command;  // null where the kind has none
};

}  // namespace ingot
