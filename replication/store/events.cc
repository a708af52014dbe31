#include "replication/store/events.h"

#include <algorithm>

#include "core/check.h"
#include "core/wire.h"
#include "replication/store/limits.h"

namespace ingot::kv {
namespace {

// Of a key's changes at the compacted revision the last one counts. The others may be freed by now, and a log that was
// loaded may lack them. So they are not there for any purpose: then answers are equal on all replicas. They are at most
// twice as many as a transaction has puts.
bool is_left(const ChangeLog::Entry& entry, Revision compacted) {
  if (entry.revision > compacted) return true;
  const Version* newest = entry.record->newest_to(compacted);
  return newest != nullptr && entry.position() == EventPosition{newest->mod_revision, newest->sub};
}

}  // namespace

EventsFound::EventsFound(const History& history, const EventsRequest& request, EventPosition from,
                         const ReadPoint& point)
    : request_(request), next_(from) {
  if (from.revision >= point.compacted && from.revision <= point.current) collect(history, from, point);
}

bool EventsFound::wanted(std::string_view key) const {
  const auto& ranges = request_.ranges;
  const auto behind = std::upper_bound(ranges.begin(), ranges.end(), key,
                                       [](std::string_view k, const EventRange& range) { return k < range.key; });
  if (behind == ranges.begin()) return false;
  const EventRange& range = *std::prev(behind);
  return KeyRange(range.key, range.range_end).contains(key);
}

// The version before an event at the compacted revision may be gone, so there is none there, on any replica. A key's
// first version has none, also where its transaction has deleted the key before (as etcd).
EventView EventsFound::view(const ChangeLog::Entry& entry, const Version& version, Revision compacted) const {
  EventView event;
  event.place = entry.place;
  event.deleted = version.tombstone();
  event.kv = view_of(*entry.record, version);
  const bool known = request_.prev_kv && entry.revision > compacted && version.version != 1;
  const Version* before = known ? entry.record->at(entry.revision - 1) : nullptr;
  event.has_prev = before != nullptr;
  if (before != nullptr) event.prev = view_of(*entry.record, *before);
  return event;
}

void EventsFound::collect(const History& history, EventPosition from, const ReadPoint& point) {
  const ChangeLog& log = history.changes();
  const std::size_t bytes_max = std::min<std::size_t>(request_.bytes_max, kEventsBytesMax);
  EventPosition whole_to = from;  // all before it is looked at, and whole
  std::size_t whole_events = 0;
  std::size_t looked = 0;
  for (std::size_t i = log.find(from); i < log.size(); ++i) {
    const ChangeLog::Entry& entry = log[i];
    if (entry.revision > point.current) break;  // of a command that is not whole yet
    if (!is_left(entry, point.compacted)) continue;
    if (entry.revision > whole_to.revision) {
      if (from.place > 0) break;
      whole_to = {entry.revision, 0};
      whole_events = events_.size();
      if (looked >= kEventsLookedMax) {
        next_ = whole_to;
        return;
      }
    }
    const auto stop = [&] { stop_before(entry.position(), whole_to > from ? &whole_to : nullptr, whole_events); };
    if (looked++ >= kEventsLookedMax) return stop();
    if (!wanted(entry.record->key())) continue;
    const Version* version = entry.record->made_by(entry.position());
    INGOT_CHECK(version != nullptr, "a change above the compacted revision, or left at it, has its version");
    const EventView event = view(entry, *version, point.compacted);
    const std::size_t bytes = encoded_size(event);
    if (!events_.empty() && bytes_ + bytes > bytes_max) return stop();
    events_.push_back(event);
    bytes_ += bytes;
  }
  part_ = from.place > 0;
  next_ = {(part_ ? from.revision : point.current) + 1, 0};
}

// The answer ends before `at`: with the last whole revision, or else within one.
void EventsFound::stop_before(EventPosition at, const EventPosition* whole_to, std::size_t whole_events) {
  part_ = whole_to == nullptr;
  next_ = part_ ? at : *whole_to;
  if (!part_) events_.resize(whole_events);
}

std::string EventsFound::write(const ReadPoint& point) const {
  EventsResult head;
  head.compact_revision = point.compacted;
  head.next = next_;
  head.part = part_;
  constexpr std::size_t kHeadBytes = 64;
  WireWriter out(kHeadBytes + bytes_);
  write_result_head(out, Code::kOk, point.current, Kind::kEvents);
  write_events_head(out, head, events_.size());
  for (const EventView& event : events_) write_event(out, event);
  return out.take();
}

}  // namespace ingot::kv
