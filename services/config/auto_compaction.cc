#include "services/config/auto_compaction.h"

#include <chrono>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "services/cli/duration.h"

namespace ingot::inline services_config {

namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kHoursMax = 100 * 365 * 24;  // as of a duration

absl::Status wrong(const std::string& retention, const char* right) {
  return absl::InvalidArgumentError(
      absl::StrCat("--auto-compaction-retention=", retention, " will not do; give ", right, ", or 0 for none"));
}

}  // namespace

absl::StatusOr<AutoCompaction> parse_auto_compaction(AutoCompactionMode mode, const std::string& retention) {
  std::int64_t number = 0;
  const bool is_number = absl::SimpleAtoi(retention, &number);
  if (mode == AutoCompactionMode::kRevision) {
    if (is_number && number >= 0) return AutoCompaction{mode, number};
    return wrong(retention, "a number of revisions, as in 1000");
  }
  if (is_number && number >= 0 && number <= kHoursMax) return AutoCompaction{mode, number * kHourMs};
  const auto duration = is_number ? absl::InvalidArgumentError("a number of hours") : parse_duration(retention);
  if (!duration.ok()) return wrong(retention, "a number of hours, or a duration as in 30m");
  return AutoCompaction{mode, std::chrono::ceil<std::chrono::milliseconds>(*duration).count()};
}

}  // namespace ingot::services_config
