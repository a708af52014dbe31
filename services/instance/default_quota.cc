#include "services/instance/default_quota.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "replication/replica/limits.h"
#include "replication/stable/limits.h"
#include "services/instance/limits.h"

namespace ingot::inline services_instance {

namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
constexpr const char* kMemory = "memory";

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
  return lines;
}

// "max" and whatever is no number limit nothing.
std::uint64_t limit_in(const std::string& path) {
  std::uint64_t limit = 0;
  const auto lines = lines_of(path);
  return !lines.empty() && absl::SimpleAtoi(lines.front(), &limit) ? limit : kUnlimited;
}

// One of the two versions of control groups.
struct Version {
  const char* file_system;
  std::vector<const char*> limits;  // files of a group
};

const Version kVersions[] = {{"cgroup", {"memory.limit_in_bytes"}}, {"cgroup2", {"memory.max", "memory.high"}}};

bool is_second(const Version& version) { return version.file_system == absl::string_view("cgroup2"); }

// Of the names of controllers. Version 2 names none: all are in one hierarchy.
bool has_memory(const Version& version, absl::string_view names) {
  return is_second(version) || absl::c_linear_search(absl::StrSplit(names, ','), kMemory);
}

// This process's group, from the root of its hierarchy on: lines of "number:controllers:group", number 0 for version 2.
std::optional<std::string> group_of(const Version& version, const std::string& root) {
  for (const std::string& line : lines_of(absl::StrCat(root, "/proc/self/cgroup"))) {
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3 || (fields[0] == "0") != is_second(version)) continue;
    if (has_memory(version, fields[1])) return fields[2];
  }
  return std::nullopt;
}

// Where a hierarchy is mounted, and which of its groups is seen there as the first.
struct Mount {
  std::string folder, first_group;
};

// Lines of "id parent device FIRST FOLDER options... - TYPE source SUPER-OPTIONS".
std::optional<Mount> mount_of(const Version& version, const std::string& root) {
  for (const std::string& line : lines_of(absl::StrCat(root, "/proc/self/mountinfo"))) {
    const std::vector<std::string> halves = absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    if (halves.size() != 2) continue;
    const std::vector<std::string> mount = absl::StrSplit(halves[0], ' '), type = absl::StrSplit(halves[1], ' ');
    if (mount.size() < 5 || type.size() < 3 || type[0] != version.file_system) continue;
    if (has_memory(version, type[2])) return Mount{mount[4], mount[3]};
  }
  return std::nullopt;
}

// The part of `group` below the mount's first group. A process outside of what it sees has "/../" there: then only the
// first group is looked at.
std::string below(const Mount& mount, absl::string_view group) {
  if (mount.first_group != "/" && !absl::ConsumePrefix(&group, mount.first_group)) return "";
  return absl::StrContains(group, "..") || group == "/" ? "" : std::string(group);
}

std::uint64_t least_limit(const Version& version, const std::string& root) {
  const auto group = group_of(version, root);
  const auto mount = mount_of(version, root);
  std::uint64_t least = kUnlimited;
  if (!group || !mount) return least;
  for (std::string path = below(*mount, *group);; path.erase(path.rfind('/'))) {
    for (const char* file : version.limits) {
      least = std::min(least, limit_in(absl::StrCat(root, mount->folder, path, "/", file)));
    }
    if (path.empty()) return least;
  }
}

std::uint64_t machine_bytes(const std::string& root) {
  for (const std::string& line : lines_of(absl::StrCat(root, "/proc/meminfo"))) {
    absl::string_view text = line;
    std::uint64_t kib = 0;
    if (!absl::ConsumePrefix(&text, "MemTotal:") || !absl::ConsumeSuffix(&text, "kB")) continue;
    if (absl::SimpleAtoi(text, &kib)) return kib * 1024;
  }
  return kUnlimited;
}

}  // namespace

std::uint64_t memory_limit_bytes(const std::string& root) {
  std::uint64_t least = machine_bytes(root);
  for (const Version& version : kVersions) least = std::min(least, least_limit(version, root));
  return least == kUnlimited ? 0 : least;
}

// The constants are upper bounds that a small instance does not reach, so they take at most half.
std::int64_t default_quota_bytes(std::uint64_t memory_bytes, const DaemonConfig& config) {
  const std::uint64_t room = memory_bytes - memory_bytes / 10;
  const auto replicas = static_cast<std::uint64_t>(config.replicas);
  const std::uint64_t constants = replicas * (kSessionsBytesMax + kStableSegmentBytes) +
                                  static_cast<std::uint64_t>(config.kept_segments_mib) * kMib + kProcessesBytes;
  const double left = static_cast<double>(room - std::min(constants, room / 2));
  const std::uint64_t generations = config.view == ViewMode::kAlways ? kGenerationsAtOnce : 0;
  const double copies = kCopyOverhead * static_cast<double>(replicas + 1 + generations) + kSnapshotsAtOnce;
  const double most = std::min(left / copies, static_cast<double>(kQuotaDefaultBytesMax));
  return std::max(static_cast<std::int64_t>(most), kQuotaDefaultBytesMin);
}

}  // namespace ingot::services_instance
