#include "tests/transport/simulated_run.h"

#include <array>
#include <utility>

#include "core/prng.h"
#include "core/types.h"
#include "tests/transport/incoherent_memory.h"
#include "tests/transport/message_pattern.h"
#include "transport/channel_endpoint.h"
#include "transport/nvp_channel.h"
#include "transport/srbp_channel.h"

namespace ingot::test {
namespace {

EndpointId endpoint(int core) { return EndpointId(static_cast<std::uint16_t>(core)); }

NvpLayout random_nvp_layout(Prng& prng, int cores) {
  const int slots = 1 << prng.below(3);
  return {cores, slots, static_cast<std::uint32_t>(prng.below(4) * IncoherentMemory::kLineBytes)};
}
SrbpLayout random_srbp_layout(Prng& prng, int cores) {
  const int tickets = 1 << prng.below(2);
  return {cores, tickets, 1 << prng.below(4)};
}

// Starts the counters of a ring shortly before they wrap around.
void preset_counters(IncoherentMachine& machine, int core, const NvpLayout& layout, Word start) {
  IncoherentMemory memory(machine, core);
  const std::uint32_t bytes = IncoherentMemory::kLineBytes;
  const std::uint32_t words = bytes / sizeof(Word);
  for (std::uint32_t sender = 0; sender < static_cast<std::uint32_t>(layout.endpoints); ++sender) {
    machine.preset(memory.line(endpoint(core), sender / bytes) + sender % bytes, static_cast<std::uint8_t>(start));
    const auto credit = memory.line(endpoint(core), layout.vector_lines(bytes) + sender / words);
    machine.preset(credit + sizeof(Word) * (sender % words), start);
  }
}

void preset_counters(IncoherentMachine& machine, int core, const SrbpLayout& layout, Word start) {
  IncoherentMemory memory(machine, core);
  const SrbpPlaces<IncoherentMemory> places(layout);
  machine.preset_ticket(places.ticket(memory, endpoint(core)), start);
  machine.preset(places.head(memory, endpoint(core)), start);
  for (Word ticket = start - places.count(); ticket != start; ++ticket) {
    machine.preset(places.place(memory, endpoint(core), ticket), ticket + 1);
  }
}

// Sleep words are in a line behind each inbox, in the same weak memory as all else.
class SimulatedWaker final : public Waker {
 public:
  SimulatedWaker(IncoherentMachine& machine, int core, std::uint32_t line)
      : machine_(machine), memory_(machine, core), core_(core), line_(line) {}

  bool asleep(EndpointId receiver) override {
    return memory_.load_word(memory_.line(receiver, line_), 0, Site::kRelaxed) != 0;
  }
  void ring(EndpointId receiver) override { machine_.ring(receiver.value()); }

  void sleep_unless(Transport& transport) {
    memory_.store_word(memory_.line(endpoint(core_), line_), 0, 1, Site::kRelaxed);
    machine_.fence(core_);
    if (!transport.readable()) machine_.sleep_until_rung(core_);
    memory_.store_word(memory_.line(endpoint(core_), line_), 0, 0, Site::kRelaxed);
  }

 private:
  IncoherentMachine& machine_;
  IncoherentMemory memory_;
  const int core_;
  const std::uint32_t line_;
};

template <typename Channel>
class Run {
 public:
  using Layout = typename Channel::Layout;

  Run(std::uint64_t seed, const Mutation& mutation, std::optional<PlannedFault> fault, int cores, const Layout& layout,
      Prng& prng)
      : seed_(seed),
        cores_(cores),
        messages_(1 + static_cast<std::uint32_t>(prng.below(12))),
        layout_(layout),
        sleeping_line_(layout.inbox_lines(IncoherentMemory::kLineBytes)),
        may_sleep_(prng.chance(0.6)),
        machine_({cores, sleeping_line_ + 1, seed, mutation.weakened, mutation.drop_transport_fence}) {
    for (int core = 0; core < cores_; ++core) {
      if (prng.chance(0.3)) preset_counters(machine_, core, layout_, Word(0) - static_cast<Word>(prng.below(20)));
      machine_.start(core, [this, core] { work(core); });
    }
    if (fault.has_value()) {
      add_fault(1, *fault);
    } else {
      // At least one core has no fault.
      for (int core = 1; core < cores_; ++core) add_random_fault(core, prng);
    }
  }

  RunResult result() {
    machine_.run([this] { return finished(); });
    RunResult result{machine_.failure(), faults_, 0, parked_};
    for (const auto& from_all : received_) {
      for (const std::uint32_t n : from_all) result.delivered += n;
    }
    return result;
  }

 private:
  void add_fault(int core, const PlannedFault& planned) {
    ++faults_;
    if (planned.fault == Fault::kKill) machine_.kill_at(core, planned.access);
    if (planned.fault == Fault::kStop) machine_.stop_at(core, planned.access);
    if (planned.fault == Fault::kPause) machine_.pause_at(core, planned.access, kPauseSteps);
  }

