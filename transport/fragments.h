// Messages on lines: a line's header, and how a long message is divided into lines and reassembled.
//
// A line carries one header word and a fragment of one message:
//
//    bits 31..16   15..11   10     9      8       7..0
//        sender    0        bulk   last   first   payload bytes in this line
//
// bulk: the payload lies beside the line, and the line carries its length (nvp_bulk.h).
// The fragments of one sender's messages arrive in order and never mixed, since a channel is FIFO per sender and a
// sender finishes a message before it begins the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/gathered_message.h"
#include "core/limits.h"
#include "core/types.h"
#include "transport/limits.h"
#include "transport/memory.h"

namespace ingot::inline transport {

struct LineHeader {
  EndpointId sender;
  bool first = true;
  bool last = true;
  std::uint8_t bytes = 0;
  bool bulk = false;

  constexpr Word encode() const {
    return Word{sender.value()} << 16 | Word{bulk} << 10 | Word{last} << 9 | Word{first} << 8 | bytes;
  }
  static constexpr LineHeader decode(Word word) {
    return {EndpointId(static_cast<std::uint16_t>(word >> 16)), (word >> 8 & 1) != 0, (word >> 9 & 1) != 0,
            static_cast<std::uint8_t>(word), (word >> 10 & 1) != 0};
  }
};

static_assert(LineHeader::decode(LineHeader{EndpointId(65535), false, true, 60}.encode()).sender == EndpointId(65535));

// Reassembles the messages of one sender. Holds at most kMessageBytesMax bytes. Not thread-safe.
class Reassembly {
 public:
  // Takes the next line. Returns true if it completed a message: `message` is then valid until the next call or until
  // `payload` is destroyed. A continuation without a first fragment is dropped: its first fragment went to an earlier
  // incarnation. A first fragment drops an unfinished message: its sender's earlier incarnation died before the end.
  bool add(const LineHeader& header, std::span<const std::byte> payload, std::span<const std::byte>& message) {
    if (header.first) {
      open_ = !header.last;
      if (header.last) {
        message = payload;
        return true;
      }
      buffer_.clear();
    }
    return open_ && append(header, payload, message);
  }

  // Drops an unfinished message.
  void reset() {
    open_ = false;
    buffer_ = {};
  }

 private:
  bool append(const LineHeader& header, std::span<const std::byte> payload, std::span<const std::byte>& message) {
    if (buffer_.size() + payload.size() > kMessageBytesMax) {
      reset();  // no correct sender writes this; a corrupt one cannot make the buffer grow
      return false;
    }
    // The memory of an earlier large message is freed before the next one grows.
    if (buffer_.empty() && buffer_.capacity() > kReassemblyKeepBytes) buffer_.shrink_to_fit();
    buffer_.insert(buffer_.end(), payload.begin(), payload.end());
    if (!header.last) return false;
    open_ = false;
    message = buffer_;
    return true;
  }

  std::vector<std::byte> buffer_;
  bool open_ = false;
};

// The rest of one message that did not fit in the channel, for one destination. Not thread-safe.
class StagedMessage {
 public:
  bool empty() const { return sent_ == bytes_.size(); }

  // REQUIRES: empty().
  void stage(const GatheredMessage& rest) {
    bytes_.assign(rest.header.begin(), rest.header.end());
    bytes_.insert(bytes_.end(), rest.body.begin(), rest.body.end());
    sent_ = 0;
  }
  std::span<const std::byte> rest() const { return std::span(bytes_).subspan(sent_); }
  void advance(std::size_t bytes) {
    sent_ += bytes;
    if (empty()) clear();
  }
  void clear() {
    bytes_.clear();
    sent_ = 0;
    if (bytes_.capacity() > kReassemblyKeepBytes) bytes_.shrink_to_fit();
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t sent_ = 0;
};

}  // namespace ingot::transport
