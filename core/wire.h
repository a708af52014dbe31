// Reading and writing messages: fixed-width little-endian integers and length-prefixed bytes.
//
//   u8 u16 u32 u64     that many bits, little-endian
//   bytes              u32 length, then the bytes
//
// A writer never fails. A reader never reads past its input: the first read that would do so sets failed(), and it and
// all later reads return zero or empty. So a decoder reads all its fields and checks ok() once, at the end.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ingot::inline core {

static_assert(std::endian::native == std::endian::little, "the wire is little-endian; port core/wire.h first");

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

inline std::string_view as_view(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Appends to an Out that it owns: a string, or what appends like one. Not thread-safe.
template <typename Out>
class BasicWireWriter {
 public:
  BasicWireWriter() = default;
  explicit BasicWireWriter(std::size_t reserve_bytes) { out_.reserve(reserve_bytes); }
  // Appends to these bytes; take() returns them with the rest.
  explicit BasicWireWriter(Out&& before) : out_(std::move(before)) {}

  BasicWireWriter& u8(std::uint8_t v) { return put(v); }
  BasicWireWriter& u16(std::uint16_t v) { return put(v); }
  BasicWireWriter& u32(std::uint32_t v) { return put(v); }
  BasicWireWriter& u64(std::uint64_t v) { return put(v); }
  BasicWireWriter& i64(std::int64_t v) { return put(static_cast<std::uint64_t>(v)); }

  BasicWireWriter& bytes(std::string_view v) {
    put(static_cast<std::uint32_t>(v.size()));
    return raw(v);
  }
  // Without a length: only as the last field of a message.
  BasicWireWriter& raw(std::string_view v) {
    out_.append(v);
    return *this;
  }

  std::size_t size() const { return out_.size(); }
  Out take() { return std::move(out_); }
  void clear() { out_.clear(); }  // keeps the capacity
  const Out& view() const { return out_; }

 private:
  template <std::unsigned_integral T>
  BasicWireWriter& put(T v) {
    char raw[sizeof v];
    std::memcpy(raw, &v, sizeof v);
    out_.append(raw, sizeof v);
    return *this;
  }

  Out out_;
};

using WireWriter = BasicWireWriter<std::string>;

// Reads from memory that outlives it and all views that it returns. Not thread-safe.
class WireReader {
 public:
  explicit WireReader(std::string_view in) : in_(in) {}
  explicit WireReader(std::span<const std::byte> in) : in_(as_view(in)) {}

  std::uint8_t u8() { return get<std::uint8_t>(); }
  std::uint16_t u16() { return get<std::uint16_t>(); }
  std::uint32_t u32() { return get<std::uint32_t>(); }
  std::uint64_t u64() { return get<std::uint64_t>(); }
  std::int64_t i64() { return static_cast<std::int64_t>(get<std::uint64_t>()); }

  std::string_view bytes() { return raw(u32()); }
  std::string_view raw(std::size_t n) {
    if (n > in_.size()) {
      fail();
      return {};
    }
    const std::string_view result = in_.substr(0, n);
    in_.remove_prefix(n);
    return result;
  }
  std::string_view rest() { return raw(in_.size()); }

  void fail() {
    failed_ = true;
    in_ = {};
  }
  bool failed() const { return failed_; }
  std::size_t remaining() const { return in_.size(); }
  // True if every read succeeded and no bytes are left.
  bool ok() const { return !failed_ && in_.empty(); }

 private:
  template <std::unsigned_integral T>
  T get() {
    T v{};
    const std::string_view field = raw(sizeof v);
    if (!failed_) std::memcpy(&v, field.data(), sizeof v);
    return failed_ ? T{} : v;
  }

  std::string_view in_;
  bool failed_ = false;
};

}  // namespace ingot::core
