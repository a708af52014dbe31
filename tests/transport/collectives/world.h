// Endpoints with progress engines over a real transport, all on one thread, polled in an order that a seed determines.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "core/enum_names.h"
#include "core/planning/tree.h"
#include "core/prng.h"
#include "core/types.h"
#include "transport/collectives/collectives.h"
#include "transport/collectives/progress_engine.h"
#include "transport/host/cross_memory.h"
#include "transport/host/fabric.h"
#include "transport/host/host_transport.h"

namespace ingot::test {

// Like REQUIRE, but cheap enough for the inside of loops.
#define MUST(condition)                     \
  do {                                      \
    if (!(condition)) FAIL("not so: " #condition); \
  } while (false)

inline Fabric make_fabric(std::string_view kind, int endpoints) {
  auto fabric = Fabric::create("collectives", endpoints, inbox_bytes(*value_of<TransportKind>(kind), endpoints));
  INGOT_CHECK(fabric.ok());
  return std::move(*fabric);
}

inline std::unique_ptr<Transport> make_endpoint(std::string_view kind, Fabric& fabric, EndpointId self) {
  std::vector<std::span<std::byte>> inboxes;
  for (std::uint16_t i = 0; i < fabric.endpoints(); ++i) inboxes.push_back(fabric.inbox(EndpointId(i)));
  return make_transport(*value_of<TransportKind>(kind), std::move(inboxes), self, fabric, {});
}

inline std::vector<EndpointId> first_endpoints(int count) {
  std::vector<EndpointId> members;
  for (std::uint16_t i = 0; i < count; ++i) members.push_back(EndpointId(i));
  return members;
}

// Endpoints 0 .. size - 1 in a random order.
inline std::vector<EndpointId> shuffled_endpoints(int count, Prng& random) {
  auto members = first_endpoints(count);
  for (std::size_t i = members.size(); i > 1; --i) std::swap(members[i - 1], members[random.below(i)]);
  return members;
}

// In a random order, every core but the first is a child of an earlier one; `reach`: how much earlier at most, so that
// 1 gives a chain and a large number a bushy tree.
inline Tree random_tree(Prng& random, int cores, std::uint64_t reach) {
  std::vector<int> order(static_cast<std::size_t>(cores));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  Tree tree(cores, order[0]);
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t parent = i - 1 - random.below(std::min<std::uint64_t>(i, reach));
    tree.children[static_cast<std::size_t>(order[parent])].push_back(order[i]);
  }
  return tree;
}

class World {
 public:
  // `offered_bytes`, by endpoint: payloads that it offers for a copy; 0 or beyond the end: it neither offers nor copies.
  World(std::string_view kind, int endpoints, std::uint64_t seed, std::vector<std::size_t> offered_bytes = {})
      : random_(seed),
        fabric_(make_fabric(kind, endpoints)),
        entries_(static_cast<std::size_t>(endpoints)),
        stopped_(static_cast<std::size_t>(endpoints)) {
    offered_bytes.resize(static_cast<std::size_t>(endpoints));
    const auto directory = std::as_writable_bytes(std::span(entries_));
    for (const EndpointId id : first_endpoints(endpoints)) {
      transports_.push_back(make_endpoint(kind, fabric_, id));
      OneCopy one_copy;
      if (const std::size_t bytes = offered_bytes[id.value()]; bytes > 0) {
        copies_.push_back(std::make_unique<CrossMemory>(directory, id));
        one_copy = {copies_.back().get(), bytes};
      }
      engines_.push_back(
          std::make_unique<ProgressEngine>(*transports_.back(), endpoints, ProgressEngine::Handler(), one_copy));
    }
  }

  int size() const { return static_cast<int>(engines_.size()); }
  ProgressEngine& engine(int endpoint) { return *engines_[static_cast<std::size_t>(endpoint)]; }
  Transport& transport(int endpoint) { return *transports_[static_cast<std::size_t>(endpoint)]; }
  Prng& random() { return random_; }

  // Ends polls of the endpoint.
  void stop(int endpoint) { stopped_[static_cast<std::size_t>(endpoint)] = true; }

  // Polls a random endpoint.
  int step() {
    const auto at = random_.below(engines_.size());
    now_ns_ += 1000;
    return stopped_[at] ? 0 : engines_[at]->poll(now_ns_);
  }

  // Polls random endpoints until `done`; false if they are idle for long before.
  bool run_until(const std::function<bool()>& done) {
    const int patience = 3000 + 500 * size();
    for (int idle = 0; idle < patience; idle = step() > 0 ? 0 : idle + 1) {
      if (done()) return true;
    }
    return done();
  }

  // Polls until all endpoints are idle.
  void settle() {
    static_cast<void>(run_until([] { return false; }));
  }

  std::uint64_t now_ns() const { return now_ns_; }

 private:
  Prng random_;
  Fabric fabric_;
  std::vector<CrossMemoryEntry> entries_;  // by endpoint
  std::vector<bool> stopped_;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::unique_ptr<CrossMemory>> copies_;
  std::vector<std::unique_ptr<ProgressEngine>> engines_;
  std::uint64_t now_ns_ = 1;
};

}  // namespace ingot::test
