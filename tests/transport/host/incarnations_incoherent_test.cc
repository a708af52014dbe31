// The switch to a peer's next incarnation (transport/host/peer_incarnations.h) on the incoherent machine: endpoint 1
// dies at any access, its next incarnation starts, and endpoint 0 goes over to it, with the real fabric and the real
// channels. Each of the two sleeps when it finds nothing to do.
#include <poll.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/modelled_memory.h"
#include "core/prng.h"
#include "tests/seeds.h"
#include "tests/transport/incoherent_memory.h"
#include "tests/transport/message_pattern.h"
#include "transport/channel_endpoint.h"
#include "transport/host/fabric.h"
#include "transport/host/fence.h"
#include "transport/host/peer_incarnations.h"
#include "transport/nvp_channel.h"
#include "transport/srbp_channel.h"

namespace ingot::test {
namespace {

enum class Weakened { kNothing, kAccept, kAccepted, kNotifyFence };

// The cells of the fabric on the machine: incarnation words and sleeping words.
class FabricCells final : public MemoryModel {
 public:
  FabricCells(IncoherentMachine& machine, Weakened weakened) : machine_(machine), weakened_(weakened) {}

  void load(const void* at, void* out, std::size_t bytes, std::memory_order order) override {
    const bool acquire = order == std::memory_order_acquire && weakened_ != Weakened::kAccepted;
    const std::uint64_t value =
        machine_.load(machine_.running(), cell(at, bytes), acquire ? Order::kAcquire : Order::kRelaxed);
    std::memcpy(out, &value, bytes);
  }
  void store(const void* at, const void* in, std::size_t bytes, std::memory_order order) override {
    const bool release = order == std::memory_order_release && weakened_ != Weakened::kAccept;
    machine_.store(machine_.running(), cell(at, bytes), value_of(in, bytes),
                   release ? Order::kRelease : Order::kRelaxed);
  }
  std::uint64_t update(void* at, std::size_t bytes, const Update& next) override {
    return machine_.update(machine_.running(), cell(at, bytes),
                           [&](std::uint32_t old) { return static_cast<std::uint32_t>(next(old)); });
  }
  void store_load_fence() override {
    const bool dropped = weakened_ == Weakened::kNotifyFence && machine_.running() == accepts_;
    if (!dropped) machine_.fence(machine_.running());
  }

  void store_store_fence() override { INGOT_CHECK(false, "the fabric has none"); }

  // This core is in Fabric::accept at most, whose fence is that of Fabric::notify; -1: none is.
  void accepts(int core) { accepts_ = core; }

 private:
  static std::uint32_t value_of(const void* in, std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, in, bytes);
    return static_cast<std::uint32_t>(value);
  }
  std::size_t cell(const void* at, std::size_t bytes) {
    const auto [found, is_new] = cells_.try_emplace(at, 0);
    if (is_new) found->second = machine_.add_cell(value_of(at, bytes));
    return found->second;
  }

  IncoherentMachine& machine_;
  const Weakened weakened_;
  int accepts_ = -1;
  std::map<const void*, std::size_t> cells_;
};

// One incarnation's view: each endpoint's inbox is that of one of the machine's cores, and can be replaced.
class InboxesMemory : public IncoherentMemory {
 public:
  using Inboxes = std::map<const std::byte*, int>;  // by address of the segment that stands for it

  InboxesMemory(IncoherentMachine& machine, int core, EndpointId self, std::vector<int> inboxes,
                const Inboxes& announced)
      : IncoherentMemory(machine, core), self_(self), inboxes_(std::move(inboxes)), announced_(&announced) {}

  Line line(EndpointId inbox, std::uint32_t index) const {
    return IncoherentMemory::line(EndpointId(static_cast<std::uint16_t>(inboxes_[inbox.value()])), index);
  }
  void set_inbox(EndpointId endpoint, std::span<std::byte> inbox) {
    inboxes_[endpoint.value()] = announced_->at(inbox.data());
  }
  EndpointId self() const { return self_; }

