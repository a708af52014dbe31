// Client sessions: a command (client, sequence) takes effect exactly once, however often it is decided.
//
// A session remembers which sequences of its client were carried out, and keeps their results until the client
// acknowledges them. Sequences may arrive in any order within a window. Sessions depend on the agreed order of commands
// alone, so they are equal on all replicas; they are part of the snapshot and of the digest.
//
// Bounds (Limits, from replication/replica/limits.h):
//  * kSessionsMax clients; beyond, the session of the longest silent client is forgotten.
//  * kSessionWindow sequences from the lowest unacknowledged one; a command beyond is refused.
//  * kSessionResultsBytesMax bytes of results per client and kSessionsBytesMax in all; beyond, the oldest results are
//    dropped, but the session still knows that their commands were carried out.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/wire.h"
#include "replication/replica/limits.h"

namespace ingot::inline replication_replica {

// Not thread-safe; used by its replica's loop only.
class Sessions {
 public:
  enum class Verdict {
    kApply,          // new: carry it out, then record() its result
    kDuplicate,      // carried out before; here is its result
    kResultGone,     // carried out before; its result was dropped to make room for later ones
    kStale,          // the client has acknowledged this one's result
    kOutsideWindow,  // kSessionWindow or more above what the client has acknowledged: not carried out
  };
  struct Answer {
    Verdict verdict;
    std::string_view result;  // kDuplicate only; valid until the next call
  };

  // Equal on all replicas; tests make them small.
  struct Limits {
    std::size_t clients = kSessionsMax;
    std::size_t window = kSessionWindow;
    std::size_t client_bytes = kSessionResultsBytesMax;
    std::size_t bytes = kSessionsBytesMax;
  };

  // Movable only: the index holds iterators into the list.
  Sessions() = default;
  explicit Sessions(const Limits& limits) : limits_(limits) {}
  Sessions(Sessions&&) = default;
  Sessions& operator=(Sessions&&) = default;

  // A command is about to be applied. Forgets the client's results below `acknowledged_below`.
  Answer begin(std::uint64_t client, std::uint64_t sequence, std::uint64_t acknowledged_below);

  // The command that begin() told to apply has this result. REQUIRES: no other begin() in between.
  void record(std::uint64_t client, std::uint64_t sequence, std::string result);

  std::size_t clients() const { return sessions_.size(); }
  std::size_t result_bytes() const { return bytes_; }

  std::uint64_t digest() const { return digest_; }  // kept up to date by each call
  std::uint64_t compute_digest() const;             // the same from scratch

  void save(WireWriter& out) const;
  // Fails the reader, and returns an unspecified value, if save() did not write what it reads.
  static Sessions load(WireReader& in, const Limits& limits);

 private:
  enum class State : std::uint8_t { kUnseen = 0, kDone = 1, kGone = 2 };
  // A result, kDone only. That of a put is small and kept in place: when its client acknowledges it much later, no
  // memory is touched that has left the caches.
  class Entry {
   public:
    std::uint64_t hash = 0;  // its share of the digest: hash_of()
    State state = State::kUnseen;

    std::string_view result() const { return large_.empty() ? std::string_view(small_, small_bytes_) : large_; }
    void keep(std::string result) {
      const bool small = result.size() <= sizeof small_;
      small_bytes_ = static_cast<std::uint8_t>(small ? result.copy(small_, sizeof small_) : 0);
      large_ = small ? std::string() : std::move(result);
    }

   private:
    std::uint8_t small_bytes_ = 0;
    char small_[22] = {};  // the first small_bytes_ are used
    std::string large_;
  };
  struct Session {
    std::uint64_t client = 0;
    std::uint64_t floor = 0;     // every sequence below it is acknowledged
    std::uint64_t last_use = 0;  // of uses_; distinct, and ascends along the list
    std::deque<Entry> entries;   // sequence floor + i
    std::size_t bytes = 0;       // of results
    std::size_t kept_from = 0;   // entries below it hold no result
  };
  using List = std::list<Session>;  // longest silent first

  static std::uint64_t hash_of(const Session& session);
  static std::uint64_t hash_of(const Session& session, std::uint64_t sequence, const Entry& entry);

  Session& use(std::uint64_t client, std::uint64_t acknowledged_below);
  void touch(Session& session, std::uint64_t floor);
  void acknowledge(Session& session, std::uint64_t floor);
  void set(Session& session, std::size_t i, State state, std::string result);
  bool drop_oldest_result(Session& session);
  void forget_longest_silent();

  Limits limits_;
  List sessions_;
  absl::flat_hash_map<std::uint64_t, List::iterator> index_;
  std::uint64_t uses_ = 0;
  std::uint64_t digest_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace ingot::replication_replica
