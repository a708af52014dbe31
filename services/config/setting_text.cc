#include "services/config/setting_text.h"

#include <chrono>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "services/cli/duration.h"

namespace ingot::inline services_config {

namespace {

using settings::Range;

absl::Status refusal(const std::string& fault) {
  return fault.empty() ? absl::OkStatus() : absl::InvalidArgumentError(fault);
}

template <typename Number>
absl::Status parse_number(const Range& range, const std::string& text, Number& value) {
  using Limits = std::numeric_limits<Number>;
  Number parsed{};
  // The largest int64 means that there is no upper bound, for std::uint64_t as well.
  const bool right = absl::SimpleAtoi(text, &parsed) && std::cmp_greater_equal(parsed, range.min) &&
                     (std::cmp_less_equal(parsed, range.max) || range.max == std::numeric_limits<std::int64_t>::max());
  if (!right) {
    const std::int64_t least = std::cmp_less(range.min, Limits::min()) ? static_cast<std::int64_t>(Limits::min())
                                                                       : range.min;
    const std::string fault = fault_in_number(text, least, range.max);
    return absl::InvalidArgumentError(fault.empty() ? absl::StrCat("'", text, "' is too large") : fault);
  }
  value = parsed;
  return absl::OkStatus();
}

// "1GiB is 1073741824", or nothing: the text is no number with a unit of bytes.
std::string in_bytes(const std::string& text) {
  constexpr std::pair<const char*, std::int64_t> kUnits[] = {
      {"KiB", 1 << 10}, {"Ki", 1 << 10},   {"K", 1 << 10},           {"kB", 1'000},         {"KB", 1'000},
      {"MiB", 1 << 20}, {"Mi", 1 << 20},   {"M", 1 << 20},           {"MB", 1'000'000},     {"GiB", 1 << 30},
      {"Gi", 1 << 30},  {"G", 1 << 30},    {"GB", 1'000'000'000},    {"TiB", 1LL << 40},    {"Ti", 1LL << 40},
      {"T", 1LL << 40}, {"B", 1}};
  constexpr std::int64_t kNumberMax = 1'000'000;
  for (const auto& [unit, bytes] : kUnits) {
    absl::string_view number = text;
    std::int64_t parsed = 0;
    if (!absl::ConsumeSuffix(&number, unit) || !absl::SimpleAtoi(number, &parsed) || parsed < 0) continue;
    if (parsed <= kNumberMax) return absl::StrCat(text, " is ", parsed * bytes);
  }
  return "";
}

}  // namespace

std::string setting_text(const Range&, bool value) { return value ? "on" : "off"; }
std::string setting_text(const Range&, int value) { return std::to_string(value); }
std::string setting_text(const Range&, std::uint64_t value) { return std::to_string(value); }
std::string setting_text(const Range&, const std::string& value) { return value; }
std::string setting_text(const Range&, const std::vector<int>& value) { return absl::StrJoin(value, ","); }

std::string setting_text(const Range& range, std::int64_t value) {
  return range.duration ? format_duration(std::chrono::milliseconds(value)) : std::to_string(value);
}

absl::Status parse_setting(const Range&, const std::string& text, bool& value) {
  if (auto status = refusal(fault_in_choice(text, {"on", "off"})); !status.ok()) return status;
  value = text == "on";
  return absl::OkStatus();
}

absl::Status parse_setting(const Range& range, const std::string& text, int& value) {
  return parse_number(range, text, value);
}

absl::Status parse_setting(const Range& range, const std::string& text, std::uint64_t& value) {
  return parse_number(range, text, value);
}

absl::Status parse_setting(const Range& range, const std::string& text, std::int64_t& value) {
  if (range.bytes) {
    const absl::Status status = parse_number(range, text, value);
    const std::string meant = status.ok() ? "" : in_bytes(text);
    if (meant.empty()) return status;
    return refusal(absl::StrCat("'", text, "' will not do; give the number of bytes: ", meant));
  }
  if (!range.duration) return parse_number(range, text, value);
  const auto parsed = parse_duration(text);
  if (parsed.ok()) value = std::chrono::ceil<std::chrono::milliseconds>(*parsed).count();
  return parsed.status();
}

absl::Status parse_setting(const Range& range, const std::string& text, std::string& value) {
  if (range.fault != nullptr) {
    if (auto status = refusal(range.fault(text)); !status.ok()) return status;
  }
  value = text;
  return absl::OkStatus();
}

absl::Status parse_setting(const Range& range, const std::string& text, std::vector<int>& value) {
  std::vector<int> parsed;
  for (const auto& part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    if (auto status = parse_number(range, std::string(part), parsed.emplace_back()); !status.ok()) return status;
  }
  value = std::move(parsed);
  return absl::OkStatus();
}

}  // namespace ingot::services_config
