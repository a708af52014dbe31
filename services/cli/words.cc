#include "services/cli/words.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ingot::inline services_cli {

std::string join_or(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return absl::StrCat(absl::StrJoin(words.begin(), words.end() - 1, ", "), " or ", words.back());
}

std::string fault_in_choice(const std::string& given, const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), given) != allowed.end()) return "";
  return absl::StrCat("'", given, "' is not known here; use ", join_or(allowed));
}

std::string fault_in_number(const std::string& given, std::int64_t min, std::int64_t max) {
  std::int64_t number = 0;
  if (absl::SimpleAtoi(given, &number) && number >= min && number <= max) return "";
  const std::string range = max == std::numeric_limits<std::int64_t>::max() ? absl::StrCat(min, " or more")
                                                                            : absl::StrCat(min, " to ", max);
  return absl::StrCat("'", given, "' will not do; give a whole number, ", range);
}

}  // namespace ingot::services_cli
