// How much may wait for the clients of watches: each stream's output budget, and permits for responses above it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "services/watch/limits.h"
#include "services/watch/watch.h"

namespace ingot::watch {

// A permit is granted to the next stream in the queue, is used from the begin of the stream's response on, and ends
// when the stream is below its budget again. From its use on a clock bounds for how long a client can hold it
// (limits.h).
//
// Invariant: no stream in the queue could get a permit now; grant() keeps that when a permit ends. Not thread-safe.
class Room {
 public:
  // For a stream that its holder counts.
  void stream_added(const WatchStream& stream);
  void stream_removed(WatchStream& stream, std::uint64_t now_ns);

  // A stream with so much unsent gets no response.
  std::size_t share(const WatchStream& stream) const {
    const std::size_t of_connection = kSharesBytes / connections_;
    return std::clamp(of_connection / stream.holder->of(Resource::kStreams), kShareBytesMin, kShareBytesMax);
  }
  bool is_full(const WatchStream& stream) const { return stream.output.pending_bytes() >= share(stream); }
  // Whether a response of so many bytes needs no permit. REQUIRES: not full.
  bool fits(const WatchStream& stream, std::size_t bytes) const {
    return stream.output.pending_bytes() + bytes <= 2 * share(stream);
  }

  // Takes a permit. False: the stream queues for one. REQUIRES: not full.
  bool take_turn(WatchStream& stream, std::uint64_t now_ns);
  void end_turn(WatchStream& stream, std::uint64_t now_ns);
  // To be called behind a round's responses. Takes back grants that are not needed any more, or that have lasted.
  void settle(std::uint64_t now_ns);

  bool has_granted() const { return !news_.empty(); }
  // A stream to which a permit was just granted; null: there is none. Each is returned once.
  WatchStream* next_granted();
  // A stream that has had its permit for too long while others wait; null: there is none.
  WatchStream* stalled(std::uint64_t now_ns);
  // When stalled() and settle() are to be called again.
  std::uint64_t deadline_ns() const;

 private:
  struct Turn {
    WatchStream* stream;
    bool begun;                   // else: granted
    std::uint64_t since_ns;       // of the grant; once it is used, of its use
    std::uint64_t look_ns;        // the next check of it, if others wait
    std::size_t pending = 0;      // at the last check; of one in use: 0: not known
  };

  std::size_t free() const { return kTurnsMax - turns_.size(); }
  bool others_wait(const Holder& holder) const;
  bool is_over(Turn& grant, std::uint64_t now_ns) const;
  void drop(const WatchStream& stream);
  void leave_line(WatchStream& stream);
  void grant(std::uint64_t now_ns);

  std::size_t connections_ = 0;
  std::vector<Turn> turns_;
  HolderList line_;                 // those with streams in the queue; the first one's first stream is next
  std::deque<WatchStream*> news_;   // granted, and not told
};

}  // namespace ingot::watch
