#include "services/rpc/wire/timeout.h"

#include <array>
#include <limits>

#include "services/rpc/wire/limits.h"

namespace ingot::rpc::inline wire {
namespace {

struct Unit {
  char letter;
  std::uint64_t ns;
};

constexpr std::array<Unit, 6> kUnits = {
    {{'n', 1}, {'u', 1'000}, {'m', 1'000'000}, {'S', 1'000'000'000}, {'M', 60'000'000'000}, {'H', 3'600'000'000'000}}};
constexpr std::uint64_t kNumberMax = 99'999'999;  // kTimeoutDigitsMax digits

}  // namespace

std::optional<std::uint64_t> parse_timeout(std::string_view text) {
  if (text.size() < 2 || text.size() > kTimeoutDigitsMax + 1) return std::nullopt;
  std::uint64_t number = 0;
  for (const char digit : text.substr(0, text.size() - 1)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  for (const Unit& unit : kUnits) {
    if (unit.letter != text.back()) continue;
    const bool fits = number <= std::numeric_limits<std::uint64_t>::max() / unit.ns;
    return fits ? number * unit.ns : std::numeric_limits<std::uint64_t>::max();
  }
  return std::nullopt;
}

std::string format_timeout(std::uint64_t timeout_ns) {
  for (const Unit& unit : kUnits) {
    const std::uint64_t number = timeout_ns / unit.ns + (timeout_ns % unit.ns != 0 ? 1 : 0);
    if (number <= kNumberMax) return std::to_string(number) + unit.letter;
  }
  return std::to_string(kNumberMax) + "H";
}

}  // namespace ingot::rpc::wire
