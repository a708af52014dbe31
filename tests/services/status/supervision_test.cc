// The status while the supervisor is dead or stopped: real processes as the page names them.
#include "services/status/supervision.h"

#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <vector>

#include "services/launch/process_signal.h"
#include "services/status/status.h"
#include "tests/services/status/pages_in_memory.h"
#include "tests/transport/host/child.h"

namespace ingot {
namespace {

using control_v1::GetStatusResponse;

// A real process as an entry of the page names it.
class Process {
 public:
  Process() : child_([] { return ::pause(); }), started_(process_start(child_.pid())) {}
  void name(Counter& pid, Counter& started) const {
    pid.set(static_cast<std::uint64_t>(child_.pid()));
    started.set(started_);
  }
  void stop() const { change(SIGSTOP, ProcessCondition::kStopped); }
  void kill() const { change(SIGKILL, ProcessCondition::kGone); }

 private:
  void change(int signal, ProcessCondition expected) const {
    child_.kill(signal);
    while (condition_of(child_.pid(), started_) != expected) ::usleep(1000);
  }

  Child child_;
  const std::uint64_t started_;
};

TEST_CASE("without a supervisor a replica that dies is dead, whatever the supervisor has noted of it") {
  PagesInMemory pages(3);
  std::vector<Process> replicas(3);
  const Process supervisor;
  supervisor.name(pages.daemon.supervisor_pid, pages.daemon.supervisor_started);
  for (std::size_t id = 0; id < 3; ++id)
    replicas[id].name(pages.daemon.replicas[id].pid, pages.daemon.replicas[id].started);
  pages.set_role(0, Role::kLeader);
  pages.set_role(1, Role::kLeader);
  pages[1][ReplicaCounter::kBallot].set(2);
  const auto states = [&] {
    std::vector<control_v1::State> all;
    const GetStatusResponse status = read_status(pages.config, pages.view(), 0);
    for (const auto& replica : status.replicas()) all.push_back(replica.state());
    all.push_back(status.supervisor().state());
    return all;
  };
  using enum control_v1::State;
  CHECK(states() == std::vector{STATE_UP, STATE_UP, STATE_UP, STATE_UP});
  replicas[0].kill();
  replicas[2].stop();
  CHECK(states() == std::vector{STATE_UP, STATE_UP, STATE_UP, STATE_UP});  // for the supervisor to note
  SECTION("it is stopped") {
    supervisor.stop();
    CHECK(states() == std::vector{STATE_DEAD, STATE_UP, STATE_STOPPED, STATE_STOPPED});
  }
  SECTION("it is dead") {
    supervisor.kill();
    CHECK(states() == std::vector{STATE_DEAD, STATE_UP, STATE_STOPPED, STATE_DEAD});
  }
  SECTION("another process has its pid") {
    pages.daemon.supervisor_started.set(1);
    CHECK(states() == std::vector{STATE_DEAD, STATE_UP, STATE_STOPPED, STATE_DEAD});
  }
  const GetStatusResponse status = read_status(pages.config, pages.view(), 0);
  CHECK(status.replicas(0).pid() == 0);
  CHECK(status.replicas(0).role() == control_v1::ROLE_REPLICA);
  CHECK(status.replicas(1).role() == control_v1::ROLE_LEADER);
}

TEST_CASE("the status says for how long there is no supervisor, and when all ends; time alone is no change") {
  PagesInMemory pages(1);
  const Process supervisor;
  supervisor.name(pages.daemon.supervisor_pid, pages.daemon.supervisor_started);
  pages.config.orphan_grace_ms = 30'000;
  SupervisorLoss loss;
  InstanceView view = pages.view();
  view.loss = &loss;
  const auto read = [&](std::uint64_t now_ns) { return *read_supervisor(pages.config, view, now_ns); };
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  CHECK(read(kSecondNs).state() == control_v1::STATE_UP);
  CHECK_FALSE(read(kSecondNs).has_ends_in());
  loss.leaves_ns.set(32 * kSecondNs);
  loss.since_ns.set_release(2 * kSecondNs);
  CHECK(read(5 * kSecondNs).state() == control_v1::STATE_DEAD);  // the next one lives, and has not adopted this process
  CHECK(read(5 * kSecondNs).down().seconds() == 3);
  CHECK(read(5 * kSecondNs).ends_in().seconds() == 27);
  CHECK(read(99 * kSecondNs).ends_in().seconds() == 0);
  const std::string before = fingerprint(read_status(pages.config, view, 0));
  loss.leaves_ns.set(33 * kSecondNs);
  CHECK(fingerprint(read_status(pages.config, view, 0)) == before);
  loss.since_ns.set_release(0);
  CHECK(fingerprint(read_status(pages.config, view, 0)) != before);
  supervisor.kill();
  CHECK(read(kSecondNs).ends_in().seconds() == 30);  // this process's loop has not seen it yet
}

TEST_CASE("pages that name no supervisor, as on the chip, have none that could be down") {
  PagesInMemory pages(1);
  CHECK_FALSE(read_status(pages.config, pages.view(), 0).has_supervisor());
}

}  // namespace
}  // namespace ingot
