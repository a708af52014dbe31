#include "bench/scc/links.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/scc/plain_srbp.h"
#include "core/check.h"
#include "core/enum_names.h"
#include "transport/scc/chip_transport.h"
#include "transport/scc/rcce/rcce.h"
#include "transport/scc/rckmpi/channel.h"

namespace ingot::scc {
namespace {

// A link by RCCE, whose messages are in private memory.
class RcceLink : public Link {
 public:
  RcceLink(Core& core, const Group& group) : core_(core), rcce_(core, group) {}
  void send(int to_core, std::span<const std::byte> message) override {
    core_.write(private_address(0), message);
    rcce_.send(private_address(0), message.size(), to_core);
  }
  void receive(int from_core, std::span<std::byte> out) override {
    rcce_.receive(private_address(kLinkBytesMax), out.size(), from_core);
    core_.read(private_address(kLinkBytesMax), out);
  }

 private:
  Core& core_;
  Rcce rcce_;
};

class RckmpiLink : public Link {
 public:
  RckmpiLink(Core& core, const Group& group) : channel_(core, group) {}
  void send(int to_core, std::span<const std::byte> message) override { channel_.send(to_core, 1, message); }
  void receive(int from_core, std::span<std::byte> out) override {
    const auto received = channel_.receive(from_core, 1);
    INGOT_CHECK(received.bytes.size() == out.size(), "both sides agree on sizes");
    std::memcpy(out.data(), received.bytes.data(), out.size());
  }

 private:
  RckmpiChannel channel_;
};

class PlainSrbpLink : public Link {
 public:
  PlainSrbpLink(Core& core, const Group& group) : ring_(core, group) {}
  void send(int to_core, std::span<const std::byte> message) override { ring_.send(to_core, message); }
  void receive(int from_core, std::span<std::byte> out) override {
    const std::vector<std::byte> message = ring_.receive(from_core);
    INGOT_CHECK(message.size() == out.size(), "both sides agree on sizes");
    std::memcpy(out.data(), message.data(), out.size());
  }

 private:
  PlainSrbp ring_;
};

class ChannelLink : public Link {
 public:
  ChannelLink(Core& core, const Group& group, const ChipFabric& fabric)
      : core_(core), group_(group), fabric_(fabric), arrived_(static_cast<std::size_t>(group.size())),
        transport_(make_chip_transport(fabric, core, endpoint(core.id()))) {}

  void send(int to_core, std::span<const std::byte> message) override {
    const EndpointId to = endpoint(to_core);
    while (!transport_->send(to, message)) {
      take();
      wait_readable(fabric_, core_, *transport_, ~Picoseconds{0}, {&to, 1});
    }
    while (transport_->flush()) take();  // the rest of a message that is longer than a slot
  }
  void receive(int from_core, std::span<std::byte> out) override {
    auto& queue = arrived_[static_cast<std::size_t>(group_.rank(from_core))];
    while (queue.empty()) {
      wait_readable(fabric_, core_, *transport_);
      take();
    }
    INGOT_CHECK(queue.front().size() == out.size(), "both sides agree on sizes");
    std::memcpy(out.data(), queue.front().data(), out.size());
    queue.pop_front();
  }

 private:
  static constexpr int kProbeLimit = 64;

  EndpointId endpoint(int core) const { return EndpointId(static_cast<std::uint16_t>(group_.rank(core))); }
  int take() {
    return transport_->probe(
        [this](EndpointId from, std::span<const std::byte> message) {
          arrived_[from.value()].emplace_back(message.begin(), message.end());
        },
        kProbeLimit);
  }

  Core& core_;
  const Group group_;
  const ChipFabric& fabric_;
  std::vector<std::deque<std::vector<std::byte>>> arrived_;  // by rank
  std::unique_ptr<Transport> transport_;
};

template <typename L>
class PlainProtocol : public LinkProtocol {
 public:
  explicit PlainProtocol(const Group& group) : group_(group) {}
  std::unique_ptr<Link> make(Core& core) const override { return std::make_unique<L>(core, group_); }

