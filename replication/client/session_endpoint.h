// A session over a transport: executes the actions of a SessionCore, and gives it the messages that arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/types.h"
#include "replication/client/session_core.h"
#include "replication/pages/doubt_watch.h"
#include "replication/pages/pages.h"
#include "replication/replica/outbox.h"
#include "transport/host/peer_incarnations.h"
#include "transport/pollable.h"
#include "transport/transport.h"

namespace ingot::inline replication_client {

// Used by one thread at a time. poll() hands out the answers; its caller delivers them to their callbacks.
class SessionEndpoint {
 public:
  struct Options : SessionCore::Options {  // `self` is the transport's
    const DaemonPage* daemon = nullptr;  // reports deaths and stops; null: only replica_died() does, and no stops
    std::vector<const ReplicaPage*> pages;  // of all replicas: they show what is applied and what blocks; or none
    PeerIncarnations* incarnations = nullptr;  // over the same transport; null: no replica is restarted
  };

  // Why a request was not taken.
  struct Refusal {
    ReplicaReply::Outcome outcome;
    std::string sentence;  // for kBlocked: which replica waits for which, and why
  };

  // REQUIRES: `transport` outlives this, and this is its only user.
  SessionEndpoint(Transport& transport, const Options& options);

  // Writes the request into its receiver's inbox at once; the receiver is woken by the next poll() or flush(). Returns
  // a Refusal if the request is not taken; `callback` is then untouched. The next poll() answers a standing query that
  // this one replaces.
  std::optional<Refusal> submit(RequestKind kind, std::string payload, SessionCore::Callback& callback,
                                EndpointId replica, std::uint64_t now_ns);

  // As Pollable; appends the answers that have arrived, in order, to `answers`.
  int poll(std::uint64_t now_ns, std::vector<SessionCore::Answer>& answers);
  bool readable();
  // Wakes the receivers of what was submitted since the last poll().
  void flush() { transport_.flush(); }
  std::uint64_t deadline_ns() const { return core_.deadline_ns(); }

  // The kernel says that this incarnation of the replica has ended.
  void replica_died(EndpointId replica, Incarnation incarnation, std::uint64_t now_ns);
  // The supervisor announces the next incarnation of a replica. Not to be called during poll().
  // REQUIRES: Options::incarnations.
  void begin_incarnation(PeerIncarnation announced, std::uint64_t now_ns);

  std::size_t in_flight() const { return core_.in_flight(); }

 private:
  void execute(std::uint64_t now_ns, std::vector<SessionCore::Answer>& answers);
  bool told_of_deaths() const;
  void poll_deaths(std::uint64_t now_ns);
  void poll_doubts(std::uint64_t now_ns);
  bool reaches(ReplicaIncarnation name) const;
  void note_death(EndpointId replica, std::uint64_t now_ns);
  int poll_incarnations(std::uint64_t now_ns);
  void note_applied();
  Refusal refusal(std::uint64_t now_ns) const;

  Transport& transport_;
  const DaemonPage* const daemon_;
  const std::vector<const ReplicaPage*> pages_;
  PeerIncarnations* const incarnations_;
  const int replicas_;
  SessionCore core_;
  Outbox outbox_;
  std::vector<SessionCore::Answer> replaced_;  // standing queries
  std::uint64_t deaths_seen_ = 0;
  DoubtWatch doubts_;
};

}  // namespace ingot::replication_client
