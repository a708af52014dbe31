#include "bench/line_race.h"

#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <thread>

#include "core/check.h"
#include "core/enum_names.h"
#include "transport/host/host_memory.h"
#include "transport/host/host_transport.h"
#include "transport/host/private_pages.h"

namespace ingot::bench {
namespace {

double now_ns() {
  return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

void bind_to(CoreId core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core.value(), &set);
  INGOT_CHECK(::sched_setaffinity(0, sizeof set, &set) == 0, "the cores were taken from this process's own");
}

// Waits like an event loop with a core of its own, and yields at last, since the other side may need this core.
class Spin {
 public:
  void once() {
    if (++spins_ % kSpinsPerYield == 0) ::sched_yield();
  }

 private:
  static constexpr unsigned kSpinsPerYield = 1 << 14;
  unsigned spins_ = 0;
};

// Sleep words as a fabric has them, of endpoints that never sleep.
class WakefulWaker final : public Waker {
 public:
  explicit WakefulWaker(int endpoints) : words_(static_cast<std::size_t>(endpoints)) {}
  bool asleep(EndpointId receiver) override { return words_[receiver.value()].word.load(std::memory_order_relaxed); }
  void ring(EndpointId) override {}

 private:
  struct alignas(64) Line {
    std::atomic<std::uint64_t> word{0};
  };
  std::vector<Line> words_;
};

class Inboxes {
 public:
  Inboxes(const std::string& kind, int endpoints)
      : kind_(kind),
        bytes_each_((inbox_bytes(*value_of<TransportKind>(kind), endpoints) + 4095) / 4096 * 4096),
        pages_(bytes_each_ * static_cast<std::size_t>(endpoints)),
        waker_(endpoints) {
    for (int i = 0; i < endpoints; ++i) {
      spans_.push_back({pages_.start() + static_cast<std::size_t>(i) * bytes_each_, bytes_each_});
    }
  }
  std::unique_ptr<Transport> open(EndpointId self) {
    return make_transport(*value_of<TransportKind>(kind_), spans_, self, waker_, {});
  }

 private:
  const std::string kind_;
  const std::size_t bytes_each_;
  PrivatePages pages_;
  WakefulWaker waker_;
  std::vector<std::span<std::byte>> spans_;
};

struct alignas(64) Line {
  std::atomic<std::uint64_t> turn{0};
  std::uint64_t stamp = 0;
};

// One side's end of a link. say() sends a number; hear() waits for the next one.
class BareLink {
 public:
  // Both sides pass the same line twice, or one each.
  BareLink(Line& own, Line& other) : own_(own), other_(other) {}

  void send(std::uint64_t stamp) {
    own_.stamp = stamp;
    own_.turn.store(++turn_, std::memory_order_release);
  }
  std::uint64_t receive() {
    ++turn_;
    for (Spin spin; other_.turn.load(std::memory_order_acquire) != turn_;) spin.once();
    return other_.stamp;
  }

 private:
  Line& own_;
  Line& other_;
  std::uint64_t turn_ = 0;
};

class TransportLink {
 public:
  TransportLink(Inboxes& inboxes, EndpointId self, EndpointId peer, std::size_t bytes)
      : transport_(inboxes.open(self)), peer_(peer), message_(bytes) {}

  void send(std::uint64_t stamp) {
    std::memcpy(message_.data(), &stamp, sizeof stamp);
    for (Spin spin; !transport_->send(peer_, message_);) spin.once();
    transport_->flush();
  }
  std::uint64_t receive() {
    std::uint64_t stamp = 0;
    const auto take = [&](EndpointId, std::span<const std::byte> message) {
      std::memcpy(&stamp, message.data(), sizeof stamp);
    };
    for (Spin spin; transport_->probe(take, 1) == 0;) spin.once();
    return stamp;
  }
  Transport& transport() { return *transport_; }
  std::span<const std::byte> message() const { return message_; }

 private:
  std::unique_ptr<Transport> transport_;
  EndpointId peer_;
  std::vector<std::byte> message_;
};

int warm_up(int count) { return count / 3; }

// Both sides run the same plan, so they need no control messages.
template <typename Link>
double lead_round_trips(Link& link, int count) {
  double start = 0;
  for (int i = 0; i < count; ++i) {
    if (i == warm_up(count)) start = now_ns();
    link.send(1);
    link.receive();
  }
  return (now_ns() - start) / (count - warm_up(count));
}
template <typename Link>
void follow_round_trips(Link& link, int count) {
  for (int i = 0; i < count; ++i) link.send(link.receive());
}

std::uint64_t cycles() { return __builtin_ia32_rdtsc(); }

// Each message carries the time of its send, by a cycle counter that both cores share up to a constant difference,
// which the mean of both directions cancels. Returns cycles summed over the counted messages of one direction.
template <typename Link>
double lead_one_way(Link& link, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    link.send(cycles());
    const std::uint64_t sent = link.receive();
    if (i >= warm_up(count)) sum += static_cast<double>(static_cast<std::int64_t>(cycles() - sent));
  }
  return sum;
}
template <typename Link>
double follow_one_way(Link& link, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t sent = link.receive();
    const std::uint64_t now = cycles();
    if (i >= warm_up(count)) sum += static_cast<double>(static_cast<std::int64_t>(now - sent));
    link.send(cycles());
  }
  return sum;
}

