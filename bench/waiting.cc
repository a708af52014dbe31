// Ways for a loop to wait: round trips between two processes' event loops, on one core and on two, with the processor
// time of each way. The defaults in transport/host/limits.h come from here (docs/design/waiting.md).
//
// One JSON object a line on standard output. round_trip_*: from the request's store to the reply's discovery, after a
// pause of pause_us. processor_ns_per_round: of both processes together, pauses included.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iostream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/planning/topology.h"
#include "services/cli/cli.h"
#include "transport/host/event_loop.h"
#include "transport/host/fabric.h"

namespace ingot {
namespace {

constexpr std::uint64_t kWarmUpRounds = 50;
constexpr std::uint64_t kRunNs = 300'000'000;
const EndpointId kClient(0), kServer(1);

struct Setting {
  int cores;
  WaitOptions wait;
  std::uint64_t pause_ns;
};

struct alignas(64) Cell {
  std::atomic<std::uint64_t> value;
};

// The smallest message: a number in the receiver's inbox.
std::atomic<std::uint64_t>& inbox(Fabric& fabric, EndpointId endpoint) {
  return reinterpret_cast<Cell*>(fabric.inbox(endpoint).data())->value;
}

class Server final : public Pollable {
 public:
  explicit Server(Fabric& fabric) : fabric_(fabric) {}
  int poll(std::uint64_t) override {
    if (!readable()) return 0;
    answered_ = inbox(fabric_, kServer).load(std::memory_order_acquire);
    inbox(fabric_, kClient).store(answered_, std::memory_order_release);
    fabric_.notify(kClient);
    return 1;
  }
  bool readable() override { return inbox(fabric_, kServer).load(std::memory_order_acquire) != answered_; }
  std::uint64_t deadline_ns() const override { return kNever; }

 private:
  Fabric& fabric_;
  std::uint64_t answered_ = 0;
};

class Client final : public Pollable {
 public:
  Client(Fabric& fabric, EventLoop& loop, std::uint64_t pause_ns)
      : fabric_(fabric), loop_(loop), pause_ns_(pause_ns), end_ns_(monotonic_ns() + kRunNs) {}

  int poll(std::uint64_t now_ns) override {
    if (waiting_) {
      if (!readable()) return 0;
      waiting_ = false;
      const std::uint64_t arrived_ns = monotonic_ns();
      if (++rounds_ > kWarmUpRounds) round_trips_ns_.push_back(arrived_ns - sent_ns_);
      next_ns_ = arrived_ns + pause_ns_;
      if (arrived_ns > end_ns_) loop_.stop();
      return 1;
    }
    if (now_ns < next_ns_) return 0;
    waiting_ = true;
    sent_ns_ = monotonic_ns();
    inbox(fabric_, kServer).store(rounds_ + 1, std::memory_order_release);
    fabric_.notify(kServer);
    return 1;
  }
  bool readable() override {
    return waiting_ && inbox(fabric_, kClient).load(std::memory_order_acquire) == rounds_ + 1;
  }
  std::uint64_t deadline_ns() const override { return waiting_ ? kNever : next_ns_; }

  std::vector<std::uint64_t> take() {
    std::sort(round_trips_ns_.begin(), round_trips_ns_.end());
    return std::move(round_trips_ns_);
  }

 private:
  Fabric& fabric_;
  EventLoop& loop_;
  const std::uint64_t pause_ns_;
  const std::uint64_t end_ns_;
  bool waiting_ = false;
  std::uint64_t rounds_ = 0;
  std::uint64_t sent_ns_ = 0;
  std::uint64_t next_ns_ = 0;
  std::vector<std::uint64_t> round_trips_ns_;
};

template <typename T>
T value_of(absl::StatusOr<T> result) {
  INGOT_CHECK(result.ok());
  return *std::move(result);
}

[[noreturn]] void serve(Fabric& fabric, const Setting& setting, CoreId core) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  INGOT_CHECK(bind_this_thread({core}).ok());
  auto loop = value_of(EventLoop::create(setting.wait));
  Server server(fabric);
  loop->add(server, fabric, kServer);
  loop->run();
  ::_exit(0);
}

std::uint64_t processor_ns(const rusage& usage) {
  const auto ns = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_usec) * 1000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

void measure(const Setting& setting, const Topology& machine) {
  const CoreId client_core = machine.cores[0].id;
  const CoreId server_core = machine.cores[setting.cores == 1 ? 0 : 1].id;
  Fabric fabric = value_of(Fabric::create("ingot-waiting", 2, page_bytes()));
  const pid_t child = ::fork();
  INGOT_CHECK(child >= 0);
  if (child == 0) serve(fabric, setting, server_core);
  INGOT_CHECK(bind_this_thread({client_core}).ok());
  auto loop = value_of(EventLoop::create(setting.wait));
  Client client(fabric, *loop, setting.pause_ns);
  loop->add(client, fabric, kClient);
  rusage before{}, after{}, of_child{};
  ::getrusage(RUSAGE_SELF, &before);
  loop->run();
  ::getrusage(RUSAGE_SELF, &after);
  ::kill(child, SIGKILL);
  ::wait4(child, nullptr, 0, &of_child);

  const auto trips = client.take();
  if (trips.empty()) return;
  const std::uint64_t used_ns = processor_ns(after) - processor_ns(before) + processor_ns(of_child);
  std::cout << "{\"bench\":\"waiting\",\"cores\":" << setting.cores << ",\"spin_us\":" << setting.wait.spin_ns / 1000
            << ",\"yields\":" << setting.wait.yields << ",\"pause_us\":" << setting.pause_ns / 1000
            << ",\"rounds\":" << trips.size() << ",\"round_trip_p50_ns\":" << trips[trips.size() / 2]
            << ",\"round_trip_p99_ns\":" << trips[trips.size() * 99 / 100]
            << ",\"processor_ns_per_round\":" << used_ns / (trips.size() + kWarmUpRounds) << "}" << std::endl;
}

absl::Status run() {
  const auto machine = this_machine();
  if (!machine.ok()) return machine.status();
  for (const int cores : {1, 2}) {
    if (static_cast<int>(machine->cores.size()) < cores) break;
    for (const std::uint64_t pause_ns : {0, 20'000, 200'000, 2'000'000}) {
      for (const WaitOptions wait : {WaitOptions{0, 0}, WaitOptions{0, 1}, WaitOptions{0, 4}, WaitOptions{0, 32},
                                     WaitOptions{0, 256}, WaitOptions{50'000, 4}, WaitOptions{1'000'000, 4}}) {
        measure({cores, wait, pause_ns}, *machine);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  CLI::App app("Round trips between two processes' event loops, on one core and on two, for several ways to wait.",
               "waiting");
  app.footer(
      "Prints a JSON object for each combination of cores, way to wait and pause before a round:\n"
      "  spin_us, yields         how long a loop polls, and how often it then yields, before it sleeps\n"
      "  round_trip_p50_ns, ...  from the request's store to the reply's discovery\n"
      "  processor_ns_per_round  of both processes together, pauses included\n"
      "It takes 0.3 s for each, some 17 s in all on two cores or more.");
  return ingot::run_cli(app, argc, argv, ingot::run);
}
