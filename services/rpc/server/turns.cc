#include "services/rpc/server/turns.h"

#include <algorithm>

namespace ingot::rpc {
namespace {

constexpr std::uint64_t kStuckNs = kTakenOnStuckMs * 1'000'000;

}  // namespace

bool Turns::may_begin_large(const Line& line, std::size_t output_bytes_all) const {
  return may_begin_small(line) && large_running_ < static_cast<std::size_t>(bounds_.large_calls) &&
         output_bytes_all <= bounds_.output_bytes_all;
}

void Turns::take_on(Line& line, Stream& stream, std::uint64_t now_ns) {
  if (++running_ == limit_) moved_ns_ = now_ns;
  stream.taken_on = true;
  if (!stream.large) return;
  ++large_running_;
  ++line.large_running_;
}

bool Turns::admit(Line& line, Stream& stream, std::size_t output_bytes_all, std::uint64_t now_ns) {
  Line::Waiting& waiting = stream.large ? line.large_ : line.small_;
  const bool may = stream.large ? may_begin_large(line, output_bytes_all) && lines_.empty() : may_begin_small(line);
  if (waiting.empty() && may) {
    take_on(line, stream, now_ns);
    return true;
  }
  waiting.push_back(stream);
  if (!line.is_linked()) lines_.push_back(line);
  return false;
}

void Turns::over(Line& line, Stream& stream, std::uint64_t now_ns) {
  if (static_cast<QueueHook&>(stream).is_linked()) static_cast<QueueHook&>(stream).unlink();
  if (!stream.taken_on) return;
  stream.taken_on = false;
  --running_;
  moved_ns_ = now_ns;
  if (running_ < static_cast<std::size_t>(bounds_.calls_taken_on)) {
    limit_ = static_cast<std::size_t>(bounds_.calls_taken_on);
  }
  if (!stream.large) return;
  --large_running_;
  --line.large_running_;
}

int Turns::run(std::size_t output_bytes_all, std::uint64_t now_ns) {
  if (!room() && now_ns >= moved_ns_ + kStuckNs) {
    limit_ = running_ + static_cast<std::size_t>(bounds_.calls_taken_on);
    moved_ns_ = now_ns;
  }
  return lines_.empty() ? 0 : run_small(now_ns) + run_large(output_bytes_all, now_ns);
}

// One call of each line at a time, until none can begin.
int Turns::run_small(std::uint64_t now_ns) {
  int begun = 0;
  for (bool progress = true; progress && room();) {
    progress = false;
    for (std::size_t left = lines_.size(); left > 0 && room() && !lines_.empty(); --left) {
      Line& line = lines_.front();
      lines_.splice(lines_.end(), lines_, lines_.begin());
      if (line.small_.empty() || !may_begin_small(line)) continue;
      Stream& stream = line.small_.front();
      line.small_.pop_front();
      take_on(line, stream, now_ns);
      line.begin(stream);
      ++begun;
      progress = true;
      if (line.small_.empty()) line.nothing_small_waits();
    }
  }
  return begun;
}

// Lines with the fewest large calls running come first, so that one connection cannot hold all places.
int Turns::run_large(std::size_t output_bytes_all, std::uint64_t now_ns) {
  int begun = 0;
  for (;;) {
    Line* next = nullptr;
    for (Line& line : lines_) {
      if (line.large_.empty() || !may_begin_large(line, output_bytes_all)) continue;
      if (next == nullptr || line.large_running_ < next->large_running_) next = &line;
    }
    if (next == nullptr) break;
    Stream& stream = next->large_.front();
    next->large_.pop_front();
    lines_.splice(lines_.end(), lines_, lines_.iterator_to(*next));
    take_on(*next, stream, now_ns);
    next->begin(stream);
    ++begun;
  }
  for (auto line = lines_.begin(); line != lines_.end();) {
    line = line->small_.empty() && line->large_.empty() ? lines_.erase(line) : std::next(line);
  }
  return begun;
}

bool Turns::ready(std::size_t output_bytes_all) const {
  return std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) {
    return (!line.small_.empty() && may_begin_small(line)) ||
           (!line.large_.empty() && may_begin_large(line, output_bytes_all));
  });
}

std::uint64_t Turns::deadline_ns() const {
  return !room() && !lines_.empty() ? moved_ns_ + kStuckNs : Timer::kNever;
}

bool Turns::pressed(std::size_t output_bytes_all) const {
  return output_bytes_all > bounds_.output_bytes_all &&
         std::any_of(lines_.begin(), lines_.end(), [](const Line& line) { return !line.large_.empty(); });
}

}  // namespace ingot::rpc
