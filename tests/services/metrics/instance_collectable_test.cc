// Metrics of the group that agree with its status.
#include "services/metrics/instance_collectable.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "replication/pages/page_access.h"
#include "tests/services/status/pages_in_memory.h"

namespace ingot {
namespace {

// The gauges of one name by the value of their first label; "" without labels.
std::map<std::string, double> gauges(const PagesInMemory& pages, const std::string& name) {
  const InstanceCollectable collectable(pages.config, pages.view());
  std::map<std::string, double> values;
  for (const auto& family : collectable.Collect()) {
    if (family.name != name) continue;
    for (const auto& metric : family.metric) {
      values[metric.label.empty() ? "" : metric.label.at(0).value] = metric.gauge.value;
    }
  }
  return values;
}

using Gauges = std::map<std::string, double>;

// Regression: a replica that was blocked and was then stopped, or died, stayed blocked in the metrics for ever.
TEST_CASE("a replica that does not run is not blocked, whatever its page still shows") {
  PagesInMemory pages(2);
  pages[1][ReplicaCounter::kBlocked].set(1);
  pages[1][ReplicaCounter::kBlockedBy].set(0b01);
  pages[1][ReplicaCounter::kBlockedWhy].set(static_cast<std::uint64_t>(Blocked::kLeaderSilent));
  pages[1][ReplicaCounter::kBlockedFrom].set(4);
  pages[1][ReplicaCounter::kBlockedTo].set(7);
  CHECK(gauges(pages, "ingot_blocked") == Gauges{{"", 1}});
  CHECK(gauges(pages, "ingot_replica_blocked") == Gauges{{"0", 0}, {"1", 1}});
  CHECK(gauges(pages, "ingot_replica_blocked_by") == Gauges{{"0", -1}, {"1", 0}});
  CHECK(gauges(pages, "ingot_replica_blocked_why") == Gauges{{"0", 0}, {"1", 12}});
  for (const ProcessState state : {ProcessState::kStopped, ProcessState::kDead, ProcessState::kStarting}) {
    CAPTURE(static_cast<int>(state));
    pages.set_state(1, state);
    if (state == ProcessState::kStarting) pages.daemon.replicas[1].incarnation.set(2);  // the page is of the first
    CHECK(gauges(pages, "ingot_blocked") == Gauges{{"", 0}});
    CHECK(gauges(pages, "ingot_replica_blocked_by") == Gauges{{"0", -1}, {"1", -1}});
    for (const char* name : {"ingot_replica_blocked", "ingot_replica_blocked_why", "ingot_replica_blocked_by_mask",
                             "ingot_replica_blocked_from_slot", "ingot_replica_blocked_to_slot"}) {
      CAPTURE(name);
      CHECK(gauges(pages, name) == Gauges{{"0", 0}, {"1", 0}});
    }
  }
}

// Regression: with all replicas stopped the status said so, and metrics and alert stayed silent.
TEST_CASE("the group is blocked if no replica runs") {
  PagesInMemory pages(2);
  pages.set_state(0, ProcessState::kStopped);
  CHECK(gauges(pages, "ingot_blocked") == Gauges{{"", 0}});
  pages.set_state(1, ProcessState::kDead);
  CHECK(gauges(pages, "ingot_blocked") == Gauges{{"", 1}});
  CHECK(gauges(pages, "ingot_blocked_seconds") == Gauges{{"", 0}});
  CHECK(gauges(pages, "ingot_replica_blocked") == Gauges{{"0", 0}, {"1", 0}});
}

TEST_CASE("stops that moved roles and stops that did not are counted apart") {
  PagesInMemory pages(2);
  pages.daemon.doubted_stops.add(2);
  pages.daemon.undoubted_stops.add(7);
  const InstanceCollectable collectable(pages.config, pages.view());
  std::map<std::string, double> stops;
  for (const auto& family : collectable.Collect()) {
    if (family.name != "ingot_stops_total") continue;
    for (const auto& metric : family.metric) stops[metric.label.at(0).value] = metric.counter.value;
  }
  CHECK(stops == Gauges{{"yes", 2}, {"no", 7}});
}

TEST_CASE("kept segments are shown from the first on, with their memory in bytes") {
  PagesInMemory pages(2);
  CHECK(gauges(pages, "ingot_kept_segments") == Gauges{{"", 0}});
  CHECK(gauges(pages, "ingot_kept_segments_bytes") == Gauges{{"", 0}});
  publish_kept(pages.daemon, {KeptSegments::kFew, 3, 65'536});
  CHECK(gauges(pages, "ingot_kept_segments") == Gauges{{"", 3}});
  CHECK(gauges(pages, "ingot_kept_segments_bytes") == Gauges{{"", 65'536}});
}

}  // namespace
}  // namespace ingot
