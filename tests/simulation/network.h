// The channels of a simulated group: FIFO for each pair of endpoints, bounded, each message with its own delay.
//
// As between real replicas: a message that finds the channel full waits in its sender's backlog, and one that finds the
// backlog full is dropped; when the backlog has drained, the sender hears of it. A channel outlives both of its ends:
// what a replica sent before it died arrives after it died.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/prng.h"
#include "core/types.h"
#include "tests/simulation/fifo.h"
#include "tests/simulation/virtual_time.h"

namespace ingot::simulation {

using Message = std::shared_ptr<const std::string>;

// How the channels of one run behave; drawn from its seed.
struct NetworkFaultSchedule {
  std::size_t channel_messages = 64;  // in flight or unread; then the backlog
  std::size_t backlog_messages = 1000;
  TimeNs delay_min_ns = 200;
  TimeNs delay_spread_ns = 2000;
  double straggler = 0;                // chance of a message that takes straggler_ns longer
  TimeNs straggler_ns = 0;
};

// Not thread-safe.
class Network {
 public:
  Network(int endpoints, const NetworkFaultSchedule& schedule, std::uint64_t seed);

  void send(int from, int to, Message message, TimeNs now);

  // The next message that has arrived at `to` from `from`; null: none. Whoever takes says when it is done.
  Message take(int from, int to, TimeNs now);
  void done_reading(int to);
  // Bit n: something from endpoint n is on its way to `to`, or has arrived.
  std::uint64_t senders(int to) const { return senders_[index(to)]; }

  // When `to` next has something to read (kNever: nothing is on its way).
  TimeNs next_arrival(int to) const { return next_arrival_[index(to)]; }
  bool readable(int from, int to, TimeNs now) const {
    const Channel& channel = at(from, to);
    return !channel.messages.empty() && channel.messages.front().arrives <= now;
  }

  // Moves what now fits from the backlog of `from`; calls drained(to) for each peer whose backlog had dropped something
  // and is empty now. Returns true if something was moved.
  template <typename Drained>
  bool flush(int from, TimeNs now, Drained&& drained) {
    if (waiting_[index(from)] == 0) return false;
    bool moved = false;
    for (int to = 0; to < endpoints_; ++to) {
      if (at(from, to).backlog.empty()) continue;
      moved = flush(from, to, now) || moved;
      Channel& channel = at(from, to);
      if (channel.backlog.empty() && channel.dropped) {
        channel.dropped = false;
        drained(to);
      }
    }
    return moved;
  }
  // Some backlog of `from` could move on since its receiver has read.
  bool may_flush(int from) const;

  // Everything that takes this way is `extra_ns` slower until then.
  void slow_down(int from, int to, TimeNs extra_ns, TimeNs until);
  void all_links_normal();

  // The process of this endpoint is gone, with the messages that waited in it. What it sent stays; so does what was
  // sent to it, unless `forget_inbox`: then its successor starts with empty channels.
  void died(int endpoint);
  void forget_inbox(int endpoint);

  std::uint64_t sent() const { return sent_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct InFlight {
    TimeNs arrives;
    Message message;
  };
  struct Channel {
    Fifo<InFlight> messages;
    Fifo<Message> backlog;
    bool dropped = false;
    TimeNs last_arrival = 0;
    TimeNs extra_ns = 0;
    TimeNs extra_until = 0;
  };

  static std::size_t index(int endpoint) { return static_cast<std::size_t>(endpoint); }
  Channel& at(int from, int to) { return channels_[index(from * endpoints_ + to)]; }
  const Channel& at(int from, int to) const { return channels_[index(from * endpoints_ + to)]; }
  bool flush(int from, int to, TimeNs now);
  void transmit(int from, int to, Message message, TimeNs now);

  int endpoints_;
  NetworkFaultSchedule schedule_;
  Prng prng_;
  std::vector<Channel> channels_;
  std::vector<TimeNs> next_arrival_;
  std::vector<std::uint64_t> senders_;  // by receiver
  std::vector<int> waiting_;  // by sender: messages in its backlogs
  std::uint64_t sent_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace ingot::simulation
