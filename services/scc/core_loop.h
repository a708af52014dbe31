// The loop of one endpoint on a simulated core, the counterpart of transport/host/event_loop.h.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/counters.h"
#include "core/replica_set.h"
#include "transport/pollable.h"
#include "transport/scc/chip_transport.h"
#include "transport/scc/core.h"
#include "transport/transport.h"

namespace ingot::inline services_scc {

// A transport of one endpoint that remembers the full inboxes, at which a waiting core polls, too.
class RoomWatch final : public Transport {
 public:
  RoomWatch(Transport& transport, int endpoints) : transport_(transport), endpoints_(endpoints) {}

  EndpointId self() const override { return transport_.self(); }
  [[nodiscard]] bool send(EndpointId dest, std::span<const std::byte> message) override;
  [[nodiscard]] bool send_gathered(EndpointId dest, const GatheredMessage& message) override;
  int probe(Handler handler, int limit) override { return transport_.probe(handler, limit); }
  bool flush() override { return fragments_wait_ = transport_.flush(); }
  bool parts_moved() override { return transport_.parts_moved(); }
  bool readable() override { return transport_.readable(); }
  void peer_gone(EndpointId peer) override { transport_.peer_gone(peer); }

  // Call it before each poll, which retries all sends that found an inbox full.
  void begin_round();
  // The inboxes found full since begin_round(); call it after a poll that left messages waiting.
  std::vector<EndpointId> full() const;

 private:
  bool note(EndpointId dest, bool sent);

  Transport& transport_;
  const int endpoints_;
  ReplicaSet full_;  // endpoints with a full inbox
  bool fragments_wait_ = false;
};

struct CoreLoopCounters {
  Counter* wakeups = nullptr;
  Counter* sleeps = nullptr;
  Counter* polls = nullptr;
};

// Runs on the core's fibre until the chip ends it. Time is the core's own clock: `poll` gets virtual nanoseconds. Work
// that a poll reports is charged with `cycles_per_unit`; `after_poll` may charge more.
struct CoreLoop {
  const scc::ChipFabric& fabric;
  scc::Core& core;
  RoomWatch& transport;
  Pollable& endpoint;
  std::uint64_t cycles_per_unit = 0;
  CoreLoopCounters counters = {};
  std::function<void()> after_poll = {};

  [[noreturn]] void run();

 private:
  void sleep();
};

}  // namespace ingot::services_scc
