// The quota of an instance whose operator gives none: what the memory can hold, with room for a restart, a peer's
// transfer and a failover (docs/design/store.md, "The default quota").
#pragma once

#include <cstdint>
#include <string>

#include "services/config/daemon_config.h"

namespace ingot::inline services_instance {

// The memory that this process and its children may use: the machine's, or the least limit of its control groups
// (versions 1 and 2) and of those above them, if that is less. `root` stands before every path that is read; "" is this
// machine. What cannot be read limits nothing; 0: nothing could be read. Thread-safe.
std::uint64_t memory_limit_bytes(const std::string& root = "");

// For an instance with `memory_bytes` for itself. Between kQuotaDefaultBytesMin and kQuotaDefaultBytesMax.
std::int64_t default_quota_bytes(std::uint64_t memory_bytes, const DaemonConfig& config);

}  // namespace ingot::services_instance
