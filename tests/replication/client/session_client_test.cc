// The session client of a loop, and other threads that submit to it: each submission is answered once.
#include "replication/client/session_client.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/wire.h"
#include "replication/client/posted_client.h"
#include "transport/host/event_loop.h"
#include "transport/host/fabric.h"
#include "transport/host/host_transport.h"
#include "transport/host/loop_tasks.h"

namespace ingot {
namespace {

// Replica 0, which answers its requests at the next probe.
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

  bool flush() override {
    ++flushes;
    return false;
  }
  bool parts_moved() override { return false; }
  bool readable() override { return !answers_.empty(); }
  void peer_gone(EndpointId) override {}

  int flushes = 0;

 private:
  std::deque<std::string> answers_;
  std::uint64_t slots_ = 0;
};

SessionClient::Options one_replica() {
  SessionClient::Options options;
  options.replicas = 1;
  options.session = 5;
  options.bounds.timeout_ms = 600'000;  // the machine may stop any thread for seconds
  return options;
}

std::vector<std::span<std::byte>> inboxes_of(const Fabric& fabric) {
  std::vector<std::span<std::byte>> inboxes;
  for (int id = 0; id < fabric.endpoints(); ++id) {
    inboxes.push_back(fabric.inbox(EndpointId(static_cast<std::uint16_t>(id))));
  }
  return inboxes;
}

// A replica's endpoint with a loop in a thread of its own; answers each request with its payload.
class AnsweringReplica final : public Pollable {
 public:
  AnsweringReplica(Fabric& fabric, TransportKind kind, EndpointId self)
      : transport_(make_transport(kind, inboxes_of(fabric), self, fabric, {})), loop_(*EventLoop::create({})) {
    loop_->add(*this, fabric, self);
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~AnsweringReplica() override {
    loop_->stop();
    thread_.join();
  }

  int poll(std::uint64_t) override {
    const auto answer = [&](EndpointId from, std::span<const std::byte> message) {
      const auto request = decode_request(as_view(message));
      INGOT_CHECK(request.has_value(), "what is sent is a request");
      Response response;
      response.sequence = request->sequence;
      response.slot = Slot(++slots_);
      response.payload = request->payload;
      answers_.emplace_back(from, encode(response));
    };
    const int work = transport_->probe(answer, kProbeMessages);
    while (!answers_.empty() && transport_->send(answers_.front().first, as_bytes(answers_.front().second))) {
      answers_.pop_front();
    }
    return work + (transport_->flush() ? 1 : 0);
  }
  bool readable() override { return transport_->readable(); }
  std::uint64_t deadline_ns() const override { return answers_.empty() ? kNever : 0; }

 private:
  static constexpr int kProbeMessages = 16;

  std::unique_ptr<ChannelTransport> transport_;
  std::unique_ptr<EventLoop> loop_;
  std::deque<std::pair<EndpointId, std::string>> answers_;
  std::uint64_t slots_ = 0;
  std::thread thread_;
};

}  // namespace

// The threads of a front end: its loop, others that submit, and the one that hears of deaths.
TEST_CASE("over shared memory, with all loops in threads, each submission is answered once, also when a replica dies") {
  constexpr int kThreads = 4;
  constexpr int kEach = 300;
  const TransportKind kind = GENERATE(TransportKind::kNvp, TransportKind::kSrbp);
  const EndpointId self(2);
  auto fabric = Fabric::create("ingot-test-session", 3, inbox_bytes(kind, 3));
  REQUIRE(fabric.ok());
  AnsweringReplica first(*fabric, kind, EndpointId(0)), second(*fabric, kind, EndpointId(1));
  auto transport = make_transport(kind, inboxes_of(*fabric), self, *fabric, {});
  auto options = one_replica();
  options.replicas = 2;
  SessionClient session(*transport, std::move(options));
  auto loop = *EventLoop::create({});
  const auto tasks = *LoopTasks::create();
  tasks->attach(*loop);
  loop->add(session, *fabric, self);
  PostedClient client(*tasks, session);
  std::thread runner([&] { loop->run(); });
  std::atomic<int> answered{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        const std::string payload = std::to_string(thread) + "/" + std::to_string(i);
        const auto check = [&, payload](const ReplicaReply& reply) {
          if (reply.outcome != ReplicaReply::Outcome::kOk || reply.payload != payload) ++wrong;
          ++answered;
        };
        const RequestKind request = i % 2 == 0 ? RequestKind::kCommand : RequestKind::kLocalQuery;
        client.submit(request, payload, check, ReplicaClient::kAnyReplica);
        const auto died = [&] { session.replica_died(EndpointId(1), Incarnation(1)); };
        if (thread == 0 && i == kEach / 2) tasks->post(died);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  while (answered < kThreads * kEach) std::this_thread::yield();
  loop->stop();
  runner.join();
  CHECK(session.in_flight() == 0);
  CHECK(wrong == 0);
  CHECK(answered == kThreads * kEach);
}

TEST_CASE("a callback may submit") {
  AnsweringTransport transport;
  SessionClient client(transport, one_replica());
  int answers = 0;
  ReplicaClient::Callback again = [&](const ReplicaReply&) {
    if (++answers < 3) client.submit(RequestKind::kLocalQuery, "", again, ReplicaClient::kAnyReplica);
  };
  client.submit(RequestKind::kLocalQuery, "", again, ReplicaClient::kAnyReplica);
  for (int i = 0; i < 3; ++i) client.poll(monotonic_ns());
  REQUIRE(answers == 3);
}

TEST_CASE("all requests of a round wake the replicas once, those of callbacks too") {
  AnsweringTransport transport;
  SessionClient client(transport, one_replica());
  REQUIRE(client.deadline_ns() == Pollable::kNever);
  CHECK_FALSE(client.readable());
  for (int i = 0; i < 3; ++i) {
    client.submit(RequestKind::kCommand, "x", [](const ReplicaReply&) {});
  }
  CHECK(client.readable());  // a loop that went to sleep now would never wake the leader
  CHECK(client.deadline_ns() != Pollable::kNever);
  CHECK(transport.flushes == 0);
  client.poll(monotonic_ns());
  CHECK(transport.flushes == 1);
  CHECK_FALSE(client.readable());

  client.submit(RequestKind::kCommand, "x", [&](const ReplicaReply&) {
    client.submit(RequestKind::kLocalQuery, "y", [](const ReplicaReply&) {});
  });
  client.poll(monotonic_ns());
  CHECK(transport.flushes == 3);
}

TEST_CASE("beyond its bound the client refuses before submit returns") {
  AnsweringTransport transport;
  auto options = one_replica();
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
