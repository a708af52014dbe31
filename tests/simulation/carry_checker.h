// A new epoch's base lies below a sealed snapshot: else, were everybody to die, what lies between would be nowhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "replication/agreement_messages.h"
#include "replication/config_entry.h"
#include "tests/simulation/checker.h"

namespace ingot::simulation {

// Not thread-safe.
class CarryChecker : public Checker {
 public:
  // A replica has sent a ConfigAccept; slots below `sealed_below` lie in a sealed snapshot.
  void proposes(int replica, std::string_view bytes, const GroupConfig& group, Slot sealed_below) {
    const auto message = decode_message(bytes);
    const auto entry = message ? decode_entry(message->payload, group.voters) : std::nullopt;
    if (!entry || entry->kind != ConfigEntry::Kind::kAcceptorChange) return;
    std::size_t carried = 0;
    for (const auto& [slot, command] : entry->carry) carried += command->size() + kCarrySlotBytes;
    carries_ += carried > 0 ? 1 : 0;
    full_ += 4 * carried > 3 * group.bounds.carry_bytes ? 1 : 0;
    if (entry->base <= sealed_below) return;
    object("durability: replica " + std::to_string(replica) + " proposes an AcceptorChange that carries nothing below slot " +
           std::to_string(entry->base.value()) + ", and the newest sealed snapshot ends at slot " +
           std::to_string(sealed_below.value()));
  }

  // Proposals that carried something, and that left less than a quarter of the room.
  std::uint64_t carries() const { return carries_; }
  std::uint64_t full() const { return full_; }

 private:
  std::uint64_t carries_ = 0;
  std::uint64_t full_ = 0;
};

}  // namespace ingot::simulation
