// Enumerations whose values have names for people: on command lines, in files, in metrics. Thread-safe.
//
// The names are next to the enumeration, by value from 0 on, in a function found by argument-dependent lookup:
//
//   enum class Color : std::uint8_t { kRed, kGreen };
//   constexpr std::array<const char*, 2> enum_names(Color) { return {"red", "green"}; }
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

namespace ingot::inline core {

template <typename T>
concept NamedEnum = std::is_enum_v<T> && requires(T value) { enum_names(value).size(); };

// REQUIRES: the value is one of the enumerators.
template <NamedEnum Enum>
constexpr const char* name_of(Enum value) {
  return enum_names(value)[static_cast<std::size_t>(value)];
}

// Nothing if no value has that name.
template <NamedEnum Enum>
constexpr std::optional<Enum> value_of(std::string_view name) {
  const auto names = enum_names(Enum{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace ingot::core
