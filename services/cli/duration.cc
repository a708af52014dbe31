#include "services/cli/duration.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace ingot::inline services_cli {

absl::StatusOr<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  absl::Duration parsed;
  if (!absl::ParseDuration(std::string(text), &parsed)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", std::string(text), "' is not a duration; write a number with its unit, as in 250ms or 20s"));
  }
  if (parsed < absl::ZeroDuration() || parsed > absl::Hours(24 * 365 * 100)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", std::string(text), "' is out of range; a duration is 0s to 100 years"));
  }
  return absl::ToChronoNanoseconds(parsed);
}

std::string format_duration(std::chrono::nanoseconds duration) {
  return duration.count() == 0 ? "0s" : absl::FormatDuration(absl::FromChrono(duration));
}

CLI::Option* add_duration(CLI::App& app, const std::string& name, std::chrono::nanoseconds& value,
                          const std::string& help) {
  const auto store = [&value](const std::string& text) {
    const absl::StatusOr<std::chrono::nanoseconds> parsed = parse_duration(text);
    if (parsed.ok()) value = *parsed;
    return parsed.ok();
  };
  const auto check = [](const std::string& text) {
    return std::string(parse_duration(text).status().message());
  };
  return app.add_option_function<std::string>(name, store, help)
      ->check(CLI::Validator(check, ""))
      ->type_name("DURATION")
      ->default_str(format_duration(value));
}

}  // namespace ingot::services_cli
