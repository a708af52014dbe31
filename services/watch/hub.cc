#include "services/watch/hub.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace ingot::watch {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

const grpc::Status kNoLeader{grpc::StatusCode::UNAVAILABLE, "etcdserver: no leader"};

}  // namespace

// ---- Streams ----

grpc::Status Hub::open(WatchStream& stream) {
  Holder& holder = shares_.join(stream.output);
  if (const auto why = shares_.refusal(holder, Resource::kStreams, 1, now_ns_)) {
    shares_.leave(holder);
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, *why};
  }
  stream.holder = &holder;
  shares_.add(holder, Resource::kStreams, 1);
  room_.stream_added(stream);
  streams_.push_back(&stream);
  counters_.streams.set(streams_.size());
  if (stream.needs_leader && leader_streams_++ == 0) leader_look_ns_ = 0;
  return grpc::Status::OK;
}

void Hub::close(WatchStream& stream) {
  if (std::erase(streams_, &stream) == 0) return;
  for (auto& [id, watch] : stream.watches) detach(*watch);
  stream.watches.clear();
  room_.stream_removed(stream, now_ns_);
  for (const Parked& parked : stream.parked) parked_bytes_ -= parked.bytes;
  parked_left_ = parked_left_ || !stream.parked.empty();
  std::erase(looking_, &stream);
  std::erase(held_back_, &stream);
  std::erase(progress_, &stream);
  std::erase_if(doomed_, [&](const auto& each) { return each.first == &stream; });
  if (stream.needs_leader) --leader_streams_;
  shares_.remove(*stream.holder, Resource::kStreams, 1);
  shares_.leave(*std::exchange(stream.holder, nullptr));
  counters_.streams.set(streams_.size());
}

void Hub::writable(WatchStream& stream) {
  if (room_.is_full(stream)) return stream.output.tell_below(room_.share(stream));
  if (stream.has_turn) room_.end_turn(stream, now_ns_);
  if (!stream.waits_for_turn) unstall(stream);
  if (std::exchange(stream.waits_for_room, false)) stream.output.resume();
}

void Hub::end_streams(const grpc::Status& status) {
  for (WatchStream* stream : streams_) doom(*stream, status);
}

void Hub::doom(WatchStream& stream, grpc::Status status) { doomed_.emplace_back(&stream, std::move(status)); }

// The end of a stream may end this round's lists, so it comes when nothing looks at them.
int Hub::end_doomed() {
  int ended = 0;
  for (; !doomed_.empty(); ++ended) {
    auto [stream, status] = std::move(doomed_.back());
    doomed_.pop_back();
    WatchOutput& output = stream->output;
    close(*stream);
    output.finish(status);
  }
  return ended;
}

// ---- Watches ----

Watch* Hub::find(const WatchRef& ref) const {
  const Slot& slot = slots_[ref.slot];
  return slot.generation == ref.generation ? slot.watch : nullptr;
}

void Hub::unlink(Watch& watch) {
  if (watch.in_group.is_linked()) watch.in_group.unlink();
  if (watch.in_list.is_linked()) watch.in_list.unlink();
  if (watch.placement == Placement::kBehind) --behind_number_;
  if (watch.placement != Placement::kSynced) --watch.stream->not_synced;
}

// REQUIRES: unlinked.
void Hub::set(Watch& watch, Placement placement) {
  watch.placement = placement;
  if (placement == Placement::kSynced) return watch.group->synced.push_back(watch);
  ++watch.stream->not_synced;
  if (placement == Placement::kStalled) return watch.stream->stalled.push_back(watch);
  watch.behind_since = sweep_.pages;
  ++behind_number_;
  watch.group->behind.push_back(watch);
  behind_.push_back(watch);
}

// REQUIRES: unlinked.
void Hub::place(Watch& watch) {
  const Revision read_to = feed_.position + (feed_.place > 0 ? 1 : 0);
  if (watch.position >= read_to) {
    set(watch, Placement::kSynced);
    if (watch.cover_number > feed_.heard_cover) fresh_.push_back(watch);
    return;
  }
  const bool full = watch.stream->has_turn || watch.stream->waits_for_turn || room_.is_full(*watch.stream);
  set(watch, full ? Placement::kStalled : Placement::kBehind);
  if (full && !watch.stream->waits_for_turn) watch.stream->output.tell_below(room_.share(*watch.stream));
}

void Hub::fall_behind(Watch& watch, Revision position) {
  unlink(watch);
  watch.position = std::max(watch.position, position);
  place(watch);
}

// There is room again, or a turn.
void Hub::unstall(WatchStream& stream) {
  while (!stream.stalled.empty()) {
    Watch& watch = stream.stalled.front();
    unlink(watch);
    set(watch, Placement::kBehind);
  }
}

void Hub::remove(Watch& watch) {
  detach(watch);
  watch.stream->watches.erase(watch.id);
}

// The last one ends all reading.
void Hub::detach(Watch& watch) {
  unlink(watch);
  Holder& holder = *watch.stream->holder;
  shares_.remove(holder, Resource::kWatches, 1);
  shares_.remove(holder, Resource::kKeyBytes, watch.group->key.size() + watch.group->range_end.size());
  index_.leave(*watch.group);
  ++slots_[watch.slot].generation;
  slots_[watch.slot].watch = nullptr;
  free_slots_.push_back(watch.slot);
  counters_.watches.set(watches());
  if (watches() > 0) return;
  cover_.clear();
  cover_previous_ = false;
  feed_.answer.reset();
  sweep_.answer.reset();
  feed_.under_way.reset();
  sweep_.under_way = false;
  ++feed_.questions;  // answers that come yet are nobody's
  ++sweep_.pages;
  delivery_.reset();
  wide_.reset();
  compaction_scan_.reset();
}

