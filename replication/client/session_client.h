// ReplicaClient over the transport: the front end's endpoint, its session, and the retries.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/types.h"
#include "replication/replica/outbox.h"
#include "replication/requests/request.h"
#include "replication/pages/instance_view.h"
#include "replication/client/replica_client.h"
#include "transport/host/event_loop.h"
#include "transport/host/peer_incarnations.h"
#include "transport/transport.h"

namespace ingot {

// submit() may be called from any thread and sends at once, under a mutex, so that a request needs no hop to the loop's
// thread; answers arrive in poll(), on the loop's thread, which runs the callbacks outside the mutex.
//
// A leader that is silent or dead: what waits for it is sent again, and one waiting request at a time also goes to
// another replica, in turn. That one asks the leader for a sign of life, and says who leads; everything then goes there.
//
// A replica that comes back is sent what is meant for it at once, and is chosen to answer once it has applied what was
// answered here before.
//
// The next incarnation of a front end begins a session of its own, with numbers that no earlier incarnation has used:
// replicas may still answer what that one had asked, to the same endpoint.
//
// Commands form one session: a retry repeats the sequence, and its effect is one. At most kFrontEndRequestsMax requests
// and kFrontEndBytesMax bytes are in flight; more are answered kOverloaded, or kBlocked while a replica says so.
class ShmReplicaClient : public ReplicaClient, public Pollable {
 public:
  struct Options {
    int replicas = 3;
    std::uint64_t session = 0;  // random, never used before
    EndpointId leader;          // first guesses; answers correct them
    EndpointId acceptor;
    EndpointId nearest;         // replica for local queries
    const DaemonPage* daemon = nullptr;  // says who has died; null: nobody does
    std::vector<const ReplicaPage*> pages;  // of all replicas: who has caught up, and who is blocked; or none
    PeerIncarnations* incarnations = nullptr;     // over the same transport; null: nobody comes back
    Incarnation incarnation{1};  // which incarnation of the front end this is
    std::function<void()> wake_loop;  // makes the loop call poll soon; any thread
    std::function<std::uint64_t()> now_ns = monotonic_ns;  // the clock that poll is called with
  };

  // REQUIRES: `transport` outlives this and is used by nobody else.
  ShmReplicaClient(Transport& transport, Options options);

  // The next incarnation of a replica is about to begin, as the supervisor says. In the loop's thread, not during poll.
  // REQUIRES: Options::lives.
  void begin_incarnation(PeerIncarnation announced);

  void submit(RequestKind kind, std::string payload, Callback callback, EndpointId replica) override;

  int poll(std::uint64_t now_ns) override;
  bool readable() override;
  std::uint64_t deadline_ns() const override;

  // The kernel says that this incarnation of the replica has ended. Any thread.
  void replica_died(EndpointId replica, Incarnation incarnation);

  // Requests that have no answer yet.
  std::size_t in_flight() const;

 private:
  struct Pending {
    RequestKind kind;
    std::string payload;
    Callback callback;
    EndpointId wanted;               // replica for local queries, or kAnyReplica
    EndpointId target;               // of the last attempt
    std::uint64_t deadline_ns = 0;
    std::uint64_t sent_ns = 0;       // the last attempt
    std::uint64_t retry_ns = 0;
    int attempts = 0;
    int refusals = 0;                // of those that it was sent to as the leader
    bool redirected = false;         // since the timer sent it last
    int open_attempts = 0;           // sent and not refused: each of them may have been carried out
  };
  struct Completion {
    Callback callback;
    ReplicaReply::Outcome outcome;
    Slot slot;
    std::string payload;
  };

  bool admit(RequestKind kind, std::size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void attempt(std::uint64_t sequence, Pending& pending, std::uint64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void send(std::uint64_t sequence, Pending& pending, EndpointId target) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ask_another(std::uint64_t sequence, Pending& pending) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void poll_deaths(std::uint64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void replica_gone(EndpointId replica, std::uint64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int poll_incarnations() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void note_returns() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool told_of_deaths() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool dead(EndpointId replica) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool lagging(EndpointId replica) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  EndpointId living_from(int place) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool follow(EndpointId leader) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  EndpointId choose_target(const Pending& pending) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  EndpointId choose_responder(const Pending& pending) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void receive(EndpointId from, std::string_view message, std::uint64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void refused(std::uint64_t sequence, Pending& pending, EndpointId from, const Response& response,
               std::uint64_t now_ns)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void pause(Pending& pending, std::uint64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string why_blocked(std::uint64_t now_ns) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void refuse(std::uint64_t sequence, Slot slot, std::uint64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void complete(std::uint64_t sequence, ReplicaReply::Outcome outcome, Slot slot, std::string_view payload)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void check_timers(std::uint64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::uint64_t acknowledged_below() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Transport& transport_;
  const Options options_;
  mutable absl::Mutex mutex_;
  Outbox outbox_ ABSL_GUARDED_BY(mutex_);
  EndpointId leader_ ABSL_GUARDED_BY(mutex_);
  EndpointId acceptor_ ABSL_GUARDED_BY(mutex_);
  Slot newest_ ABSL_GUARDED_BY(mutex_);      // of the answers that said so
  EndpointId asked_ ABSL_GUARDED_BY(mutex_);  // the last other replica that was sent what the leader does not answer
  std::uint64_t dead_ ABSL_GUARDED_BY(mutex_) = 0;  // bit by replica
  std::uint64_t lagging_ ABSL_GUARDED_BY(mutex_) = 0;  // likewise: dead, or has come back and not caught up
  std::vector<Slot> returns_at_ ABSL_GUARDED_BY(mutex_);  // by replica: applied slots from which on it has caught up
  std::uint64_t deaths_seen_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::uint64_t, Pending> pending_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::uint64_t> command_order_ ABSL_GUARDED_BY(mutex_);  // sequences of commands, some answered already
  std::size_t pending_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_command_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t next_query_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t next_timer_ns_ ABSL_GUARDED_BY(mutex_) = kNever;
  std::uint64_t quiet_since_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Completion> completions_;  // loop thread only
};

}  // namespace ingot
