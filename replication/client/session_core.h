// One client's session with the replicas as a pure state machine: submissions, messages, deaths and the time go in;
// sends and answers come out, in order. No transport, clock, thread or lock.
//
// Drivers: replication/client/session_endpoint.h over a transport; the simulator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/gathered_message.h"
#include "core/types.h"
#include "core/wire.h"
#include "replication/client/limits.h"
#include "replication/client/replica_client.h"
#include "replication/client/routing.h"
#include "replication/client/shown_slot.h"
#include "replication/replica/limits.h"
#include "replication/requests/request.h"

namespace ingot::inline replication_client {

// What a session holds at most, and how long it waits.
struct SessionBounds {
  std::size_t requests = kFrontEndRequestsMax;   // in flight
  std::size_t bytes = kFrontEndBytesMax;         // of their payloads
  std::uint64_t window = kSessionWindow;         // of commands: as many as a replica remembers of a session
  std::uint64_t timeout_ms = kRequestTimeoutMs;  // of a request: afterwards its outcome is unknown
  std::uint64_t retry_ms = kRetryMs;             // without an answer; doubled kRetryDoublings times
  std::uint64_t scan_ms = kRetryScanMs;          // between two scans of the requests in flight
  std::uint64_t suspect_ms = 20;  // of a leader's silence: then one request at a time also goes to another replica
  // After a first refusal, or a first question to another replica; then doubled up to scan_ms. A new leader is found in
  // less than a millisecond.
  std::uint64_t pause_us = 100;
  std::uint64_t doubt_ms = kDoubtMs;             // for which a replica that is reported stopped is avoided
  std::uint64_t quiet_ms = kQuietMs;             // without requests before the timer stops
};

// Commands form one session: a retry repeats the sequence, and takes effect at most once. Queries have sequences of
// their own.
//
// If the leader is silent or dead, the requests that wait for it are sent again, and one of them at a time also goes to
// another replica, in turn. That replica asks the leader for a sign of life, and names the leader that it finds; all
// requests then go to that one. If the kernel says that a replica is stopped, what it was to decide or to answer goes to
// others at once, as if it had died; but it may have been carried out, and an answer of the stopped replica counts.
//
// A standing query waits at one replica for as long as it takes, and nothing of the session runs for it meanwhile. If
// that replica dies, is reported stopped, or cannot be reached, another one is asked; if there is none, the first that
// comes back.
//
// A local query asks for a state that has come as far as any that was shown before the query. A replica that has not
// waits until it has; if that takes long, the query goes to the next one, and later ones pass that replica by until it
// has come so far.
//
// Each incarnation of a client begins a session of its own, with sequences that no earlier incarnation has used:
// replicas may still answer requests of an earlier incarnation, to the same endpoint.
//
// Not thread-safe. Nanoseconds are those of one monotonic clock.
class SessionCore {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  using Callback = ReplicaClient::Callback;

  struct Options {
    int replicas = 3;
    std::uint64_t session = 0;  // random, never used before
    EndpointId self;            // the endpoint that replicas answer to
    EndpointId leader;          // first guesses; answers correct them
    EndpointId acceptor;
    EndpointId nearest;         // replica for local queries
    Incarnation incarnation{1};  // of the client
    SessionBounds bounds{};
    std::shared_ptr<ShownSlot> shown{};  // with other sessions; null: this one has its own
    bool told_applied = false;  // replica_applied() is called for replicas that lag
  };

  // Actions. The message is valid until the next call of next() or of an input.
  struct Send {
    EndpointId to;
    GatheredMessage message;
  };
  // An answer to a submission, for its callback, which the core never calls. kOverloaded: not carried out.
  struct Answer {
    Callback callback;
    ReplicaReply::Outcome outcome = ReplicaReply::Outcome::kOk;
    Slot slot;
    std::string payload;
    void deliver() const { callback({outcome, slot, payload}); }
  };
  using Action = std::variant<Send, Answer>;

  explicit SessionCore(const Options& options);

  // The next action, to be executed before the following one is taken; none: all are done. Actions keep the order in
  // which inputs caused them. The driver may take them after each input or later: a Send whose submission has been
  // answered meanwhile is left out.
  std::optional<Action> next();

  // Inputs.

