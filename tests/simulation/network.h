// The channels of a simulated group: FIFO for each pair of endpoints, bounded, each message with its own delay.
//
// As between real processes, a full channel takes nothing, so its sender's backlog grows. A channel outlives both of
// its ends: messages that a replica sent before its death arrive after it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/gathered_message.h"
#include "core/prng.h"
#include "core/types.h"
#include "tests/simulation/fifo.h"
#include "tests/simulation/history/virtual_time.h"

namespace ingot::simulation {

// How the channels of one run behave; drawn from its seed.
struct NetworkFaultSchedule {
  std::size_t channel_messages = 64;  // in flight or unread; then the channel is full
  TimeNs delay_min_ns = 200;
  TimeNs delay_spread_ns = 2000;
  double straggler = 0;                // chance of a message that takes straggler_ns longer
  TimeNs straggler_ns = 0;
};

// Not thread-safe.
class Network {
 public:
  Network(int endpoints, const NetworkFaultSchedule& schedule, std::uint64_t seed);

  // Sets the time of all later sends and receives; it never goes back.
  void advance(TimeNs now) { now_ = now; }
  TimeNs now() const { return now_; }
  int endpoints() const { return endpoints_; }

  // False: the channel is full, and nothing is sent.
  bool send(int from, int to, const GatheredMessage& message);
  bool has_room(int from, int to) const { return at(from, to).messages.size() < schedule_.channel_messages; }

  // Moves the next message that has arrived at `to` from `from` into `message`. False: there is none. A reader that has
  // taken all that it wants calls done_reading(to), which updates next_arrival(to).
  bool take(int from, int to, std::string& message);
  void done_reading(int to);
  // Bit n: a message from endpoint n is on its way to `to`, or has arrived and is unread.
  std::uint64_t senders(int to) const { return senders_[index(to)]; }

  // When `to` next has a message to read (kNever: none is on its way).
  TimeNs next_arrival(int to) const { return next_arrival_[index(to)]; }

  // Until `until`, messages on this channel take `extra_ns` longer.
  void slow_down(int from, int to, TimeNs extra_ns, TimeNs until);
  void all_links_normal();

  // The successor of a dead endpoint starts with empty channels.
  void forget_inbox(int endpoint);

  std::uint64_t sent() const { return sent_; }

 private:
  struct InFlight {
    TimeNs arrives = 0;
    std::string message;
  };
  struct Channel {
    Fifo<InFlight> messages;
    TimeNs last_arrival = 0;
    TimeNs extra_ns = 0;
    TimeNs extra_until = 0;
  };

  static std::size_t index(int endpoint) { return static_cast<std::size_t>(endpoint); }
  Channel& at(int from, int to) { return channels_[index(from * endpoints_ + to)]; }
  const Channel& at(int from, int to) const { return channels_[index(from * endpoints_ + to)]; }
  TimeNs arrival(Channel& channel);
  std::string buffer(const GatheredMessage& content);

  int endpoints_;
  NetworkFaultSchedule schedule_;
  Prng prng_;
  TimeNs now_ = 0;
  std::vector<Channel> channels_;
  std::vector<TimeNs> next_arrival_;
  std::vector<std::uint64_t> senders_;  // by receiver
  std::vector<std::string> buffers_;    // of messages that have been read, for later ones
  std::uint64_t sent_ = 0;
};

}  // namespace ingot::simulation
