// Targets and refusals of drills; signals to real processes; and the whole call over gRPC.
#include "services/control/drill.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <map>

#include "services/control/drill_stream.h"
#include "services/status/status.h"
#include "tests/services/status/pages_in_memory.h"

namespace ingot {
namespace {

using control_v1::DrillRequest;
using control_v1::Hit;
using Catch::Matchers::Contains;

constexpr auto kKill = DrillRequest::ACTION_KILL;
constexpr auto kStop = DrillRequest::ACTION_STOP;
constexpr auto kCont = DrillRequest::ACTION_CONT;

// Replica 1 leads and 2 accepts; process ids are 1000 and up, the supervisor's is 999 and the front end's 998.
class Drilled {
 public:
  Drilled() : pages(4) {
    pages.daemon.front_end.pid.set(998);
    pages.set_role(1, Role::kLeader);
    pages.set_role(2, Role::kAcceptor);
  }

  absl::StatusOr<std::vector<Hit>> choose(DrillRequest::Action action, DrillRequest::Target target,
                                          std::uint32_t replica = 0) {
    DrillRequest request;
    request.set_action(action);
    request.set_target(target);
    request.set_replica(replica);
    const auto status = read_status(pages.config, pages.view(), 0, ShownRoles::kClaimed);
    return choose_targets(request, status, [this](const Hit& hit) {
      const auto found = conditions.find(static_cast<pid_t>(hit.pid()));
      return found == conditions.end() ? ProcessCondition::kRunning : found->second;
    });
  }

  std::string refused(DrillRequest::Action action, DrillRequest::Target target, std::uint32_t replica = 0) {
    const auto hits = choose(action, target, replica);
    REQUIRE(!hits.ok());
    return std::string(hits.status().message());
  }

  PagesInMemory pages;
  std::map<pid_t, ProcessCondition> conditions;  // running, unless listed here
};

TEST_CASE("roles, replicas, the front end and the supervisor are found from the pages") {
  Drilled drilled;
  const auto both = drilled.choose(kKill, DrillRequest::TARGET_BOTH);
  REQUIRE(both.ok());
  REQUIRE(both->size() == 2);
  CHECK(both->at(0).replica() == 1);
  CHECK(both->at(0).role() == control_v1::ROLE_LEADER);
  CHECK(both->at(0).pid() == 1001);
  CHECK(both->at(0).incarnation() == 1);
  CHECK(both->at(1).replica() == 2);
  CHECK(both->at(1).role() == control_v1::ROLE_ACCEPTOR);
  CHECK(drilled.choose(kStop, DrillRequest::TARGET_REPLICA, 3)->at(0).pid() == 1003);
  CHECK(drilled.choose(kStop, DrillRequest::TARGET_FRONT_END)->at(0).pid() == 998);
  CHECK(drilled.choose(kKill, DrillRequest::TARGET_SUPERVISOR)->at(0).pid() == 999);
}

TEST_CASE("of two replicas that claim to lead, the running one is the target, and the stopped one for CONT") {
  Drilled drilled;
  drilled.pages.set_role(0, Role::kLeader);
  drilled.pages[0][ReplicaCounter::kBallot].set(9);  // a newer ballot than the other's, but stopped
  drilled.conditions[1000] = ProcessCondition::kStopped;
  CHECK(drilled.choose(kKill, DrillRequest::TARGET_LEADER)->at(0).replica() == 1);
  CHECK(drilled.choose(kCont, DrillRequest::TARGET_LEADER)->at(0).replica() == 0);
  drilled.conditions.clear();
  CHECK(drilled.choose(kStop, DrillRequest::TARGET_LEADER)->at(0).replica() == 0);  // the newest ballot
}

TEST_CASE("an impossible drill is refused with the reason") {
  Drilled drilled;
  CHECK(drilled.refused(kKill, DrillRequest::TARGET_REPLICA, 9) == "there is no replica 9; replicas are 0 to 3");
  CHECK(drilled.refused(kCont, DrillRequest::TARGET_LEADER) == "replica 1, the leader, is not stopped");
  CHECK(drilled.refused(kCont, DrillRequest::TARGET_SUPERVISOR) == "the supervisor is not stopped");
  drilled.conditions[1002] = ProcessCondition::kStopped;
  CHECK(drilled.refused(kStop, DrillRequest::TARGET_ACCEPTOR) == "replica 2, the acceptor, is stopped already");
  CHECK(drilled.refused(kStop, DrillRequest::TARGET_BOTH) == "replica 2, the acceptor, is stopped already");
  drilled.conditions[1003] = ProcessCondition::kGone;
  for (const auto action : {kKill, kStop, kCont}) {
    CHECK(drilled.refused(action, DrillRequest::TARGET_REPLICA, 3) == "replica 3 is dead");
  }
  drilled.pages.set_role(1, Role::kReplica);
  CHECK(drilled.refused(kKill, DrillRequest::TARGET_LEADER) == "nobody leads now");
  drilled.conditions[1002] = ProcessCondition::kGone;
  CHECK(drilled.refused(kKill, DrillRequest::TARGET_ACCEPTOR) == "nobody is the acceptor now");
  drilled.pages.config.agreement = AgreementKind::kTwoPhaseCommit;
  CHECK(drilled.refused(kKill, DrillRequest::TARGET_ACCEPTOR) == "with 2pc nobody is the acceptor");
}

TEST_CASE("a drill without action or target, or measured by its own target, is refused") {
  Drilled drilled;
  CHECK(drilled.choose(DrillRequest::ACTION_UNSPECIFIED, DrillRequest::TARGET_LEADER).status().code() ==
        absl::StatusCode::kInvalidArgument);
  CHECK(drilled.choose(kKill, DrillRequest::TARGET_UNSPECIFIED).status().code() == absl::StatusCode::kInvalidArgument);
  DrillRequest request;
  request.set_action(kKill);
  request.set_target(DrillRequest::TARGET_FRONT_END);
  request.set_wait(true);
  const auto hits = choose_targets(request, read_status(drilled.pages.config, drilled.pages.view(), 0),
                                [](const Hit&) { return ProcessCondition::kRunning; });
  CHECK_THAT(std::string(hits.status().message()), Contains("measure its own end"));
}

TEST_CASE("threads cannot be hit one by one, but the processes beside them can") {
  Drilled drilled;
  drilled.pages.config.isolation = Isolation::kThread;
  for (const auto target : {DrillRequest::TARGET_LEADER, DrillRequest::TARGET_BOTH, DrillRequest::TARGET_REPLICA}) {
    CHECK_THAT(drilled.refused(kKill, target), Contains("threads of one process"));
  }
  CHECK(drilled.choose(kStop, DrillRequest::TARGET_SUPERVISOR).ok());
}

// A process that sleeps until it is killed.
class Sleeper {
 public:
  Sleeper() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) ::pause();
    }
  }
  ~Sleeper() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  // Signals take effect with a delay.
  void wait_for(ProcessCondition condition) const {
    while (condition_of(pid_) != condition) ::usleep(1000);
  }

 private:
  pid_t pid_;
};

