// What a server counts. One writer, the loop's thread; any thread may read.
#pragma once

#include "core/counters.h"

namespace ingot::rpc::inline server {

struct ServerCounters {
  Counter connections_accepted;
  Counter connections_open;  // a gauge
  Counter accepts_delayed;   // times at which there was no descriptor or the bound was reached
  Counter calls_begun;
  Counter calls_finished;   // by their handlers
  Counter calls_cancelled;  // by the client, or lost with their connection
  Counter calls_overdue;    // ended by their deadline
  Counter calls_refused;    // before a handler saw them: unknown, malformed, too large, not allowed
  Counter calls_waited;     // that could not begin at once: too many, or their reader does not read
  // Gauges of what is kept for clients, in bytes (services/rpc/server/shared.h).
  Counter held_heads, held_requests, held_answers, held_http2;
  Counter received_bytes;
  Counter sent_bytes;
  Counter reads;  // system calls
  Counter writes;
  // Connections that were ended, by reason.
  Counter ended_flooding;   // more frames, resets, pings or header bytes than allowed
  Counter ended_stalled;    // the peer did not take what waited for it
  Counter ended_silent;     // no request within kPrefaceTimeoutMs, or none when others needed the room
  Counter ended_malformed;  // neither HTTP/2 nor HTTP/1.1, or a violation of HTTP/2
};

}  // namespace ingot::rpc::server
