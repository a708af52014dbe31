// What a request for events finds: the changes of its ranges, in order, in bounded answers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "replication/store/api.h"
#include "replication/store/codec.h"
#include "replication/store/history.h"
#include "replication/store/range.h"

namespace ingot::kv {

// Found events, by reference. Valid until the history changes.
class EventsFound {
 public:
  // Looks from `from` on, in place of the request's position. REQUIRES: the request is valid.
  EventsFound(const History& history, const EventsRequest& request, EventPosition from, const ReadPoint& point);

  bool empty() const { return events_.empty(); }
  // Whether all changes that there are were looked at.
  bool complete(const ReadPoint& point) const { return next_.revision > point.current; }
  EventPosition next() const { return next_; }

  // The encoded result.
  std::string write(const ReadPoint& point) const;

 private:
  void collect(const History& history, EventPosition from, const ReadPoint& point);
  void stop_before(EventPosition at, const EventPosition* whole_to, std::size_t whole_events);
  bool wanted(std::string_view key) const;
  EventView view(const ChangeLog::Entry& entry, const Version& version, Revision compacted) const;

  const EventsRequest& request_;
  std::vector<EventView> events_;
  std::size_t bytes_ = 0;
  EventPosition next_;
  bool part_ = false;
};

}  // namespace ingot::kv
