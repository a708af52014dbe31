// How answers reach the watches that want them.
#include <algorithm>
#include <utility>

#include "services/watch/hub.h"

namespace ingot::watch {
namespace {

// The revision of which an answer holds a part. A standing query may have gone on from where it was asked to begin.
Revision revision_of_part(const kv::EventsResult& part, const kv::EventPosition& from) {
  if (!part.events.empty()) return part.events.front().kv.mod_revision;
  return part.next.place > 0 ? part.next.revision : from.revision;
}

}  // namespace

// While an answer of the feed and one of the sweep wait, they are delivered alternately.
int Hub::deliver() {
  if (!delivery_) {
    if (compaction_scan_) return 0;
    const bool page_waits = sweep_.answer && !(wide_ && wide_->complete);
    if (feed_.answer && !(page_waits && page_next_)) {
      page_next_ = true;
      begin_feed(*std::exchange(feed_.answer, std::nullopt));
    } else if (page_waits) {
      page_next_ = false;
      begin_page(*std::exchange(sweep_.answer, std::nullopt));
    } else {
      return 0;
    }
  }
  std::size_t pairs = 0, bytes = 0;
  while (delivery_ && delivery_->next_pair < delivery_->pairs.size() && pairs < kPairsPerRound &&
         bytes < kBytesPerRound) {
    const std::size_t first = delivery_->next_pair;
    const WatchRef ref = delivery_->pairs[first].watch;
    std::size_t last = first;
    while (last < delivery_->pairs.size() && delivery_->pairs[last].watch.slot == ref.slot) ++last;
    delivery_->next_pair = last;
    pairs += last - first;
    Watch* watch = find(ref);
    const Placement wanted = delivery_->of_feed ? Placement::kSynced : Placement::kBehind;
    if (watch != nullptr && watch->placement == wanted) bytes += give(*watch, first, last);
  }
  if (delivery_ && delivery_->next_pair == delivery_->pairs.size()) {
    if (!delivery_->of_feed) end_page();
    delivery_.reset();
  }
  return static_cast<int>(pairs) + 1;
}

// ---- Beginning ----

void Hub::begin_feed(Answer&& answer) {
  const Revision compacted = answer.events.compact_revision;
  note_compacted(compacted);
  if (answer.events.next.revision < compacted) {  // the feed was overtaken; after the scan it begins there
    compaction_scan_ = 0;
    return;
  }
  counters_.events_read.add(answer.events.events.size());
  std::optional<Revision> wide;
  if (answer.events.part) wide = revision_of_part(answer.events, answer.from);
  Delivery delivery;
  delivery.of_feed = true;
  delivery.from = answer.from.revision;
  delivery.to = answer.events.next.revision;
  delivery.batch = EventBatch(std::move(answer.events.events));
  feed_.place = answer.events.next.place;
  if (!wide && !match(delivery)) {
    wide = delivery.batch.entries().front().revision;
    delivery.to = *wide + 1;
  }
  feed_.position = delivery.to;
  feed_.heard_cover = answer.number;
  for (auto it = fresh_.begin(); it != fresh_.end();) {
    Watch& watch = *it++;
    if (watch.cover_number <= answer.number) {
      watch.in_list.unlink();
    } else if (watch.position < feed_.position + (feed_.place > 0 ? 1 : 0)) {
      fall_behind(watch, watch.position);
    }
  }
  if (wide) return fall_all(delivery.batch, *wide);
  delivery_ = std::move(delivery);
}

void Hub::begin_page(Answer&& answer) {
  const Revision compacted = answer.events.compact_revision;
  note_compacted(compacted);
  if (answer.events.next.revision < compacted || (wide_ && wide_->revision < compacted)) {
    wide_.reset();
    compaction_scan_ = 0;  // watches may have come since the last one
    return;
  }
  counters_.events_read.add(answer.events.events.size());
  if (wide_) return take_wide(std::move(answer));
  const Revision part = revision_of_part(answer.events, answer.from);
  Delivery delivery;
  delivery.number = answer.number;
  delivery.from = answer.from.revision;
  delivery.to = answer.events.next.revision;
  delivery.batch = EventBatch(std::move(answer.events.events));
  if (answer.events.part) return begin_wide(delivery, part, answer.events.next);
  if (!match(delivery)) {
    const Revision revision = delivery.batch.entries().front().revision;
    return begin_wide(delivery, revision, {revision + 1, 0});
  }
  delivery_ = std::move(delivery);
}

// Finds the watches of each event. What would be too many pairs is read again later. False: so many are the first
// revision's alone.
bool Hub::match(Delivery& delivery) {
  const auto& entries = delivery.batch.entries();
  std::vector<Pair>& pairs = delivery.pairs;
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    const EventBatch::Entry& entry = entries[i];
    index_.each_group_of(entry.key, [&](Group& group) {
      for (Watch& watch : delivery.of_feed ? group.synced : group.behind) {
        const bool asked =
            delivery.of_feed || (watch.behind_since < delivery.number && watch.position >= delivery.from);
        if (asked && watch.position <= entry.revision && watch.wants(entry.deleted)) pairs.push_back({ref(watch), i});
      }
    });
    if (pairs.size() <= kPairsMax) continue;
    if (entry.revision == entries.front().revision) return false;
    while (entries[pairs.back().entry].revision == entry.revision) pairs.pop_back();
    delivery.to = entry.revision;
    break;
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.watch.slot < b.watch.slot; });
  return true;
}

