// The session client under several threads: each submission is answered once, outside the client's lock.
#include "replication/client/session_client.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "core/check.h"
#include "core/wire.h"

namespace ingot {
namespace {

// Replica 0, which answers its requests at the next probe. It is used under the client's lock only.
class AnsweringTransport final : public Transport {
 public:
  EndpointId self() const override { return EndpointId(1); }

  bool send(EndpointId, std::span<const std::byte> message) override {
    const auto request = decode_request(as_view(message));
    INGOT_CHECK(request.has_value(), "what is sent is a request");
    Response response;
    response.sequence = request->sequence;
    response.slot = Slot(++slots_);
    response.payload = request->payload;
    answers_.push_back(encode(response));
    return true;
  }

  int probe(Handler handler, int limit) override {
    int handed_out = 0;
    for (; handed_out < limit && !answers_.empty(); ++handed_out) {
      handler(EndpointId(0), as_bytes(answers_.front()));
      answers_.pop_front();
    }
    return handed_out;
  }

  bool flush() override { return false; }
  bool parts_moved() override { return false; }
  bool readable() override { return !answers_.empty(); }
  void peer_gone(EndpointId) override {}

 private:
  std::deque<std::string> answers_;
  std::uint64_t slots_ = 0;
};

SessionClient::Options one_replica(std::function<void()> wake_loop) {
  SessionClient::Options options;
  options.replicas = 1;
  options.session = 5;
  options.wake_loop = std::move(wake_loop);
  return options;
}

}  // namespace

TEST_CASE("threads submit while the loop answers, and each gets its own answer") {
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  AnsweringTransport transport;
  SessionClient client(transport, one_replica([] {}));
  std::atomic<int> answered{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        const std::string payload = std::to_string(thread) + "/" + std::to_string(i);
        const auto check = [&, payload](const ReplicaReply& reply) {
          if (reply.outcome != ReplicaReply::Outcome::kOk || reply.payload != payload || !reply.last) ++wrong;
          ++answered;
        };
        client.submit(RequestKind::kCommand, payload, check, ReplicaClient::kAnyReplica);
      }
    });
  }
  while (answered < kThreads * kEach) client.poll(monotonic_ns());
  for (std::thread& thread : threads) thread.join();
  REQUIRE(wrong == 0);
  REQUIRE(client.in_flight() == 0);
}

TEST_CASE("a callback may submit") {
  AnsweringTransport transport;
  SessionClient client(transport, one_replica([] {}));
  int answers = 0;
  ReplicaClient::Callback again = [&](const ReplicaReply&) {
    if (++answers < 3) client.submit(RequestKind::kLocalQuery, "", again, ReplicaClient::kAnyReplica);
  };
  client.submit(RequestKind::kLocalQuery, "", again, ReplicaClient::kAnyReplica);
  for (int i = 0; i < 3; ++i) client.poll(monotonic_ns());
  REQUIRE(answers == 3);
}

TEST_CASE("the loop is woken for the first request, whose timer it has to run, and for no other") {
  AnsweringTransport transport;
  int wakes = 0;
  SessionClient client(transport, one_replica([&] { ++wakes; }));
  REQUIRE(client.deadline_ns() == Pollable::kNever);
  for (int i = 0; i < 3; ++i) {
    client.submit(RequestKind::kCommand, "x", [](const ReplicaReply&) {}, ReplicaClient::kAnyReplica);
  }
  REQUIRE(wakes == 1);
  REQUIRE(client.readable());
}

TEST_CASE("beyond its bound the client refuses before submit returns") {
  AnsweringTransport transport;
  auto options = one_replica([] {});
  options.bounds.requests = 1;
  SessionClient client(transport, std::move(options));
  int refused = 0;
  client.submit(RequestKind::kCommand, "x", [](const ReplicaReply&) {}, ReplicaClient::kAnyReplica);
  client.submit(
      RequestKind::kCommand, "x",
      [&](const ReplicaReply& reply) { refused += reply.outcome == ReplicaReply::Outcome::kOverloaded; },
      ReplicaClient::kAnyReplica);
  REQUIRE(refused == 1);
}

}  // namespace ingot
