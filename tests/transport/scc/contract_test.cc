// The guarantees of transport.h, for both protocols on the simulated chip, each endpoint on its own core.
#include "core/enum_names.h"
#include "tests/transport/scc/make_chip.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/transport/contract_cases.h"
#include "tests/transport/message_pattern.h"
#include "transport/scc/chip_transport.h"

using namespace ingot;
using namespace ingot::test;
using scc::Core;

namespace {

std::vector<int> spread(int endpoints) {
  std::vector<int> cores;
  for (int i = 0; i < endpoints; ++i) cores.push_back(i * 29 % scc::kCores);  // 29 and 48 have no common divisor
  return cores;
}

// Each call is a separate program on the endpoint's core.
class ChipTable final : public ContractTable {
 public:
  ChipTable(std::string_view kind, int endpoints, const std::vector<LinkHooks>& links_of_0)
      : chip_(make_chip()), fabric_(*scc::lay_out(*value_of<TransportKind>(kind), spread(endpoints))) {
    ends_.resize(static_cast<std::size_t>(endpoints));
    for (int i = 0; i < endpoints; ++i) {
      on_core(*chip_, fabric_.cores[i], [&](Core& core) {
        ends_[i] = scc::make_chip_transport(fabric_, core, id(i), i == 0 ? links_of_0 : std::vector<LinkHooks>{});
      });
    }
  }
  void on(int endpoint, absl::FunctionRef<void(Transport&)> body) override {
    on_core(*chip_, fabric_.cores[endpoint], [&](Core&) { body(*ends_[endpoint]); });
  }
  std::uint32_t slots() const override { return static_cast<std::uint32_t>(fabric_.slots_per_sender); }

 private:
  std::unique_ptr<scc::Chip> chip_;
  scc::ChipFabric fabric_;
  std::vector<std::unique_ptr<Transport>> ends_;
};

// Each core sends messages to all others, at the same time; an idle core waits for messages.
void exchange(std::string_view kind, int endpoints, std::uint32_t messages, std::size_t bytes_max) {
  const auto chip = make_chip({.seed = 3, .start_skew_core_cycles = 1000});
  const scc::ChipFabric fabric = *scc::lay_out(*value_of<TransportKind>(kind), spread(endpoints));
  const auto bytes_of = [&](int from, int to, std::uint32_t n) {
    return 1 + (static_cast<std::size_t>(from * 7 + to * 13) + n * 31) % bytes_max;
  };
  std::uint64_t received = 0;
  const absl::Status status = chip->run(fabric.cores, [&](Core& core) {
    int self = 0;
    while (fabric.cores[self] != core.id()) ++self;
    const auto transport = scc::make_chip_transport(fabric, core, id(self));
    std::vector<std::uint32_t> sent(static_cast<std::size_t>(endpoints)), got(sent.size());
    std::uint64_t left = std::uint64_t{messages} * static_cast<std::uint64_t>(endpoints - 1);
    for (bool waiting = true; left != 0 || waiting;) {
      std::vector<EndpointId> full;
      bool moved = false;
      for (int to = 0; to < endpoints; ++to) {
        if (to == self || sent[to] == messages) continue;
        const auto n = sent[to];
        const bool taken = transport->send(id(to), make_message(id(self), id(to), n, bytes_of(self, to, n)));
        if (taken) ++sent[to], moved = true;
        if (!taken) full.push_back(id(to));
      }
      const int count = transport->probe(
          [&](EndpointId from, std::span<const std::byte> message) {
            const auto n = got[from.value()]++;
            CHECK(check_message(message, from, id(self), n, bytes_of(from.value(), self, n)) == "");
            --left;
            ++received;
          },
          100);
      moved = transport->parts_moved() || moved || count > 0;
      waiting = transport->flush();
      for (int to = 0; to < endpoints; ++to) waiting = waiting || (to != self && sent[to] < messages);
      if (!moved && (left != 0 || waiting)) {
        // A fragment may wait for room at any receiver.
        if (waiting && full.empty()) full = {id((self + 1) % endpoints)};
        scc::wait_readable(fabric, core, *transport, core.now_ps() + 50'000'000, full);
      }
    }
  });
  INFO(status.ToString());
  CHECK(status.ok());
  CHECK(received == std::uint64_t{messages} * static_cast<std::uint64_t>(endpoints * (endpoints - 1)));
}

}  // namespace

std::unique_ptr<ContractTable> ingot::test::make_contract_table(std::string_view kind, int endpoints,
                                                                std::vector<LinkHooks> links_of_0) {
  return std::make_unique<ChipTable>(kind, endpoints, links_of_0);
}
ContractBounds ingot::test::contract_bounds() { return {scc::kCores, {20'000}}; }

TEST_CASE("every endpoint sends to all others") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  exchange(kind, 2, 200, 60);
  exchange(kind, 4, 50, 2000);
  exchange(kind, 48, 3, 40);
}

TEST_CASE("a round trip takes less than 2000 core cycles, over any distance") {
  const std::string_view kind = GENERATE("nvp", "srbp");
  for (const int far : {1, 10, 47}) {
    const auto chip = make_chip();
    const scc::ChipFabric fabric = *scc::lay_out(*value_of<TransportKind>(kind), std::array<int, 2>{0, far});
    constexpr int kRounds = 20;
    std::uint64_t cycles = 0;
    on_cores(*chip, fabric.cores, [&](Core& core) {
      const int self = core.id() == 0 ? 0 : 1;
      const auto transport = scc::make_chip_transport(fabric, core, id(self));
      const std::array<std::byte, 16> message{};
      const auto receive = [&] {
        while (transport->probe([](EndpointId, auto) {}, 1) == 0) scc::wait_readable(fabric, core, *transport);
      };
      const std::uint64_t from = core.now_cycles();
      for (int i = 0; i < kRounds; ++i) {
        if (self == 1) receive();
        CHECK(transport->send(id(1 - self), message));
        if (self == 0) receive();
      }
      if (self == 0) cycles = (core.now_cycles() - from) / kRounds;
    });
    INFO(kind << " from core 0 to core " << far << ": " << cycles << " cycles");
    CHECK(cycles < 2000);
    CHECK(cycles > 400);
  }
}