 private:
  const Group group_;
};

class ChannelProtocol : public LinkProtocol {
 public:
  ChannelProtocol(const Group& group, ChipFabric fabric) : group_(group), fabric_(std::move(fabric)) {}
  std::unique_ptr<Link> make(Core& core) const override { return std::make_unique<ChannelLink>(core, group_, fabric_); }

 private:
  const Group group_;
  const ChipFabric fabric_;
};

void send_value(Link& link, int to, std::uint64_t value) { link.send(to, std::as_bytes(std::span(&value, 1))); }
std::uint64_t receive_value(Link& link, int from) {
  std::uint64_t value = 0;
  link.receive(from, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

absl::Status check_core_count(int cores) {
  if (cores >= 2 && cores <= kCores) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the number of cores cannot be ", cores, ": 2 to 48 are possible"));
}

std::uint64_t binomial_broadcast(Link& link, int rank, const Group& group, std::uint64_t value) {
  int bit = 1;
  while (bit < group.size() && (rank & bit) == 0) bit *= 2;
  if (rank != 0) value = receive_value(link, group.core(rank - bit));
  for (bit /= 2; bit != 0; bit /= 2) {
    if (rank + bit < group.size()) send_value(link, group.core(rank + bit), value);
  }
  return value;
}

std::uint64_t binomial_reduction(Link& link, int rank, const Group& group, std::uint64_t value) {
  for (int bit = 1; bit < group.size(); bit *= 2) {
    if ((rank & bit) != 0) {
      send_value(link, group.core(rank - bit), value);
      break;
    }
    if (rank + bit < group.size()) value += receive_value(link, group.core(rank + bit));
  }
  return value;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LinkProtocol>> LinkProtocol::create(std::string_view name, const Group& group) {
  std::unique_ptr<LinkProtocol> protocol;
  if (name == "rcce") protocol = std::make_unique<PlainProtocol<RcceLink>>(group);
  if (name == "srbp-plain") protocol = std::make_unique<PlainProtocol<PlainSrbpLink>>(group);
  if (name == "rckmpi") protocol = std::make_unique<PlainProtocol<RckmpiLink>>(group);
  if (name == "nvp" || name == "srbp") {
    auto fabric = lay_out(*value_of<TransportKind>(name), group.cores());
    if (!fabric.ok()) return fabric.status();
    protocol = std::make_unique<ChannelProtocol>(group, *std::move(fabric));
  }
  if (protocol != nullptr) return protocol;
  return absl::InvalidArgumentError(absl::StrCat("there is no protocol \"", std::string(name),
                                                 "\": nvp, srbp, srbp-plain, rcce and rckmpi are possible"));
}

std::uint64_t collective(Link& link, Core& core, const Group& group, CollectiveOperation operation,
                         std::uint64_t value) {
  const int rank = group.rank(core.id());
  switch (operation) {
    case CollectiveOperation::kBroadcast: return binomial_broadcast(link, rank, group, value);
    case CollectiveOperation::kReduction: return binomial_reduction(link, rank, group, value);
    case CollectiveOperation::kBarrier:
      return binomial_broadcast(link, rank, group, binomial_reduction(link, rank, group, value));
  }
  return 0;
}

std::uint64_t linear_collective(Link& link, Core& core, const Group& group, CollectiveOperation operation,
                                std::uint64_t value) {
  const bool root = core.id() == group.core(0);
  if (operation == CollectiveOperation::kBarrier) {
    barrier(core, group);
    return 0;
  }
  const bool down = operation == CollectiveOperation::kBroadcast;
  if (!root && down) return receive_value(link, group.core(0));
  if (!root) send_value(link, group.core(0), value);
  for (int rank = 1; root && rank < group.size(); ++rank) {
    if (down) send_value(link, group.core(rank), value);
    if (!down) value += receive_value(link, group.core(rank));
  }
  return value;
}

absl::StatusOr<double> measure_round_trip(const ChipOptions& options, std::string_view protocol_name,
                                          const RoundTrip& trip) {
  if (absl::Status status = check_core_count(trip.cores); !status.ok()) return status;
  if (trip.from < 0 || trip.from >= trip.cores || trip.to < 0 || trip.to >= trip.cores || trip.from == trip.to) {
    return absl::InvalidArgumentError(absl::StrCat("--from=", trip.from, " and --to=", trip.to,
                                                   " are not two of cores 0 to ", trip.cores - 1));
  }
  const Group group = Group::first(trip.cores);
  auto protocol = LinkProtocol::create(protocol_name, group);
  if (!protocol.ok()) return protocol.status();
  auto chip = Chip::create(options);
  if (!chip.ok()) return chip.status();
  constexpr int kWarmUp = 5;
  std::uint64_t cycles = 0;
  bool right = true;
  const int both[] = {trip.from, trip.to};
  const absl::Status status = (*chip)->run(both, [&](Core& core) {
    const auto link = (*protocol)->make(core);
    const bool first = core.id() == trip.from;
    const int other = first ? trip.to : trip.from;
    std::vector<std::byte> message(trip.bytes), back(trip.bytes);
    std::uint64_t begin = 0;
    for (int i = 0; i < kWarmUp + trip.round_trips; ++i) {
      if (i == kWarmUp) begin = core.now_cycles();
      const auto send = [&] {
        core.trace_begin("send");
        link->send(other, message);
        core.trace_end();
      };
      const auto receive = [&](std::vector<std::byte>& out) {
        core.trace_begin("receive");
        link->receive(other, out);
        core.trace_end();
      };
      if (first) {
        message.assign(trip.bytes, static_cast<std::byte>(i));
        send();
        receive(back);
        right = right && back == message;
      } else {
        receive(message);
        send();
      }
    }
    if (first) cycles = core.now_cycles() - begin;
  });
  if (!status.ok()) return status;
  if (absl::Status written = (*chip)->finish_trace(); !written.ok()) return written;
  if (!right) return absl::InternalError(absl::StrCat(std::string(protocol_name), " brought wrong bytes"));
  return static_cast<double>(cycles) / trip.round_trips;
}

absl::StatusOr<double> measure_collective(const ChipOptions& options, std::string_view protocol_name, int cores,
                                          CollectiveOperation operation, int repetitions) {
  if (absl::Status status = check_core_count(cores); !status.ok()) return status;
  const Group group = Group::first(cores);
  auto protocol = LinkProtocol::create(protocol_name, group);
  if (!protocol.ok()) return protocol.status();
  auto chip = Chip::create(options);
  if (!chip.ok()) return chip.status();
  const auto act = protocol_name == "rcce" ? linear_collective : collective;
  std::vector<std::unique_ptr<Link>> links(kCores);
  Picoseconds sum = 0;
  bool right = true;
  for (int i = 0; i <= repetitions; ++i) {  // the first one is not counted: caches are cold
    const Picoseconds begin = (*chip)->now_ps();
    Picoseconds end = begin;
    const absl::Status status = (*chip)->run(group.cores(), [&](Core& core) {
      auto& link = links[static_cast<std::size_t>(core.id())];
      if (link == nullptr) link = (*protocol)->make(core);
      const std::uint64_t result = act(*link, core, group, operation, static_cast<std::uint64_t>(core.id() + i));
      end = std::max(end, core.now_ps());
      const auto n = static_cast<std::uint64_t>(cores), round = static_cast<std::uint64_t>(i);
      if (operation == CollectiveOperation::kBroadcast) right = right && result == round;
      if (operation == CollectiveOperation::kReduction && core.id() == 0) {
        right = right && result == n * (n - 1) / 2 + n * round;
      }
    });
    if (!status.ok()) return status;
    if (i != 0) sum += end - begin;
  }
  if (!right) return absl::InternalError(absl::StrCat(std::string(protocol_name), " brought a wrong result"));
  return static_cast<double>((*chip)->costs().to_core_cycles(sum)) / repetitions;
}

}  // namespace ingot::scc
