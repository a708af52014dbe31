// NVP, the notification vector protocol (Rotta, Prescher, Traue, Nolte), with a small ring per sender in place of its
// one slot. Two lines a message: the slot, and the notification vector's line.
//
// An inbox, by lines, for S endpoints and K slots per sender:
//
//    vector    S bytes: byte s is the number of lines that s has written, modulo 256
//    credit    S words: word s is the number of lines of s that the receiver has read and returned, modulo 2^32
//    slots     S rings of K lines: word 0 is the LineHeader, payload behind it
//    bulk      S rings of K areas of B bytes, one beside each slot: a long part of a message (nvp_bulk.h). B may be 0
//
// Only sender s writes its byte and its ring, only the receiver writes the credit: there is no read-modify-write.
// Reading one line of the vector finds the new lines of as many senders as a line has bytes. A sender loads its credit
// only when it has used up what it knew; the receiver returns credit twice a ring.
//
// Invariant: credit[s] <= lines read <= lines written <= credit[s] + K, and K <= 128; so the byte determines the number
// exactly. A sender that dies or stops leaves at worst a half-written slot that its byte does not count: no receiver
// sees it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/gathered_message.h"
#include "transport/fragments.h"
#include "transport/limits.h"
#include "transport/memory.h"
#include "transport/nvp_bulk.h"
#include "transport/nvp_layout.h"

namespace ingot::inline transport {

// One endpoint's end. Used by its thread only.
template <Memory M>
class NvpChannel {
 public:
  using Layout = NvpLayout;
  static constexpr std::size_t kPayloadBytes = M::kLineBytes - sizeof(Word);  // per line

  // Continues where the shared memory says: from zero if it is zero-filled; as a sender, after the last line that an
  // earlier incarnation published. An earlier incarnation's inbox may be reused, but lines read since its last return
  // of credit would be handed out again: give a new incarnation a new inbox.
  NvpChannel(M memory, const Layout& layout)
      : memory_(std::move(memory)),
        layout_(layout),
        slots_(static_cast<Word>(layout.slots_per_sender)),
        bulk_(layout.bulk_bytes) {
    INGOT_CHECK(layout.endpoints >= 1 && layout.endpoints <= kChannelEndpointsMax);
    INGOT_CHECK(slots_ >= 1 && slots_ <= 128 && std::has_single_bit(slots_));
    INGOT_CHECK(layout.bulk_bytes % M::kLineBytes == 0);
    for (std::uint16_t i = 0; i < layout.endpoints; ++i) {
      INGOT_CHECK(memory_.inbox_lines(EndpointId(i)) >= layout.inbox_lines(M::kLineBytes), "an inbox is too small");
    }
    out_.resize(static_cast<std::size_t>(layout.endpoints));
    in_.resize(out_.size());
    seen_.resize(layout.vector_lines(M::kLineBytes) * kUnitsPerLine);
    for (std::uint16_t i = 0; i < layout.endpoints; ++i) resume(EndpointId(i));
  }

  EndpointId self() const { return memory_.self(); }
  int endpoints() const { return layout_.endpoints; }
  M& memory() { return memory_; }

  // Writes one line to `dest`; publish makes it and all before it visible. False: full, nothing written. Expanded in
  // place: as a call, its payload goes through memory, and short messages stream at two thirds of their speed.
  [[nodiscard, gnu::always_inline]] bool write_line(EndpointId dest, LineHeader header,
                                                    std::span<const std::byte> payload) {
    if (!has_room(dest)) return false;
    Out& out = out_[dest.value()];
    const auto slot = slot_line(dest, self(), out.written);
    memory_.store_word(slot, 0, header.encode(), Site::kRelaxed);
    memory_.copy_in(slot, sizeof(Word), payload);
    ++out.written;
    return true;
  }

  // The most bytes that write_bulk takes; 0: it must not be called.
  std::size_t bulk_bytes() const { return bulk_.area_bytes(); }

  // As write_line, with a payload of up to bulk_bytes().
  [[nodiscard, gnu::noinline]] bool write_bulk(EndpointId dest, LineHeader header, const GatheredMessage& payload) {
    if (!has_room(dest)) return false;
    bulk_.write(memory_, dest, bulk_line(self(), out_[dest.value()].written), payload);
    header.bulk = true;
    header.bytes = sizeof(Word);
    const Word bytes = static_cast<Word>(payload.size());
    return write_line(dest, header, std::as_bytes(std::span(&bytes, 1)));
  }

  void publish(EndpointId dest) {
    const Word written = out_[dest.value()].written;
    memory_.store_byte(vector_line(dest, self()), self().value() % M::kLineBytes, static_cast<std::uint8_t>(written),
                       Site::kNvpNotify);
  }