TEST_CASE("the kernel's condition of a process follows its signals") {
  const Sleeper sleeper;
  CHECK(condition_of(sleeper.pid()) == ProcessCondition::kRunning);
  const std::uint64_t started = process_start(sleeper.pid());
  REQUIRE(send_signal(sleeper.pid(), started, SIGSTOP).ok());
  sleeper.wait_for(ProcessCondition::kStopped);
  REQUIRE(send_signal(sleeper.pid(), started, SIGCONT).ok());
  sleeper.wait_for(ProcessCondition::kRunning);
  REQUIRE(send_signal(sleeper.pid(), started, SIGKILL).ok());
  sleeper.wait_for(ProcessCondition::kGone);  // a zombie is gone
  CHECK(condition_of(0) == ProcessCondition::kGone);
  CHECK(send_signal(0, started, SIGKILL).code() == absl::StatusCode::kNotFound);
  CHECK(send_signal(1, process_start(1), SIGCONT).code() == absl::StatusCode::kNotFound);
}

// Regression: a supervisor that had no descriptor left noted a process without its start, and the process counted as
// dead while it ran.
TEST_CASE("a process whose start is not known is not taken for dead") {
  const Sleeper sleeper;
  CHECK(condition_of(sleeper.pid(), 0) == ProcessCondition::kRunning);
  REQUIRE(send_signal(sleeper.pid(), process_start(sleeper.pid()), SIGKILL).ok());
  sleeper.wait_for(ProcessCondition::kGone);
  CHECK(condition_of(sleeper.pid(), 0) == ProcessCondition::kGone);
}

// When an instance's supervisor is dead, another process may have got a pid on its page, even one of the same program.
TEST_CASE("a process with the pid of one that ended, but another start time, is not signalled") {
  const Sleeper stranger;
  const std::uint64_t started = process_start(stranger.pid());
  REQUIRE(started > 0);
  CHECK(started == process_start(stranger.pid()));
  CHECK(started >= process_start(::getpid()));
  PagesInMemory pages(1);
  ProcessEntry& entry = pages.daemon.replicas[0];
  SignalFaultInjector injector(pages.view());
  Hit hit;
  hit.set_pid(static_cast<std::uint32_t>(stranger.pid()));
  hit.set_incarnation(1);
  for (const std::uint64_t other : {std::uint64_t{0}, started - 1, started + 1}) {
    for (Counter* const page : {&entry.started, &pages.daemon.front_end.started, &pages.daemon.supervisor_started}) {
      page->set(other);
    }
    entry.pid.set_release(static_cast<std::uint64_t>(stranger.pid()));
    for (const auto process : {Hit::PROCESS_REPLICA, Hit::PROCESS_FRONT_END, Hit::PROCESS_SUPERVISOR}) {
      hit.set_process(process);
      CHECK(injector.inject(hit, kKill).code() == absl::StatusCode::kNotFound);
    }
  }
  CHECK(condition_of(stranger.pid()) == ProcessCondition::kRunning);
}

TEST_CASE("an incarnation's process is signalled only while the page shows that incarnation") {
  const Sleeper sleeper;
  ProcessEntry entry;
  CHECK(!send_signal(entry, 1, SIGKILL).ok());  // no such process
  entry.incarnation.set(2);
  entry.started.set(process_start(sleeper.pid()));
  entry.pid.set_release(static_cast<std::uint64_t>(sleeper.pid()));
  CHECK(send_signal(entry, 1, SIGKILL).code() == absl::StatusCode::kNotFound);
  CHECK(condition_of(sleeper.pid()) == ProcessCondition::kRunning);
  CHECK(send_signal(entry, 2, SIGKILL).ok());
  sleeper.wait_for(ProcessCondition::kGone);
}

}  // namespace
}  // namespace ingot
