#include "bench/scc/plain_srbp.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/check.h"

namespace ingot::scc {
namespace {

// Of a place: the ticket + 1, then sender and length of the whole message, then payload.
constexpr std::size_t kHeaderBytes = 8;
constexpr std::size_t kPartBytes = kLineBytes - kHeaderBytes;
constexpr std::uint32_t kRingLines = kMpbLinesPerCore - 1;  // line 0 has the head

}  // namespace

PlainSrbp::PlainSrbp(Core& core, const Group& group)
    : core_(core),
      group_(group),
      quota_(kRingLines / static_cast<std::uint32_t>(group.size())),
      places_(quota_ * static_cast<std::uint32_t>(group.size())),
      peers_(static_cast<std::size_t>(group.size())) {}

void PlainSrbp::send(int to_core, std::span<const std::byte> message) {
  INGOT_CHECK(!message.empty() && message.size() < 1 << 16, "a message has 1 to 65535 bytes");
  const std::size_t bytes = message.size();
  for (; !message.empty(); message = message.subspan(std::min(kPartBytes, message.size()))) {
    send_line(to_core, bytes, message.first(std::min(kPartBytes, message.size())));
  }
}

void PlainSrbp::send_line(int to_core, std::size_t message_bytes, std::span<const std::byte> part) {
  const std::array<Watch, 2> watch{{{mpb_line(to_core, 0)}, {mpb_line(core_.id(), 0), kMpbLinesPerCore * kLineBytes}}};
  bool room = peer(to_core).tickets.size() < quota_;
  while (!room) {
    core_.wait_until(watch, [&] { return (room = room_at(to_core)) || next_is_there(); }, "room in a ring");
    take();
  }
  const std::uint32_t ticket = core_.fetch_increment(to_core);
  peer(to_core).tickets.push_back(ticket);
  std::array<std::byte, kLineBytes> line;
  const auto sender = static_cast<std::uint32_t>(group_.rank(core_.id()));
  const auto header = sender << 16 | static_cast<std::uint32_t>(message_bytes);
  std::memcpy(line.data(), &header, sizeof header);
  std::memcpy(line.data() + sizeof header, part.data(), part.size());
  core_.write(place(to_core, ticket) + 4, {line.data(), sizeof header + part.size()});
  core_.store(place(to_core, ticket), ticket + 1);  // in the same line, so all of it leaves as one packet
  core_.flush_wcb();
}

bool PlainSrbp::room_at(int to_core) {
  core_.invalidate_mpb();
  const auto head = core_.load<std::uint32_t>(mpb_line(to_core, 0));
  auto& tickets = peer(to_core).tickets;
  while (!tickets.empty() && tickets.front() < head) tickets.pop_front();
  return tickets.size() < quota_;
}

bool PlainSrbp::next_is_there() {
  core_.invalidate_mpb();
  return core_.load<std::uint32_t>(place(core_.id(), head_)) == head_ + 1;
}

// Reads all lines that are there, and tells the senders once.
void PlainSrbp::take() {
  const std::uint32_t before = head_;
  for (; next_is_there(); ++head_) {
    std::array<std::byte, kLineBytes> line;
    core_.read(place(core_.id(), head_), line);
    std::uint32_t header = 0;
    std::memcpy(&header, line.data() + 4, sizeof header);
    Peer& from = peers_[header >> 16];
    const std::size_t bytes = header & 0xffff;
    const std::size_t n = std::min(kPartBytes, bytes - from.part.size());
    from.part.insert(from.part.end(), line.begin() + kHeaderBytes, line.begin() + kHeaderBytes + static_cast<int>(n));
    if (from.part.size() == bytes) from.arrived.push_back(std::exchange(from.part, {}));
  }
  if (head_ == before) return;
  core_.store(mpb_line(core_.id(), 0), head_);
  core_.flush_wcb();
}

std::vector<std::byte> PlainSrbp::receive(int from_core) {
  auto& arrived = peer(from_core).arrived;
  const Watch inbox{mpb_line(core_.id(), 0), kMpbLinesPerCore * kLineBytes};
  while (arrived.empty()) {
    core_.wait_until({inbox}, [&] { return next_is_there(); }, "a message");
    take();
  }
  std::vector<std::byte> message = std::move(arrived.front());
  arrived.pop_front();
  return message;
}

}  // namespace ingot::scc