  void add_random_fault(int core, Prng& prng) {
    if (prng.chance(0.4)) return;
    ++faults_;
    const int access = 1 + static_cast<int>(prng.below(prng.chance(0.5) ? 200 : 3000));
    const auto kind = prng.below(5);
    if (kind == 0) machine_.kill_at(core, access);
    if (kind == 1) machine_.stop_at(core, access);
    if (kind == 2) machine_.pause_at(core, access, static_cast<int>(prng.below(20'000)));
    if (kind >= 3) machine_.stutter(core, 0.01 + 0.05 * prng.unit(), 10 << prng.below(8));
  }

  std::size_t bytes_of(int from, int to, std::uint32_t n) const {
    Prng prng(seed_ * 1000003 + static_cast<std::uint64_t>(from * 64 + to) * 4096 + n);
    return 1 + prng.below(prng.chance(0.7) ? Channel::kPayloadBytes : 6 * Channel::kPayloadBytes);
  }

  bool incarnations(int core) const { return !machine_.dead(core) && !machine_.stopped(core); }

  // True if all living cores have finished.
  bool finished() const {
    for (int from = 0; from < cores_; ++from) {
      for (int to = 0; to < cores_; ++to) {
        if (from == to || !incarnations(to)) continue;
        const std::uint32_t due = incarnations(from) ? messages_ : complete_[from][to];
        if (received_[to][from] < due) return false;
      }
    }
    return true;
  }

  void work(int core) {
    SimulatedWaker waker(machine_, core, sleeping_line_);
    ChannelEndpoint<Channel> transport(Channel(IncoherentMemory(machine_, core), layout_), &waker, {});
    Prng prng(seed_ * 31 + static_cast<std::uint64_t>(core));
    std::array<bool, kCoresMax> known_dead{};
    while (!finished()) {
      for (int peer = 0; peer < cores_; ++peer) {
        if (!machine_.dead(peer) || known_dead[peer] || !prng.chance(0.1)) continue;
        known_dead[peer] = true;
        machine_.learn_death(core, peer);
        transport.peer_gone(endpoint(peer));
      }
      bool busy = send_some(core, transport, prng);
      if (prng.chance(0.8)) busy |= receive_some(core, transport, static_cast<int>(1 + prng.below(6))) > 0;
      busy |= finish_round(core, transport);
      if (may_sleep_ && !busy && nothing_to_send(core)) waker.sleep_unless(transport);
      machine_.step(core);
    }
    if constexpr (requires { transport.channel().tickets_parked(); }) parked_ += transport.channel().tickets_parked();
  }

  bool send_some(int core, Transport& transport, Prng& prng) {
    bool sent = false;
    for (int tries = static_cast<int>(prng.below(4)); tries > 0; --tries) {
      const int to = static_cast<int>(prng.below(static_cast<std::uint64_t>(cores_)));
      std::uint32_t& n = accepted_[core][to];
      if (to == core || n == messages_) continue;
      const auto message = make_message(endpoint(core), endpoint(to), n, bytes_of(core, to, n));
      trying_[core][to] = n + 1;
      if (transport.send(endpoint(to), message)) {
        ++n;
        sent = true;
      } else {
        trying_[core][to] = n;
      }
    }
    return sent;
  }

  int receive_some(int core, Transport& transport, int limit) {
    const int count = transport.probe(
        [&](EndpointId from, std::span<const std::byte> message) {
          std::uint32_t& n = received_[core][from.value()];
          if (n == trying_[from.value()][core]) {
            machine_.fail("a message that was refused, or never sent, arrived");
            return;
          }
          const std::string wrong =
              check_message(message, from, endpoint(core), n, bytes_of(from.value(), core, n));
          if (!wrong.empty()) machine_.fail(wrong);
          ++n;
        },
        limit);
    if (count > limit) machine_.fail("probe handed out more than its limit");
    return count;
  }

  bool finish_round(int core, Transport& transport) {
    const bool waiting = transport.flush();
    if (!waiting) complete_[core] = accepted_[core];
    return waiting;
  }

  bool nothing_to_send(int core) const {
    for (int to = 0; to < cores_; ++to) {
      if (to != core && incarnations(to) && accepted_[core][to] < messages_) return false;
    }
    return true;
  }

  static constexpr int kPauseSteps = 20'000;  // longer than the others need

  // By sender and receiver, but for received_, which is by receiver and sender.
  using Table = std::array<std::array<std::uint32_t, kCoresMax>, kCoresMax>;

  const std::uint64_t seed_;
  const int cores_;
  const std::uint32_t messages_;  // from each to each
  const Layout layout_;
  const std::uint32_t sleeping_line_;
  const bool may_sleep_;
  int faults_ = 0;
  std::uint64_t parked_ = 0;
  Table accepted_{};  // send returned true
  Table trying_{};    // accepted, and the one being sent
  Table complete_{};  // accepted, and no fragment waited afterwards
  Table received_{};
  IncoherentMachine machine_;
};

}  // namespace

RunResult run_nvp(std::uint64_t seed, const Mutation& mutation, std::optional<PlannedFault> fault) {
  Prng prng(seed);
  const int cores = 2 + static_cast<int>(prng.below(3));
  const NvpLayout layout = random_nvp_layout(prng, cores);
  return Run<NvpChannel<IncoherentMemory>>(seed, mutation, fault, cores, layout, prng).result();
}

RunResult run_srbp(std::uint64_t seed, const Mutation& mutation, std::optional<PlannedFault> fault) {
  Prng prng(seed);
  const int cores = 2 + static_cast<int>(prng.below(3));
  const SrbpLayout layout = random_srbp_layout(prng, cores);
  return Run<SrbpChannel<IncoherentMemory>>(seed, mutation, fault, cores, layout, prng).result();
}

}  // namespace ingot::test
