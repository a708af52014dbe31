#include "services/handover/candidates.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "services/handover/limits.h"
#include "services/launch/pidfd.h"
#include "services/launch/process_signal.h"

namespace ingot::inline services_handover {

namespace {

using Clock = std::chrono::steady_clock;
using Outcome = SupervisionChannel::Received::Outcome;

bool has_ended(const Candidate& candidate) {
  pollfd ended{candidate.orphan.pidfd.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) == 1;
}

bool must_reconnect(const Candidate& each) { return each.lost || each.refused || has_ended(each); }

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

bool silent(const Candidate& each) {
  return !each.orphan.answered && !each.refused && !each.unknown && !each.gone && !each.lost;
}

void read_greeting(Candidate& candidate) {
  auto received = candidate.orphan.channel.receive();
  if (received.outcome == Outcome::kNothing) return;
  if (received.outcome == Outcome::kEnd) return note_end(candidate);
  candidate.orphan.answered = received.message.has_orphaned();
  candidate.refused = received.message.has_failed();
  candidate.unknown = !candidate.orphan.answered && !candidate.refused;
  if (candidate.orphan.answered) candidate.greeting = received.message.orphaned();
}

}  // namespace

void note_end(Candidate& candidate) { (has_ended(candidate) ? candidate.gone : candidate.lost) = true; }

absl::Status connect_to_all(const std::string& instance, FindSockets find, Clock::time_point until,
                            std::vector<Candidate>& candidates) {
  std::erase_if(candidates, must_reconnect);
  const auto sockets = find(instance);
  if (!sockets.ok()) return sockets.status();
  absl::Status outcome;
  for (const InstanceSocket& socket : *sockets) {
    const auto is_it = [&](const Candidate& each) { return each.socket == socket.name; };
    if (socket.process == kSupervisorProcess || absl::c_any_of(candidates, is_it)) continue;
    auto connection = connect_to(socket, until);
    if (absl::IsNotFound(connection.status()) || absl::IsPermissionDenied(connection.status())) continue;
    absl::Status status = connection.status();
    Descriptor pidfd(status.ok() ? ::pidfd_open(connection->pid, 0) : -1);
    if (status.ok() && !pidfd.valid()) {
      if (errno == ESRCH) continue;  // it has just ended
      status = absl::ResourceExhaustedError(absl::StrCat("cannot watch it: ", std::strerror(errno)));
    }
    if (status.ok()) {
      candidates.push_back(
          {{socket.process, connection->pid, std::move(pidfd), SupervisionChannel(std::move(connection->fd))},
           socket.name});
    } else {
      outcome.Update(absl::AbortedError(absl::StrCat("an instance named \"", instance, "\" is there, but its ",
                                                     socket.process, " cannot be adopted: ", status.message())));
    }
  }
  return outcome;
}

absl::Status receive_greetings(std::vector<Candidate>& candidates) {
  const auto awake = [](const Candidate& each) { return silent(each) && process_state(each.orphan.pid) != 'T'; };
  const auto deadline = Clock::now() + std::chrono::milliseconds(kOrphanAnswerMs);
  while (wait_for_any(candidates, deadline, awake)) {
    for (Candidate& each : candidates) {
      if (silent(each)) read_greeting(each);
    }
  }
  std::erase_if(candidates, [](const Candidate& each) { return each.gone; });
  const auto lost = absl::c_find_if(candidates, [](const Candidate& each) { return each.lost; });
  if (lost == candidates.end()) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat(lost->orphan.child, " (pid ", lost->orphan.pid, ") has closed its connection; try again"));
}

}  // namespace ingot::services_handover
