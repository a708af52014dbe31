#include "services/handover/orphans.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "replication/pages/page_access.h"
#include "replication/pages/pages.h"
#include "services/handover/candidates.h"
#include "services/handover/limits.h"
#include "services/launch/process_signal.h"
#include "transport/host/segment.h"

namespace ingot::inline services_handover {

namespace {

using Clock = std::chrono::steady_clock;
using Outcome = SupervisionChannel::Received::Outcome;

// What a dead process has left behind may still hold its socket: only an answer shows which of two is the child.
absl::Status check_one_each(const std::string& instance, std::vector<Candidate>& candidates) {
  std::set<std::string> answered, seen;
  for (const Candidate& each : candidates) {
    if (each.orphan.answered) answered.insert(each.orphan.child);
  }
  std::erase_if(candidates,
                [&](const Candidate& each) { return !each.orphan.answered && answered.contains(each.orphan.child); });
  for (const Candidate& each : candidates) {
    if (seen.insert(each.orphan.child).second) continue;
    return absl::UnavailableError(absl::StrCat("two processes of \"", instance, "\" are its ", each.orphan.child,
                                               ", the second with pid ", each.orphan.pid, "; end one of them"));
  }
  return absl::OkStatus();
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
  const auto failure = [&](absl::string_view why) {
    const auto code = candidate.lost ? absl::StatusCode::kAborted : absl::StatusCode::kUnavailable;
    return absl::Status(code, absl::StrCat(candidate.orphan.child, " (pid ", candidate.orphan.pid,
                                           ") does not describe its instance: ", why));
  };
  if (auto status = channel.send(describe_message()); !status.ok()) {
    if (absl::IsFailedPrecondition(status)) note_end(candidate);
    return failure(status.message());
  }
  HandoverStateReceiver receiver;
  const auto deadline = Clock::now() + std::chrono::milliseconds(kOrphanAnswerMs);
  while (Clock::now() < deadline) {
    pollfd readable{channel.fd(), POLLIN, 0};
    if (::poll(&readable, 1, 50) <= 0) continue;
    auto received = channel.receive();
    if (received.outcome == Outcome::kNothing) continue;
    if (received.outcome == Outcome::kEnd) {
      note_end(candidate);
      return failure(candidate.gone ? "it has ended" : "it has closed the connection");
    }
    if (received.outcome == Outcome::kMalformed) return failure("its message is malformed");
    if (received.outcome == Outcome::kTruncated) {
      return failure("its descriptors do not fit; raise the limit of open files");
    }
    if (received.message.has_failed()) {
      candidate.lost = true;
      return failure(status_of(received.message.failed()).message());
    }
    const auto complete = receiver.add(received.message, std::move(received.fds));
    if (!complete.ok()) return failure(std::string(complete.status().message()));
    if (*complete) return receiver.take();
  }
  return failure("it does not answer");
}

// Whether a process knows something that is not in `known`, or may.
bool knows_more(const supervision_v1::Orphaned& greeting, const HandoverState& known) {
  supervision_v1::Orphaned here;
  known.describe(here);
  if (greeting.snapshot_slot() > here.snapshot_slot() || here.unknown() > 0) return true;
  if (greeting.binding() > here.binding() || greeting.view_binding() > here.view_binding()) return true;
  for (int i = 0; i < std::min(greeting.incarnations_size(), here.incarnations_size()); ++i) {
    if (greeting.incarnations(i) > here.incarnations(i)) return true;
  }
  return false;
}

// Most processes know everything, so one is asked. A process that was stopped may have missed what others were told;
// and when the supervisor died while it told them, each may know something that the other does not. They are asked one
// after the other, since all their descriptors at once would exceed what a user may have in flight. One that ends
// before it has answered takes with it what only it knew; one that lives and cannot answer must not be passed over, and
// one that has closed its connection is connected to again, since it could not be told anything.
absl::StatusOr<HandoverState> gather(std::vector<Candidate>& candidates) {
  std::vector<Candidate*> answering;
  for (Candidate& each : candidates) {
    if (each.orphan.answered) answering.push_back(&each);
  }
  const auto sum = [](const Candidate* each) {
    const auto& incarnations = each->greeting.incarnations();
    return std::accumulate(incarnations.begin(), incarnations.end(), each->greeting.snapshot_slot());
  };
  absl::c_stable_sort(answering, [&](const Candidate* a, const Candidate* b) { return sum(a) > sum(b); });
  std::optional<HandoverState> known;
  absl::Status failure;
  std::vector<const Candidate*> unheard;
  for (Candidate* each : answering) {
    if (known && !knows_more(each->greeting, *known)) continue;
    auto described = ask_for_description(*each);
    if (!described.ok()) {
      if (!absl::IsAborted(failure)) failure = described.status();
      if (!each->gone) unheard.push_back(each);
    } else if (known) {
      known->merge(*std::move(described));
    } else {
      known = *std::move(described);
    }
  }
  const auto is_missed = [&](const Candidate* each) { return each->lost || knows_more(each->greeting, *known); };
  if (!known || absl::c_any_of(unheard, is_missed)) return failure;
  return *std::move(known);
}

void note_told(Candidate& candidate, const HandoverState& known) {
  const std::size_t replicas = known.spec().replicas.size();
  Told& told = candidate.orphan.told;
  const auto& incarnations = candidate.greeting.incarnations();
  told.incarnations.assign(incarnations.begin(), incarnations.end());
  told.incarnations.resize(replicas + 2, 1);
  told.releases.assign(replicas, 0);
  told.snapshot = Slot(candidate.greeting.snapshot_slot());
  told.binding = candidate.greeting.binding();
}

// A process that runs and was not found would get a second one beside it, as its next incarnation.
absl::Status check_none_missed(const std::string& instance, const std::vector<Candidate>& candidates,
                               const LaunchSpec& spec) {
  const auto segment = Segment::map(spec.daemon_page_fd, Segment::Access::kReadOnly);
  if (!segment.ok()) return segment.status();
  const auto* page = segment->as<const DaemonPage>();
  if (page == nullptr) return absl::InvalidArgumentError("the processes of the instance describe another one");
  const auto check = [&](const std::string& child, const ProcessEntry& entry) {
    const ProcessName process = process_in(entry);
    const auto pid = static_cast<pid_t>(process.pid);
    const bool found = absl::c_any_of(candidates, [&](const Candidate& each) { return each.orphan.pid == pid; });
    if (found || condition_of(pid, process.started) == ProcessCondition::kGone) return absl::OkStatus();
    return absl::AbortedError(absl::StrCat(child, " of \"", instance, "\" (pid ", pid,
                                           ") runs, but its socket is not among those of the instance; try again, or "
                                           "end it with kill -KILL ",
                                           pid));
  };
  absl::Status status = check("the front end", page->front_end);
  for (const ReplicaLaunch& each : spec.replicas) {
    status.Update(check(absl::StrCat("replica ", each.id), page->replicas[each.id]));
  }
  return status;
}

absl::StatusOr<Orphans> try_to_find(const std::string& instance, FindSockets find, Clock::time_point until,
                                    std::vector<Candidate>& candidates) {
  if (auto status = connect_to_all(instance, find, until, candidates); !status.ok()) return status;
  if (auto status = receive_greetings(candidates); !status.ok()) return status;
  if (candidates.empty()) return absl::NotFoundError("there are none");
  if (absl::c_any_of(candidates, [](const Candidate& each) { return each.refused; })) {
    return absl::AlreadyExistsError(absl::StrCat("an instance named \"", instance, "\" has a supervisor"));
  }
  if (auto status = check_versions(instance, candidates); !status.ok()) return status;
  if (auto status = check_one_each(instance, candidates); !status.ok()) return status;
  if (absl::c_none_of(candidates, [](const Candidate& each) { return each.orphan.answered; })) {
    return nobody_answers(instance, candidates);
  }
  auto known = gather(candidates);
  if (!known.ok()) return known.status();
  if (auto status = check_none_missed(instance, candidates, known->spec()); !status.ok()) return status;
  Orphans orphans{{}, *std::move(known), 0};
  for (Candidate& each : candidates) {
    note_told(each, orphans.known);
    orphans.orphan_ms = std::max<std::int64_t>(orphans.orphan_ms, each.greeting.orphan_ms());
    orphans.processes.push_back(std::move(each.orphan));
  }
  return orphans;
}

}  // namespace

// The search is repeated as long as it may have come too early, or has been disturbed. The instance's name becomes free
// a moment before the last child sees its supervisor's end, and until then that child refuses (ALREADY_EXISTS).
absl::StatusOr<Orphans> find_orphans(const std::string& instance, FindSockets find) {
  const auto until = Clock::now() + std::chrono::milliseconds(kOrphanConnectMs);
  std::vector<Candidate> candidates;
  for (int i = 1;; ++i) {
    auto orphans = try_to_find(instance, find, until, candidates);
    const bool again = absl::IsAlreadyExists(orphans.status()) || absl::IsAborted(orphans.status());
    if (!again || i == kOrphanTries) return orphans;
    std::this_thread::sleep_for(std::chrono::milliseconds(kOrphanTryMs));
  }
}

}  // namespace ingot::services_handover
