// What a loop's watches count. One writer, the loop's thread; any thread may read.
#pragma once

#include "core/counters.h"

namespace ingot::watch {

struct WatchCounters {
  Counter streams;  // a gauge: open
  Counter watches;  // a gauge
  Counter behind;   // a gauge: watches that are not synced
  Counter created;
  Counter refused;  // requests to create one
  // By the server, by reason.
  Counter canceled_compacted;  // a compaction has overtaken the watch
  Counter canceled_too_wide;   // one revision has more for it than kResponseBytesMax
  Counter streams_stalled;     // ended, since they held a permit and did not read
  Counter responses;           // with events
  Counter events;              // in responses
  Counter events_read;         // sent by replicas
  Counter pages;               // asked for, for watches behind
  Counter feed_queries;        // standing queries of the feed
};

}  // namespace ingot::watch
