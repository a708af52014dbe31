// One endpoint's state of a group: running operations, early messages, and the other members' progress.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"
#include "transport/collectives/schedule.h"
#include "transport/collectives/schedule_limits.h"
#include "transport/collectives/schedule_wire.h"

namespace ingot::inline transport_collectives {

// Messages of operations that have not been started here. Their memory is reused, so holding allocates only when more
// is held than ever before. Not thread-safe.
class HeldMessages {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Message {
    EndpointId from{};
    std::uint16_t tag = 0;
    bool offer = false;  // the payload is a PayloadOffer
    std::vector<std::byte> payload;
    std::uint32_t next = kNone;
  };

  std::uint32_t put(EndpointId from, std::uint16_t tag, bool offer, std::span<const std::byte> payload) {
    if (free_ == kNone) {
      messages_.emplace_back();
      messages_.back().payload.reserve(kHeldOverheadBytes);
      free_ = static_cast<std::uint32_t>(messages_.size() - 1);
    }
    const std::uint32_t index = free_;
    Message& message = messages_[index];
    free_ = message.next;
    message.from = from;
    message.tag = tag;
    message.offer = offer;
    message.payload.assign(payload.begin(), payload.end());
    message.next = kNone;
    return index;
  }

  Message& operator[](std::uint32_t index) { return messages_[index]; }

  void free(std::uint32_t index) {
    messages_[index].next = free_;
    free_ = index;
  }

 private:
  std::vector<Message> messages_;
  std::uint32_t free_ = kNone;
};

// Removes the first `count` entries, but only when all are done or they are many, so that a queue that is never empty
// does not grow without bound.
template <typename Entry>
void drop_front(std::vector<Entry>& queue, std::size_t& count) {
  if (count < queue.size() && (count < 1024 || 2 * count < queue.size())) return;
  queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(count));
  count = 0;
}

// A node that is to run.
struct NodeRef {
  Schedule* schedule;
  std::uint32_t node;
};

// Invariants: a running operation is at place sequence mod kOperationsInFlightMax. The messages held at a place belong
// to its one operation that is not started and less than kEagerOperations ahead of `next`.
struct EngineGroup {
  struct Place {
    Schedule* running = nullptr;
    std::uint32_t held_first = HeldMessages::kNone;
    std::uint32_t held_last = HeldMessages::kNone;
  };
  struct Peer {
    OperationSequence started{};    // it is known to have started all operations before this one
    OperationSequence announced{};  // it was told that this endpoint has started all operations before this one
    std::size_t held_bytes = 0;     // of its held messages
  };

  EngineGroup(GroupId group, int endpoints) : id(group), peers(static_cast<std::size_t>(endpoints)) {}

  Place& place_of(OperationSequence sequence) { return places[sequence.value() % kOperationsInFlightMax]; }

  // The operation of the messages held at that place.
  OperationSequence awaited_at(const Place& place) const {
    const auto index = static_cast<std::uint32_t>(&place - places.data());
    return OperationSequence(next.value() + (index - next.value()) % kOperationsInFlightMax);
  }

  // The operation of that number, or null if it is not running.
  Schedule* running(OperationSequence sequence) { return place_of(sequence).running; }

  // Keeps the numbers of silent peers within comparable distance of `next`: near enough to be compared, and far enough
  // that no window opens that the true number would close.
  void keep_near(std::uint32_t operations) {
    const OperationSequence far(next.value() - operations);
    for (Peer& peer : peers) {
      if (far.after(peer.started) > 0) peer.started = far;
      if (far.after(peer.announced) > 0) peer.announced = far;
    }
  }

  GroupId id;
  OperationSequence next{};  // the operation that this endpoint starts next
  std::array<Place, kOperationsInFlightMax> places{};
  std::vector<Peer> peers;        // by endpoint
  std::vector<NodeRef> too_soon;  // sends that wait until their receiver has started more operations
};

static_assert((1u << 24) % kOperationsInFlightMax == 0, "places stay in order when sequences wrap");

}  // namespace ingot::transport_collectives
