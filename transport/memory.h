// The compile-time seam below messages: what a machine must provide so that the channel protocols run on it.
//
// A machine is any class that satisfies the concept Memory. Channels are templates over it, so that on the host every
// operation is one instruction. Each endpoint has an inbox: lines near it that every endpoint can reach. A line is made
// of words and bytes, and is used as cells or as payload, never both at the same offset:
//
//  * Word    32 bits, aligned (the SCC's and the futex's size)
//  * Byte    8 bits; a byte store never disturbs its neighbours: NVP depends on it
//  * payload any bytes of a line behind its cells: copied in and out, ordered by the cells alone
//  * Ticket  the only read-modify-write: draw() returns 0, 1, 2, ... modulo 2^32 over all callers
//
// A machine need not be coherent. What it promises:
//
//  * load(cell, acquire): if it returns a value that was stored with release, no later access of this core finds data
//    older than what the writer saw at that store.
//  * load(cell, relaxed) may return an earlier value of that cell, but never one older than this core has already seen
//    there. A core that keeps loading with acquire eventually sees the newest value.
//  * store(cell, v, release): every earlier store of this core is in memory before v is, and every earlier load has
//    been done. v itself reaches memory soon, unless the core dies.
//  * store(cell, v, relaxed) and copy_in may stay in a private buffer until the next release, fence or draw.
//  * copy_in and copy_out are plain: two of them on the same line from different cores, at least one of them copy_in,
//    must be ordered by a release and an acquire. A machine may report a violation.
//  * read_line copies a line of cells, each loaded with acquire. The cells need not be of one instant.
//  * store_load_fence(): all earlier stores are in memory before any later load reads.
//  * draw has acquire and release: a draw comes after all draws that returned smaller numbers, and sees all that was
//    visible to their callers.
//
// Orders are given by site (transport/sites.h). Zero-filled memory is a valid initial state of every structure built on
// this. Waiting is not part of the seam: it belongs to the event loop.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/types.h"
#include "transport/sites.h"

namespace ingot::inline transport {

using Word = std::uint32_t;

// One object per endpoint, used by its thread only. Line is a cheap handle of one line, valid as long as the memory.
template <typename M>
concept Memory = requires(M& memory, const typename M::Line& line, std::uint32_t index, Word word, std::uint8_t byte,
                          std::span<const std::byte> in, std::byte* out, Site site) {
  requires M::kLineBytes >= 32 && M::kLineBytes <= 128 && (M::kLineBytes & (M::kLineBytes - 1)) == 0;

  // The length of that endpoint's inbox in lines, and line `index` of it.
  // REQUIRES: index < inbox_lines.
  { memory.inbox_lines(EndpointId()) } -> std::same_as<std::uint32_t>;
  { memory.line(EndpointId(), index) } -> std::same_as<typename M::Line>;

  // Word or byte number `index` of the line.
  { memory.load_word(line, index, site) } -> std::same_as<Word>;
  { memory.store_word(line, index, word, site) } -> std::same_as<void>;
  { memory.load_byte(line, index, site) } -> std::same_as<std::uint8_t>;
  { memory.store_byte(line, index, byte, site) } -> std::same_as<void>;

  // The whole line, kLineBytes, as byte cells.
  { memory.read_line(line, out, site) } -> std::same_as<void>;

  // Payload from byte `index` of the line on; the length is that of the last argument.
  { memory.copy_in(line, index, in) } -> std::same_as<void>;
  { memory.copy_out(line, index, out, std::size_t()) } -> std::same_as<void>;

  // The ticket counter kept in (or for) this line, which holds nothing else. `acquire` and `release` are its sites.
  { memory.draw(line, site, site) } -> std::same_as<Word>;

  { memory.store_load_fence() } -> std::same_as<void>;

  // A hint that this endpoint will read the line soon; it orders nothing.
  { memory.prefetch(line) } -> std::same_as<void>;

  { memory.self() } -> std::same_as<EndpointId>;
  { memory.now() } -> std::same_as<Cycles>;
};

}  // namespace ingot::transport
