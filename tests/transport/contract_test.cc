// The guarantees of transport.h, for both protocols, between threads and between processes of this machine.
#include <catch2/catch.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/check.h"
#include "core/enum_names.h"
#include "core/limits.h"
#include "tests/transport/contract_cases.h"
#include "tests/transport/contract_party.h"
#include "tests/transport/host/child.h"
#include "tests/transport/message_pattern.h"
#include "transport/host/private_pages.h"
#include "transport/limits.h"
#include "transport/waker.h"

using namespace ingot;
using namespace ingot::test;

namespace {

using Body = std::function<void(Fabric&, EndpointId)>;

void as_threads(Fabric& fabric, const Body& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < fabric.endpoints(); ++i) threads.emplace_back([&, i] { body(fabric, id(i)); });
  for (std::thread& thread : threads) thread.join();
}

// Each child maps the fabric again, at its own address.
void as_processes(Fabric& fabric, const Body& body) {
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < fabric.endpoints(); ++i) {
    children.push_back(std::make_unique<Child>([&, i] {
      auto own = Fabric::attach(fabric.descriptors());
      if (!own.ok()) return 1;
      body(*own, id(i));
      return 0;
    }));
  }
  for (auto& child : children) CHECK(child->wait() == 0);
}

using World = void (*)(Fabric&, const Body&);

// Each endpoint sends messages to all others.
void exchange(const PartyPlan& plan, World world) {
  CAPTURE(plan.kind, plan.seed, plan.endpoints, plan.messages, plan.bytes_max, plan.sleeps);
  Fabric fabric = make_fabric(plan);
  const auto board = make_board();
  world(fabric, [&](Fabric& own, EndpointId self) { Party(plan, own, self, *board).run(); });
  REQUIRE(board->failure() == "");
  for (int from = 0; from < plan.endpoints; ++from) {
    for (int to = 0; to < plan.endpoints; ++to) {
      if (from != to) CHECK(board->received[from][to].load() == plan.messages);
    }
  }
}

// All endpoints in one thread.
class HostTable final : public ContractTable {
 public:
  HostTable(std::string_view kind, int endpoints, const std::vector<LinkHooks>& links_of_0)
      : slots_(kind == "nvp" ? kNvpSlotsPerSender : kSrbpSlotsPerSender),
        bytes_each_((inbox_bytes(*value_of<TransportKind>(kind), endpoints) + 4095) / 4096 * 4096),
        memory_(bytes_each_ * static_cast<std::size_t>(endpoints)) {
    std::vector<std::span<std::byte>> inboxes;
    for (int i = 0; i < endpoints; ++i) inboxes.push_back({memory_.start() + i * bytes_each_, bytes_each_});
    for (int i = 0; i < endpoints; ++i) {
      ends_.push_back(make_transport(*value_of<TransportKind>(kind), inboxes, id(i), waker_,
                                     i == 0 ? links_of_0 : std::vector<LinkHooks>{}));
    }
  }
  void on(int endpoint, absl::FunctionRef<void(Transport&)> body) override { body(*ends_[endpoint]); }
  std::uint32_t slots() const override { return slots_; }

 private:
  const std::uint32_t slots_;
  const std::size_t bytes_each_;
  PrivatePages memory_;
  NeverAsleep waker_;
  std::vector<std::unique_ptr<Transport>> ends_;
};

}  // namespace

std::unique_ptr<ContractTable> ingot::test::make_contract_table(std::string_view kind, int endpoints,
                                                                std::vector<LinkHooks> links_of_0) {
  return std::make_unique<HostTable>(kind, endpoints, links_of_0);
}
ContractBounds ingot::test::contract_bounds() { return {kChannelEndpointsMax, {1'100'000, kMessageBytesMax}}; }

TEST_CASE("every endpoint sends to all others") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  const World world = GENERATE(as_threads, as_processes);
  const bool sleeps = GENERATE(false, true);
  exchange({.kind = kind, .seed = 1, .endpoints = 2, .messages = 1000, .bytes_max = 60, .sleeps = sleeps}, world);
  exchange({.kind = kind, .seed = 2, .endpoints = 4, .messages = 100, .bytes_max = 2000, .sleeps = sleeps}, world);
  exchange({.kind = kind, .seed = 3, .endpoints = 3, .messages = 4, .bytes_max = 300'000, .sleeps = sleeps}, world);
}
