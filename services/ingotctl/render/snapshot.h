// How a snapshot's file is described.
#pragma once

#include <cstdint>
#include <string>

#include "services/backup/format.h"

namespace ingot::inline services_ingotctl_render {

// What a check of the whole file has found.
struct SnapshotSummary {
  std::string file;
  BackupHeader header;
  std::string sha256;
  std::uint64_t file_bytes = 0;
  std::int64_t keys = 0;  // that exist
  std::int64_t versions = 0;
  std::int64_t leases = 0;
};

// Ends with a line end.
std::string snapshot_text(const SnapshotSummary& summary);
std::string snapshot_json(const SnapshotSummary& summary);

}  // namespace ingot::services_ingotctl_render
