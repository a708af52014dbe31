#include "core/planning/cost_model_measure.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "core/check.h"
#include "core/planning/limits.h"

namespace ingot::inline core_planning {
namespace {

#if defined(__x86_64__)
constexpr bool kHasCycleCounter = true;
// The fences keep the measured code between two calls.
std::uint64_t cycles_now() {
  _mm_lfence();
  const std::uint64_t now = __rdtsc();
  _mm_lfence();
  return now;
}
void relax() { _mm_pause(); }
#else
constexpr bool kHasCycleCounter = false;
std::uint64_t cycles_now() { return 0; }
void relax() {}
#endif

struct alignas(64) Line {
  std::atomic<std::uint64_t> sequence{0};
  std::uint64_t payload[7] = {};
};

// Each line of a batch lies on its own page, so that no prefetcher fetches one with another.
struct alignas(4096) Page {
  Line lines[64];
};

// One direction of a pair. Batch number n carries sequence n in all of its lines.
struct Channel {
  std::array<Page, kMeasureBatchMessages> pages;
  Line sent, taken;  // the last complete batch, and the last received one

  Line& line(std::uint64_t i) { return pages[i].lines[(5 * i) % 64]; }
};

enum class Kind : std::uint8_t { kSend, kReceive, kOverlapped, kRoundTrip };
constexpr int kKinds = 4;
// One-way batches of these kinds alternate; then round trips.
constexpr Kind kOneWayKinds[] = {Kind::kReceive, Kind::kOverlapped};

void await(const std::atomic<std::uint64_t>& cell, std::uint64_t value) {
  while (cell.load(std::memory_order_acquire) != value) relax();  // pairs with the release in send_batch and set
}

void set(std::atomic<std::uint64_t>& cell, std::uint64_t value) { cell.store(value, std::memory_order_release); }

void send_batch(Channel& channel, std::uint64_t batch) {
  for (std::uint64_t i = 0; i < kMeasureBatchMessages; ++i) {
    Line& line = channel.line(i);
    for (std::uint64_t& word : line.payload) word = batch;
    line.sequence.store(batch, std::memory_order_release);
  }
}

// Takes the messages one after the other: each one holds the place of the next.
void receive_in_turn(Channel& channel, std::uint64_t batch) {
  std::uint64_t i = 0;
  while (i < kMeasureBatchMessages) {
    Line& line = channel.line(i);
    await(line.sequence, batch);
    i += 1 + (line.sequence.load(std::memory_order_relaxed) ^ batch);
    asm volatile("" : "+r"(i));
  }
}

// Takes messages whose order does not matter: the processor may fetch all lines at once.
std::uint64_t receive_at_once(Channel& channel) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < kMeasureBatchMessages; ++i) {
    sum += channel.line(i).sequence.load(std::memory_order_acquire);
  }
  return sum;
}

using Samples = std::array<std::vector<double>, kKinds>;

struct Pair {
  Channel there, back;
};

template <typename Body>
void timed(Samples& samples, Kind kind, Body body) {
  const std::uint64_t begin = cycles_now();
  body();
  samples[static_cast<std::size_t>(kind)].push_back(static_cast<double>(cycles_now() - begin));
}

void run_sender(Pair& pair, int rounds, Samples& samples) {
  for (std::uint64_t batch = 1; batch <= 2 * static_cast<std::uint64_t>(rounds); ++batch) {
    timed(samples, Kind::kSend, [&] { send_batch(pair.there, batch); });
    set(pair.there.sent.sequence, batch);
    await(pair.there.taken.sequence, batch);
  }
  for (std::uint64_t batch = 2 * static_cast<std::uint64_t>(rounds) + 1;
       batch <= 3 * static_cast<std::uint64_t>(rounds); ++batch) {
    timed(samples, Kind::kRoundTrip, [&] {
      send_batch(pair.there, batch);
      receive_in_turn(pair.back, batch);
    });
  }
}

void run_receiver(Pair& pair, int rounds, Samples& samples) {
  for (std::uint64_t batch = 1; batch <= 2 * static_cast<std::uint64_t>(rounds); ++batch) {
    await(pair.there.sent.sequence, batch);
    const Kind kind = kOneWayKinds[batch % 2];
    timed(samples, kind, [&] {
      if (kind == Kind::kReceive) return receive_in_turn(pair.there, batch);
      INGOT_CHECK(receive_at_once(pair.there) == kMeasureBatchMessages * batch, "the whole batch was there");
    });
    set(pair.there.taken.sequence, batch);
  }
  for (std::uint64_t batch = 2 * static_cast<std::uint64_t>(rounds) + 1;
       batch <= 3 * static_cast<std::uint64_t>(rounds); ++batch) {
    receive_in_turn(pair.there, batch);
    send_batch(pair.back, batch);
  }
}

