// The layout of an SRBP inbox.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/check.h"
#include "transport/limits.h"
#include "transport/memory.h"

namespace ingot::inline transport {

// An inbox, by lines, for S endpoints, a quota of Q tickets each and K places:
//
//    ticket      the Ticket, alone on its line
//    head        word 0: tickets below it are consumed or parked. Written by the receiver
//    given_up    S words: word s is the number of tickets that sender s has given up. Written by s
//    which       S words: word s is the last such ticket. Written by s before given_up
//    known       S words: word s is the number of these that the receiver has noted. Written by the receiver
//    blocked     K bytes: byte p is 1 while place p must not be used. Written by the receiver
//    places      K lines: word 0 is 1 + the ticket of the line, word 1 the LineHeader, payload behind them
//
// The place of ticket t is t mod K.
struct SrbpLayout {
  int endpoints;           // S: 1 to kChannelEndpointsMax
  int tickets_per_sender;  // Q: unconsumed tickets that one sender may hold: a power of two
  int polls_per_scan = kSrbpPollsPerScan;  // before it looks for holes; not part of the layout

  constexpr Word places() const { return std::bit_ceil(static_cast<Word>(endpoints * tickets_per_sender)); }

  static constexpr std::uint32_t ticket_line() { return 0; }
  static constexpr std::uint32_t head_line() { return 1; }
  static constexpr std::uint32_t given_up_line() { return 2; }
  constexpr std::uint32_t which_line(std::size_t line_bytes) const { return given_up_line() + word_lines(line_bytes); }
  constexpr std::uint32_t known_line(std::size_t line_bytes) const {
    return which_line(line_bytes) + word_lines(line_bytes);
  }
  constexpr std::uint32_t blocked_line(std::size_t line_bytes) const {
    return known_line(line_bytes) + word_lines(line_bytes);
  }
  constexpr std::uint32_t first_place(std::size_t line_bytes) const {
    return blocked_line(line_bytes) + lines_for(places(), line_bytes);
  }
  constexpr std::uint32_t inbox_lines(std::size_t line_bytes) const { return first_place(line_bytes) + places(); }

 private:
  constexpr std::uint32_t word_lines(std::size_t line_bytes) const {
    return lines_for(sizeof(Word) * static_cast<std::size_t>(endpoints), line_bytes);
  }
  static constexpr std::uint32_t lines_for(std::size_t bytes, std::size_t line_bytes) {
    return static_cast<std::uint32_t>((bytes + line_bytes - 1) / line_bytes);
  }
};

// The layout on a machine: lines and cells by their roles.
template <Memory M>
class SrbpPlaces {
 public:
  static constexpr std::size_t kPayloadOffset = 2 * sizeof(Word);
  static constexpr std::size_t kPayloadBytes = M::kLineBytes - kPayloadOffset;

  explicit SrbpPlaces(const SrbpLayout& layout)
      : layout_(layout),
        mask_(layout.places() - 1),
        which_(layout.which_line(M::kLineBytes)),
        known_(layout.known_line(M::kLineBytes)),
        blocked_(layout.blocked_line(M::kLineBytes)),
        first_place_(layout.first_place(M::kLineBytes)) {
    INGOT_CHECK(layout.endpoints >= 1 && layout.endpoints <= kChannelEndpointsMax);
    INGOT_CHECK(std::has_single_bit(static_cast<Word>(layout.tickets_per_sender)));
  }

  const SrbpLayout& layout() const { return layout_; }
  Word count() const { return mask_ + 1; }
  Word place_of(Word ticket) const { return ticket & mask_; }

  auto place(M& memory, EndpointId inbox, Word ticket) const {
    return memory.line(inbox, first_place_ + place_of(ticket));
  }
  auto blocked_line(M& memory, EndpointId inbox, Word ticket) const {
    return memory.line(inbox, blocked_ + place_of(ticket) / static_cast<Word>(M::kLineBytes));
  }
  Word blocked_byte(Word ticket) const { return place_of(ticket) % static_cast<Word>(M::kLineBytes); }

  auto ticket(M& memory, EndpointId inbox) const { return memory.line(inbox, SrbpLayout::ticket_line()); }
  auto head(M& memory, EndpointId inbox) const { return memory.line(inbox, SrbpLayout::head_line()); }
  auto given_up(M& memory, EndpointId inbox, EndpointId sender) const {
    return memory.line(inbox, SrbpLayout::given_up_line() + sender.value() / kWordsPerLine);
  }
  auto which(M& memory, EndpointId inbox, EndpointId sender) const {
    return memory.line(inbox, which_ + sender.value() / kWordsPerLine);
  }
  auto known(M& memory, EndpointId inbox, EndpointId sender) const {
    return memory.line(inbox, known_ + sender.value() / kWordsPerLine);
  }
  static Word word_of(EndpointId sender) { return sender.value() % kWordsPerLine; }

 private:
  static constexpr std::uint32_t kWordsPerLine = M::kLineBytes / sizeof(Word);

  SrbpLayout layout_;
  Word mask_;
  std::uint32_t which_, known_, blocked_, first_place_;
};

}  // namespace ingot::transport
