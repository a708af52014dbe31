#include "replication/view/handle/handle.h"

#include <time.h>

#include <algorithm>
#include <string>
#include <utility>

#include "replication/view/handle/mapped_view.h"

namespace ingot::inline replication_view_handle {
namespace {

constexpr std::int64_t kMsNs = 1'000'000;

std::int64_t now_ns() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Whether another look may find what a read needs.
bool may_change(ViewError error) {
  return error == ViewError::kNoView || error == ViewError::kBehind || error == ViewError::kTooStale ||
         error == ViewError::kDamaged || error == ViewError::kForeign;
}

}  // namespace

ViewHandle::ViewHandle(std::unique_ptr<ViewTickets> tickets, const ViewDemands& demands, std::uint64_t seed)
    : tickets_(std::move(tickets)), demands_(demands), prng_(seed), jitter_(prng_.unit()) {
  move_on(now_ns());
}

ViewHandle::~ViewHandle() = default;

std::uint64_t ViewHandle::generation() const { return current_ ? current_->number() : 0; }

const BoardReader* ViewHandle::board() const { return current_ ? &current_->board() : nullptr; }

// ---- Reads ---------------------------------------------------------------------------------------------------------

ViewError ViewHandle::get(std::string_view key, ViewAnswer& answer) {
  return get_several({&key, 1}, answer);
}

ViewError ViewHandle::get_several(std::span<const std::string_view> keys, ViewAnswer& answer) {
  answer.clear();
  return read([&](ViewReader& reader) {
    ReadOutcome outcome = ReadOutcome::kOk;
    for (std::size_t i = 0; i < keys.size() && outcome == ReadOutcome::kOk; ++i) outcome = reader.get(keys[i], answer);
    return outcome;
  });
}

ViewError ViewHandle::range(const ViewRange& range, ViewAnswer& answer) {
  answer.clear();
  return read([&](ViewReader& reader) { return reader.range(range, answer); });
}

ViewError ViewHandle::range(const ViewRange& range, ViewAnswer& answer, std::uint64_t& keys) {
  answer.clear();
  const ViewError error = read([&](ViewReader& reader) {
    const ReadOutcome outcome = reader.count(range.begin, range.end, keys);
    return outcome == ReadOutcome::kOk ? reader.range(range, answer) : outcome;
  });
  if (error != ViewError::kNone) keys = 0;
  return error;
}

ViewError ViewHandle::prefix(std::string_view prefix, ViewAnswer& answer) {
  const std::string end = prefix_end(prefix);
  return range({.begin = prefix, .end = end}, answer);
}

ViewError ViewHandle::count(std::string_view begin, std::string_view end, std::uint64_t& keys) {
  const ViewError error = read([&](ViewReader& reader) { return reader.count(begin, end, keys); });
  if (error != ViewError::kNone) keys = 0;
  return error;
}

ViewError ViewHandle::changes(ViewRevision since, ViewAnswer& answer) {
  answer.clear();
  return read([&](ViewReader& reader) {
    const ReadOutcome outcome = reader.changes({.since = since, .bytes_max = kChangesAnswerBytesMax}, answer);
    if (outcome != ReadOutcome::kOk || !answer.more()) return outcome;
    answer.clear();
    return ReadOutcome::kTooOld;
  });
}

ViewError ViewHandle::wait_for(ViewRevision revision, std::int64_t wait_ms) {
  if (fork_mark_.is_new_process()) enter_process();
  const std::int64_t age_max_ms = std::exchange(demands_.age_max_ms, -1);
  const ViewError error = read_until(now_ns() + wait_ms * kMsNs, std::max(revision, revision_),
                                     [](ViewReader&) { return ReadOutcome::kOk; });
  demands_.age_max_ms = age_max_ms;
  return error;
}

template <typename Read>
ViewError ViewHandle::read(const Read& read) {
  if (fork_mark_.is_new_process()) [[unlikely]] enter_process();
  ++counts_.reads;
  const ViewRevision floor = std::max(revision_, required_);
  if (at_rest()) [[likely]] {
    const ViewError error = attempt(floor, read);
    if (!may_change(error)) return error;
  }
  return read_until(now_ns() + demands_.wait_ms * kMsNs, floor, read);
}

template <typename Read>
ViewError ViewHandle::read_until(std::int64_t deadline_ns, ViewRevision floor, const Read& read) {
  pause_ns_ = kPauseFirstNs;
  for (;;) {
    const std::int64_t now = now_ns();
    if (!at_rest()) move_on(now);
    const ViewError error = attempt(floor, read);
    if (!may_change(error) || now >= deadline_ns) return error;
    pause(now, deadline_ns);
  }
}

// The age is looked up before the root: what the publisher says of its newest root is true of later ones, too.
template <typename Read>
ViewError ViewHandle::attempt(ViewRevision floor, const Read& read) {
  if (another_) return ViewError::kAnotherInstance;
  if (!current_) {
    if (damaged_) return ViewError::kDamaged;
    return absl::IsInvalidArgument(refusal_) ? ViewError::kForeign : ViewError::kNoView;
  }
  ViewReader& reader = current_->reader();
  for (int tries = 0; tries < kReadAttemptsMax; ++tries) {
    const std::int64_t barrier_ns = demands_.age_max_ms < 0 ? 0 : current_->board().barrier_ns();
    ReadOutcome outcome = reader.begin();
    if (outcome == ReadOutcome::kOk) {
      if (reader.revision() < floor) return ViewError::kBehind;
      if (demands_.age_max_ms >= 0) {
        const auto age = age_ns(barrier_ns);
        if (!age || *age > demands_.age_max_ms * kMsNs) return ViewError::kTooStale;
      }
      outcome = read(reader);
    }
    if (outcome != ReadOutcome::kOvertaken) return ended(outcome);
    ++counts_.overtaken;
  }
  return ViewError::kTooLong;
}

ViewError ViewHandle::ended(ReadOutcome outcome) {
  switch (outcome) {
    case ReadOutcome::kOk: revision_ = current_->reader().revision(); return ViewError::kNone;
    case ReadOutcome::kTooOld: revision_ = current_->reader().revision(); return ViewError::kTooOld;
    case ReadOutcome::kOvertaken: return ViewError::kTooLong;
    case ReadOutcome::kGone: current_.reset(); return ViewError::kNoView;
    case ReadOutcome::kDamaged: break;
  }
  current_.reset();
  damaged_ = true;
  last_failed_ = true;
  return ViewError::kDamaged;
}

// Of the current generation's newest root; nothing: the board does not tell. Its bytes are arbitrary, so no difference
// with a time below 0 is taken. The number after the root: if the board names another generation by then, the time may
// be of that one.
std::optional<std::int64_t> ViewHandle::age_ns(std::int64_t barrier_ns) const {
  if (barrier_ns <= 0) return std::nullopt;
  const std::int64_t age_ns = now_ns() - barrier_ns;
  if (age_ns < 0 || current_->board().number() != current_->number()) return std::nullopt;
  return age_ns;
}

std::optional<std::int64_t> ViewHandle::age_ms() {
  const auto age = current_ ? age_ns(current_->board().barrier_ns()) : std::nullopt;
  return age ? std::optional(*age / kMsNs) : std::nullopt;
}

// ---- Tickets -------------------------------------------------------------------------------------------------------

bool ViewHandle::at_rest() const { return current_ && !next_ && current_->at_rest(); }

// Asks for a ticket, looks for the one that was asked for, goes over to what it has led to. Never blocks.
void ViewHandle::move_on(std::int64_t now_ns) {
  if (another_) return;
  if (asked_ && now_ns - polled_ns_ >= kPollNs) poll(now_ns, 0);
  if (next_) use_next();
  if (newest() != nullptr && newest()->at_rest()) {
    noticed_ns_ = 0;
    return;
  }
  if (noticed_ns_ == 0) noticed_ns_ = now_ns;
  if (now_ns < ask_at_ns()) return;
  if (asked_) ++counts_.refused;
  asked_ = true;
  last_failed_ = false;
  asked_ns_ = now_ns;
  jitter_ = prng_.unit();
  ++counts_.tickets;
  tickets_->ask();
}

// Soon if there is another generation, which a living publisher gives away; at once if there is none to read.
std::int64_t ViewHandle::ask_at_ns() const {
  const auto jitter = [&](std::int64_t most_ns) {
    return static_cast<std::int64_t>(jitter_ * static_cast<double>(most_ns));
  };
  const MappedView* const view = newest();
  const bool lost = view != nullptr &&
                    (view->board().state() != BoardState::kLive || view->board().publisher() == WriterState::kGone);
  const bool patient = asked_ || last_failed_ || lost;
  const std::int64_t again_ns = asked_ns_ == 0 ? 0
                                : patient      ? asked_ns_ + kAskAgainNs + jitter(kAskJitterNs)
                                               : asked_ns_ + kMoveNs;
  return std::max(again_ns, noticed_ns_ + (current_ ? jitter(kMoveJitterNs) : 0));
}

void ViewHandle::poll(std::int64_t now_ns, int wait_ms) {
  polled_ns_ = now_ns;
  auto ticket = tickets_->take(wait_ms);
  if (!ticket) return;
  asked_ = false;
  accept(*std::move(ticket));
}

void ViewHandle::accept(absl::StatusOr<ViewTicket> ticket) {
  auto view = ticket.ok() ? MappedView::map(*ticket) : ticket.status();
  last_failed_ = !view.ok();
  refusal_ = view.status();
  if (last_failed_) {
    ++counts_.refused;
    return;
  }
  const std::uint64_t identity = (*view)->board().identity();
  if (identity_ != 0 && identity != identity_) {
    another_ = true;
    current_.reset();
    next_.reset();
    return;
  }
  identity_ = identity;
  next_ = *std::move(view);
}

// What is mapped stays while it can be read and the other one is behind what was read.
void ViewHandle::use_next() {
  const ReadOutcome outcome = next_->reader().begin();
  if (outcome == ReadOutcome::kGone || outcome == ReadOutcome::kDamaged) {
    damaged_ = damaged_ || outcome == ReadOutcome::kDamaged;
    last_failed_ = last_failed_ || outcome == ReadOutcome::kDamaged;
    next_.reset();
    return;
  }
  if (current_ && (outcome != ReadOutcome::kOk || next_->reader().revision() < revision_)) return;
  current_ = std::move(next_);
  damaged_ = false;
  ++counts_.moves;
}

void ViewHandle::pause(std::int64_t now_ns, std::int64_t deadline_ns) {
  const std::int64_t left_ns = deadline_ns - now_ns;
  if (asked_) return poll(now_ns, static_cast<int>(std::clamp<std::int64_t>(left_ns / kMsNs, 0, 1)));
  const std::int64_t pause_ns = std::min(pause_ns_, left_ns);
  const timespec wait{.tv_sec = 0, .tv_nsec = pause_ns};
  ::nanosleep(&wait, nullptr);
  pause_ns_ = std::min(2 * pause_ns_, kPauseLastNs);
}

// What was asked for was asked by the parent, and what it drew it has drawn.
void ViewHandle::enter_process() {
  tickets_->forget();
  asked_ = false;
  asked_ns_ = 0;
  counts_ = {};
  prng_ = Prng(prng_() ^ static_cast<std::uint64_t>(now_ns()));
  jitter_ = prng_.unit();
}

}  // namespace ingot::replication_view_handle
