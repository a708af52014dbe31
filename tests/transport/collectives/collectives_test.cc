// Broadcast, reduction, allreduce and barrier against their definitions, on random trees under random schedules.
#include "transport/collectives/collectives.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>

#include "tests/seeds.h"
#include "tests/transport/collectives/world.h"

namespace ingot::test {
namespace {

// One operation with the input and the expected result of every endpoint.
struct Operation {
  enum class Kind { kBroadcast, kReduction, kAllreduce, kBarrier };
  Kind kind = Kind::kBarrier;
  Tree tree;
  std::vector<EndpointId> members;
  Reducer reducer{};
  std::size_t chunk_bytes = kChunkBytes;
  std::vector<std::vector<std::byte>> data;      // by endpoint
  std::vector<std::vector<std::byte>> expected;  // by endpoint; empty: no result there
  std::vector<std::optional<Schedule>> schedules;
  std::vector<bool> started;
};

// Two bytes that record how a string of operands was combined: associative, not commutative. (a, b) is x -> a * x + b
// in arithmetic modulo 256.
struct Affine {
  std::uint8_t factor, term;
};
constexpr auto kCompose = [](const Affine& left, const Affine& right) {
  return Affine{static_cast<std::uint8_t>(left.factor * right.factor),
                static_cast<std::uint8_t>(left.factor * right.term + left.term)};
};

Reducer random_reducer(Prng& random) {
  using enum ReduceOperation;
  switch (random.below(6)) {
    case 0:
      return reducer<std::uint32_t>(kSum);
    case 1:
      return reducer<std::int16_t>(kProduct);
    case 2:
      return reducer<std::int64_t>(random.chance(0.5) ? kMin : kMax);
    case 3:
      return reducer<float>(kSum);  // not associative: only one order gives the same bits
    case 4:
      return reducer<std::uint8_t>(random.chance(0.5) ? kXor : kAnd);
    default:
      return custom_reducer<Affine>(kCompose);
  }
}

// The result of a subtree, combined as collectives.h says.
std::vector<std::byte> reduce(const Operation& operation, int core) {
  auto result = operation.data[operation.members[static_cast<std::size_t>(core)].value()];
  for (const int child : operation.tree.children[static_cast<std::size_t>(core)]) {
    const auto below = reduce(operation, child);
    operation.reducer.combine.function(operation.reducer.combine.context, result, below);
  }
  return result;
}

void fill(std::vector<std::byte>& bytes, const Reducer& reducer, Prng& random) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  if (reducer.combine.function != ingot::reducer<float>(ReduceOperation::kSum).combine.function) return;
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    const float number = static_cast<float>((random.unit() - 0.5) * std::exp2(static_cast<double>(random.below(20))));
    std::memcpy(&bytes[i], &number, sizeof number);
  }
}

absl::StatusOr<Schedule> make(Operation& operation, const TreeSeat& seat) {
  auto& data = operation.data[seat.self.value()];
  switch (operation.kind) {
    case Operation::Kind::kBroadcast:
      return make_broadcast(seat, data, operation.chunk_bytes);
    case Operation::Kind::kReduction:
      return make_reduction(seat, operation.reducer, data, operation.chunk_bytes);
    case Operation::Kind::kAllreduce:
      return make_allreduce(seat, operation.reducer, data, operation.chunk_bytes);
    default:
      return make_barrier(seat);
  }
}

void expect(Operation& operation, int endpoints) {
  operation.expected.resize(static_cast<std::size_t>(endpoints));
  const auto root = operation.members[static_cast<std::size_t>(operation.tree.root)];
  if (operation.kind == Operation::Kind::kBroadcast) {
    operation.expected.assign(operation.expected.size(), operation.data[root.value()]);
  } else if (operation.kind == Operation::Kind::kReduction) {
    operation.expected[root.value()] = reduce(operation, operation.tree.root);
  } else if (operation.kind == Operation::Kind::kAllreduce) {
    operation.expected.assign(operation.expected.size(), reduce(operation, operation.tree.root));
  }
}

