// What the publisher of a view shows of itself to the other processes of its instance. One page an instance, made with
// it; zero-filled memory is a valid initial page. Its one writer is the publisher that runs; the next one goes on with
// what only grows.
#pragma once

#include <cstdint>

#include "core/counters.h"

namespace ingot::inline replication_pages {

inline constexpr std::uint64_t kViewPageLayoutVersion = 1;

// Why a generation took the place of the one before.
enum class ViewReplaced : std::uint8_t {
  kNever = 0,
  kFull = 1,       // its keys need more memory than it has
  kBehind = 2,     // a compaction took changes that the publisher had not read yet
  kRefused = 3,    // a change could not be entered
};

struct ViewPage {
  Counter layout_version;
  // The publisher that runs, or ran last: its start time is set before its pid, which has release.
  Counter started;
  Counter pid;  // 0: none has run

  Counter generation;  // the current one's number; 0: none is readable yet
  Counter revision;    // that its newest root shows
  Counter published_ns;  // CLOCK_MONOTONIC, when that was published
  Counter keys;
  Counter bytes;       // of the generation
  Counter live_bytes;  // of it, in use
  Counter full;        // 1: the keys need more than --view-bytes, and the view stays at its last root

  Counter roots;           // published, by all publishers
  Counter generations;     // made
  Counter replaced_why;    // ViewReplaced, of the last replacement
  Counter connections;     // on the view socket, now
  Counter accepted;        // connections that were given the view
  Counter refused;         // that were not, since their user has no right or too many
};

}  // namespace ingot::replication_pages
