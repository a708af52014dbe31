// Arguments and results as bytes: plain values, strings, and vectors of plain values.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/wire.h"

namespace ingot::inline transport_collectives_groups {

template <typename T>
concept PlainValue = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_same_v<T, std::string_view>;

template <typename T>
struct Marshal {
  static_assert(PlainValue<T>, "arguments and results are plain values, strings, or vectors of plain values");
  static void write(WireWriter& out, const T& value) {
    out.raw({reinterpret_cast<const char*>(&value), sizeof value});
  }
  static T read(WireReader& in) {
    T value{};
    const std::string_view bytes = in.raw(sizeof value);
    if (!in.failed()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
};

template <>
struct Marshal<std::string> {
  static void write(WireWriter& out, const std::string& value) { out.bytes(value); }
  static std::string read(WireReader& in) { return std::string(in.bytes()); }
};

template <PlainValue T>
struct Marshal<std::vector<T>> {
  static void write(WireWriter& out, const std::vector<T>& values) {
    out.bytes({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }
  static std::vector<T> read(WireReader& in) {
    const std::string_view bytes = in.bytes();
    if (bytes.size() % sizeof(T) != 0) in.fail();
    std::vector<T> values(in.failed() ? 0 : bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

}  // namespace ingot::transport_collectives_groups
