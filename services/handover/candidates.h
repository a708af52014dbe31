// The processes of an instance to which a new supervisor has connected, before it knows whether it can take them over.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "services/handover/orphans.h"

namespace ingot::inline services_handover {

struct Candidate {
  Orphan orphan;
  std::string socket;  // InstanceSocket::name
  supervision_v1::Orphaned greeting{};
  bool refused = false;  // it answered that it has a supervisor
  bool unknown = false;  // its first message is unknown: a process of another version
  bool gone = false;     // it has ended
  bool lost = false;     // it has closed the connection and may be running: it must be connected to anew
};

// The candidate's connection has ended: sets `gone` or `lost`. A process that ends closes its connections a moment
// before its end can be seen, so it may be lost at first.
void note_end(Candidate& candidate);

// Connects to the processes that are not among the candidates yet, and drops candidates that have ended, have refused
// or are lost. An orphan to which a former try has connected remains connected: if another user floods the sockets,
// they need not all have room at one time. Waits for room until `until`. Errors: ABORTED (a process cannot be connected
// to; the others are candidates nevertheless), and those of `find`.
absl::Status connect_to_all(const std::string& instance, FindSockets find, std::chrono::steady_clock::time_point until,
                            std::vector<Candidate>& candidates);

// Waits at most kOrphanAnswerMs for the greetings of the candidates that are not stopped, and drops those that have
// ended. Errors: ABORTED (one is lost).
absl::Status receive_greetings(std::vector<Candidate>& candidates);

}  // namespace ingot::services_handover
