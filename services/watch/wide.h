// An oversized revision: a page does not hold all of it, or too many watches want it (services/watch/hub_wide.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replication/store/api.h"
#include "services/watch/event_batch.h"
#include "services/watch/watch.h"

namespace ingot::watch {

struct Wide {
  // A response that is being made, of the last one of `waiting`.
  struct Making {
    std::vector<std::string> pieces;
    std::size_t bytes = 0, events = 0;
    std::size_t part = 0, entry = 0;  // to be inspected
  };
  Revision from = 0, revision = 0;  // the first page's position; the revision
  std::uint64_t number = 0;         // the first page
  kv::EventsRequest request;
  std::vector<EventBatch> parts;
  std::size_t bytes = 0;
  bool complete = false;
  std::optional<WatchRef> alone;       // only for this watch, since it is too large for all at once
  std::vector<WatchRef> waiting;       // to be given it
  std::vector<WatchRef> without_turn;  // likewise, once they have a permit, until hold_to_ns
  std::uint64_t hold_to_ns = 0;
  Making making;
};

}  // namespace ingot::watch