void stream_from(TransportLink& link, EndpointId to, int count) {
  Spin spin;
  for (int i = 0; i < count; ++i) {
    while (!link.transport().send(to, link.message())) spin.once();
    if (i % 16 == 15) link.transport().flush();
  }
  link.transport().flush();
}
double stream_into(TransportLink& link, int count) {
  double start = 0;
  int received = 0;
  for (Spin spin; received < count;) {
    const int now = link.transport().probe([](EndpointId, std::span<const std::byte>) {}, 256);
    if (now == 0) spin.once();
    if (start == 0 && received + now >= warm_up(count)) {
      start = now_ns();
      count -= received + now;
      received = -now;
    }
    received += now;
  }
  return 1e9 * count / (now_ns() - start);
}

double cycles_per_ns() {
  const double start_ns = now_ns();
  const std::uint64_t start = cycles();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return static_cast<double>(cycles() - start) / (now_ns() - start_ns);
}

constexpr std::size_t kLinks = 4;
using OneWaySums = std::array<std::vector<double>, kLinks>;

struct Race {
  explicit Race(const RaceOptions& race_options)
      : options(race_options), nvp("nvp", options.endpoints), srbp("srbp", options.endpoints) {}

  void lead(std::vector<RaceSeries>& series, OneWaySums& one_way) {
    bind_to(options.first_core);
    BareLink bare(line, line), pair(there, back);
    TransportLink by_nvp(nvp, EndpointId(0), EndpointId(1), options.message_bytes);
    TransportLink by_srbp(srbp, EndpointId(0), EndpointId(1), options.message_bytes);
    const auto measure = [&](std::size_t index, auto& link) {
      series[index].round_trip_ns.push_back(lead_round_trips(link, options.round_trips));
      one_way[index].push_back(lead_one_way(link, options.round_trips));
    };
    for (int i = 0; i < options.repetitions; ++i) {
      measure(0, bare);
      measure(1, pair);
      measure(2, by_nvp);
      measure(3, by_srbp);
      series[2].stream_per_s.push_back(stream_into(by_nvp, options.stream_messages));
      series[3].stream_per_s.push_back(stream_into(by_srbp, options.stream_messages));
    }
  }

  void follow(OneWaySums& one_way) {
    bind_to(options.second_core);
    BareLink bare(line, line), pair(back, there);
    TransportLink by_nvp(nvp, EndpointId(1), EndpointId(0), options.message_bytes);
    TransportLink by_srbp(srbp, EndpointId(1), EndpointId(0), options.message_bytes);
    const auto answer = [&](std::size_t index, auto& link) {
      follow_round_trips(link, options.round_trips);
      one_way[index].push_back(follow_one_way(link, options.round_trips));
    };
    for (int i = 0; i < options.repetitions; ++i) {
      answer(0, bare);
      answer(1, pair);
      answer(2, by_nvp);
      answer(3, by_srbp);
      stream_from(by_nvp, EndpointId(0), options.stream_messages);
      stream_from(by_srbp, EndpointId(0), options.stream_messages);
    }
  }

  const RaceOptions options;
  Line line, there, back;
  Inboxes nvp, srbp;
};

}  // namespace

std::vector<RaceSeries> race(const RaceOptions& options) {
  INGOT_CHECK(options.message_bytes >= sizeof(std::uint64_t));
  std::vector<RaceSeries> series(kLinks);
  for (std::size_t i = 0; i < kLinks; ++i) series[i].link = std::array{"bare_line", "bare_pair", "nvp", "srbp"}[i];
  OneWaySums there, back;
  const double rate = cycles_per_ns();
  Race shared(options);
  std::thread follower([&] { shared.follow(there); });
  std::thread leader([&] { shared.lead(series, back); });
  leader.join();
  follower.join();
  const double counted = 2.0 * (options.round_trips - warm_up(options.round_trips)) * rate;
  for (std::size_t link = 0; link < series.size(); ++link) {
    for (std::size_t i = 0; i < there[link].size(); ++i) {
      series[link].one_way_ns.push_back((there[link][i] + back[link][i]) / counted);
    }
  }
  return series;
}

std::vector<double> empty_probe_ns(const std::string& kind, int idle_senders, int repetitions) {
  constexpr int kProbes = 2000;
  Inboxes inboxes(kind, idle_senders + 1);
  const auto transport = inboxes.open(EndpointId(0));
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    const double start = now_ns();
    for (int probe = 0; probe < kProbes; ++probe) {
      INGOT_CHECK(transport->probe([](EndpointId, std::span<const std::byte>) {}, 256) == 0);
    }
    times.push_back((now_ns() - start) / kProbes);
  }
  return times;
}

int lines_per_empty_probe(const std::string& kind, int idle_senders) {
  constexpr int kSendersPerLine = HostMemory::kLineBytes;  // NVP: one byte each
  return kind == "nvp" ? (idle_senders + 1 + kSendersPerLine - 1) / kSendersPerLine : 1;
}

}  // namespace ingot::bench
