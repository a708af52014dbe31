// The key-value store of a simulated replica; its snapshots also hold the effect checker's view of the state.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/wire.h"
#include "replication/store/kv_store.h"
#include "replication/store/state_machine.h"
#include "tests/simulation/checkers/effect.h"

namespace ingot::simulation {

// Not thread-safe.
class WatchedStore final : public StateMachine {
 public:
  // REQUIRES: checker outlives this.
  WatchedStore(int replica, EffectChecker& checker, kv::Quota quota)
      : replica_(replica), checker_(checker), store_(quota) {}

  std::string apply(Slot slot, std::string_view command) override {
    StepBudget steps;
    return *apply_some(slot, command, steps);
  }
  std::optional<std::string> apply_some(Slot slot, std::string_view command, StepBudget& steps) override {
    std::optional<std::string> result = store_.apply_some(slot, command, steps);
    if (result) checker_.counted(replica_, {store_.counted().sum(), store_.held(), store_.quota().deletes_max()});
    return result;
  }
  void expect(std::string_view command) const override { store_.expect(command); }
  std::string query(std::string_view query) const override { return store_.query(query); }
  std::unique_ptr<QueryInSteps> query_in_steps(std::string_view query) const override {
    return store_.query_in_steps(query);
  }
  std::uint64_t digest() const override { return store_.digest(); }
  Clock clock() const override { return store_.clock(); }
  std::size_t save_bytes() const override { return store_.save_bytes(); }

  void save(Sink sink) const override {
    const EffectChecker::Effects& effects = checker_.effects(replica_);
    WireWriter out(sizeof(std::uint32_t) + effects.size());
    out.u32(static_cast<std::uint32_t>(effects.size()));
    for (const bool effect : effects) out.u8(effect ? 1 : 0);
    sink(out.view());
    store_.save(sink);
  }

  absl::StatusOr<Load> decode(std::string_view snapshot) override {
    WireReader in(snapshot);
    const std::string_view marks = in.raw(in.u32());
    EffectChecker::Effects effects;
    for (const char mark : marks) effects.push_back(mark != 0);
    auto load = store_.decode(in.rest());
    if (in.failed() || !load.ok()) return load.status();
    return Load([this, effects = std::move(effects), load = *std::move(load)]() mutable {
      std::move(load)();
      checker_.loaded(replica_, std::move(effects));
    });
  }

 private:
  const int replica_;
  EffectChecker& checker_;
  kv::KvStore store_;
};

}  // namespace ingot::simulation
