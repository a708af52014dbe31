#include "services/rpc/server/turns.h"

#include <algorithm>

namespace ingot::rpc::inline server {
namespace {

constexpr std::uint64_t kStuckNs = kTakenOnStuckMs * 1'000'000;

}  // namespace

// One small answer among large ones does not make the next one small.
void Line::answered(std::size_t bytes) {
  answer_bytes_ = std::max({bytes, answer_bytes_ / 2, kSmallAnswerBytes});
  has_answered_ = true;
}

void Turns::take_on(Line& line, Stream& stream, std::uint64_t now_ns) {
  if (++running_ == limit_) moved_ns_ = now_ns;
  stream.place = {line.works_, stream.large, stream.unknown};
  if (stream.unknown) ++line.works_->unknown;
  if (!stream.large) return;
  ++large_running_;
  ++line.works_->large;
}

// Its peer takes its output, and the answers to come are not too long together. One is never too long.
bool Turns::may_begin(const Line& line, const Stream& stream) const {
  if (!line.reader_reads()) return false;
  const std::size_t before = line.works_->unknown;
  return !stream.unknown || before == 0 || (before + 1) * line.answer_bytes_ <= bounds_.unknown_bytes;
}

bool Turns::admit(Line& line, Stream& stream, std::uint64_t now_ns) {
  if (stream.large) {
    line.large_.push_back(stream);
    if (!line.in_large_lines_.is_linked()) large_lines_.push_back(line);
    return false;
  }
  if (room() && line.small_.empty() && may_begin(line, stream)) {
    take_on(line, stream, now_ns);
    return true;
  }
  line.small_.push_back(stream);
  if (!line.is_linked()) small_lines_.push_back(line);
  return false;
}

void Turns::over(Stream& stream, std::uint64_t now_ns) {
  if (static_cast<QueueHook&>(stream).is_linked()) static_cast<QueueHook&>(stream).unlink();
  leave(stream.place, now_ns);
}

void Turns::leave(Place& place, std::uint64_t now_ns) {
  if (place.works == nullptr) return;
  --running_;
  moved_ns_ = now_ns;
  if (running_ < static_cast<std::size_t>(bounds_.calls_taken_on)) {
    limit_ = static_cast<std::size_t>(bounds_.calls_taken_on);
  }
  if (place.unknown) --place.works->unknown;
  if (place.large) {
    --large_running_;
    --place.works->large;
  }
  place = {};
}

int Turns::run(std::size_t output_bytes_all, std::uint64_t now_ns) {
  if (!room() && now_ns >= moved_ns_ + kStuckNs) {
    limit_ = running_ + static_cast<std::size_t>(bounds_.calls_taken_on);
    moved_ns_ = now_ns;
  }
  return run_small(now_ns) + run_large(output_bytes_all, now_ns);
}

// One call of each line at a time. Lines that may begin nothing are passed over, once in a round.
int Turns::run_small(std::uint64_t now_ns) {
  int begun = 0;
  const Line* passed_over = nullptr;  // the first
  while (room() && !small_lines_.empty() && &small_lines_.front() != passed_over) {
    Line& line = small_lines_.front();
    small_lines_.pop_front();
    if (line.small_.empty()) continue;  // its calls have ended
    small_lines_.push_back(line);
    if (!may_begin(line, line.small_.front())) {
      if (passed_over == nullptr) passed_over = &line;
      // What it waits for may be the other connections' affair now: its own window updates must be read meanwhile.
      if (!line.reader_reads()) line.nothing_small_waits();
      continue;
    }
    Stream& stream = line.small_.front();
    line.small_.pop_front();
    take_on(line, stream, now_ns);
    line.begin(stream);
    ++begun;
    if (line.small_.empty()) static_cast<QueueHook&>(line).unlink();
    if (!wait_for_place(line)) line.nothing_small_waits();
  }
  return begun;
}

// Lines with the fewest large calls running come first, so that one connection cannot hold all places.
int Turns::run_large(std::size_t output_bytes_all, std::uint64_t now_ns) {
  int begun = 0;
  while (room_for_large(output_bytes_all)) {
    Line* next = nullptr;
    for (auto line = large_lines_.begin(); line != large_lines_.end();) {
      Line& each = *line++;
      if (each.large_.empty()) {
        each.in_large_lines_.unlink();  // its calls have ended
      } else if (each.reader_reads() && (next == nullptr || each.works_->large < next->works_->large)) {
        next = &each;
      }
    }
    if (next == nullptr) break;
    Stream& stream = next->large_.front();
    next->large_.pop_front();
    next->in_large_lines_.unlink();
    if (!next->large_.empty()) large_lines_.push_back(*next);
    take_on(*next, stream, now_ns);
    next->begin(stream);
    ++begun;
  }
  return begun;
}

bool Turns::ready(std::size_t output_bytes_all) const {
  const auto small = [this](const Line& line) { return wait_for_place(line); };
  const auto large = [](const Line& line) { return !line.large_.empty() && line.reader_reads(); };
  return (room() && std::any_of(small_lines_.begin(), small_lines_.end(), small)) ||
         (room_for_large(output_bytes_all) && std::any_of(large_lines_.begin(), large_lines_.end(), large));
}

bool Turns::any_wait() const {
  return std::any_of(small_lines_.begin(), small_lines_.end(), [](const Line& line) { return !line.small_.empty(); }) ||
         std::any_of(large_lines_.begin(), large_lines_.end(), [](const Line& line) { return !line.large_.empty(); });
}

std::uint64_t Turns::deadline_ns() const {
  return !room() && !(small_lines_.empty() && large_lines_.empty()) ? moved_ns_ + kStuckNs : Timer::kNever;
}

bool Turns::pressed(std::size_t output_bytes_all) const {
  return output_bytes_all > bounds_.output_bytes_all &&
         std::any_of(large_lines_.begin(), large_lines_.end(), [](const Line& line) { return !line.large_.empty(); });
}

}  // namespace ingot::rpc::server
