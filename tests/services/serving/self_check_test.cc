// The servers' own clients.
#include "services/serving/self_check.h"

#include <catch2/catch.hpp>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server_posix.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "services/serving/grpc_server.h"

namespace ingot {
namespace {

constexpr auto kAWhile = std::chrono::milliseconds(200);

// Waits until there are `count` answers; a watchdog of the test ends a wait that never ends.
void wait_for(const std::atomic<int>& answers, int count) {
  while (answers.load() < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::unique_ptr<grpc::Server> make_server() {
  auto server = start_grpc_server("127.0.0.1:0", {});
  REQUIRE(server.ok());
  return *std::move(server);
}

SelfCheck::Connect to(grpc::Server& server) {
  return [&server](Descriptor connection) { grpc::AddInsecureChannelFromFd(&server, connection.release()); };
}

// Ends each call with a status.
class Refusing final : public grpc::CallbackGenericService {
 public:
  explicit Refusing(grpc::StatusCode code) : code_(code) {}
  int asked() const { return asked_.load(); }

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    class Refusal final : public grpc::ServerGenericBidiReactor {
     public:
      explicit Refusal(grpc::StatusCode code) { Finish({code, "no room"}); }
      void OnDone() override { delete this; }
    };
    ++asked_;
    return new Refusal(code_);
  }

 private:
  const grpc::StatusCode code_;
  std::atomic<int> asked_{0};
};

TEST_CASE("a server that serves answers each question") {
  const auto server = make_server();
  std::atomic<int> answers{0};
  auto check = SelfCheck::create({to(*server)}, [&] { ++answers; });
  REQUIRE(check.ok());
  CHECK(answers == 0);  // not asked
  for (int i = 1; i <= 20; ++i) {
    while (answers < i) {  // a question right behind an answer may still count as one with it
      (*check)->ask();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

TEST_CASE("a server that has been shut down answers nothing, and a check that is gone reports nothing") {
  const auto server = make_server();
  std::atomic<int> answers{0};
  auto check = SelfCheck::create({to(*server)}, [&] { ++answers; });
  REQUIRE(check.ok());
  (*check)->ask();
  wait_for(answers, 1);
  server->Shutdown();
  (*check)->ask();
  check->reset();
  const int before = answers;
  std::this_thread::sleep_for(kAWhile);
  CHECK(answers == before);
}

TEST_CASE("of several servers all have to answer: one that does not is noticed") {
  const auto first = make_server(), second = make_server();
  std::atomic<int> answers{0};
  auto check = SelfCheck::create({to(*first), to(*second)}, [&] { ++answers; });
  REQUIRE(check.ok());
  (*check)->ask();
  wait_for(answers, 1);
  second->Shutdown();
  (*check)->ask();
  std::this_thread::sleep_for(kAWhile);
  CHECK(answers == 1);
}

// As when clients hold all places for calls that are passed on: the process must not be killed for that.
TEST_CASE("a server that refuses the question for want of room has answered it; any other refusal is none") {
  for (const auto& [code, counts] : {std::pair(grpc::StatusCode::RESOURCE_EXHAUSTED, true),
                                     std::pair(grpc::StatusCode::UNAVAILABLE, false)}) {
    CAPTURE(code);
    Refusing service(code);
    grpc::EnableDefaultHealthCheckService(false);
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(&service);
    const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    REQUIRE(server != nullptr);
    std::atomic<int> answers{0};
    auto check = SelfCheck::create({to(*server)}, [&] { ++answers; });
    REQUIRE(check.ok());
    (*check)->ask();
    while (service.asked() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (counts) wait_for(answers, 1);
    std::this_thread::sleep_for(kAWhile);
    CHECK(answers == (counts ? 1 : 0));
  }
}

}  // namespace
}  // namespace ingot
