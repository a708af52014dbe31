#include "tests/simulation/simulated_transport.h"

#include <bit>

#include "core/check.h"
#include "core/wire.h"

namespace ingot::simulation {

bool SimulatedTransport::send_gathered(EndpointId dest, const GatheredMessage& message) {
  INGOT_CHECK(dest != self() && dest.value() < network_.endpoints(), "to oneself or to nobody");
  return is_open(dest) && network_.send(self_, dest.value(), message);
}

int SimulatedTransport::probe(Handler handler, int limit) {
  if (!readable()) return 0;
  int read = 0;
  for (std::uint64_t left = network_.senders(self_); left != 0; left &= left - 1) {
    const int from = std::countr_zero(left);
    for (int i = 0; i < messages_max_ && read < limit; ++i) {
      if (!network_.take(from, self_, message_)) break;
      ++read;
      handler(EndpointId(static_cast<std::uint16_t>(from)), as_bytes(message_));
    }
  }
  network_.done_reading(self_);
  return read;
}

}  // namespace ingot::simulation
