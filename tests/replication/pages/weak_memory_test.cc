// Pages on a machine that reorders stores and loads: their readers conclude nothing that a machine which only
// interleaves would not show them, and each order that the pages name is needed.
#include <catch2/catch.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "replication/pages/page_access.h"
#include "replication/pages/pages.h"
#include "replication/replica/peer_states.h"
#include "services/metrics/page_snapshot.h"
#include "tests/core/weak_reader.h"

namespace ingot::test {
namespace {

constexpr std::size_t kEntry = offsetof(DaemonPage, replicas);  // of replica 0

// A page that its writer has filled, and the log of its stores.
template <typename Page>
class Written {
 public:
  explicit Written(const std::function<void(Page&)>& write) : log_(sizeof(Page), page_.get()) {
    with_memory(log_, [&] { write(*page_); });
    REQUIRE(log_.changed_unseen(0, 0) == std::nullopt);
  }
  const StoreLog& log() const { return log_; }

 private:
  std::unique_ptr<Page> page_ = std::make_unique<Page>();
  StoreLog log_;
};

template <typename Page>
Reader of(std::function<std::string(const Page&)> read) {
  return [read](std::span<const std::byte> bytes) { return read(*reinterpret_cast<const Page*>(bytes.data())); };
}

// Writer, reader, and the cells whose orders the reader needs: each weakened on either side must show.
template <typename Page>
struct Scenario {
  const char* name;
  std::function<void(Page&)> write;
  std::function<std::string(const Page&)> read;
  std::vector<std::size_t> ordered_by;
};

template <typename Page>
void check_all(const std::vector<Scenario<Page>>& scenarios) {
  std::set<OrderedAccess> met, needed;
  for (const Scenario<Page>& each : scenarios) {
    INFO(each.name);
    const Written<Page> written(each.write);
    const Reader reader = of<Page>(each.read);
    CHECK(shown_by_weakness(written.log(), reader, {}, &met) == std::nullopt);
    met.merge(written.log().releases());
    for (const std::size_t cell : each.ordered_by) {
      for (const bool release : {true, false}) {
        INFO("byte " << cell << (release ? ", release" : ", acquire"));
        needed.insert({cell, release});
        CHECK(shown_by_weakness(written.log(), reader, OrderedAccess{cell, release}) != std::nullopt);
      }
    }
  }
  CHECK(met == needed);
}

// ---- The supervisor's page -----------------------------------------------------------------------------------------

NotedProcess first(ProcessState state) { return {state, 1, 111, 11}; }

void start(DaemonPage& page) { note_process(page.replicas[0], first(ProcessState::kStarting)); }

void start_and_die(DaemonPage& page) {
  start(page);
  note_process(page.replicas[0], {ProcessState::kDead, 1, 0, 0});
  page.deaths.add_release(1);
}

void start_again(DaemonPage& page) {
  start_and_die(page);
  note_process(page.replicas[0], {ProcessState::kStarting, 2, 222, 22});
}

std::string name_of(const std::optional<ProcessName>& name) {
  return name ? std::to_string(name->pid) + " of " + std::to_string(name->started) : "another incarnation";
}

std::string dead_in(const DaemonPage& page) {
  const auto dead = dead_incarnation(page.replicas[0]);
  return dead ? std::to_string(*dead) + " is dead" : "none is dead";
}

void stop_twice(DaemonPage& page) {
  note_doubt(page, 0, 1);
  note_doubt(page, 0, 0);
  note_doubt(page, 0, 2);
}

std::string doubted_in(const DaemonPage& page) {
  const std::uint64_t doubts = doubts_in(page);
  return std::to_string(doubts) + ": " + std::to_string(page.replicas[0].doubted.get());
}

void keep_segments(DaemonPage& page) {
  publish_kept(page, {KeptSegments::kMany, 5, 50});
  publish_kept(page, {KeptSegments::kFull, 9, 90});
  publish_kept(page, {KeptSegments::kFew, 1, 10});
}

// Each number by itself.
std::string kept_segments(const DaemonPage& page) {
  const KeptSummary kept = kept_in(page);
  return std::to_string(static_cast<int>(kept.state)) + ": " + std::to_string(kept.segments);
}
std::string kept_bytes(const DaemonPage& page) {
  const KeptSummary kept = kept_in(page);
  return std::to_string(static_cast<int>(kept.state)) + ": " + std::to_string(kept.bytes);
}

const std::vector<Scenario<DaemonPage>>& daemon_scenarios() {
  static const std::vector<Scenario<DaemonPage>> scenarios{
      {"a pid comes with its start time",
       start,
       [](const DaemonPage& page) { return name_of(process_of(page.replicas[0], 1)); },
       {kEntry + offsetof(ProcessEntry, pid)}},
      {"a new incarnation is not given its predecessor's process",
       start_again,
       [](const DaemonPage& page) { return name_of(process_of(page.replicas[0], 2)); },
       {kEntry + offsetof(ProcessEntry, incarnation)}},
      {"a new incarnation is not taken for dead", start_again, dead_in, {kEntry + offsetof(ProcessEntry, incarnation)}},
      {"a death that is counted is found",
       start_and_die,
       [](const DaemonPage& page) {
         const std::uint64_t deaths = page.deaths.get_acquire();
         return std::to_string(deaths) + ": " + dead_in(page);
       },
       {offsetof(DaemonPage, deaths)}},
      {"a doubt that is counted is found", stop_twice, doubted_in, {offsetof(DaemonPage, doubts)}},
      {"an entry's pid comes with its start time",
       start,
       [](const DaemonPage& page) { return name_of(process_in(page.replicas[0])); },
       {kEntry + offsetof(ProcessEntry, pid)}},
      {"the state of the kept segments comes with their number",
       keep_segments,
       kept_segments,
       {offsetof(DaemonPage, kept_segments_state)}},
      {"the state of the kept segments comes with their bytes",
       keep_segments,
       kept_bytes,
       {offsetof(DaemonPage, kept_segments_state)}},
      {"a supervisor's pid comes with its start time",
       [](DaemonPage& page) {
         note_supervisor(page, {11, 111});
         note_supervisor(page, {22, 222});
       },
       [](const DaemonPage& page) { return name_of(supervisor_of(page)); },
       {offsetof(DaemonPage, supervisor_pid)}},
  };
  return scenarios;
}

// ---- A replica's page ----------------------------------------------------------------------------------------------

std::size_t cell_of(ReplicaCounter counter) {
  return offsetof(ReplicaPage, counters) + sizeof(Counter) * static_cast<std::size_t>(counter);
}

// Incarnation 1 applied 90 slots; incarnation 2 begins with none, and gets to 60.
void restart(ReplicaPage& page) {
  publish_progress(page, {Slot(90), Slot(90)});
  announce_incarnation(page, Incarnation(1));
  begin_incarnation(page);
  publish_progress(page, {Slot(0), Slot(0)});
  announce_incarnation(page, Incarnation(2));
  publish_progress(page, {Slot(60), Slot(60)});
}

// As a replica that has applied 50 slots when incarnation 2 comes back.
std::string lag(const ReplicaPage& page) {
  const EndpointId peer(1);
  PeerStates peers(EndpointId(0), 2, {&page, &page});
  peers.died(peer);
  peers.connected({peer, Incarnation(2)}, Slot(50));
  peers.note_returns();
  return peers.lagging(peer) ? "lagging" : "applied " + std::to_string(peers.applied(peer).value());
}

// As a front end that routes reads.
std::string applied(const ReplicaPage& page) {
  const auto applied = applied_by(page, Incarnation(2));
  return applied ? std::to_string(applied->value()) : "not ready";
}

std::string progress(const ReplicaPage& page) {
  const Progress progress = progress_in(page);
  return std::to_string(progress.applied.value()) + " of " + std::to_string(progress.decided.value());
}

void count_again(ReplicaPage& page) {
  Counter& commands = page[ReplicaCounter::kAppliedCommands];
  commands.add(5);
  announce_incarnation(page, Incarnation(1));
  begin_incarnation(page);
  commands.add(1);
  announce_incarnation(page, Incarnation(2));
  commands.add(1);
}

// A metric that goes on through a restart.
std::string scraped_twice(const ReplicaPage& page) {
  CounterResetAdjuster adjuster;
  std::string text;
  for (int scrape = 0; scrape < 2; ++scrape) {
    PageSnapshot snapshot(page);
    snapshot.adjust(adjuster);
    text += std::to_string(snapshot.counter(ReplicaCounter::kAppliedCommands)) + " ";
  }
  return text;
}

const std::vector<Scenario<ReplicaPage>>& replica_scenarios() {
  static const std::vector<Scenario<ReplicaPage>> scenarios{
      {"a replica has caught up only with what its new incarnation has applied",
       restart,
       lag,
       {offsetof(ReplicaPage, incarnation)}},
      {"reads go only where the new incarnation has applied enough",
       restart,
       applied,
       {offsetof(ReplicaPage, incarnation)}},
      {"no replica has applied more than it has decided",
       [](ReplicaPage& page) {
         publish_progress(page, {Slot(1), Slot(1)});
         publish_progress(page, {Slot(3), Slot(2)});
         publish_progress(page, {Slot(5), Slot(5)});
       },
       progress,
       {cell_of(ReplicaCounter::kAppliedSlots)}},
      {"a counter does not count an incarnation twice",
       count_again,
       scraped_twice,
       {offsetof(ReplicaPage, incarnation)}},
  };
  return scenarios;
}

}  // namespace

TEST_CASE("readers of the supervisor's page conclude what interleaving shows, and need each order") {
  check_all(daemon_scenarios());
}

TEST_CASE("readers of a replica's page conclude what interleaving shows, and need each order") {
  check_all(replica_scenarios());
}

}  // namespace ingot::test
