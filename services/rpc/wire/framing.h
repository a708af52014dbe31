// gRPC's length-prefixed messages: how they are told apart in a stream of bytes, and the prefix before each.
//
//     +------+----------------------+--------------------+
//     | flag | length (big-endian)  | message            |
//     +------+----------------------+--------------------+
//      1 byte  4 bytes                length bytes          flag: 0 as it is, 1 compressed as grpc-encoding says
//
// Source: gRPC over HTTP/2 (PROTOCOL-HTTP2.md), "Length-Prefixed-Message".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "services/rpc/wire/free_memory.h"
#include "services/rpc/wire/limits.h"

namespace ingot::rpc::inline wire {

using Prefix = std::array<char, kPrefixBytes>;

// The prefix of a message of `bytes`, at most 4 GiB - 1.
Prefix message_prefix(std::size_t bytes, bool compressed = false);

// Splits a stream's bytes into messages. A message that lies whole in the bytes given is not copied. Not thread-safe.
class MessageReader {
 public:
  enum class Result : std::uint8_t {
    kMore,       // all bytes are taken, and no message is complete
    kMessage,    // message() is the next one
    kTooLarge,   // the prefix announces announced_bytes(), which is more than the bound; nothing more can be read
    kMalformed,  // the flag is neither 0 nor 1; nothing more can be read
  };

  explicit MessageReader(std::size_t message_bytes_max) : message_bytes_max_(message_bytes_max) {}

  // Takes bytes from the front of `bytes`, up to the end of the next message.
  Result read(std::string_view& bytes);

  // After kMessage, until the next call; it may point into the bytes that were given to read().
  std::string_view message() const { return message_; }
  bool compressed() const { return compressed_; }
  // After kTooLarge.
  std::size_t announced_bytes() const { return announced_; }

  // False: a message has begun and is not complete. At a stream's end that is a fault.
  bool between_messages() const { return prefix_read_ == 0; }
  // Bytes that are kept here of an incomplete message, or of message() if it was not given in one piece.
  std::size_t kept_bytes() const { return kept_.size(); }

  // Forgets the message that was handed out, and frees what was kept of it.
  void reset_message() {
    if (delivered_) free_memory(kept_);
    delivered_ = false;
    message_ = {};
  }
  // Forgets the stream; capacity is kept only if it is at most `capacity_bytes`.
  void reset(std::size_t message_bytes_max, std::size_t capacity_bytes);

 private:
  bool read_prefix(std::string_view& bytes);

  std::size_t message_bytes_max_;
  Prefix prefix_{};
  std::size_t prefix_read_ = 0;  // bytes of prefix_; 0 between messages
  std::size_t announced_ = 0;    // once the prefix is complete
  bool compressed_ = false;
  bool delivered_ = false;  // kept_ holds a message that was handed out
  std::string kept_;        // the beginning of a message
  std::string_view message_;
};

}  // namespace ingot::rpc::wire