struct Statistic {
  double median, spread;
};

// Of the values after the first sixth, the warm-up.
Statistic statistic_of(std::vector<double> values) {
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 6));
  std::sort(values.begin(), values.end());
  const auto quantile = [&](std::size_t quarters) { return values[(values.size() - 1) * quarters / 4]; };
  const double median = std::max(quantile(2), 1.0);
  return {median, (quantile(3) - quantile(1)) / median};
}

// Both ends of one direction, each on its core. Both bind before either begins, so that neither waits for an end that
// failed to.
absl::StatusOr<Samples> sample_pair(CoreId from, CoreId to, int rounds) {
  const auto pair = std::make_unique<Pair>();
  Samples of_sender, of_receiver;
  absl::Status sender_bound, receiver_bound;
  std::atomic<int> bound{0};
  const auto run = [&](CoreId core, absl::Status& status, auto body) {
    status = bind_this_thread({core});
    bound.fetch_add(1, std::memory_order_acq_rel);
    while (bound.load(std::memory_order_acquire) < 2) std::this_thread::yield();
    if (sender_bound.ok() && receiver_bound.ok()) body();
  };
  std::thread sender(run, from, std::ref(sender_bound), [&] { run_sender(*pair, rounds, of_sender); });
  std::thread receiver(run, to, std::ref(receiver_bound), [&] { run_receiver(*pair, rounds, of_receiver); });
  sender.join();
  receiver.join();
  if (!sender_bound.ok()) return sender_bound;
  if (!receiver_bound.ok()) return receiver_bound;
  for (const Kind kind : kOneWayKinds) {
    of_sender[static_cast<std::size_t>(kind)] = std::move(of_receiver[static_cast<std::size_t>(kind)]);
  }
  return of_sender;
}

// Frequency of the time stamp counter.
double frequency_hz() {
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t first = cycles_now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double cycles = static_cast<double>(cycles_now() - first);
  return cycles / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

CostModel empty_model(const Topology& topology, const std::string& name) {
  CostModel model;
  model.name = name;
  model.frequency_hz = frequency_hz();
  for (const CoreInfo& core : topology.cores) {
    model.cores.push_back({core.id, std::max(core.numa_node, 0), std::max(core.package, 0)});
  }
  model.send = model.receive = model.overlapped = model.round_trip = CycleMatrix(model.size());
  return model;
}

// Writes the medians of one direction into the model, per message but for the round trip; adds the spreads.
void store(const Samples& samples, int from, int to, CostModel& model, std::vector<double>& spreads) {
  const auto batch_cycles = [&](Kind kind) {
    const Statistic statistic = statistic_of(samples[static_cast<std::size_t>(kind)]);
    spreads.push_back(statistic.spread);
    return statistic.median;
  };
  const double receive = batch_cycles(Kind::kReceive) / kMeasureBatchMessages;
  model.send.set(from, to, batch_cycles(Kind::kSend) / kMeasureBatchMessages);
  model.receive.set(from, to, receive);
  // The first message of a batch costs a whole receive; the others share the rest of its time.
  const double further = (batch_cycles(Kind::kOverlapped) - receive) / (kMeasureBatchMessages - 1);
  model.overlapped.set(from, to, std::max(std::round(100 * further) / 100, 1.0));
  model.round_trip.set(from, to, batch_cycles(Kind::kRoundTrip));
}

}  // namespace

absl::StatusOr<MeasuredMachine> measure_machine(const Topology& topology, const std::string& name, int samples,
                                                absl::FunctionRef<void(int done, int all)> progress) {
  INGOT_CHECK(samples >= 10 && topology.cores.size() <= static_cast<std::size_t>(kMachineCoresMax));
  if (!kHasCycleCounter) {
    return absl::FailedPreconditionError("this processor has no time stamp counter that we read; use machine derive");
  }
  if (topology.cores.size() < 2) {
    return absl::FailedPreconditionError("measuring messages takes two cores, and this process may use only one");
  }
  MeasuredMachine result{.model = empty_model(topology, name)};
  std::vector<double> spreads;
  const int cores = result.model.size(), all = cores * (cores - 1);
  for (int from = 0, done = 0; from < cores; ++from) {
    for (int to = 0; to < cores; ++to) {
      if (from == to) continue;
      const auto pair = sample_pair(result.model.cores[from].id, result.model.cores[to].id, samples + samples / 5);
      if (!pair.ok()) return pair.status();
      store(*pair, from, to, result.model, spreads);
      progress(++done, all);
    }
  }
  std::sort(spreads.begin(), spreads.end());
  result.spread_median = spreads[spreads.size() / 2];
  result.spread_most = spreads.back();
  return result;
}

}  // namespace ingot::core_planning
