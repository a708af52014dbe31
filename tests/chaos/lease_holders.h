// Many lease holders that wait for one another's locks, a writer, and watchers of all their keys, until they are told
// to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/chaos/lease_records.h"

namespace ingot::chaos {

struct HolderOptions {
  std::string endpoint = "127.0.0.1:2379";
  int holders = 6;  // each with one lease at a time
  int locks = 2;    // that they want
  int watchers = 3;
  std::int64_t ttl_s = 2;
  std::chrono::nanoseconds patience = std::chrono::seconds(60);  // at the end, until all leases have ended
  std::uint64_t seed = 1;
};

struct Held {
  std::vector<LeaseRecord> leases;
  std::vector<Tenure> tenures;
  std::vector<SeenEvents> watchers;
  SeenEvents reference;  // empty: the daemon is blocked
  std::uint64_t keep_alives = 0;   // that were answered
  std::uint64_t writes = 0;        // that were acknowledged
  std::string lost_write;          // a sentence about one that is no event; empty: there is none
  std::string ended_watch;         // a sentence about a watch that the server ended; empty: there is none
};

// Runs until `stop`. Then, unless `blocked`, waits until all leases have ended and all watchers have seen it, and reads
// the whole past by one more watch; Unavailable if the daemon does not answer for options.patience.
absl::StatusOr<Held> hold(const HolderOptions& options, const std::atomic<bool>& stop,
                          const std::atomic<bool>& blocked);

}  // namespace ingot::chaos
