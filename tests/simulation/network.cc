#include "tests/simulation/network.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/check.h"
#include "core/limits.h"

namespace ingot::simulation {

Network::Network(int endpoints, const NetworkFaultSchedule& schedule, std::uint64_t seed)
    : endpoints_(endpoints),
      schedule_(schedule),
      prng_(seed),
      channels_(index(endpoints * endpoints)),
      next_arrival_(index(endpoints), kNever),
      senders_(index(endpoints)),
      waiting_(index(endpoints)) {
  static_assert(kEndpointsMax <= 64, "a bit for each sender");
  INGOT_CHECK(endpoints <= kEndpointsMax);
}

void Network::send(int from, int to, Message message, TimeNs now) {
  ++sent_;
  Channel& channel = at(from, to);
  if (channel.backlog.empty() && channel.messages.size() < schedule_.channel_messages) {
    return transmit(from, to, std::move(message), now);
  }
  if (channel.backlog.size() >= schedule_.backlog_messages) {
    channel.dropped = true;
    ++dropped_;
    return;
  }
  channel.backlog.push(std::move(message));
  ++waiting_[index(from)];
}

void Network::transmit(int from, int to, Message message, TimeNs now) {
  Channel& channel = at(from, to);
  TimeNs delay = schedule_.delay_min_ns + prng_.below(schedule_.delay_spread_ns + 1);
  if (now < channel.extra_until) delay += channel.extra_ns;
  if (schedule_.straggler > 0 && prng_.chance(schedule_.straggler)) delay += prng_.below(schedule_.straggler_ns + 1);
  channel.last_arrival = std::max(channel.last_arrival, now + delay);
  channel.messages.push({channel.last_arrival, std::move(message)});
  senders_[index(to)] |= std::uint64_t{1} << from;
  next_arrival_[index(to)] = std::min(next_arrival_[index(to)], channel.messages.front().arrives);
}

Message Network::take(int from, int to, TimeNs now) {
  if (!readable(from, to, now)) return nullptr;
  Channel& channel = at(from, to);
  Message message = channel.messages.pop().message;
  if (channel.messages.empty()) senders_[index(to)] &= ~(std::uint64_t{1} << from);
  return message;
}

void Network::done_reading(int to) {
  TimeNs next = kNever;
  for (std::uint64_t left = senders(to); left != 0; left &= left - 1) {
    next = std::min(next, at(std::countr_zero(left), to).messages.front().arrives);
  }
  next_arrival_[index(to)] = next;
}

bool Network::flush(int from, int to, TimeNs now) {
  Channel& channel = at(from, to);
  bool moved = false;
  while (!channel.backlog.empty() && channel.messages.size() < schedule_.channel_messages) {
    transmit(from, to, channel.backlog.pop(), now);
    --waiting_[index(from)];
    moved = true;
  }
  return moved;
}

bool Network::may_flush(int from) const {
  if (waiting_[index(from)] == 0) return false;
  for (int to = 0; to < endpoints_; ++to) {
    const Channel& channel = at(from, to);
    if (!channel.backlog.empty() && channel.messages.size() < schedule_.channel_messages) return true;
  }
  return false;
}

void Network::slow_down(int from, int to, TimeNs extra_ns, TimeNs until) {
  Channel& channel = at(from, to);
  channel.extra_ns = extra_ns;
  channel.extra_until = until;
}

void Network::all_links_normal() {
  schedule_.straggler = 0;
  for (Channel& channel : channels_) channel.extra_until = 0;
}

void Network::died(int endpoint) {
  for (int to = 0; to < endpoints_; ++to) {
    Channel& channel = at(endpoint, to);
    channel.backlog.clear();
    channel.dropped = false;
  }
  waiting_[index(endpoint)] = 0;
}

void Network::forget_inbox(int endpoint) {
  for (int from = 0; from < endpoints_; ++from) at(from, endpoint).messages.clear();
  senders_[index(endpoint)] = 0;
  next_arrival_[index(endpoint)] = kNever;
}

}  // namespace ingot::simulation