  // Passes lines to `on_line(from, header, payload)`, which returns true for a line that completes a message, until
  // `limit` messages are complete or all published lines are read. Returns the number of completed messages. Bounded:
  // at most K lines a sender (twice if a probe wraps around).
  template <typename OnLine>
  int receive(int limit, OnLine&& on_line) {
    const std::uint32_t lines = layout_.vector_lines(M::kLineBytes);
    const std::uint32_t first = next_;
    next_ = 0;
    // Fetches the next line of the last sender together with the vector's, not after it: a third more in
    // bench/ping_pong.
    memory_.prefetch(slot_line(self(), spoke_last_, in_[spoke_last_.value()].read));
    // After a probe that hit its limit, senders after its last one come first, the others at the end.
    int messages = receive_from_line(first / kLine, first % kLine, kLine, limit, on_line);
    for (std::uint32_t i = 1; i < lines && messages < limit; ++i) {
      messages += receive_from_line((first / kLine + i) % lines, 0, kLine, limit - messages, on_line);
    }
    if (first % kLine != 0 && messages < limit) {
      messages += receive_from_line(first / kLine, 0, first % kLine, limit - messages, on_line);
    }
    return messages;
  }

  bool readable() {
    for (std::uint32_t line = 0; line < layout_.vector_lines(M::kLineBytes); ++line) {
      if (read_vector(line).any != 0) return true;
    }
    return false;
  }

  void peer_gone(EndpointId) {}  // a dead sender blocks no other

  // True once a dead peer's ring is read to its end.
  bool peer_settled(EndpointId peer) {
    const std::uint8_t told =
        memory_.load_byte(vector_line(self(), peer), peer.value() % M::kLineBytes, Site::kNvpPoll);
    return told == static_cast<std::uint8_t>(in_[peer.value()].read);
  }

  // A next incarnation of the peer is about to start.
  // REQUIRES: peer_settled(peer).
  void peer_back(EndpointId peer) {
    return_credit(peer, in_[peer.value()]);
    out_[peer.value()] = {};
  }

  // The peer has called peer_back for this incarnation: continues sending where its inbox says.
  void peer_ready(EndpointId peer) { resume_sending(peer); }

 private:
  using Unit = std::uint64_t;  // eight senders' bytes
  static constexpr std::size_t kUnitsPerLine = M::kLineBytes / sizeof(Unit);
  using Units = std::array<Unit, kUnitsPerLine>;
  static constexpr std::uint32_t kLine = M::kLineBytes;  // in bytes, or senders of the vector
  static constexpr std::uint32_t kUnit = sizeof(Unit);
  static constexpr std::uint32_t kWordsPerLine = M::kLineBytes / sizeof(Word);

  struct Out {
    Word written = 0;  // lines written to that receiver, modulo 2^32
    Word credit = 0;   // of these, lines known to be given back
  };
  struct In {
    Word read = 0;      // lines of that sender read
    Word returned = 0;  // of these, lines given back
  };

  auto vector_line(EndpointId inbox, EndpointId sender) {
    return memory_.line(inbox, static_cast<std::uint32_t>(sender.value() / M::kLineBytes));
  }
  auto credit_line(EndpointId inbox, EndpointId sender) {
    return memory_.line(inbox, layout_.vector_lines(M::kLineBytes) +
                                   static_cast<std::uint32_t>(sender.value() / kWordsPerLine));
  }
  auto slot_line(EndpointId inbox, EndpointId sender, Word number) {
    return memory_.line(inbox, layout_.first_slot(M::kLineBytes) + sender.value() * slots_ + (number & (slots_ - 1)));
  }

  void resume(EndpointId peer) {
    In& in = in_[peer.value()];
    in.read = in.returned = memory_.load_word(credit_line(self(), peer), peer.value() % kWordsPerLine, Site::kRelaxed);
    set_seen(peer, static_cast<std::uint8_t>(in.read));
    resume_sending(peer);
  }

  void resume_sending(EndpointId peer) {
    Out& out = out_[peer.value()];
    out.credit = memory_.load_word(credit_line(peer, self()), self().value() % kWordsPerLine, Site::kNvpTakeCredit);
    const std::uint8_t told =
        memory_.load_byte(vector_line(peer, self()), self().value() % M::kLineBytes, Site::kRelaxed);
    out.written = out.credit + static_cast<std::uint8_t>(told - static_cast<std::uint8_t>(out.credit));
  }

  std::uint32_t bulk_line(EndpointId sender, Word number) const {
    const std::uint32_t area = sender.value() * slots_ + (number & (slots_ - 1));
    return layout_.first_bulk(M::kLineBytes) + area * layout_.area_lines(M::kLineBytes);
  }

  bool has_room(EndpointId dest) {
    Out& out = out_[dest.value()];
    return out.written - out.credit != slots_ || take_credit(dest, out);
  }
  bool take_credit(EndpointId dest, Out& out) {
    out.credit =
        memory_.load_word(credit_line(dest, self()), self().value() % kWordsPerLine, Site::kNvpTakeCredit);
    return out.written - out.credit != slots_;
  }

