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

void append_base64(std::string& text, std::string_view bytes) {
  text.reserve(text.size() + (bytes.size() + 2) / 3 * 4);
  const auto octet = [&bytes](std::size_t i) { return std::uint32_t{static_cast<std::uint8_t>(bytes[i])}; };
  const auto digit = [](std::uint32_t bits, int shift) { return kDigits[bits >> shift & 63]; };
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const std::uint32_t bits = octet(i) << 16 | octet(i + 1) << 8 | octet(i + 2);
    const char group[] = {digit(bits, 18), digit(bits, 12), digit(bits, 6), digit(bits, 0)};
    text.append(group, sizeof group);
  }
  if (i + 1 == bytes.size()) {
    const std::uint32_t bits = octet(i) << 16;
    text.append({digit(bits, 18), digit(bits, 12), '=', '='});
  } else if (i + 2 == bytes.size()) {
    const std::uint32_t bits = octet(i) << 16 | octet(i + 1) << 8;
    text.append({digit(bits, 18), digit(bits, 12), digit(bits, 6), '='});
  }
}

}  // namespace ingot::rpc::json
