// Requests of clients to a replica, and its answers.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>

#include "replication/replica/applied_sink.h"
#include "replication/replica/context.h"
#include "replication/replica/floor_reads.h"
#include "replication/replica/proposals.h"
#include "replication/replica/read_queue.h"
#include "replication/replica/standing_reads.h"
#include "replication/requests/request.h"
#include "replication/store/state_machine.h"

namespace ingot::inline replication_replica {

// Not thread-safe; used by its replica's core only.
class Requests {
 public:
  // REQUIRES: the references, and `sink` unless null, outlive this.
  Requests(ReplicaContext& context, Proposals& proposals, AppliedSink* sink)
      : context_(context), proposals_(proposals), sink_(sink) {}

  // A message of class kRequest. `starting`: this replica has restarted, and its state is still older than what it had
  // applied before. `now_ns`: of a steady clock.
  void receive(EndpointId from, std::string_view message, bool starting, std::uint64_t now_ns);

  // A command was applied: the replica that it names as its responder answers.
  void applied(Slot slot, const Applier::Applied& applied);

  // Turns away a command that was never proposed.
  void turn_away(const Request& command);

  // Agreement's answers for linearizable reads: confirmed, or rejected.
  void ready(const ReadReady& read) { reads_.ready(read.read_id, read.applied_needed); }
  void reject(const Rejection& rejection);
  // Answers one read that may be answered; false: there is none. One at a time, so that its answer can leave before the
  // next one takes memory.
  // Standing queries come after the others; those that have nothing to say go on waiting.
  bool answer_read(std::uint64_t now_ns);
  // Goes on with one of the queries that take many rounds; false: there is none. kLongQueriesBegunMax take turns, and
  // the next one begins when one of these has ended.
  bool go_on_with_query(std::uint64_t now_ns, StepBudget& steps);
  bool has_long_queries() const { return !long_queries_.empty(); }
  // Whether a standing query has come that was not looked at yet.
  bool has_new_standing() const { return new_standing_; }

  std::uint64_t refused() const { return refused_; }
  std::uint64_t dropped() const { return dropped_; }  // answers

 private:
  void receive_command(const Request& request);
  void receive_linearizable_query(const Request& request);
  void receive_local_query(const Request& request, std::uint64_t now_ns);
  void receive_standing(const Request& request, std::uint64_t now_ns);
  void receive_move(const Request& request);
  void answer_query(EndpointId client, std::uint64_t sequence, std::string_view query);
  bool answers(const Request& request) const;
  // False: the answer was dropped.
  bool respond(EndpointId to, std::uint64_t sequence, Response::Status status, std::string_view payload = {});
  bool respond_at(Slot applied, EndpointId to, std::uint64_t sequence, Response::Status status,
                  std::string_view payload);
  bool is_client(EndpointId endpoint) const {
    return endpoint.value() >= context_.group.replicas && endpoint.value() < context_.endpoints;
  }

  ReplicaContext& context_;
  Proposals& proposals_;
  AppliedSink* const sink_;
  struct LongQuery {
    EndpointId client;
    std::uint64_t sequence = 0;
    std::unique_ptr<QueryInSteps> query;
    std::uint64_t until_ns = 0;  // 0: it has not begun
  };
  ReadQueue reads_;
  FloorReads floor_reads_;
  std::deque<LongQuery> long_queries_;  // the next one first; those that have begun are in front of the others
  StandingReads standing_;
  bool new_standing_ = false;
  std::uint64_t refused_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace ingot::replication_replica
