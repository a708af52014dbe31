#include "services/watch/room.h"

#include <algorithm>
#include <utility>

namespace ingot::watch {
namespace {

constexpr std::uint64_t kTurnNs = kTurnMs * 1'000'000;
constexpr std::uint64_t kStalledNs = kTurnStalledMs * 1'000'000;

}  // namespace

void Room::stream_added(const WatchStream& stream) {
  if (stream.holder->of(Resource::kStreams) == 1) ++connections_;
}

void Room::stream_removed(WatchStream& stream, std::uint64_t now_ns) {
  leave_line(stream);
  end_turn(stream, now_ns);
  if (stream.holder->of(Resource::kStreams) == 1) --connections_;
}

// ---- Turns ----

bool Room::take_turn(WatchStream& stream, std::uint64_t now_ns) {
  if (stream.has_turn) return false;  // of a response before this one; ends with it
  Holder& holder = *stream.holder;
  if (!stream.granted && (!holder.line.empty() || holder.turns >= free())) {
    if (stream.waits_for_turn) return false;
    stream.waits_for_turn = true;
    holder.line.push_back(stream);
    if (!holder.in_line.is_linked()) line_.push_back(holder);
    return false;
  }
  drop(stream);
  stream.granted = false;
  stream.has_turn = true;
  ++holder.turns;
  turns_.push_back({&stream, true, now_ns, now_ns + kStalledNs});
  return true;
}

void Room::end_turn(WatchStream& stream, std::uint64_t now_ns) {
  drop(stream);
  stream.has_turn = stream.granted = false;
  grant(now_ns);
}

void Room::drop(const WatchStream& stream) {
  if (std::erase_if(turns_, [&](const Turn& turn) { return turn.stream == &stream; }) > 0) --stream.holder->turns;
  std::erase(news_, &stream);
}

// ---- The line ----

void Room::leave_line(WatchStream& stream) {
  if (!std::exchange(stream.waits_for_turn, false)) return;
  stream.in_line.unlink();
  if (stream.holder->line.empty()) stream.holder->in_line.unlink();
}

// One stream of each connection, then the next one of each. A stream that is full takes nothing, so it gets no turn; it
// comes again when it has room.
void Room::grant(std::uint64_t now_ns) {
  while (free() > 0) {
    const auto next = std::find_if(line_.begin(), line_.end(), [&](const Holder& each) { return each.turns < free(); });
    if (next == line_.end()) return;
    Holder& holder = *next;
    WatchStream& stream = holder.line.front();
    leave_line(stream);
    if (holder.in_line.is_linked()) {
      holder.in_line.unlink();
      line_.push_back(holder);
    }
    if (is_full(stream)) {
      stream.output.tell_below(share(stream));
      continue;
    }
    stream.granted = true;
    ++holder.turns;
    turns_.push_back({&stream, false, now_ns, now_ns + kStalledNs});
    news_.push_back(&stream);
  }
}

WatchStream* Room::next_granted() {
  if (news_.empty()) return nullptr;
  WatchStream* stream = news_.front();
  news_.pop_front();
  return stream;
}

// ---- Clocks ----

// Whether the end of one of the holder's turns would be a grant for somebody.
bool Room::others_wait(const Holder& holder) const {
  return std::any_of(line_.begin(), line_.end(), [&](const Holder& each) {
    return each.turns - (&each == &holder ? 1 : 0) < free() + 1;
  });
}

// Whether a grant ends. Its stream may not need it any more; or others wait, and it has lasted.
bool Room::is_over(Turn& grant, std::uint64_t now_ns) const {
  const WatchStream& stream = *grant.stream;
  if (stream.not_synced == 0) return true;
  if (now_ns < grant.look_ns || !others_wait(*stream.holder)) return false;
  grant.look_ns = grant.since_ns + kTurnNs;
  return is_full(stream) || now_ns >= grant.look_ns;
}

void Room::settle(std::uint64_t now_ns) {
  for (Turn& turn : turns_) {
    if (turn.begun && turn.pending == 0) turn.pending = turn.stream->output.pending_bytes();
  }
  std::erase_if(turns_, [&](Turn& turn) {
    if (turn.begun || !is_over(turn, now_ns)) return false;
    WatchStream& stream = *turn.stream;
    std::erase(news_, &stream);
    stream.granted = false;
    --stream.holder->turns;
    stream.output.tell_below(share(stream));
    return true;
  });
  grant(now_ns);
}

WatchStream* Room::stalled(std::uint64_t now_ns) {
  for (Turn& turn : turns_) {
    if (!turn.begun || now_ns < turn.look_ns || !others_wait(*turn.stream->holder)) continue;
    const std::size_t pending = turn.stream->output.pending_bytes();
    if (now_ns >= turn.since_ns + kTurnNs || pending + kTurnBytesMin > turn.pending) return turn.stream;
    turn.look_ns = std::min(now_ns + kStalledNs, turn.since_ns + kTurnNs);
    turn.pending = pending;
  }
  return nullptr;
}

std::uint64_t Room::deadline_ns() const {
  std::uint64_t at_ns = ~std::uint64_t{0};
  for (const Turn& turn : turns_) {
    if (others_wait(*turn.stream->holder)) at_ns = std::min(at_ns, turn.look_ns);
  }
  return at_ns;
}

}  // namespace ingot::watch
