// Follows keys in an instance's view, for `watch --view`.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "services/ingotctl/options.h"
#include "services/ingotctl/verbs/key_range.h"

namespace ingot::inline services_ingotctl_verbs {

// Prints each change of the keys as the view comes to show it, a key that changes several times meanwhile once, at its
// newest state. From `revision` on; 0: from now on. Ends after `count` changes; 0: never. Goes on over publishers and
// generations; what a publisher's death took from the view's log is found by comparing keys. Errors: one sentence.
absl::Status watch_view(const CtlOptions& options, const KeyArguments& keys, std::int64_t revision, std::int64_t count);

}  // namespace ingot::services_ingotctl_verbs
