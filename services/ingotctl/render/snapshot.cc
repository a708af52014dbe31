#include "services/ingotctl/render/snapshot.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "services/cli/utf8.h"

namespace ingot::inline services_ingotctl_render {
namespace {

std::string made(const BackupHeader& header) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixMillis(header.made_unix_ms), absl::UTCTimeZone());
}

std::string hexadecimal(std::uint64_t id) { return absl::StrCat(absl::Hex(id)); }

}  // namespace

std::string snapshot_text(const SnapshotSummary& summary) {
  const BackupHeader& header = summary.header;
  std::string text = absl::StrCat("file      ", printable(summary.file), "\nmade      ", made(header));
  absl::StrAppend(&text, "\nrevision  ", header.revision);
  absl::StrAppend(&text, "\ncompacted ", header.compacted < 0 ? "never" : absl::StrCat(header.compacted));
  absl::StrAppend(&text, "\nkeys      ", summary.keys, " (", summary.versions, " versions)");
  absl::StrAppend(&text, "\nleases    ", summary.leases, "\nbytes     ", summary.file_bytes);
  absl::StrAppend(&text, "\ncluster   ", hexadecimal(header.cluster_id), "\nSHA-256   ", summary.sha256, "\n");
  return text;
}

std::string snapshot_json(const SnapshotSummary& summary) {
  const BackupHeader& header = summary.header;
  return nlohmann::ordered_json{{"file", summary.file},
                                {"made", made(header)},
                                {"revision", header.revision},
                                {"compacted", header.compacted},
                                {"keys", summary.keys},
                                {"versions", summary.versions},
                                {"leases", summary.leases},
                                {"bytes", summary.file_bytes},
                                {"cluster_id", hexadecimal(header.cluster_id)},
                                {"sha256", summary.sha256}}
             .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace ingot::services_ingotctl_render
