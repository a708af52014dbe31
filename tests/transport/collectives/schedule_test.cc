// Valid schedules, and one sentence for each defect.
#include "transport/collectives/schedule.h"

#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "transport/collectives/collectives.h"

namespace ingot {
namespace {

constexpr EndpointId kSelf(0);
constexpr EndpointId kPeer(1);
const Computation kNothing{[](auto, auto, auto) {}, nullptr};

std::array<std::byte, 64> memory;
std::span<std::byte> bytes(std::size_t count) { return std::span(memory).first(count); }

std::string refusal(const absl::Status& status) {
  CHECK(absl::IsInvalidArgument(status));
  return std::string(status.message());
}

std::string refused(const std::function<void(ScheduleBuilder&)>& fill, int endpoints = 3) {
  ScheduleBuilder builder(kSelf, endpoints);
  fill(builder);
  return refusal(builder.build().status());
}

TEST_CASE("bad schedules are refused with one sentence") {
  CHECK(refused([](auto& b) { b.send(EndpointId(3), 0, {}); }) ==
        "a send to endpoint 3 is impossible: the fabric has 3 endpoints, numbered from 0");
  CHECK(refused([](auto& b) { b.receive(EndpointId(9), 0, {}); }) ==
        "a receive from endpoint 9 is impossible: the fabric has 3 endpoints, numbered from 0");
  CHECK(refused([](auto& b) { b.send(kSelf, 0, {}); }) == "a send to endpoint 0 is one to itself: use a computation");
  CHECK(refused([](auto& b) { b.compute(kNothing, bytes(8), bytes(7)); }) ==
        "computation 0 of the schedule has a target of 8 bytes and a source of 7: they must be equal");
  CHECK(refused([](auto& b) { b.compute({}, bytes(8), bytes(8)); }) == "computation 0 of the schedule has no function");
  CHECK(refused([](auto& b) { b.send(kPeer, 5, {}), b.send(kPeer, 5, {}); }) ==
        "two sends to endpoint 1 have the same tag 5: give each its own");
  CHECK(refused([](auto& b) { b.receive(kPeer, 5, {}), b.receive(kPeer, 5, {}); }) ==
        "two receives from endpoint 1 have the same tag 5: give each its own");
  CHECK(refused([](auto& b) { b.connect(b.send(kPeer, 0, {}), b.receive(kPeer, 0, {})); }) ==
        "the receive from endpoint 1 comes after another node: receives are ready from the start");
  CHECK(refused([](auto& b) { b.connect(b.send(kPeer, 0, {}), {4}); }) ==
        "an edge names node 4, but the schedule has 1 nodes");
  CHECK(refused([](auto& b) {
          const auto first = b.compute(kNothing, {}, {}), second = b.compute(kNothing, {}, {});
          b.connect(first, second), b.connect(second, first), b.send(kPeer, 0, {});
        }) == "the schedule has a cycle: 2 of its nodes wait for one another");
  CHECK(refused([](auto&) {}, 0) == "a fabric of 0 endpoints does not exist: 1 to 512 are allowed");
  CHECK(refusal(ScheduleBuilder(kPeer, 1).build().status()) ==
        "endpoint 1 cannot have a schedule: the fabric has 1 endpoints, numbered from 0");
  const std::span<const std::byte> too_long(memory.data(), kScheduleMessageBytesMax + 1);  // never read
  CHECK(refused([&](auto& b) { b.send(kPeer, 0, too_long); }) ==
        "a send to endpoint 1 has 4194297 bytes: at most 4194296 are allowed, so cut it into several");
}

// The error for the schedules of endpoints 0 and 1; empty if they fit.
std::string unfit(const std::function<void(ScheduleBuilder&)>& first,
                  const std::function<void(ScheduleBuilder&)>& second) {
  ScheduleBuilder builders[] = {ScheduleBuilder(kSelf, 3), ScheduleBuilder(kPeer, 3)};
  first(builders[0]), second(builders[1]);
  const auto one = builders[0].build(), other = builders[1].build();
  REQUIRE((one.ok() && other.ok()));
  const Schedule* both[] = {&*one, &*other};
  const absl::Status status = check_fit(both);
  return status.ok() ? "" : refusal(status);
}

TEST_CASE("schedules that do not form one operation are detected") {
  const auto nothing = [](auto&) {};
  CHECK(unfit([](auto& b) { b.send(kPeer, 7, bytes(8)); }, [](auto& b) { b.receive(kSelf, 7, bytes(8)); }) == "");
  CHECK(unfit([](auto& b) { b.send(kPeer, 7, bytes(8)); }, [](auto& b) { b.receive(kSelf, 7, bytes(9)); }) ==
        "endpoint 0 sends 8 bytes with tag 7 to endpoint 1, who expects 9 bytes");
  CHECK(unfit([](auto& b) { b.send(kPeer, 7, bytes(8)); }, nothing) ==
        "endpoint 0 sends 8 bytes with tag 7 to endpoint 1, who does not receive it");
  CHECK(unfit([](auto& b) { b.send(EndpointId(2), 7, bytes(8)); }, nothing) ==
        "endpoint 0 sends 8 bytes with tag 7 to endpoint 2, who has no schedule");
  CHECK(unfit(nothing, [](auto& b) { b.receive(kSelf, 7, bytes(9)); }) == "1 receives of the operation have no send");
  const auto echo = [](EndpointId peer) {
    return [peer](ScheduleBuilder& b) { b.connect(b.receive(peer, 0, {}), b.send(peer, 0, {})); };
  };
  CHECK(unfit(echo(kPeer), echo(kSelf)) == "the operation never ends: 4 nodes of its schedules wait for one another");
}

std::string no_seat(const Tree& tree, std::vector<EndpointId> members, EndpointId self = kSelf) {
  return refusal(TreeSeat::of(tree, members, self, 3).status());
}

TEST_CASE("bad trees, members and payloads are refused with one sentence") {
  Tree pair(2, 0);
  pair.children[0] = {1};
  Tree circle(2, 0);
  circle.children[0] = {1}, circle.children[1] = {0};
  CHECK(no_seat(circle, {kSelf, kPeer}) == "the tree has a cycle: its root is somebody's child");
  CHECK(no_seat(pair, {kSelf}) == "the tree has 2 cores and the group 1 members: give one to each");
  CHECK(no_seat(pair, {kSelf, kSelf}) == "endpoint 0 is a member twice");
  CHECK(no_seat(pair, {kSelf, EndpointId(3)}) == "member 3 is unknown: the fabric has 3 endpoints, numbered from 0");
  CHECK(no_seat(pair, {EndpointId(2), kPeer}) == "endpoint 0 is not a member of the group");

  const auto seat = TreeSeat::of(pair, std::vector{kSelf, kPeer}, kSelf, 3);
  REQUIRE(seat.ok());
  alignas(8) std::array<std::byte, 64> data{};
  const auto sum = reducer<double>(ReduceOperation::kSum);
  CHECK(refusal(make_reduction(*seat, sum, std::span(data).first(12)).status()) ==
        "12 bytes are not a whole number of elements of 8 bytes");
  CHECK(refusal(make_allreduce(*seat, sum, std::span(data).subspan(4, 8)).status()) ==
        "the data is not aligned to 8 bytes");
  CHECK(refusal(make_reduction(*seat, reducer<double>(ReduceOperation::kXor), data).status()) ==
        "the operator has no function for these elements (bits of floating-point numbers?)");
  CHECK(refusal(make_broadcast(*seat, data, 0).status()) == "chunks cannot have 0 bytes: 1 to 4194296 are allowed");
  const std::span<std::byte> too_long(data.data(), kCollectiveBytesMax + 1);  // never read
  CHECK(refusal(make_broadcast(*seat, too_long).status()) ==
        "a collective cannot carry 268435457 bytes: at most 268435456 are allowed");
}

}  // namespace
}  // namespace ingot
