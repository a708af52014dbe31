#include "services/supervision/orphans.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/limits.h"
#include "services/process/adoption.h"
#include "services/process/process_signal.h"
#include "services/supervision/pidfd.h"
#include "services/supervision/supervision_limits.h"

namespace ingot {

namespace {

using Clock = std::chrono::steady_clock;
using Outcome = SupervisionChannel::Received::Outcome;

struct Candidate {
  Orphan orphan;
  supervision_v1::Orphaned greeting;
  bool refused = false;  // it answered that it has a supervisor
  bool unknown = false;  // its first message is unknown: a process of another version
  bool gone = false;
};

std::vector<std::string> possible_children() {
  std::vector<std::string> names{"front-end", "replicas"};
  for (int id = 0; id < kReplicasMax; ++id) names.push_back(absl::StrCat("replica/", id));
  return names;
}

absl::StatusOr<std::vector<Candidate>> connect_to_all(const std::string& instance) {
  std::vector<Candidate> found;
  for (const std::string& child : possible_children()) {
    auto connection = connect_to_child(instance, child);
    // A socket of another user's process is skipped: a child of this instance cannot listen under the same name.
    if (absl::IsNotFound(connection.status()) || absl::IsPermissionDenied(connection.status())) continue;
    if (!connection.ok()) {
      return absl::UnavailableError(absl::StrCat("an instance named \"", instance, "\" is there, but its ", child,
                                                 " cannot be adopted: ", connection.status().message()));
    }
    Candidate candidate;
    candidate.orphan = {child, connection->pid, Descriptor(::pidfd_open(connection->pid, 0)),
                        SupervisionChannel(std::move(connection->fd))};
    if (candidate.orphan.pidfd.valid()) found.push_back(std::move(candidate));  // invalid: it has just ended
  }
  return found;
}

// Waits until one of the sockets that `still` selects has something to read, at most 50 ms. False: none is selected,
// or the deadline has passed.
template <typename Still>
bool wait_for_any(const std::vector<Candidate>& candidates, Clock::time_point deadline, Still&& still) {
  std::vector<pollfd> fds;
  for (const Candidate& each : candidates) {
    if (still(each)) fds.push_back({each.orphan.channel.fd(), POLLIN, 0});
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return !fds.empty() && left > 0 &&
         ::poll(fds.data(), fds.size(), static_cast<int>(std::min<std::int64_t>(left, 50))) >= 0;
}

bool silent(const Candidate& each) { return !each.orphan.answered && !each.refused && !each.unknown && !each.gone; }

void read_greeting(Candidate& candidate) {
  auto received = candidate.orphan.channel.receive();
  if (received.outcome == Outcome::kNothing) return;
  candidate.gone = received.outcome == Outcome::kEnd;
  candidate.orphan.answered = received.message.has_orphaned();
  candidate.refused = received.message.has_failed();
  candidate.unknown = !candidate.gone && !candidate.orphan.answered && !candidate.refused;
  if (candidate.orphan.answered) candidate.greeting = received.message.orphaned();
}

void receive_greetings(std::vector<Candidate>& candidates) {
  const auto awake = [](const Candidate& each) { return silent(each) && process_state(each.orphan.pid) != 'T'; };
  const auto deadline = Clock::now() + std::chrono::milliseconds(kOrphanAnswerMs);
  while (wait_for_any(candidates, deadline, awake)) {
    for (Candidate& each : candidates) {
      if (silent(each)) read_greeting(each);
    }
  }
  std::erase_if(candidates, [](const Candidate& each) { return each.gone; });
}

absl::Status nobody_answers(const std::string& instance, const std::vector<Candidate>& candidates) {
  std::vector<std::string> pids;
  for (const Candidate& each : candidates) pids.push_back(std::to_string(each.orphan.pid));
  const std::string list = absl::StrJoin(pids, " ");
  return absl::UnavailableError(
      absl::StrCat("an instance named \"", instance,
                   "\" is there without a supervisor, but none of its processes answers; continue one",
                   " of them with kill -CONT ", list, ", or end them with kill -KILL ", list));
}

absl::Status check_versions(const std::string& instance, const std::vector<Candidate>& candidates) {
  for (const Candidate& each : candidates) {
    if (!each.unknown && (!each.orphan.answered || each.greeting.version() == kIngotVersion)) continue;
    const std::string version = each.unknown ? "of another version" : each.greeting.version();
    return absl::FailedPreconditionError(
        absl::StrCat("\"", instance, "\" was started by ingotd ", version, ", and this is ", kIngotVersion,
                     "; start that version, or wait until the processes have left (--orphan-grace)"));
  }
  return absl::OkStatus();
}

absl::StatusOr<HandoverState> ask_for_description(Candidate& candidate) {
  SupervisionChannel& channel = candidate.orphan.channel;
  const auto failure = [&](const std::string& why) {
    return absl::UnavailableError(absl::StrCat(candidate.orphan.child, " (pid ", candidate.orphan.pid,
                                               ") does not describe its instance: ", why));
  };
  if (auto status = channel.send(describe_message()); !status.ok()) return failure(std::string(status.message()));
  HandoverStateReceiver receiver;
  const auto deadline = Clock::now() + std::chrono::milliseconds(kOrphanAnswerMs);
  while (Clock::now() < deadline) {
    pollfd readable{channel.fd(), POLLIN, 0};
    if (::poll(&readable, 1, 50) <= 0) continue;
    auto received = channel.receive();
    if (received.outcome == Outcome::kNothing) continue;
    if (received.outcome == Outcome::kEnd) return failure("it has ended");
    if (received.outcome == Outcome::kMalformed) return failure("its message is malformed");
    if (received.outcome == Outcome::kTruncated) {
      return failure("its descriptors do not fit; raise the limit of open files");
    }
    const auto complete = receiver.add(received.message, std::move(received.fds));
    if (!complete.ok()) return failure(std::string(complete.status().message()));
    if (*complete) return receiver.take();
  }
  return failure("it does not answer");
}

absl::StatusOr<Orphans> try_to_find(const std::string& instance) {
  auto candidates = connect_to_all(instance);
  if (!candidates.ok()) return candidates.status();
  receive_greetings(*candidates);
  if (candidates->empty()) return absl::NotFoundError("there are none");
  if (std::any_of(candidates->begin(), candidates->end(), [](const Candidate& each) { return each.refused; })) {
    return absl::AlreadyExistsError(absl::StrCat("an instance named \"", instance, "\" has a supervisor"));
  }
  if (auto status = check_versions(instance, *candidates); !status.ok()) return status;
  // The process of the largest generation knows all that the others know (HandoverState::generation).
  const auto knows_less = [](const Candidate& a, const Candidate& b) {
    return std::pair(a.orphan.answered, a.greeting.generation()) <
           std::pair(b.orphan.answered, b.greeting.generation());
  };
  Candidate& best = *std::max_element(candidates->begin(), candidates->end(), knows_less);
  if (!best.orphan.answered) return nobody_answers(instance, *candidates);
  auto known = ask_for_description(best);
  if (!known.ok()) return known.status();
  Orphans orphans{{}, *std::move(known), best.greeting.orphan_ms()};
  for (Candidate& each : *candidates) orphans.processes.push_back(std::move(each.orphan));
  return orphans;
}

}  // namespace

// The instance's name becomes free a moment before the last child sees its supervisor's end. Until then that child
// still refuses (ALREADY_EXISTS), so the search is repeated.
absl::StatusOr<Orphans> find_orphans(const std::string& instance) {
  for (int i = 1;; ++i) {
    auto orphans = try_to_find(instance);
    if (!absl::IsAlreadyExists(orphans.status()) || i == kOrphanTries) return orphans;
    std::this_thread::sleep_for(std::chrono::milliseconds(kOrphanTryMs));
  }
}

ChildRole role_of(const std::string& child, int replicas) {
  if (child == "front-end") return ChildRole::front_end(replicas);
  if (child == "replicas") return ChildRole::all_replicas(replicas);
  int id = 0;
  (void)absl::SimpleAtoi(absl::StripPrefix(child, "replica/"), &id);
  return ChildRole::replica(id);
}

}  // namespace ingot
