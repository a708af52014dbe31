// An application's interface, and the objects that its program on one core uses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "transport/scc/apps/app.h"
#include "transport/scc/apps/communication.h"
#include "transport/scc/chip.h"

namespace ingot::scc::inline transport_scc_apps {

// A rank's share of `size` things: shares differ by one at most.
struct Share {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
};
inline Share share_of(std::size_t size, int rank, int ranks) {
  const auto edge = [&](int r) { return size * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranks); };
  return {edge(rank), edge(rank + 1)};
}

// Arrays in private memory start on a line.
constexpr std::size_t whole_lines(std::size_t bytes) { return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes; }

// Private memory as an array. REQUIRES: `at` is a multiple of 8, and T one of plain values.
template <typename T>
std::span<T> array_at(std::span<std::byte> memory, std::size_t at, std::size_t count) {
  return {reinterpret_cast<T*>(memory.data() + at), count};
}

// One core's work: its communication and its computing time.
class Worker {
 public:
  Worker(Core& core, const BroadcastSetup& setup, const BroadcastAlgorithm* algorithm, std::uint64_t cycles)
      : core_(core), rank_(setup.group.rank(core.id())), cycles_(cycles), communication_(core, setup, algorithm) {}

  int rank() const { return rank_; }
  int ranks() const { return communication_.group().size(); }
  Communication& communication() { return communication_; }
  std::span<std::byte> memory() { return core_.private_memory(); }

  // Charges natively computed operations.
  void computed(std::uint64_t operations) {
    const Picoseconds ps = core_.costs().core_cycles(operations * cycles_);
    core_.trace_begin("compute");
    core_.charge(ps);
    core_.trace_end();
    compute_ps_ += ps;
  }
  Picoseconds compute_ps() const { return compute_ps_; }

 private:
  Core& core_;
  const int rank_;
  const std::uint64_t cycles_;
  Communication communication_;
  Picoseconds compute_ps_ = 0;
};

class Application {
 public:
  virtual ~Application() = default;
  virtual std::size_t private_bytes() const = 0;  // used on each core, from address 0 on
  virtual void fill(Chip& chip, const Group& group) = 0;
  virtual void run(Worker& worker) = 0;
  // INTERNAL: the result differs from the sequential run's.
  virtual absl::Status check(Chip& chip, const Group& group) = 0;
};

// `seed`: of the inputs.
std::unique_ptr<Application> make_matrix_product(const AppPoint& point, std::uint64_t seed);
std::unique_ptr<Application> make_n_body(const AppPoint& point, std::uint64_t seed);
std::unique_ptr<Application> make_bucket_sort(const AppPoint& point, std::uint64_t seed);

}  // namespace ingot::scc::transport_scc_apps
