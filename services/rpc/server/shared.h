// What the connections of a loop share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "services/rpc/server/bounds.h"
#include "services/rpc/server/call_table.h"
#include "services/rpc/server/counters.h"
#include "services/rpc/server/holdings.h"
#include "services/rpc/server/methods.h"
#include "services/rpc/server/stream.h"
#include "services/rpc/server/timers.h"
#include "services/rpc/server/turns.h"

namespace ingot::rpc::inline server {

// Not thread-safe: the loop's thread only.
struct Shared : Holdings {
  Shared(const Methods& methods, const ServerBounds& bounds, ServerCounters* counters)
      : Holdings(bounds),
        methods(methods),
        bounds(bounds),
        counters(counters),
        calls([this](Place& place) { turns.leave(place, now_ns); }),
        turns(this->bounds) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  void count(Counter ServerCounters::*counter, std::uint64_t number = 1) {
    if (counters != nullptr) (counters->*counter).add(number);
  }

  std::unique_ptr<Stream> new_stream() {
    if (spare_streams.empty()) return std::make_unique<Stream>(bounds.message_bytes);
    std::unique_ptr<Stream> stream = std::move(spare_streams.back());
    spare_streams.pop_back();
    return stream;
  }
  // Output that counts for the server's bounds.
  std::size_t counted_output_bytes() const { return output_bytes - bounded_bytes; }

  void keep(std::unique_ptr<Stream> stream) {
    stream->clear();
    if (spare_streams.size() < kSpareStreamsMax) spare_streams.push_back(std::move(stream));
  }

  const Methods& methods;
  const ServerBounds bounds;
  ServerCounters* const counters;  // null: not counted
  Timers timers;
  CallTable calls;
  Turns turns;
  std::vector<std::unique_ptr<Stream>> spare_streams;
  // Of calls that are over: a handler may have ended its own call, so they are destroyed once none runs.
  std::vector<std::unique_ptr<StreamHandler>> handlers_over;
  std::uint64_t now_ns = 0;     // of this round
  std::size_t freed_bytes = 0;  // of large buffers, since the heap was last trimmed
  bool draining = false;
};

}  // namespace ingot::rpc::server
