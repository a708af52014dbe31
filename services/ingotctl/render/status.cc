#include "services/ingotctl/render/status.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "services/cli/duration.h"
#include "services/cli/table.h"
#include "services/ingotctl/render/numbers.h"

namespace ingot::inline services_ingotctl_render {
namespace {

using google::protobuf::util::TimeUtil;
using nlohmann::ordered_json;

// "512 B", "12.5 MiB".
std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 4> kUnits{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string digest_text(const control_v1::Digest& digest) {
  return absl::StrCat(absl::Hex(digest.digest(), absl::kZeroPad16));
}

ordered_json replica_json(const control_v1::Replica& replica, bool digests) {
  ordered_json json{{"id", replica.id()},
                    {"pid", replica.pid()},
                    {"incarnation", replica.incarnation()},
                    {"state", state_name(replica.state())},
                    {"core", replica.core()},
                    {"voter", replica.voter()},
                    {"role", role_name(replica.role())},
                    {"epoch", replica.epoch()},
                    {"ballot", replica.ballot()},
                    {"proposed", replica.proposed()},
                    {"decided", replica.decided()},
                    {"applied", replica.applied()},
                    {"lag", replica.lag()}};
  if (digests) {
    const bool known = replica.has_digest();
    json["digest"] = known ? ordered_json(digest_text(replica.digest())) : ordered_json();
    json["digest_slot"] = known ? ordered_json(replica.digest().slot()) : ordered_json();
  }
  return json;
}

// Empty if there was no former instance of this name, or it was stopped.
std::string lost_former_line(const control_v1::Instance& instance) {
  if (instance.lost_former_unix_ms() == 0) return "";
  const absl::Time since = absl::FromUnixMillis(instance.lost_former_unix_ms());
  return absl::StrCat("a former instance of this name, which served from ",
                      absl::FormatTime(absl::RFC3339_sec, since, absl::UTCTimeZone()),
                      " on, ended without a clean stop: its data is gone, and this one began empty\n");
}

// " (incarnation 2)"; empty for incarnation 1.
std::string incarnation_text(const control_v1::Replica& replica) {
  return replica.incarnation() > 1 ? absl::StrCat(" (incarnation ", replica.incarnation(), ")") : "";
}

// "store: 12.5 MiB of 1.0 GiB: 10.0 live, 2.5 history", and what it means if the alarm stands.
std::string store_line(const control_v1::Store& store) {
  const std::uint64_t used = store.live_bytes() + store.history_bytes();
  return absl::StrCat("store: ", bytes_text(used),
                      store.quota_bytes() > 0 ? absl::StrCat(" of ", bytes_text(store.quota_bytes())) : ", no quota",
                      ": ", bytes_text(store.live_bytes()), " live, ", bytes_text(store.history_bytes()), " history",
                      store.no_space() ? "; NOSPACE: puts are refused until ingotctl alarm disarm" : "", "\n");
}

ordered_json store_json(const control_v1::Store& store) {
  return {{"live_bytes", store.live_bytes()},
          {"history_bytes", store.history_bytes()},
          {"quota_bytes", store.quota_bytes()},
          {"no_space", store.no_space()}};
}

ordered_json tree_json(const control_v1::Tree& tree) {
  ordered_json json{{"version", tree.version()},
                    {"reason", tree.reason()},
                    {"root", tree.root()},
                    {"replicas", ordered_json::array()}};
  for (const auto& node : tree.nodes()) {
    json["replicas"].push_back({{"id", node.replica()},
                                {"version", node.version()},
                                {"parent", node.parent()},
                                {"children", numbers(node.children())},
                                {"bypassed", node.bypassed()}});
  }
  return json;
}

std::string whole_seconds(const google::protobuf::Duration& duration) {
  return format_duration(std::chrono::seconds(duration.seconds()));
}

ordered_json supervisor_json(const control_v1::Supervisor& supervisor) {
  const auto ms = [](const google::protobuf::Duration& duration) { return TimeUtil::DurationToMilliseconds(duration); };
  ordered_json json{{"state", state_name(supervisor.state())}};
  if (supervisor.state() != control_v1::STATE_DEAD) return json;
  json["down_ms"] = ms(supervisor.down());
  json["ends_in_ms"] = ms(supervisor.ends_in());
  return json;
}

// "tree 3 (by-pass): 1 sends to 0 2 4, 2 to 5 6; by-passed: 3"
std::string tree_line(const control_v1::Tree& tree) {
  std::vector<std::string> parts, bypassed;
  const auto add = [&](const control_v1::TreeNode& node) {
    if (node.children().empty()) return;
    parts.push_back(absl::StrCat(node.replica(), parts.empty() ? " sends to " : " to ",
                                 absl::StrJoin(node.children(), " ")));
  };
  for (const auto& node : tree.nodes()) {
    if (node.replica() == tree.root()) add(node);
    if (node.bypassed()) bypassed.push_back(absl::StrCat(node.replica()));
  }
  for (const auto& node : tree.nodes()) {
    if (node.replica() != tree.root()) add(node);
  }
  return absl::StrCat("tree ", tree.version(), " (", tree.reason(), "): ", absl::StrJoin(parts, ", "),
                      bypassed.empty() ? "" : "; by-passed: ", absl::StrJoin(bypassed, " "), "\n");
}

std::vector<std::string> replica_row(const control_v1::Replica& replica, bool digests) {
  std::vector<std::string> row{absl::StrCat(replica.id()),
                               absl::StrCat(replica.pid()),
                               std::string(state_name(replica.state())),
                               std::string(role_name(replica.role())),
                               replica.voter() ? "yes" : "no",
                               absl::StrCat(replica.core()),
                               absl::StrCat(replica.incarnation()),
                               absl::StrCat(replica.epoch()),
                               absl::StrCat(replica.ballot()),
                               absl::StrCat(replica.proposed()),
                               absl::StrCat(replica.decided()),
                               absl::StrCat(replica.applied()),
                               absl::StrCat(replica.lag())};
  if (digests) {
    row.push_back(replica.has_digest() ? digest_text(replica.digest()) : "-");
    row.push_back(replica.has_digest() ? absl::StrCat(replica.digest().slot()) : "-");
  }
  return row;
}

}  // namespace

std::string_view state_name(control_v1::State state) {
  switch (state) {
    case control_v1::STATE_UP:
      return "up";
    case control_v1::STATE_STARTING:
      return "starting";
    case control_v1::STATE_STOPPED:
      return "stopped";
    default:
      return "dead";
  }
}

std::string_view role_name(control_v1::Role role) {
  switch (role) {
    case control_v1::ROLE_LEADER:
      return "leader";
    case control_v1::ROLE_ACCEPTOR:
      return "acceptor";
    default:
      return "replica";
  }
}

std::string blocked_text(const control_v1::Blocked& blocked, const std::string& why) {
  const auto name = [](const auto& ids) {
    return absl::StrCat(ids.size() == 1 ? "replica " : "replicas ", absl::StrJoin(ids, ", "));
  };
  std::string text = "blocked";
  if (blocked.reported_by_size() > 0) absl::StrAppend(&text, ": ", name(blocked.reported_by()));
  if (blocked.waits_for_size() > 0) {
    absl::StrAppend(&text, blocked.reported_by_size() == 1 ? " waits" : " wait", " for ", name(blocked.waits_for()));
  }
  absl::StrAppend(&text, why.empty() ? "" : ": ", why);
  return text;
}

std::string supervisor_text(const control_v1::Supervisor& supervisor) {
  if (supervisor.state() == control_v1::STATE_STOPPED)
    return "supervisor: stopped; until it goes on, nothing that dies is started again";
  if (supervisor.state() != control_v1::STATE_DEAD) return "";
  return absl::StrCat("supervisor: dead for ", whole_seconds(supervisor.down()),
                      "; nothing that dies is started again, and all ends in ", whole_seconds(supervisor.ends_in()),
                      " unless an ingotd of the same name and flags takes over");
}

std::string status_json(const control_v1::GetStatusResponse& status, bool digests) {
  const control_v1::Instance& instance = status.instance();
  ordered_json json{{"name", instance.name()},
                    {"agreement", instance.agreement()},
                    {"transport", instance.transport()},
                    {"backend", instance.backend()},
                    {"isolation", instance.isolation()},
                    {"replicas", ordered_json::array()}};
  for (const auto& replica : status.replicas()) json["replicas"].push_back(replica_json(replica, digests));
  if (status.has_store()) json["store"] = store_json(status.store());
  if (status.has_blocked()) {
    const control_v1::Blocked& blocked = status.blocked();
    json["blocked"] = {{"by", blocked.has_by() ? ordered_json(blocked.by()) : ordered_json()},
                       {"waits_for", numbers(blocked.waits_for())},
                       {"reported_by", numbers(blocked.reported_by())},
                       {"why", blocked.why()},
                       {"details", blocked.details()}};
  }
  if (status.has_kept_segments()) {
    const control_v1::KeptSegments& kept = status.kept_segments();
    json["kept_segments"] = {{"segments", kept.segments()}, {"bytes", kept.bytes()}, {"why", kept.why()}};
  }
  if (!supervisor_text(status.supervisor()).empty()) json["supervisor"] = supervisor_json(status.supervisor());
  if (status.has_tree()) json["tree"] = tree_json(status.tree());
  if (instance.lost_former_unix_ms() != 0) json["lost_former_unix_ms"] = instance.lost_former_unix_ms();
  return json.dump();
}

std::string instance_line(const control_v1::Instance& instance) {
  return absl::StrCat(instance.name(), ": ", instance.agreement(), " over ", instance.transport(), ", ",
                      instance.backend(), " backend, ", instance.isolation(), " isolation, version ",
                      instance.version(), ", up ", format_duration(std::chrono::seconds(instance.uptime().seconds())),
                      "\n");
}

std::string replica_table(const control_v1::GetStatusResponse& status, bool digests, std::size_t columns) {
  using enum Table::Align;
  std::vector<Table::Column> titles{
      {"id", kRight},        {"pid", kRight, 5},      {"state", kLeft},           {"role", kLeft},
      {"voter", kLeft, 8},   {"core", kRight, 10},    {"incarnation", kRight, 4}, {"epoch", kRight, 7},
      {"ballot", kRight, 6}, {"proposed", kRight, 9}, {"decided", kRight, 3},     {"applied", kRight, 2},
      {"lag", kRight, 1}};
  if (digests) titles.insert(titles.end(), {{"digest", kLeft}, {"at slot", kRight}});
  Table table(std::move(titles));
  for (const auto& replica : status.replicas()) table.add_row(replica_row(replica, digests));
  table.fit(columns);
  return table.str();
}

std::string status_notes(const control_v1::GetStatusResponse& status) {
  const std::string supervisor = supervisor_text(status.supervisor());
  return absl::StrCat(status.has_store() ? store_line(status.store()) : "", lost_former_line(status.instance()),
                      status.has_tree() ? tree_line(status.tree()) : "",
                      status.has_kept_segments() ? status.kept_segments().why() + "\n" : "",
                      supervisor.empty() ? "" : supervisor + "\n",
                      status.has_blocked() ? blocked_text(status.blocked(), status.blocked().details()) + "\n" : "");
}

std::string status_table(const control_v1::GetStatusResponse& status, bool digests) {
  return absl::StrCat(instance_line(status.instance()), replica_table(status, digests), status_notes(status));
}

std::string status_line(const control_v1::GetStatusResponse& status) {
  std::string line;
  std::uint64_t decided = 0, lag = 0, epoch = 0, ballot = 0;
  for (const auto& replica : status.replicas()) {
    decided = std::max(decided, replica.decided());
    lag = std::max(lag, replica.lag());
    epoch = std::max<std::uint64_t>(epoch, replica.epoch());
    ballot = std::max<std::uint64_t>(ballot, replica.ballot());
    if (replica.state() != control_v1::STATE_UP)
      absl::StrAppend(&line, "replica ", replica.id(), " ", std::string(state_name(replica.state())), "  ");
    else if (replica.role() != control_v1::ROLE_REPLICA)
      absl::StrAppend(&line, std::string(role_name(replica.role())), " ", replica.id(), incarnation_text(replica),
                      "  ");
  }
  absl::StrAppend(&line, "epoch ", epoch, "  ballot ", ballot, "  decided ", decided, "  lag ", lag);
  if (status.supervisor().state() == control_v1::STATE_STOPPED) absl::StrAppend(&line, "  supervisor stopped");
  if (status.supervisor().state() == control_v1::STATE_DEAD)
    absl::StrAppend(&line, "  supervisor dead, all ends in ", whole_seconds(status.supervisor().ends_in()));
  if (status.has_blocked()) absl::StrAppend(&line, "  ", blocked_text(status.blocked(), status.blocked().why()));
  return line;
}

}  // namespace ingot::services_ingotctl_render
