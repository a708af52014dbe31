#include "tests/transport/scc/protocol_run.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/enum_names.h"
#include "core/prng.h"
#include "tests/transport/message_pattern.h"
#include "transport/scc/chip.h"
#include "transport/scc/chip_transport.h"

namespace ingot::test {
namespace {

constexpr int kPartiesMax = 4;
constexpr double kVirtualSecondsMax = 0.02;  // beyond this the run counts as stuck
constexpr scc::Picoseconds kMicrosecond = 1'000'000;

EndpointId endpoint(int party) { return EndpointId(static_cast<std::uint16_t>(party)); }

class Run {
 public:
  Run(std::string_view kind, std::uint64_t seed, Site weakened)
      : seed_(seed), weakened_(weakened), prng_(seed), parties_(2 + static_cast<int>(prng_.below(3))) {
    messages_ = 1 + static_cast<std::uint32_t>(prng_.below(12));
    one_way_ = prng_.chance(0.3);
    while (static_cast<int>(cores_.size()) < parties_) {
      const int core = static_cast<int>(prng_.below(scc::kCores));
      if (std::find(cores_.begin(), cores_.end(), core) == cores_.end()) cores_.push_back(core);
    }
    scc::ChipOptions options;
    options.seed = seed;
    options.start_skew_core_cycles = 1 + prng_.below(5000);
    options.jitter_core_cycles = prng_.chance(0.5) ? prng_.below(2000) : 0;
    options.virtual_seconds_max = kVirtualSecondsMax;
    if (prng_.chance(0.3)) options.cost_model = scc::CostModel::kWgr;
    options.private_bytes = scc::kLutEntryBytes;
    auto chip = scc::Chip::create(options);
    INGOT_CHECK(chip.ok());
    chip_ = *std::move(chip);
    fabric_ = tight_fabric(kind);
    // At least one party has no fault.
    for (int party = 1; party < parties_; ++party) add_fault(party);
  }

  ProtocolResult result() {
    const absl::Status status = chip_->run(cores_, [this](scc::Core& core) {
      const auto found = std::find(cores_.begin(), cores_.end(), core.id());
      work(static_cast<int>(found - cores_.begin()), core);
    });
    if (!status.ok()) fail(std::string(status.message()));
    ProtocolResult result{failure_, faults_, 0, chip_->trace_hash()};
    for (const auto& from_all : received_) {
      for (const std::uint32_t n : from_all) result.delivered += n;
    }
    return result;
  }

 private:
  // One, two or four slots a sender.
  scc::ChipFabric tight_fabric(std::string_view kind) {
    const int slots = 1 << prng_.below(3);
    for (std::uint32_t lines = 8;; ++lines) {
      auto fabric = scc::lay_out(*value_of<TransportKind>(kind), cores_, 256 - lines, lines);
      if (fabric.ok() && fabric->slots_per_sender >= slots) return *std::move(fabric);
    }
  }

  void add_fault(int party) {
    if (prng_.chance(0.4)) return;
    ++faults_;
    const int core = cores_[party];
    const scc::Picoseconds when = prng_.below(prng_.chance(0.5) ? 20 * kMicrosecond : 300 * kMicrosecond);
    const auto kind = prng_.below(4);
    if (kind == 0) chip_->at(when, [this, core] { chip_->kill(core); });
    if (kind >= 1) chip_->at(when, [this, core] { chip_->stop(core); });
    if (kind >= 2) chip_->at(when + prng_.below(500 * kMicrosecond), [this, core] { chip_->resume(core); });
    resumes_[party] = kind >= 2;
  }

  bool sends(int from, int to) const { return from != to && (!one_way_ || to == 0); }

  void fail(std::string what) {
    if (failure_.empty()) failure_ = std::move(what);
  }

  bool incarnations(int party) const {
    return !chip_->killed(cores_[party]) && (resumes_[party] || !chip_->stopped(cores_[party]));
  }

