#include "bench/scc/chunk_transport.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/check.h"
#include "transport/collectives/schedule_limits.h"
#include "transport/collectives/schedule_wire.h"

namespace ingot::scc {
namespace {

constexpr std::uint32_t kControlLines = 104;  // 48 endpoints with two slots each
constexpr std::size_t kDirectBytesMax = 27;   // with its kind in one line of NVP
static_assert(kControlLines + 2 * ChunkTransport::kChunkLines < kMpbLinesPerCore);

enum class Kind : std::uint8_t { kDirect, kNotice, kFetched };

struct Notice {
  Kind kind = Kind::kNotice;
  std::uint8_t buffer = 0;
  std::uint16_t bytes = 0;
  std::uint16_t tag = 0;
};

// Private memory: chunks of the payload, one after another, and a reduction's rooms for chunks on their way up.
constexpr Address kPayload = 1 << 20, kRooms = 8 << 20;

Address own_place(std::uint16_t tag) {
  return private_address(kPayload + (tag & 0x3fff) * ChunkTransport::kMessageBytesMax);
}
Address incoming_place(EndpointId from, std::uint16_t tag) {
  if (tag >> 14 != 0) return own_place(tag);  // on its way down
  const std::size_t room = from.value() * kChunksAhead + (tag & 0x3fff) % kChunksAhead;
  return private_address(kRooms + room * ChunkTransport::kMessageBytesMax);
}

std::byte* host_bytes(Core& core, Address at) { return core.private_memory().data() + (at - private_address(0)); }

// Whether that core waits for a buffer.
Address waiting_word(int core) { return mpb_line(core, kControlLines + 2 * ChunkTransport::kChunkLines); }

Address chunk_buffer(int core, std::size_t buffer) {
  return mpb_line(core, kControlLines + buffer * ChunkTransport::kChunkLines);
}

}  // namespace

absl::StatusOr<ChipFabric> lay_out_chunks(int cores) {
  std::vector<int> all(static_cast<std::size_t>(cores));
  std::iota(all.begin(), all.end(), 0);
  return lay_out(TransportKind::kNvp, all, 0, kControlLines);
}

ChunkTransport::ChunkTransport(const ChipFabric& fabric, Core& core)
    : fabric_(fabric),
      core_(core),
      control_(make_chip_transport(fabric, core, EndpointId(static_cast<std::uint16_t>(core.id())))) {}

void ChunkTransport::interrupt_told() {
  const CoreSet told = std::exchange(told_, 0);
  if (interrupt_others_ && told != 0) core_.interrupt(told);
}

bool ChunkTransport::tell(EndpointId dest, std::span<const std::byte> control) {
  told_ |= CoreSet{1} << dest.value();
  return control_->send(dest, control);
}

bool ChunkTransport::send(EndpointId dest, std::span<const std::byte> message) {
  if (message.size() <= kDirectBytesMax) {
    std::array<std::byte, 1 + kDirectBytesMax> direct{static_cast<std::byte>(Kind::kDirect)};
    std::memcpy(direct.data() + 1, message.data(), message.size());
    return tell(dest, {direct.data(), 1 + message.size()});
  }
  INGOT_CHECK(message.size() <= kMessageBytesMax, "a message is at most a chunk");
  const int buffer = put(message);
  if (buffer < 0) return false;
  const Notice notice{Kind::kNotice, static_cast<std::uint8_t>(buffer), static_cast<std::uint16_t>(message.size()),
                      ScheduleHeader::decode(message).tag};
  if (!tell(dest, std::as_bytes(std::span(&notice, 1)))) return false;
  ++buffers_[static_cast<std::size_t>(buffer)].readers;
  return true;
}

// The buffer that holds the message, or -1: both are still being read.
int ChunkTransport::put(std::span<const std::byte> message) {
  int free = -1;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (std::ranges::equal(buffers_[i].content, message)) return static_cast<int>(i);
    if (buffers_[i].readers == 0) free = static_cast<int>(i);
  }
  say_that_it_waits(free < 0);
  if (free < 0) return free;
  const auto index = static_cast<std::size_t>(free);
  buffers_[index].content.assign(message.begin(), message.end());
  const Address from = own_place(ScheduleHeader::decode(message).tag);
  std::memcpy(host_bytes(core_, from), message.data(), message.size());
  interrupt_told();
  core_.copy(chunk_buffer(core_.id(), index), from, message.size());
  core_.flush_wcb();
  return free;
}

void ChunkTransport::say_that_it_waits(bool waits) {
  if (waits_ == waits) return;
  waits_ = began_to_wait_ = waits;
  core_.store<std::uint32_t>(waiting_word(core_.id()), waits ? 1 : 0);
  core_.flush_wcb();
}

int ChunkTransport::probe(Handler handler, int limit) {
  return control_->probe(
      [&](EndpointId from, std::span<const std::byte> control) {
        switch (static_cast<Kind>(control.front())) {
          case Kind::kDirect: return handler(from, control.subspan(1));
          case Kind::kNotice: return fetch(from, control, handler);
          case Kind::kFetched: --buffers_[static_cast<std::size_t>(control[1])].readers;
        }
      },
      limit);
}

void ChunkTransport::fetch(EndpointId from, std::span<const std::byte> bytes, Handler handler) {
  Notice notice;
  std::memcpy(&notice, bytes.data(), sizeof notice);
  const Address to = incoming_place(from, notice.tag);
  interrupt_told();
  core_.invalidate_mpb();
  core_.copy(to, chunk_buffer(from.value(), notice.buffer), notice.bytes);
  // Before the handler, which may send: the buffer is free already.
  if (!unacknowledged_.empty() || !acknowledge(from, notice.buffer)) unacknowledged_.emplace_back(from, notice.buffer);
  handler(from, {host_bytes(core_, to), notice.bytes});
}

bool ChunkTransport::acknowledge(EndpointId to, std::uint8_t buffer) {
  const std::array<std::byte, 2> fetched{static_cast<std::byte>(Kind::kFetched), std::byte{buffer}};
  const bool sent = control_->send(to, fetched);
  core_.invalidate_mpb();
  const bool waits = sent && core_.load<std::uint32_t>(waiting_word(to.value())) != 0;
  if (waits || !sent) told_ |= CoreSet{1} << to.value();
  return sent;
}

bool ChunkTransport::flush() {
  while (!unacknowledged_.empty() && acknowledge(unacknowledged_.front().first, unacknowledged_.front().second)) {
    unacknowledged_.pop_front();
  }
  const bool fragments_wait = control_->flush();
  return fragments_wait || !unacknowledged_.empty();
}

}  // namespace ingot::scc
