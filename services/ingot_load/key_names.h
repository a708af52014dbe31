// The keys of a load: a prefix and the key's number in seven digits, so that keys sort by number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "services/ingot_load/limits.h"


namespace ingot::load {

inline constexpr std::size_t kKeyDigits = 7;
static_assert(kLoadKeysMax <= 10'000'000);

// Writes the name of key `index` into `out`, whose memory is reused.
inline void write_key(std::string_view prefix, std::uint32_t index, std::string& out) {
  out.assign(prefix);
  out.append(kKeyDigits, '0');
  for (std::size_t i = out.size(); index != 0; index /= 10) out[--i] = static_cast<char>('0' + index % 10);
}

inline std::string key_name(std::string_view prefix, std::uint32_t index) {
  std::string name;
  write_key(prefix, index, name);
  return name;
}

// The number in a key's name; nothing if the key does not have this prefix and form.
inline std::optional<std::uint32_t> key_index(std::string_view prefix, std::string_view name) {
  if (name.size() != prefix.size() + kKeyDigits || name.substr(0, prefix.size()) != prefix) return std::nullopt;
  std::uint32_t index = 0;
  for (const char c : name.substr(prefix.size())) {
    if (c < '0' || c > '9') return std::nullopt;
    index = index * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return index;
}

}  // namespace ingot::load
