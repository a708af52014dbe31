// Revisions with more events than an answer holds, or for more watches than are matched at once. Such a revision is
// collected once, and given to the watches that want it one after the other.
#include <algorithm>
#include <utility>

#include "services/watch/hub.h"

namespace ingot::watch {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::size_t kPieceBytes = 512 * 1024;

}  // namespace

void Hub::begin_wide(Delivery& first, Revision revision, kv::EventPosition next) {
  Wide& wide = wide_.emplace();
  wide.from = first.from;
  wide.revision = revision;
  wide.number = first.number;
  wide.request = page_request_;
  add_wide(std::move(first.batch), next);
}

void Hub::take_wide(Answer&& answer) {
  add_wide(EventBatch(std::move(answer.events.events)), answer.events.next);
}

void Hub::add_wide(EventBatch&& part, kv::EventPosition next) {
  Wide& wide = *wide_;
  wide.bytes += part.size_bytes();
  wide.parts.push_back(std::move(part));
  if (wide.bytes > kResponseBytesMax) return too_wide();
  if (next.revision == wide.revision) {
    kv::EventsRequest request = wide.request;
    request.from = next;
    return submit_page(std::move(request));
  }
  wide.complete = true;
  wide.hold_to_ns = now_ns_ + kWideHoldMs * kMs;
  for (Watch& watch : behind_) {
    if (wants_wide(watch)) wide.waiting.push_back(ref(watch));
  }
}

bool Hub::wants_wide(const Watch& watch) const {
  const bool meant = !wide_->alone || find(*wide_->alone) == &watch;
  return meant && watch.behind_since < wide_->number && watch.position >= wide_->from &&
         watch.position <= wide_->revision;
}

// Then one watch's events alone; if these are too many, too, it cannot have them.
void Hub::too_wide() {
  Wide& wide = *wide_;
  if (wide.alone) {
    Watch* watch = find(*wide.alone);
    wide_.reset();
    if (watch == nullptr) return;
    pb::WatchResponse response;
    response.set_cancel_reason("one revision has more than 64 MiB of events for this watch; watch smaller ranges");
    return cancel(*watch, std::move(response));
  }
  const auto one = std::find_if(behind_.begin(), behind_.end(), [&](const Watch& watch) { return wants_wide(watch); });
  if (one == behind_.end()) return wide_.reset();
  wide.alone = ref(*one);
  wide.parts.clear();
  wide.bytes = 0;
  Cover cover;
  cover.add(one->group->key, one->group->range_end);
  wide.request.ranges = cover.ranges();
  wide.request.prev_kv = one->prev_kv;
  wide.request.from = {wide.revision, 0};
  submit_page(kv::EventsRequest(wide.request));
}

// ---- Giving ----

int Hub::give_wide() {
  if (!wide_ || !wide_->complete || compaction_scan_) return 0;
  std::erase_if(wide_->without_turn, [&](const WatchRef& ref) {
    const Watch* watch = find(ref);
    if (watch != nullptr && watch->placement == Placement::kStalled) return false;
    const bool behind = watch != nullptr && watch->placement == Placement::kBehind;
    if (behind) wide_->waiting.insert(wide_->waiting.begin(), ref);  // the last one is in the making
    return true;
  });
  if (wide_->waiting.empty()) {
    if (!wide_->without_turn.empty() && now_ns_ < wide_->hold_to_ns) return 0;
    end_wide();
    return 1;
  }
  Watch* watch = find(wide_->waiting.back());
  const bool there = watch != nullptr && watch->placement == Placement::kBehind && watch->position >= wide_->from &&
                     watch->position <= wide_->revision;
  if (!there || make_wide_response(*watch)) {
    wide_->waiting.pop_back();
    wide_->making = {};
  }
  return 1;
}

// Goes on with the response to this watch; true: it is done with it.
bool Hub::make_wide_response(Watch& watch) {
  Wide::Making& making = wide_->making;
  if (making.events == 0 && room_.is_full(*watch.stream)) return !may_send(watch, 0);
  const std::size_t piece_max = watch.fragment ? kFragmentBytes : kPieceBytes;
  std::size_t looked = 0;
  for (; making.part < wide_->parts.size(); ++making.part, making.entry = 0) {
    const EventBatch& batch = wide_->parts[making.part];
    for (; making.entry < batch.entries().size(); ++making.entry) {
      if (++looked > kWideEventsPerRound) return false;
      const EventBatch::Entry& entry = batch.entries()[making.entry];
      if (entry.revision != wide_->revision || !watch.wants(entry.deleted) || !watch.group->holds(entry.key)) continue;
      const std::size_t bytes = batch.size_in(entry, watch);
      if (making.pieces.empty() || making.pieces.back().size() + bytes > piece_max) making.pieces.emplace_back();
      batch.append(entry, watch, making.pieces.back());
      making.bytes += bytes;
      ++making.events;
    }
  }
  if (making.events > 0 && !may_send(watch, making.bytes)) {
    if (watch.stream->waits_for_turn) wide_->without_turn.push_back(ref(watch));
    return true;
  }
  send_wide(watch);
  watch.position = wide_->revision + 1;
  return true;
}

void Hub::send_wide(Watch& watch) {
  Wide::Making& making = wide_->making;
  if (making.events == 0) return;
  wide_->hold_to_ns = now_ns_ + kWideHoldMs * kMs;
  if (!watch.fragment) return send_events(watch, std::move(making.pieces), making.events, wide_->revision, false);
  for (std::size_t i = 0; i < making.pieces.size(); ++i) {
    const bool last = i + 1 == making.pieces.size();
    send_events(watch, {std::move(making.pieces[i])}, last ? making.events : 0, wide_->revision, !last);
  }
}

void Hub::end_wide() {
  const Wide wide = *std::exchange(wide_, std::nullopt);
  if (wide.alone) {
    if (Watch* watch = find(*wide.alone); watch != nullptr && watch->placement == Placement::kBehind) {
      unlink(*watch);
      place(*watch);
    }
    return;
  }
  sweep_.position = wide.revision + 1;
  end_behind(wide.number, wide.from, wide.revision + 1);
}

}  // namespace ingot::watch
