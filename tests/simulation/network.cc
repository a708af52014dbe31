#include "tests/simulation/network.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/check.h"
#include "core/limits.h"

namespace ingot::simulation {

namespace {
constexpr std::size_t kBufferBytesMax = 16 * 1024;  // a larger one is not kept
}

Network::Network(int endpoints, const NetworkFaultSchedule& schedule, std::uint64_t seed)
    : endpoints_(endpoints),
      schedule_(schedule),
      prng_(seed),
      channels_(index(endpoints * endpoints)),
      next_arrival_(index(endpoints), kNever),
      senders_(index(endpoints)) {
  static_assert(kEndpointsMax <= 64, "a bit for each sender");
  INGOT_CHECK(endpoints <= kEndpointsMax);
}

bool Network::send(int from, int to, const GatheredMessage& message) {
  if (!has_room(from, to)) return false;
  ++sent_;
  Channel& channel = at(from, to);
  channel.messages.push({arrival(channel), buffer(message)});
  senders_[index(to)] |= std::uint64_t{1} << from;
  next_arrival_[index(to)] = std::min(next_arrival_[index(to)], channel.messages.front().arrives);
  return true;
}

TimeNs Network::arrival(Channel& channel) {
  TimeNs delay = schedule_.delay_min_ns + prng_.below(schedule_.delay_spread_ns + 1);
  if (now_ < channel.extra_until) delay += channel.extra_ns;
  if (schedule_.straggler > 0 && prng_.chance(schedule_.straggler)) delay += prng_.below(schedule_.straggler_ns + 1);
  channel.last_arrival = std::max(channel.last_arrival, now_ + delay);
  return channel.last_arrival;
}

std::string Network::buffer(const GatheredMessage& content) {
  if (buffers_.empty()) return content.joined();
  std::string buffer = std::move(buffers_.back());
  buffers_.pop_back();
  buffer.assign(as_view(content.header)).append(as_view(content.body));
  return buffer;
}

bool Network::take(int from, int to, std::string& message) {
  Channel& channel = at(from, to);
  if (channel.messages.empty() || channel.messages.front().arrives > now_) return false;
  std::string read = std::exchange(message, channel.messages.pop().message);
  if (read.capacity() <= kBufferBytesMax) buffers_.push_back(std::move(read));
  if (channel.messages.empty()) senders_[index(to)] &= ~(std::uint64_t{1} << from);
  return true;
}

void Network::done_reading(int to) {
  TimeNs next = kNever;
  for (std::uint64_t left = senders(to); left != 0; left &= left - 1) {
    next = std::min(next, at(std::countr_zero(left), to).messages.front().arrives);
  }
  next_arrival_[index(to)] = next;
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

void Network::forget_inbox(int endpoint) {
  for (int from = 0; from < endpoints_; ++from) at(from, endpoint).messages.clear();
  senders_[index(endpoint)] = 0;
  next_arrival_[index(endpoint)] = kNever;
}

}  // namespace ingot::simulation