// ---- Looking through all watches ----

void Hub::notify(Watch& watch) {
  if (!watch.progress_notify || std::exchange(watch.told, false)) return;
  if (watch.placement != Placement::kSynced || watch.position > feed_.position) return;
  if (room_.is_full(*watch.stream)) return;
  pb::WatchResponse response;
  response.set_watch_id(watch.id);
  send(*watch.stream, response, feed_.position - 1);
}

int Hub::scan() {
  int looked = 0;
  while (compaction_scan_ && !delivery_ && looked < static_cast<int>(kScannedPerRound)) {
    if (*compaction_scan_ >= slots_.size()) {
      compaction_scan_.reset();
      if (feed_.position < compacted_) feed_.position = compacted_, feed_.place = 0;
      break;
    }
    ++looked;
    Watch* watch = slots_[(*compaction_scan_)++].watch;
    if (watch == nullptr) continue;
    const bool synced = watch->placement == Placement::kSynced;
    if ((synced ? std::max(watch->position, feed_.position) : watch->position) >= compacted_) continue;
    pb::WatchResponse response;
    response.set_compact_revision(compacted_);
    cancel(*watch, std::move(response));
  }
  // A round that still delivers has its positions in between.
  while (notice_scan_ && !delivery_ && feed_.place == 0 && looked < static_cast<int>(kScannedPerRound)) {
    ++looked;
    if (*notice_scan_ >= slots_.size()) {
      notice_scan_.reset();
    } else if (Watch* watch = slots_[(*notice_scan_)++].watch; watch != nullptr) {
      notify(*watch);
    }
  }
  return looked;
}

// ---- Time ----

// The feed's replica lags if the feed has not come to where some replica was at the last look.
void Hub::look_for_lag() {
  const Revision newest = environment_.newest();
  if (feed_.under_way && feed_.position <= newest_seen_) {
    ++feed_.places;
    feed_.under_way.reset();
  }
  newest_seen_ = newest;
}

int Hub::look_at_timers() {
  int work = 0;
  if (leader_streams_ > 0 && now_ns_ >= leader_look_ns_) {
    ++work;
    leader_look_ns_ = now_ns_ + kLeaderLookMs * kMs;
    looks_without_leader_ = environment_.has_leader() ? 0 : looks_without_leader_ + 1;
    if (looks_without_leader_ > kLeaderLooksMax) {
      for (WatchStream* stream : streams_) {
        if (stream->needs_leader) doom(*stream, kNoLeader);
      }
    }
  }
  if (watches() > 0 && now_ns_ >= lag_look_ns_) {
    ++work;
    lag_look_ns_ = now_ns_ + kLagLookMs * kMs;
    look_for_lag();
  }
  if (watches() > 0 && now_ns_ >= notice_ns_) {
    ++work;
    if (notice_ns_ != 0) notice_scan_ = 0;
    notice_ns_ = now_ns_ + environment_.notify_ms * kMs;
  }
  if (WatchStream* stream = room_.stalled(now_ns_)) {
    ++work;
    counters_.streams_stalled.add(1);
    doom(*stream, {grpc::StatusCode::RESOURCE_EXHAUSTED,
                   "the client took too little of a large watch response while others waited; watch again from the "
                   "revision after the last one received"});
  }
  return work;
}

std::uint64_t Hub::deadline_ns() const {
  std::uint64_t at_ns = room_.deadline_ns();
  const auto at_least = [&](std::uint64_t other_ns) { at_ns = std::min(at_ns, other_ns); };
  if (leader_streams_ > 0) at_least(leader_look_ns_);
  if (watches() > 0) at_least(std::min(lag_look_ns_, notice_ns_));
  if (watches() > 0 && feed_.retry_ns > now_ns_) at_least(feed_.retry_ns);
  if (behind_number_ > 0 && sweep_.retry_ns > now_ns_) at_least(sweep_.retry_ns);
  if (!looking_.empty() && look_retry_ns_ > now_ns_) at_least(look_retry_ns_);
  if (wide_ && wide_->complete && !wide_->without_turn.empty()) at_least(wide_->hold_to_ns);
  return at_ns;
}

int Hub::poll(std::uint64_t now_ns) {
  now_ns_ = now_ns;
  int work = look_at_timers();
  work += scan();
  work += deliver();
  work += give_wide();
  work += answer_requests();
  room_.settle(now_ns_);
  while (WatchStream* stream = room_.next_granted()) unstall(*stream), ++work;
  work += answer_progress();
  work += ask();
  work += end_doomed();
  counters_.behind.set(behind_number_);
  return work;
}

bool Hub::has_work() const {
  if (!doomed_.empty() || delivery_ || compaction_scan_ || notice_scan_ || room_.has_granted()) return true;
  if (wide_ && wide_->complete && (!wide_->waiting.empty() || wide_->without_turn.empty())) return true;
  return feed_.answer.has_value() || (sweep_.answer.has_value() && (!wide_ || !wide_->complete)) ||
         (!looking_.empty() && looking_.front()->parked.front().arrival <= looked_at_) ||
         look_is_due() || feed_is_due() || page_is_due();
}

}  // namespace ingot::watch
