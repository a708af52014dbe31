// A message that waits to be sent, perhaps to several receivers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/check.h"
#include "core/gathered_message.h"
#include "core/wire.h"

namespace ingot::inline replication_requests {

// A short header in place, and a body that is shared: with the message's other receivers, and with its sender, so that
// a command is sent from where the sender keeps it. Copies of the object share the body. Not thread-safe.
class SharedMessage {
 public:
  static constexpr std::size_t kHeaderBytesMax = 40;

  SharedMessage() = default;
  // A message without a header: all bytes are the body.
  explicit SharedMessage(std::shared_ptr<const std::string> body) : body_(std::move(body)) {}
  // With a header that `write` writes as WireWriter does, and a body that may be null: then there is none.
  template <typename Write>
  SharedMessage(Write&& write, std::shared_ptr<const std::string> body) : body_(std::move(body)) {
    BasicWireWriter<Header> out{Header(header_)};
    write(out);
    header_bytes_ = static_cast<std::uint8_t>(out.size());
  }

  std::size_t size() const { return header_bytes_ + (body_ ? body_->size() : 0); }
  std::string joined() const { return view().joined(); }
  // Valid as long as this object.
  GatheredMessage view() const {
    return {std::span(header_).first(header_bytes_), body_ ? as_bytes(*body_) : std::span<const std::byte>{}};
  }

 private:
  using HeaderBytes = std::array<std::byte, kHeaderBytesMax>;

  // Appends in place, as a string would.
  class Header {
   public:
    explicit Header(HeaderBytes& bytes) : bytes_(&bytes) {}
    void append(const char* bytes, std::size_t count) {
      INGOT_CHECK(size_ + count <= kHeaderBytesMax);
      std::memcpy(bytes_->data() + size_, bytes, count);
      size_ += count;
    }
    std::size_t size() const { return size_; }

   private:
    HeaderBytes* bytes_;
    std::size_t size_ = 0;
  };

  HeaderBytes header_;  // only the first header_bytes_ are used
  std::uint8_t header_bytes_ = 0;
  std::shared_ptr<const std::string> body_;
};

}  // namespace ingot::replication_requests
