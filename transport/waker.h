// How a transport wakes a sleeping receiver. The machine's fabric implements it: one sleeping word and one doorbell an
// endpoint.
//
// The handshake that prevents lost wake-ups:
//   receiver's loop: sleeping = 1; store-load fence; check once more (Transport::readable); sleep; sleeping = 0
//   sender's flush:  messages are published; store-load fence; if sleeping: ring
// At least one of the two sees the other's store. The transport makes the sender's fence, once for all receivers.
#pragma once

#include "core/types.h"

namespace ingot::inline transport {

// Used by the thread that runs the sending endpoint's loop only.
class Waker {
 public:
  virtual ~Waker() = default;

  // True if the receiver has announced that it sleeps or is about to. A relaxed load of its sleeping word.
  virtual bool asleep(EndpointId receiver) = 0;

  // Wakes the receiver, or makes its next sleep end at once. Never blocks; several calls count as one.
  virtual void ring(EndpointId receiver) = 0;
};

// For receivers that spin and never sleep.
class NeverAsleep final : public Waker {
 public:
  bool asleep(EndpointId) override { return false; }
  void ring(EndpointId) override {}
};

}  // namespace ingot::transport
