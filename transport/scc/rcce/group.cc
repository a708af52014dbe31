#include "transport/scc/rcce/group.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ingot::scc::inline transport_scc_rcce {

absl::StatusOr<Group> Group::create(std::span<const int> cores) {
  if (cores.empty()) return absl::InvalidArgumentError("a group has at least one core");
  Group group;
  group.cores_.assign(cores.begin(), cores.end());
  std::sort(group.cores_.begin(), group.cores_.end());
  for (std::size_t i = 0; i < group.cores_.size(); ++i) {
    const int core = group.cores_[i];
    if (!is_core(core)) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no core ", core, ": cores are numbered from 0 to ", kCores - 1));
    }
    if (i != 0 && group.cores_[i - 1] == core) {
      return absl::InvalidArgumentError(absl::StrCat("core ", core, " is named twice: name each core once"));
    }
    group.ranks_[static_cast<std::size_t>(core)] = static_cast<std::int8_t>(i);
  }
  return group;
}

Group Group::first(int n) {
  INGOT_CHECK(n >= 1 && n <= kCores, "a chip has 48 cores");
  Group group;
  for (int core = 0; core < n; ++core) {
    group.cores_.push_back(core);
    group.ranks_[static_cast<std::size_t>(core)] = static_cast<std::int8_t>(core);
  }
  return group;
}

}  // namespace ingot::scc::transport_scc_rcce
