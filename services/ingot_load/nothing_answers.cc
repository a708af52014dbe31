#include "services/ingot_load/nothing_answers.h"

#include "absl/strings/str_cat.h"
#include "services/cli/duration.h"

namespace ingot::load {

absl::Status nothing_answers(const std::string& endpoint, std::chrono::nanoseconds timeout) {
  return absl::UnavailableError(absl::StrCat("nothing answers on ", endpoint, " within ", format_duration(timeout),
                                             "; start ingotd, or name its address with --endpoint"));
}

}  // namespace ingot::load
