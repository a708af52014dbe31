// How much may wait for the clients of watches: each stream's share, and turns for responses above it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "services/watch/limits.h"
#include "services/watch/watch.h"

namespace ingot::watch {

// Not thread-safe.
class Room {
 public:
  void stream_added() { ++streams_; }
  void stream_removed(WatchStream& stream);
  std::size_t streams() const { return streams_; }

  // A stream with so much unsent gets no response.
  std::size_t share() const {
    return std::clamp(kSharesBytes / std::max<std::size_t>(streams_, 1), kShareBytesMin, kShareBytesMax);
  }
  bool is_full(const WatchStream& stream) const { return stream.output.pending_bytes() >= share(); }
  // Whether a response of so many bytes needs no turn. REQUIRES: not full.
  bool fits(const WatchStream& stream, std::size_t bytes) const {
    return stream.output.pending_bytes() + bytes <= 2 * share();
  }

  // Takes a turn, which lasts until the stream is no more full. False: the stream waits in line for one.
  bool take_turn(WatchStream& stream, std::uint64_t now_ns);
  void end_turn(WatchStream& stream);
  // The stream may not need a turn that was granted any more: then the next in line has it.
  void settle_grants();
  bool anybody_waits() const { return !line_.empty(); }

  // A stream whose turn was just granted; null: there is none. Each is returned once.
  WatchStream* next_granted();
  // One that has held its turn for too long while others wait; null: there is none.
  WatchStream* stalled(std::uint64_t now_ns);
  // When stalled() is to be asked again.
  std::uint64_t deadline_ns() const;

 private:
  struct Turn {
    WatchStream* stream;
    std::uint64_t since_ns;
    std::size_t pending;  // at that time; 0: not known
  };

  void grant();

  std::size_t streams_ = 0;
  std::vector<Turn> turns_;
  std::vector<WatchStream*> granted_;
  std::deque<WatchStream*> line_;
  std::deque<WatchStream*> news_;  // granted, and not told
};

}  // namespace ingot::watch
