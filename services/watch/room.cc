#include "services/watch/room.h"

namespace ingot::watch {
namespace {

constexpr std::uint64_t kStalledNs = kTurnStalledMs * 1'000'000;

}  // namespace

void Room::stream_removed(WatchStream& stream) {
  --streams_;
  std::erase(line_, &stream);
  std::erase(news_, &stream);
  std::erase(granted_, &stream);
  stream.waits_for_turn = stream.granted = false;
  end_turn(stream);
}

bool Room::take_turn(WatchStream& stream, std::uint64_t now_ns) {
  if (stream.has_turn) return false;  // of a response before this one; ends with it
  if (!stream.granted && (!line_.empty() || turns_.size() + granted_.size() >= kTurnsMax)) {
    if (!stream.waits_for_turn) line_.push_back(&stream);
    stream.waits_for_turn = true;
    return false;
  }
  std::erase(granted_, &stream);
  std::erase(news_, &stream);
  stream.granted = false;
  stream.has_turn = true;
  turns_.push_back({&stream, now_ns, 0});
  return true;
}

void Room::end_turn(WatchStream& stream) {
  std::erase_if(turns_, [&](const Turn& turn) { return turn.stream == &stream; });
  stream.has_turn = false;
  grant();
}

void Room::settle_grants() {
  std::erase_if(granted_, [&](WatchStream* stream) {
    if (stream->not_synced > 0) return false;
    std::erase(news_, stream);
    stream->granted = false;
    return true;
  });
  grant();
}

void Room::grant() {
  while (!line_.empty() && turns_.size() + granted_.size() < kTurnsMax) {
    WatchStream* stream = line_.front();
    line_.pop_front();
    stream->waits_for_turn = false;
    stream->granted = true;
    granted_.push_back(stream);
    news_.push_back(stream);
  }
}

WatchStream* Room::next_granted() {
  if (news_.empty()) return nullptr;
  WatchStream* stream = news_.front();
  news_.pop_front();
  return stream;
}

WatchStream* Room::stalled(std::uint64_t now_ns) {
  if (line_.empty()) return nullptr;
  for (Turn& turn : turns_) {
    const std::size_t pending = turn.stream->output.pending_bytes();
    if (turn.pending == 0) turn = {turn.stream, now_ns, pending};  // the first look since others wait
    if (now_ns < turn.since_ns + kStalledNs) continue;
    if (pending + kTurnBytesMin > turn.pending) return turn.stream;
    turn = {turn.stream, now_ns, pending};
  }
  return nullptr;
}

std::uint64_t Room::deadline_ns() const {
  std::uint64_t at_ns = ~std::uint64_t{0};
  if (line_.empty()) return at_ns;
  for (const Turn& turn : turns_) at_ns = std::min(at_ns, turn.since_ns + kStalledNs);
  return at_ns;
}

}  // namespace ingot::watch
