// Two threads on two cores that exchange messages: through a transport, and through bare cache lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/types.h"

namespace ingot::bench {

struct RaceOptions {
  CoreId first_core, second_core;  // where the two threads are bound; may be equal
  int endpoints = 4;               // of the inboxes' layout: two send, the others are idle
  std::size_t message_bytes = 40;
  int repetitions = 400;       // of everything, in turns
  int round_trips = 600;       // in one repetition; the first third warms the caches
  int stream_messages = 6000;  // likewise
};

// The measurements of one link; equal indexes were measured one right after the other.
struct RaceSeries {
  // "bare_line": one line, written by both sides in turn. "bare_pair": one line each way, each with one writer, which
  // is the lower bound for a channel that uses one line a message. "nvp", "srbp".
  std::string link;
  std::vector<double> round_trip_ns;
  std::vector<double> one_way_ns;       // from before send to after probe, mean of both directions
  std::vector<double> stream_per_s;     // messages; empty for bare lines, which cannot stream
};

// Returns the links in the order above.
std::vector<RaceSeries> race(const RaceOptions& options);

// Nanoseconds of one probe that finds no message, with that many idle senders, for each repetition.
std::vector<double> empty_probe_ns(const std::string& kind, int idle_senders, int repetitions);

// Lines of the inbox that such a probe reads.
int lines_per_empty_probe(const std::string& kind, int idle_senders);

}  // namespace ingot::bench