  bool finished() const {
    if (!failure_.empty()) return true;
    for (int from = 0; from < parties_; ++from) {
      for (int to = 0; to < parties_; ++to) {
        if (!sends(from, to) || !incarnations(to)) continue;
        if (received_[to][from] < (incarnations(from) ? messages_ : complete_[from][to])) return false;
      }
    }
    return true;
  }

  std::size_t bytes_of(int from, int to, std::uint32_t n) const {
    Prng prng(seed_ * 1000003 + static_cast<std::uint64_t>(from * 64 + to) * 4096 + n);
    return 1 + prng.below(prng.chance(0.7) ? 24 : 150);
  }

  void work(int party, scc::Core& core) {
    const auto transport = scc::make_chip_transport(fabric_, core, endpoint(party), {}, weakened_);
    Prng prng(seed_ * 31 + static_cast<std::uint64_t>(party));
    std::array<bool, kPartiesMax> known_dead{};
    while (!finished()) {
      for (int peer = 0; peer < parties_; ++peer) {
        if (!chip_->killed(cores_[peer]) || known_dead[peer] || !prng.chance(0.1)) continue;
        known_dead[peer] = true;
        core.invalidate_mpb();  // the report of a death also makes visible all that the dead core did
        transport->peer_gone(endpoint(peer));
      }
      bool busy = send_some(party, *transport, prng);
      // A core that only sends never reads its inbox, which would drop stale lines.
      if (prng.chance(0.8) && (!one_way_ || party == 0)) {
        busy |= receive_some(party, *transport, static_cast<int>(1 + prng.below(6))) > 0;
      }
      if (!transport->flush()) complete_[party] = accepted_[party];
      core.compute(prng.below(busy ? 100 : 2000));
    }
  }

  bool send_some(int party, Transport& transport, Prng& prng) {
    bool sent = false;
    for (auto tries = prng.below(4); tries > 0; --tries) {
      const int to = static_cast<int>(prng.below(static_cast<std::uint64_t>(parties_)));
      std::uint32_t& n = accepted_[party][to];
      if (!sends(party, to) || n == messages_) continue;
      const auto message = make_message(endpoint(party), endpoint(to), n, bytes_of(party, to, n));
      trying_[party][to] = n + 1;
      if (transport.send(endpoint(to), message)) {
        ++n;
        sent = true;
      } else {
        trying_[party][to] = n;
      }
    }
    return sent;
  }

  int receive_some(int party, Transport& transport, int limit) {
    const int count = transport.probe(
        [&](EndpointId from, std::span<const std::byte> message) {
          std::uint32_t& n = received_[party][from.value()];
          if (n >= trying_[from.value()][party]) return fail("a message that was refused, or never sent, arrived");
          const std::string wrong =
              check_message(message, from, endpoint(party), n, bytes_of(from.value(), party, n));
          if (!wrong.empty()) fail(wrong);
          ++n;
        },
        limit);
    if (count > limit) fail("probe handed out more than its limit");
    return count;
  }

  // By sender and receiver, but for received_, which is by receiver and sender.
  using Table = std::array<std::array<std::uint32_t, kPartiesMax>, kPartiesMax>;

  const std::uint64_t seed_;
  const Site weakened_;
  Prng prng_;
  const int parties_;
  std::uint32_t messages_ = 0;  // from each to each
  bool one_way_ = false;        // all send to party 0 only
  std::vector<int> cores_;      // by party
  std::array<bool, kPartiesMax> resumes_{};
  int faults_ = 0;
  std::string failure_;
  Table accepted_{};  // send returned true
  Table trying_{};    // accepted, and the one being sent
  Table complete_{};  // accepted, and no fragment waited afterwards
  Table received_{};
  scc::ChipFabric fabric_;
  std::unique_ptr<scc::Chip> chip_;  // last: its programs use the rest
};

}  // namespace

ProtocolResult run_protocol(std::string_view kind, std::uint64_t seed, Site weakened) {
  return Run(kind, seed, weakened).result();
}

}  // namespace ingot::test