std::unique_ptr<Operation> random_operation(Prng& random, int endpoints, std::size_t bytes_max) {
  auto operation = std::make_unique<Operation>();
  operation->kind = static_cast<Operation::Kind>(random.below(4));
  operation->tree = random_tree(random, endpoints, 1 + random.below(static_cast<std::uint64_t>(endpoints)));
  operation->members = shuffled_endpoints(endpoints, random);
  operation->reducer = random_reducer(random);
  operation->chunk_bytes = 1 + random.below(random.chance(0.5) ? 200 : 3000);
  const std::size_t elements = random.below(random.chance(0.6) ? 12 : bytes_max) / operation->reducer.element_bytes;
  std::vector<const Schedule*> all;
  operation->data.resize(static_cast<std::size_t>(endpoints));
  for (auto& data : operation->data) {
    data.resize(elements * operation->reducer.element_bytes);
    fill(data, operation->reducer, random);
  }
  expect(*operation, endpoints);
  for (const EndpointId self : first_endpoints(endpoints)) {
    const auto seat = TreeSeat::of(operation->tree, operation->members, self, endpoints);
    REQUIRE(seat.ok());
    auto schedule = make(*operation, *seat);
    REQUIRE(schedule.ok());
    operation->schedules.emplace_back(*std::move(schedule));
  }
  for (const auto& schedule : operation->schedules) all.push_back(&*schedule);
  REQUIRE(check_fit(all).ok());
  operation->started.resize(static_cast<std::size_t>(endpoints));
  return operation;
}

bool all_done(const Operation& operation) {
  return std::all_of(operation.schedules.begin(), operation.schedules.end(),
                     [](const auto& schedule) { return schedule->done(); });
}

void check_results(const Operation& operation) {
  for (std::size_t i = 0; i < operation.data.size(); ++i) {
    if (operation.kind == Operation::Kind::kBarrier) continue;
    if (operation.kind == Operation::Kind::kReduction && operation.expected[i].empty()) continue;
    CHECK((operation.data[i] == operation.expected[i]));  // in brackets: too long to print
  }
}

// A barrier completes nowhere before all have started it.
bool barrier_holds(const Operation& operation) {
  if (operation.kind != Operation::Kind::kBarrier) return true;
  const bool all_started = std::all_of(operation.started.begin(), operation.started.end(), [](bool s) { return s; });
  return all_started || std::none_of(operation.schedules.begin(), operation.schedules.end(),
                                     [](const auto& schedule) { return schedule->done(); });
}

// Endpoints start a list of operations, each at random moments, with up to kOperationsInFlightMax in flight.
void run_random(std::string_view kind, std::uint64_t seed) {
  Prng random(seed);
  const int endpoints = 1 + static_cast<int>(random.below(random.chance(0.2) ? 24 : 7));
  std::vector<std::size_t> offered_bytes;  // some offer little, some much, some nothing and copy nothing
  const bool offers = random.chance(0.6);
  for (int i = 0; offers && i < endpoints; ++i) offered_bytes.push_back(random.chance(0.8) ? 1 + random.below(500) : 0);
  World world(kind, endpoints, random(), offered_bytes);
  const GroupId group(static_cast<std::uint16_t>(random.below(kGroupIdsMax)));
  std::vector<std::unique_ptr<Operation>> operations;
  const std::size_t count = 20 + random.below(100);
  for (std::size_t i = 0; i < count; ++i) operations.push_back(random_operation(random, endpoints, 20'000));
  std::vector<std::size_t> next(static_cast<std::size_t>(endpoints));  // operation to start, by endpoint
  const double eagerness = random.chance(0.5) ? 0.9 : 0.1;
  std::size_t finished = 0;
  const bool ended = world.run_until([&] {
    const auto at = random.below(next.size());
    if (next[at] < operations.size() && random.chance(eagerness)) {
      Operation& operation = *operations[next[at]];
      operation.started[at] = true;
      const auto status = world.engine(static_cast<int>(at)).start(group, *operation.schedules[at]);
      if (status.ok()) ++next[at];
      if (!status.ok()) operation.started[at] = false;
      MUST((status.ok() || absl::IsResourceExhausted(status)));
    }
    while (finished < operations.size() && all_done(*operations[finished])) {
      check_results(*operations[finished]);
      ++finished;
    }
    if (finished < operations.size()) MUST(barrier_holds(*operations[finished]));
    return finished == operations.size();
  });
  REQUIRE(ended);
  for (int i = 0; i < endpoints; ++i) CHECK(world.engine(i).counters().stray == 0);
}

TEST_CASE("random collectives, many in flight, give the right results") {
  const std::string kind = GENERATE("nvp", "srbp");
  for (const std::uint64_t seed : testing::seeds(std::getenv("INGOT_LONG_TESTS") != nullptr ? 2000 : 20)) {
    INFO("transport " << kind << ", seed " << seed);
    run_random(kind, seed);
  }
}

}  // namespace
}  // namespace ingot::test