  // Returns false, with `callback` untouched, if a bound is reached. `wanted`: ReplicaClient::submit. A standing query
  // ends the one before, whose answer is an action.
  bool submit(RequestKind kind, std::string payload, Callback& callback, EndpointId wanted, std::uint64_t now_ns);
  void receive(EndpointId from, std::string_view message, std::uint64_t now_ns);
  // The replica's last incarnation is dead: it answers no request any more, so its requests are sent again.
  void replica_died(EndpointId replica, std::uint64_t now_ns);
  // The kernel has reported the process of the replica's last incarnation stopped: a reason to ask others, and no proof
  // of anything. May be repeated. See Routing::stopped.
  void replica_stopped(EndpointId replica, std::uint64_t now_ns);
  void replica_continued(EndpointId replica) { routing_.continued(replica); }
  // Messages to the replica were dropped for want of room, and none waits any more.
  void channel_drained(EndpointId replica, std::uint64_t now_ns);
  // See Routing::restarted and Routing::applied.
  void replica_restarted(EndpointId replica, bool lags, std::uint64_t now_ns);
  void replica_applied(EndpointId replica, Slot applied) { routing_.applied(replica, applied); }
  // REQUIRES: is called at deadline_ns() or soon after. `backlogged`: whether earlier messages to that replica still
  // wait to leave; then nothing is sent again to it. It may take actions with next(), so that messages of this tick
  // count.
  void tick(std::uint64_t now_ns, absl::FunctionRef<bool(EndpointId)> backlogged);

  // When tick() is to be called; kNever once nothing but a standing query has been in flight for quiet_ms.
  std::uint64_t deadline_ns() const { return next_timer_ns_; }
  const Routing& routing() const { return routing_; }
  // Submissions without their last answer; a standing query does not count.
  std::size_t in_flight() const { return submissions_.size() - (standing_ ? 1 : 0); }

 private:
  struct Submission {
    RequestKind kind;
    std::string payload;
    Callback callback;
    EndpointId wanted;               // replica for local queries, or kAnyReplica
    Slot floor;                      // of a local query
    EndpointId target;               // of the last attempt
    EndpointId responder;            // likewise
    std::uint64_t deadline_ns = 0;
    std::uint64_t sent_ns = 0;       // the last attempt
    std::uint64_t retry_ns = 0;
    int attempts = 0;
    int refusals = 0;                // by replicas that it was sent to as the leader
    bool redirected = false;         // since the timer sent it last
    int open_attempts = 0;           // sent and not refused: each of them may have been carried out
  };
  // A Send whose message is encoded when it is taken.
  struct Attempt {
    std::uint64_t sequence = 0;
    EndpointId to;
    EndpointId responder;
    std::uint64_t acknowledged_below = 0;
  };

  void forget_old_doubts(std::uint64_t now_ns);
  bool admits(RequestKind kind, std::size_t payload_bytes);
  void attempt(std::uint64_t sequence, Submission& submission, std::uint64_t now_ns);
  void attempt_standing(std::uint64_t now_ns, absl::FunctionRef<bool(EndpointId)> backlogged);
  std::uint64_t standing_retry_ns() const;
  void send(std::uint64_t sequence, Submission& submission, EndpointId target);
  void ask_another(std::uint64_t sequence, Submission& submission, std::uint64_t now_ns);
  Send encode_attempt(const Attempt& attempt, const Submission& submission);
  void refused(std::uint64_t sequence, Submission& submission, EndpointId from, const Response& response,
               std::uint64_t now_ns);
  void note_silence(const Submission& submission, std::uint64_t now_ns);
  void pause(Submission& submission, std::uint64_t now_ns);
  std::uint64_t next_pause_ns(int& pauses) const;
  void finish(std::uint64_t sequence, ReplicaReply::Outcome outcome, Slot slot, std::string_view payload);
  std::uint64_t acknowledged_below();

  const Options options_;
  const std::shared_ptr<ShownSlot> shown_;
  Routing routing_;
  std::unordered_map<std::uint64_t, Submission> submissions_;  // by sequence
  std::optional<std::uint64_t> standing_;                      // the standing query's sequence
  std::deque<std::uint64_t> command_order_;  // sequences of commands, some answered already
  std::size_t payload_bytes_ = 0;            // of all submissions
  std::uint64_t next_command_;
  std::uint64_t next_query_;
  std::uint64_t next_timer_ns_ = kNever;
  std::uint64_t quiet_since_ns_ = 0;
  std::uint64_t next_ask_ns_ = 0;  // not before: a request is sent to another replica than the silent leader
  int asks_ = 0;                   // since the leader is silent
  std::uint64_t doubts_end_ns_ = kNever;
  std::vector<std::variant<Attempt, Answer>> actions_;
  std::size_t actions_taken_ = 0;
  WireWriter header_;  // of the Send that was taken last
};

}  // namespace ingot::replication_client
