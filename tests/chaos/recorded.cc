#include "tests/chaos/recorded.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "tests/simulation/history/linearizability.h"

namespace ingot::chaos {
namespace {

std::vector<const Recorded*> writes_by_revision(const Records& records) {
  std::vector<const Recorded*> writes;
  for (const Recorded& each : records) {
    if (each.wrote()) writes.push_back(&each);
  }
  std::sort(writes.begin(), writes.end(), [](const auto* a, const auto* b) { return a->revision < b->revision; });
  return writes;
}

}  // namespace

std::string to_json_line(const Recorded& operation) {
  static constexpr const char* kNames[] = {"get", "put", "cas"};
  nlohmann::ordered_json line = {{"client", operation.client},
                                 {"key", operation.key},
                                 {"op", kNames[static_cast<int>(operation.kind)]},
                                 {"written", operation.written},
                                 {"expected", operation.expected},
                                 {"called_ns", operation.called_ns}};
  if (operation.answered()) {
    line["answered_ns"] = operation.answered_ns;
    line["found"] = operation.found;
    line["succeeded"] = operation.succeeded;
    line["revision"] = operation.revision;
  }
  return line.dump();
}

std::string find_revision_violation(const Records& records) {
  std::uint64_t latest_call_ns = 0;
  const Recorded* before = nullptr;
  for (const Recorded* write : writes_by_revision(records)) {
    if (before != nullptr && before->revision == write->revision) {
      return absl::StrCat("writes ", before->written, " and ", write->written, " both have revision ", write->revision);
    }
    if (write->answered_ns < latest_call_ns) {
      return absl::StrCat("write ", write->written, " has revision ", write->revision,
                          ", but was acknowledged before a write of a smaller one was asked for");
    }
    latest_call_ns = std::max(latest_call_ns, write->called_ns);
    before = write;
  }
  return {};
}

std::string find_order_violation(const Records& records) {
  using simulation::Operation;
  std::map<std::string, std::uint32_t> keys;
  simulation::History history;
  for (const Recorded& each : records) {
    Operation operation;
    operation.kind = each.kind == Recorded::Kind::kGet   ? Operation::Kind::kRead
                     : each.kind == Recorded::Kind::kPut ? Operation::Kind::kWrite
                                                         : Operation::Kind::kCompareAndWrite;
    operation.client = static_cast<std::uint32_t>(each.client);
    operation.key = keys.emplace(each.key, keys.size()).first->second;
    operation.written = each.written;
    operation.expected = each.expected;
    operation.invoked = each.called_ns;
    operation.answered = each.answered() ? each.answered_ns : simulation::kUnanswered;
    operation.succeeded = each.succeeded;
    operation.found = each.found;
    operation.revision = each.revision;
    history.push_back(operation);
  }
  return simulation::find_linearizability_violation(history);
}

double gap_ms_max(const Records& records) {
  std::vector<std::uint64_t> times_ns;
  for (const Recorded& each : records) {
    if (each.wrote()) times_ns.push_back(each.answered_ns);
  }
  std::sort(times_ns.begin(), times_ns.end());
  std::uint64_t longest_ns = 0;
  for (std::size_t i = 1; i < times_ns.size(); ++i) longest_ns = std::max(longest_ns, times_ns[i] - times_ns[i - 1]);
  return static_cast<double>(longest_ns) * 1e-6;
}

}  // namespace ingot::chaos
