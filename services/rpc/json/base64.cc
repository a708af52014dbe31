#include "services/rpc/json/base64.h"

#include <cstddef>

namespace ingot::rpc::inline json {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<std::uint8_t>(kDigits[i])] = static_cast<std::uint8_t>(i);
  }
  values[static_cast<std::uint8_t>('-')] = 62;
  values[static_cast<std::uint8_t>('_')] = 63;
  return values;
}

constexpr std::array<std::uint8_t, 256> kValues = make_values();

}  // namespace

bool Base64Decoder::read(std::string_view text, std::string& bytes) {
  for (const char each : text) {
    const std::uint8_t value = kValues[static_cast<std::uint8_t>(each)];
    if (value != kNoDigit) {
      if (padding_ > 0) return false;
      bits_ = bits_ << 6 | value;
      if (++digits_ < 4) continue;
      const char group[] = {static_cast<char>(bits_ >> 16), static_cast<char>(bits_ >> 8), static_cast<char>(bits_)};
      bytes.append(group, sizeof group);
      digits_ = 0;
    } else if (each == '=') {
      if (digits_ < 2 || digits_ + ++padding_ > 4) return false;
    } else if (each != '\n' && each != '\r') {
      return false;
    }
  }
  return true;
}

bool Base64Decoder::end(std::string& bytes) {
  const bool whole = digits_ == 0 || (digits_ > 1 && (padding_ == 0 || digits_ + padding_ == 4));
  if (digits_ == 2) bytes.push_back(static_cast<char>(bits_ >> 4));
  if (digits_ == 3) bytes.append({static_cast<char>(bits_ >> 10), static_cast<char>(bits_ >> 2)});
  *this = {};
  return whole;
}

}  // namespace ingot::rpc::json
