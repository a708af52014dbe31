// A session core with a driver that records the core's actions, so that a test plays the replicas.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/check.h"
#include "replication/client/session_core.h"

namespace ingot {

inline constexpr std::uint64_t kNsPerMs = 1'000'000;

struct SentRequest {
  EndpointId to;
  Request request;
  std::string payload;  // the bytes of request.payload
};

struct ReceivedAnswer {
  ReplicaReply::Outcome outcome{};
  Slot slot;
  std::string payload;
};

class SessionOnPaper {
 public:
  explicit SessionOnPaper(const SessionCore::Options& options) : core(options) {}

  static SessionCore::Options options(int replicas = 3) {
    SessionCore::Options options;
    options.replicas = replicas;
    options.session = 77;
    options.self = EndpointId(static_cast<std::uint16_t>(replicas));
    options.acceptor = EndpointId(replicas > 1 ? 1 : 0);
    options.nearest = EndpointId(static_cast<std::uint16_t>(replicas - 1));
    return options;
  }

  // Returns the submission's number, its key in `answers`; 0: it was refused.
  int submit(RequestKind kind = RequestKind::kCommand, const std::string& payload = "x",
             EndpointId wanted = ReplicaClient::kAnyReplica) {
    const int number = submissions_ + 1;
    SessionCore::Callback callback = [this, number](const ReplicaReply& reply) {
      INGOT_CHECK(!answers.contains(number), "a submission is answered once");
      answers[number] = {reply.outcome, reply.slot, std::string(reply.payload)};
    };
    if (!core.submit(kind, payload, callback, wanted, now_ns)) {
      INGOT_CHECK(callback != nullptr, "the callback of a request that is not taken stays with its owner");
      return 0;
    }
    submissions_ = number;
    execute();
    return number;
  }

  void respond(EndpointId from, std::uint64_t sequence, Response::Status status, EndpointId leader,
               const std::string& payload = "", Slot slot = Slot(1)) {
    Response response;
    response.status = status;
    response.sequence = sequence;
    response.slot = slot;
    response.leader = leader;
    response.acceptor = EndpointId(1);
    response.payload = payload;
    core.receive(from, encode(response), now_ns);
    execute();
  }

  void pass(std::uint64_t ms) { pass_ns(ms * kNsPerMs); }
  void pass_ns(std::uint64_t ns) {
    now_ns += ns;
    core.tick(now_ns, [this](EndpointId replica) { return backlogged.contains(replica.value()); });
    execute();
  }

  // Runs all ticks up to that time, each when the core is due.
  void pass_until(std::uint64_t end_ns) {
    while (core.deadline_ns() <= end_ns) pass_ns(core.deadline_ns() > now_ns ? core.deadline_ns() - now_ns : 0);
    now_ns = end_ns;
  }

  std::vector<SentRequest> take_sent() { return std::exchange(sent_, {}); }

  void execute() {
    while (auto action = core.next()) {
      if (const auto* answer = std::get_if<SessionCore::Answer>(&*action)) {
        answer->deliver();
        continue;
      }
      const auto& send = std::get<SessionCore::Send>(*action);
      const std::string bytes = send.message.joined();
      const auto request = decode_request(bytes);
      INGOT_CHECK(request.has_value(), "what is sent is a request");
      sent_.push_back({send.to, *request, std::string(request->payload)});
    }
  }

  std::uint64_t now_ns = 1'000 * kNsPerMs;
  SessionCore core;
  std::map<int, ReceivedAnswer> answers;
  std::set<std::uint16_t> backlogged;  // replicas

 private:
  int submissions_ = 0;
  std::vector<SentRequest> sent_;
};

}  // namespace ingot