 private:
  EndpointId self_;
  std::vector<int> inboxes_;  // by endpoint
  const Inboxes* announced_;
};
static_assert(Memory<InboxesMemory>);

// Core 0 is endpoint 0; core i is incarnation i of endpoint 1. All but the last of these die.
template <typename Channel>
class Run {
 public:
  Run(std::uint64_t seed, Weakened weakened, const typename Channel::Layout& layout, Prng prng)
      : seed_(seed),
        layout_(layout),
        prng_(prng),
        lives_(2 + static_cast<int>(prng_.below(2))),
        messages_(1 + static_cast<std::uint32_t>(prng_.below(8))),
        messages_there_(prng_.chance(0.5) ? messages_ : 0),
        machine_({.cores = 1 + lives_,
                  .inbox_lines = layout.inbox_lines(IncoherentMemory::kLineBytes),
                  .seed = seed,
                  .accesses_max = 100'000}),
        cells_(machine_, weakened),
        fabric_(*Fabric::create("ingot-test-incarnations", 2, 1)),
        segment_(*create_segment("ingot-test-inbox", 1)) {
    for (int core = 0; core <= lives_; ++core) machine_.start(core, [this, core] { core == 0 ? stay() : live(core); });
  }

  std::string failure() {
    memory_model = &cells_;
    machine_.run([this] { return finished(); });
    memory_model = nullptr;
    return machine_.failure();
  }

 private:
  using Endpoint = ChannelEndpoint<Channel>;
  static constexpr EndpointId kStays{0}, kDies{1};

  // The name of an incarnation of endpoint 1 within messages.
  static EndpointId name(int life) { return EndpointId(static_cast<std::uint16_t>(10 + life)); }

  std::size_t bytes_of(EndpointId from, EndpointId to, std::uint32_t n) const {
    Prng prng(seed_ * 1000003 + from.value() * 8191u + to.value() * 127u + n);
    return 1 + prng.below(prng.chance(0.7) ? Channel::kPayloadBytes : 5 * Channel::kPayloadBytes);
  }

  bool finished() const { return got_there_ == messages_there_ && got_here_ == messages_; }

  // ---- Endpoint 0 ----

  void stay() {
    Endpoint transport = endpoint(0, kStays, {0, 1});
    PeerIncarnations incarnations(fabric_, transport, {Incarnation(1), Incarnation(1)});
    Prng prng(seed_ * 31);
    while (!finished()) {
      hear(incarnations, prng);
      const int life = static_cast<int>(incarnations.incarnation(kDies).value());
      bool busy = send_some(transport, kStays, name(life), sent_there_[life], messages_there_, prng);
      busy |= receive(transport, [&](auto message) {
                expect(message, name(life), kStays, life == lives_ ? got_here_ : got_before_[life]);
              }) > 0;
      cells_.accepts(0);
      busy |= incarnations.poll([](EndpointId, Incarnation) {}) > 0;
      cells_.accepts(-1);
      busy |= transport.flush();
      if (!busy && sent_there_[life] == messages_there_) sleep(0, transport, incarnations);
      machine_.step(0);
    }
  }

  // The supervisor's messages, through the kernel: a death, and later the next incarnation.
  void hear(PeerIncarnations& incarnations, Prng& prng) {
    if (told_ == lives_ || !machine_.dead(told_) || prng.chance(0.8)) return;
    machine_.learn_death(0, told_);
    if (prng.chance(0.3)) return incarnations.gone(kDies);
    ++told_;
    Segment inbox = *Segment::map(segment_.get(), Segment::Access::kReadWrite);
    announced_[inbox.data()] = told_;
    incarnations.announce({kDies, Incarnation(static_cast<std::uint32_t>(told_)), std::move(inbox)});
  }

  // ---- Endpoint 1 ----

  void live(int life) {
    while (life > 1 && !machine_.dead(life - 1)) machine_.step(life);
    if (life > 1) machine_.learn_death(life, life - 1);  // the supervisor starts it after that
    Prng prng(seed_ * 31 + static_cast<std::uint64_t>(life));
    if (life < lives_) machine_.kill_after(life, 1 + static_cast<int>(prng.below(prng.chance(0.5) ? 60 : 1500)));
    Endpoint transport = endpoint(life, kDies, {0, life});
    PeerIncarnations incarnations(fabric_, transport, {Incarnation(1), Incarnation(static_cast<std::uint32_t>(life))});
    std::uint32_t sent = 0, got = 0;
    fabric_.sleeping(kDies).lower();  // an earlier incarnation may have died while asleep
    while (life < lives_ || !finished()) {
      bool busy = send_some(transport, kDies, name(life), sent, messages_, prng);
      busy |= receive(transport, [&](auto message) { expect(message, kStays, name(life), got); }) > 0;
      busy |= incarnations.poll([](EndpointId, Incarnation) {}) > 0;
      busy |= transport.flush();
      if (life == lives_) got_there_ = got;
      if (!busy && (sent == messages_ || incarnations.waiting())) sleep(life, transport, incarnations);
      machine_.step(life);
    }
  }

  // ---- Both ----

  Endpoint endpoint(int core, EndpointId self, std::vector<int> inboxes) {
    return Endpoint(Channel(InboxesMemory(machine_, core, self, std::move(inboxes), announced_), layout_), &fabric_,
                    {});
  }

  // Up to `all` messages. `life`: the name of endpoint 1's incarnation.
  bool send_some(Transport& transport, EndpointId self, EndpointId life, std::uint32_t& n, std::uint32_t all,
                 Prng& prng) {
    const EndpointId from = self == kStays ? kStays : life;
    const EndpointId to = self == kStays ? life : kStays;
    bool sent = false;
    for (int tries = static_cast<int>(prng.below(3)); tries > 0 && n < all; --tries) {
      if (!transport.send(self == kStays ? kDies : kStays, make_message(from, to, n, bytes_of(from, to, n)))) break;
      ++n;
      sent = true;
    }
    return sent;
  }

  template <typename Handle>
  int receive(Transport& transport, Handle handle) {
    return transport.probe([&](EndpointId, std::span<const std::byte> message) { handle(message); }, 3);
  }

  void expect(std::span<const std::byte> message, EndpointId from, EndpointId to, std::uint32_t& n) {
    const std::string wrong = check_message(message, from, to, n, bytes_of(from, to, n));
    if (!wrong.empty()) machine_.fail(wrong);
    ++n;
  }

  // As EventLoop::sleep.
  void sleep(int core, Transport& transport, PeerIncarnations& incarnations) {
    const EndpointId self = transport.self();
    fabric_.sleeping(self).raise();
    store_load_fence();
    if (!transport.readable() && !(incarnations.waiting() && incarnations.readable())) {
      const auto told = told_;
      while (!rung(self) && !finished() && !(core == 0 && told_ < lives_ && machine_.dead(told))) machine_.step(core);
    }
    fabric_.sleeping(self).lower();
    fabric_.bell(self).drain();
  }

  bool rung(EndpointId self) const {
    pollfd bell{fabric_.bell(self).fd(), POLLIN, 0};
    return ::poll(&bell, 1, 0) > 0;
  }

  const std::uint64_t seed_;
  const typename Channel::Layout layout_;
  Prng prng_;
  const int lives_;
  // Between endpoint 0 and each incarnation of endpoint 1 that lives long enough. Without those that go there nothing
  // but the incarnation word wakes an incarnation.
  const std::uint32_t messages_;        // to endpoint 0
  const std::uint32_t messages_there_;  // from endpoint 0
  IncoherentMachine machine_;
  FabricCells cells_;
  Fabric fabric_;
  Descriptor segment_;
  InboxesMemory::Inboxes announced_;
  int told_ = 1;  // the incarnation that endpoint 0 was told of
  std::uint32_t sent_there_[kCoresMax + 1] = {};
  std::uint32_t got_before_[kCoresMax + 1] = {};
  std::uint32_t got_here_ = 0;   // from the last incarnation
  std::uint32_t got_there_ = 0;  // by the last incarnation
};

using Runner = std::string (*)(std::uint64_t, Weakened);

std::string run_nvp(std::uint64_t seed, Weakened weakened) {
  Prng prng(seed);
  const int slots = 1 << prng.below(3);
  const NvpLayout layout{2, slots, static_cast<std::uint32_t>(prng.below(4) * InboxesMemory::kLineBytes)};
  return Run<NvpChannel<InboxesMemory>>(seed, weakened, layout, prng).failure();
}

std::string run_srbp(std::uint64_t seed, Weakened weakened) {
  Prng prng(seed);
  const int tickets = 1 << prng.below(2);
  return Run<SrbpChannel<InboxesMemory>>(seed, weakened, SrbpLayout{2, tickets, 1 << prng.below(4)}, prng).failure();
}

void require_all_hold(Runner run) {
  for (const std::uint64_t seed : ingot::testing::seeds(600)) {
    INFO("seed " << seed);
    REQUIRE(run(seed, Weakened::kNothing) == "");
  }
}

// The first seed that detects what is weakened, or 0.
std::uint64_t seed_that_catches(Runner run, Weakened weakened) {
  constexpr std::uint64_t kSeedsMax = 3000;
  for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    if (!run(seed, weakened).empty()) return seed;
  }
  return 0;
}

}  // namespace

TEST_CASE("incarnations follow one another on incoherent memory, over NVP") { require_all_hold(run_nvp); }

TEST_CASE("incarnations follow one another on incoherent memory, over SRBP") { require_all_hold(run_srbp); }

// By SRBP: NVP's own sites order all that a new incarnation finds in a peer's inbox.
TEST_CASE("each order of the incarnation words is needed") {
  CHECK(seed_that_catches(run_srbp, Weakened::kAccept) != 0);
  CHECK(seed_that_catches(run_srbp, Weakened::kAccepted) != 0);
}

TEST_CASE("without the fence in Fabric::notify a new incarnation sleeps on") {
  CHECK(seed_that_catches(run_nvp, Weakened::kNotifyFence) != 0);
  CHECK(seed_that_catches(run_srbp, Weakened::kNotifyFence) != 0);
}

}  // namespace ingot::test
