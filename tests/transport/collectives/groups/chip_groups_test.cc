// Groups on the simulated SCC: every core has an object, and one core's calls reach them all through both protocols.
#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_names.h"
#include "tests/transport/collectives/groups/bank.h"
#include "transport/scc/chip.h"
#include "transport/scc/chip_transport.h"

namespace ingot::test {
namespace {

struct Seen {
  std::optional<absl::Status> mapped, missing;
  std::optional<absl::StatusOr<std::vector<std::int64_t>>> gathered;
  std::optional<absl::StatusOr<std::int64_t>> sum;
  std::optional<absl::StatusOr<std::string>> names;
  std::uint64_t reduce_cycles = 0;
};

class Ended {
 public:
  void end() { ended = true; }
  bool ended = false;
};

class ChipTown {
 public:
  ChipTown(std::string_view kind, int cores, std::uint64_t seed) : endpoints_(cores) {
    scc::ChipOptions options;
    options.seed = seed;
    options.jitter_core_cycles = seed % 2 == 0 ? 200 : 0;
    chip_ = *scc::Chip::create(options);
    std::vector<int> on;
    for (int i = 0; i < cores; ++i) on.push_back(i * 29 % scc::kCores);
    fabric_ = *scc::lay_out(*value_of<TransportKind>(kind), on);
    for (std::size_t i = 0; i < on.size(); ++i) {
      // A core's first published object is its account, its second the one that ends its program.
      accounts_.push_back({{EndpointId(static_cast<std::uint16_t>(i)), 0}});
      enders_.push_back({{EndpointId(static_cast<std::uint16_t>(i)), 1}});
    }
  }

  Seen run() {
    Seen seen;
    const absl::Status status = chip_->run(fabric_.cores, [&](scc::Core& core) {
      std::size_t self = 0;
      while (fabric_.cores[self] != core.id()) ++self;
      const auto transport = scc::make_chip_transport(fabric_, core, EndpointId(static_cast<std::uint16_t>(self)));
      ActiveMessages messages(*transport, endpoints_, bank_.table);
      Account account(static_cast<std::int64_t>(self));
      Ended ended;
      REQUIRE(messages.publish(account).ok());
      REQUIRE(messages.publish(ended).ok());
      if (self == 0) ask(core, messages, *transport, seen);
      while (!ended.ended || messages.unsent()) {
        if (messages.poll() == 0) wait(core, messages, *transport);
      }
    });
    INFO(status.ToString());
    REQUIRE(status.ok());
    return seen;
  }

 private:
  void wait(scc::Core& core, ActiveMessages& messages, Transport& transport) {
    if (messages.readable()) return;  // calls to itself
    const auto full = messages.full_peers();
    const scc::Picoseconds deadline_ps = full.empty() ? ~scc::Picoseconds{0} : core.now_ps() + 50'000'000;
    scc::wait_readable(fabric_, core, transport, deadline_ps, full);
  }

  // From core to core: each step is sent when the one before has been answered.
  void ask(scc::Core& core, ActiveMessages& messages, Transport& transport, Seen& seen) {
    const auto group = *ObjectGroup<Account>::create(accounts_);
    const auto until = [&](const auto& answer) {
      while (!answer.has_value()) {
        if (messages.poll() == 0) wait(core, messages, transport);
      }
    };
    REQUIRE(messages.map(group, bank_.deposit, [&](absl::Status s) { seen.mapped = s; }, 100).ok());
    until(seen.mapped);
    REQUIRE(messages.gather(group, bank_.balance, [&](auto all) { seen.gathered = std::move(all); }).ok());
    until(seen.gathered);
    const std::uint64_t begin = core.now_cycles();
    REQUIRE(messages.reduce(group, bank_.balance, bank_.sum, [&](auto sum) { seen.sum = sum; }).ok());
    until(seen.sum);
    seen.reduce_cycles = core.now_cycles() - begin;
    REQUIRE(messages.reduce(group, bank_.name, bank_.join, [&](auto all) { seen.names = std::move(all); }).ok());
    until(seen.names);
    auto with_hole = accounts_;
    with_hole.back().object = 99;
    const auto holed = *ObjectGroup<Account>::create(with_hole);
    REQUIRE(messages.map(holed, bank_.deposit, [&](absl::Status s) { seen.missing = s; }, 1).ok());
    until(seen.missing);
    for (std::size_t i = 0; i < enders_.size(); ++i) REQUIRE(messages.post(enders_[i], end_).ok());
  }

  Bank bank_;
  Method<Ended, void> end_ = bank_.table.method("end", &Ended::end);
  const int endpoints_;
  std::unique_ptr<scc::Chip> chip_;
  scc::ChipFabric fabric_;
  std::vector<GlobalPointer<Account>> accounts_;
  std::vector<GlobalPointer<Ended>> enders_;
};

TEST_CASE("groups span the cores of the chip") {
  for (const std::string_view kind : {"nvp", "srbp"}) {
    for (const int cores : {2, 7, 48}) {
      for (const std::uint64_t seed : {1, 2}) {
        INFO(kind << ", " << cores << " cores, seed " << seed);
        const Seen seen = ChipTown(kind, cores, seed).run();
        CHECK(seen.mapped.value() == absl::OkStatus());
        std::int64_t sum = 0;
        std::string names;
        for (int i = 0; i < cores; ++i) {
          CHECK(seen.gathered.value().value()[static_cast<std::size_t>(i)] == 100 + i);
          sum += 100 + i;
          names += "<" + std::to_string(100 + i) + ">";
        }
        CHECK(seen.gathered.value()->size() == static_cast<std::size_t>(cores));
        CHECK(seen.sum.value().value() == sum);
        CHECK(seen.names.value().value() == names);
        CHECK(seen.missing.value().code() == absl::StatusCode::kNotFound);
      }
    }
  }
}

TEST_CASE("a reduction over 24 times as many cores takes less than 16 times as long") {
  const Seen few = ChipTown("nvp", 2, 1).run(), many = ChipTown("nvp", 48, 1).run();
  INFO(few.reduce_cycles << " and " << many.reduce_cycles << " cycles");
  CHECK(many.reduce_cycles < 16 * few.reduce_cycles);
}

}  // namespace
}  // namespace ingot::test
