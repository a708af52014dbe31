// The bulk areas of an NVP inbox: room beside each slot for a long part of a message.
//
// A slot and its area have one owner at a time: the sender writes the area before it publishes the slot, and the
// receiver reads it before it returns the slot's credit. So the areas need no order of their own, and an area that is
// half written when its sender dies is as invisible as a half-written slot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/gathered_message.h"
#include "core/types.h"
#include "transport/memory.h"

namespace ingot::inline transport {

// Copies in and out of the lines of areas, in pieces of a line. Used by its endpoint's thread only.
template <Memory M>
class NvpBulk {
 public:
  explicit NvpBulk(std::size_t area_bytes) : area_bytes_(area_bytes), read_(area_bytes) {}

  // The most that an area takes; 0: there are none.
  std::size_t area_bytes() const { return area_bytes_; }

  // REQUIRES: payload.size() <= area_bytes().
  void write(M& memory, EndpointId inbox, std::uint32_t first_line, const GatheredMessage& payload) {
    std::span<const std::byte> bytes = payload.body;
    if (!payload.header.empty()) {
      joined_.resize(payload.size());
      payload.copy_to(joined_.data());
      bytes = joined_;
    }
    for (std::size_t at = 0; at < bytes.size(); at += M::kLineBytes, ++first_line) {
      memory.copy_in(memory.line(inbox, first_line), 0, bytes.subspan(at, std::min(M::kLineBytes, bytes.size() - at)));
    }
  }

  // `bytes` comes from shared memory: no more than an area is read.
  void read(M& memory, EndpointId inbox, std::uint32_t first_line, Word bytes) {
    read_bytes_ = std::min<std::size_t>(bytes, area_bytes_);
    for (std::size_t at = 0; at < read_bytes_; at += M::kLineBytes, ++first_line) {
      memory.copy_out(memory.line(inbox, first_line), 0, read_.data() + at, M::kLineBytes);
    }
  }

  // What the last read has copied.
  std::span<const std::byte> content() const { return std::span(read_).first(read_bytes_); }

 private:
  const std::size_t area_bytes_;  // whole lines
  std::vector<std::byte> read_;
  std::size_t read_bytes_ = 0;
  std::vector<std::byte> joined_;  // at most an area
};

}  // namespace ingot::transport