// All synced watches that want some of a revision's events read it by themselves.
void Hub::fall_all(const EventBatch& batch, Revision revision) {
  for (const EventBatch::Entry& entry : batch.entries()) {
    if (entry.revision != revision) break;
    index_.each_group_of(entry.key, [&](Group& group) {
      for (auto it = group.synced.begin(); it != group.synced.end();) {
        Watch& watch = *it++;
        if (watch.position <= revision && watch.wants(entry.deleted)) fall_behind(watch, revision);
      }
    });
  }
}

// ---- Giving ----

// Whether a watch that is behind may have a response of so many bytes now. Otherwise it is stalled.
bool Hub::may_send(Watch& watch, std::size_t bytes) {
  WatchStream& stream = *watch.stream;
  const bool full = room_.is_full(stream);
  if (!full && (room_.fits(stream, bytes) || room_.take_turn(stream, now_ns_))) {
    if (stream.has_turn) stream.output.tell_below(room_.share(stream));
    return true;
  }
  unlink(watch);
  set(watch, Placement::kStalled);
  if (!stream.waits_for_turn) stream.output.tell_below(room_.share(stream));
  return false;
}

// Returns the number of bytes given.
std::size_t Hub::give(Watch& watch, std::size_t first, std::size_t last) {
  const EventBatch& batch = delivery_->batch;
  const auto entry = [&](std::size_t pair) -> const EventBatch::Entry& {
    return batch.entries()[delivery_->pairs[pair].entry];
  };
  std::size_t bytes = 0;
  for (std::size_t i = first; i < last; ++i) bytes += batch.size_in(entry(i), watch);
  if (delivery_->of_feed) {
    if (room_.is_full(*watch.stream) || !room_.fits(*watch.stream, bytes)) {
      fall_behind(watch, entry(first).revision);
      return 0;
    }
  } else if (!may_send(watch, bytes)) {
    return 0;
  }
  const Revision revision = delivery_->to - 1;
  while (first < last) {
    std::string events;
    const std::size_t begin = first;
    do {
      batch.append(entry(first++), watch, events);
    } while (first < last &&
             !(watch.fragment && events.size() + batch.size_in(entry(first), watch) > kFragmentBytes));
    send_events(watch, {std::move(events)}, first - begin, revision, first < last);
  }
  if (!delivery_->of_feed) watch.position = delivery_->to;
  return bytes;
}

void Hub::send_events(Watch& watch, std::vector<std::string>&& pieces, std::size_t events, Revision revision,
                      bool fragment) {
  pb::WatchResponse head;
  environment_.fill(head.mutable_header());
  head.mutable_header()->set_revision(revision);
  head.set_watch_id(watch.id);
  head.set_fragment(fragment);
  pieces.insert(pieces.begin(), head.SerializePartialAsString());
  watch.told = true;
  counters_.responses.add(1);
  counters_.events.add(events);
  watch.stream->output.send(std::move(pieces));
}

// The watches that the page was asked for have read it now, even those for which it held no event.
void Hub::end_page() {
  const Delivery& page = *delivery_;
  sweep_.position = page.to;
  end_behind(page.number, page.from, page.to);
}

// Watches that are behind at a position in [from, to), and that were behind before that page was asked for, are at `to`
// now. A watch that fell behind later may have been given an oversized revision all the same. So all watches that are
// behind are checked: have they come to the feed's position?
void Hub::end_behind(std::uint64_t page, Revision from, Revision to) {
  for (auto it = behind_.begin(); it != behind_.end();) {
    Watch& watch = *it++;
    if (watch.behind_since < page && watch.position >= from) watch.position = std::max(watch.position, to);
    if (watch.position < feed_.position + (feed_.place > 0 ? 1 : 0)) continue;
    unlink(watch);
    place(watch);
  }
}

}  // namespace ingot::watch