  void return_credit(EndpointId sender, In& in) {
    in.returned = in.read;
    memory_.store_word(credit_line(self(), sender), sender.value() % kWordsPerLine, in.read, Site::kNvpReturnCredit);
  }

  // The new lines in a line of the vector: for each sender the difference between its byte and the last one seen.
  struct Changes {
    Units now, difference;
    Unit any;
  };
  Changes read_vector(std::uint32_t line) {
    Changes changes;
    memory_.read_line(memory_.line(self(), line), reinterpret_cast<std::byte*>(changes.now.data()), Site::kNvpPoll);
    changes.any = 0;
#pragma GCC unroll 8
    for (std::size_t u = 0; u < kUnitsPerLine; ++u) {
      changes.difference[u] = changes.now[u] ^ seen_[line * kUnitsPerLine + u];
      changes.any |= changes.difference[u];
    }
    return changes;
  }

  void set_seen(EndpointId sender, std::uint8_t count) {
    std::memcpy(reinterpret_cast<std::byte*>(seen_.data()) + sender.value(), &count, 1);
  }

  // The new lines of the senders `begin` to `end` (exclusive) of a line of the vector.
  template <typename OnLine>
  int receive_from_line(std::uint32_t line, std::uint32_t begin, std::uint32_t end, int limit, OnLine& on_line) {
    const Changes line_changes = read_vector(line);
    int messages = 0;
    for (std::uint32_t u = begin / kUnit; line_changes.any != 0 && u * kUnit < end; ++u) {
      Unit changes = line_changes.difference[u];
      if (changes == 0) continue;
      // Each sender has one byte of the difference.
      if (begin > u * kUnit) changes &= ~Unit{0} << (8 * (begin - u * kUnit));
      if (end < (u + 1) * kUnit) changes &= ~(~Unit{0} << (8 * (end - u * kUnit)));
      while (changes != 0) {
        if (messages == limit) return messages;
        const auto byte = static_cast<std::uint32_t>(std::countr_zero(changes)) / 8;
        changes &= ~(Unit{0xff} << (8 * byte));
        const auto sender = static_cast<std::uint16_t>(line * kLine + u * kUnit + byte);
        messages += receive_from(EndpointId(sender), static_cast<std::uint8_t>(line_changes.now[u] >> (8 * byte)),
                                 limit - messages, on_line);
      }
    }
    return messages;
  }

  // Reads the lines of one sender until its count is `told`, or until `limit` messages are complete.
  template <typename OnLine>
  int receive_from(EndpointId sender, std::uint8_t told, int limit, OnLine& on_line) {
    In& in = in_[sender.value()];
    int messages = 0;
    alignas(M::kLineBytes) std::byte payload[M::kLineBytes];
    while (static_cast<std::uint8_t>(in.read) != told && messages < limit) {
      const auto slot = slot_line(self(), sender, in.read);
      const LineHeader header = LineHeader::decode(memory_.load_word(slot, 0, Site::kRelaxed));
      memory_.copy_out(slot, sizeof(Word), payload, kPayloadBytes);
      if (header.bulk) [[unlikely]] read_bulk(sender, in.read, payload);
      ++in.read;
      set_seen(sender, static_cast<std::uint8_t>(in.read));
      if (in.read - in.returned >= (slots_ + 1) / 2) return_credit(sender, in);
      if (header.bulk) [[unlikely]] {
        messages += hand_out_bulk(sender, header, on_line);
      } else if (on_line(sender, header, {payload, std::min<std::size_t>(header.bytes, kPayloadBytes)})) {
        ++messages;
      }
    }
    spoke_last_ = sender;
    if (messages == limit) next_ = static_cast<std::uint32_t>(sender.value() + 1) % out_.size();
    return messages;
  }

  // Bulk is out of the way of short messages, whose payload the compiler then follows from line to handler.
  // Copies the payload beside slot `number`, whose line says how long it is, before the slot is given back.
  [[gnu::noinline]] void read_bulk(EndpointId sender, Word number, const std::byte* line) {
    Word bytes = 0;
    std::memcpy(&bytes, line, sizeof bytes);
    bulk_.read(memory_, self(), bulk_line(sender, number), bytes);
  }
  template <typename OnLine>
  [[gnu::noinline]] int hand_out_bulk(EndpointId sender, const LineHeader& header, OnLine& on_line) {
    return on_line(sender, header, bulk_.content()) ? 1 : 0;
  }

  M memory_;
  const Layout layout_;
  const Word slots_;
  std::vector<Out> out_;
  std::vector<In> in_;
  std::vector<Unit> seen_;  // the vector as far as it was read, byte for byte
  EndpointId spoke_last_;
  std::uint32_t next_ = 0;  // the first sender of the next probe; 0 unless the last probe hit its limit
  NvpBulk<M> bulk_;
};

}  // namespace ingot::transport
