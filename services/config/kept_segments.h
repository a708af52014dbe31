// Stable segments of ended incarnations, in words.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "replication/pages/page_access.h"
#include "services/config/limits.h"

namespace ingot::inline services_config {

// A sentence for the log and the status while writes wait for a snapshot, with the bound that is passed; if both are,
// the one that no flag raises. REQUIRES: `kept` is KeptSegments::kFull.
inline std::string describe_kept_full(const KeptSummary& kept, int kept_segments_mib) {
  constexpr std::uint64_t kBytesPerMib = 1024 * 1024;
  const std::string bound =
      kept.segments > kKeptSegmentsMax
          ? absl::StrCat("beyond ", kKeptSegmentsMax, " writes wait, whatever --kept-segments-mib is")
          : absl::StrCat("--kept-segments-mib is ", kept_segments_mib);
  return absl::StrCat("writes wait until a snapshot is published: ", kept.bytes / kBytesPerMib, " MiB in ",
                      kept.segments, kept.segments == 1 ? " stable segment" : " stable segments",
                      " of ended incarnations ", kept.segments == 1 ? "is" : "are", " kept until then; ", bound);
}

}  // namespace ingot::services_config
