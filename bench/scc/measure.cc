#include "bench/scc/measure.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/scc/background.h"
#include "core/prng.h"

namespace ingot::scc {
namespace {

constexpr std::size_t kWarmBytes = 288 * 1024;  // more than L1 and L2
constexpr std::size_t kWarmAt = kMeasurePrivateBytes - kWarmBytes;
constexpr std::size_t kRoomBytes = kWarmAt;     // for messages
static_assert(kMeasureMessageBytesMax <= kRoomBytes / 2);

// Each message begins on a line and has a free line behind it.
std::size_t stride_of(std::size_t bytes) { return (bytes + 2 * kLineBytes - 1) / kLineBytes * kLineBytes; }

absl::Status check(const char* what, std::int64_t value, std::int64_t min, std::int64_t max) {
  if (value >= min && value <= max) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " cannot be ", value, ": ", min, " to ", max, " are possible"));
}

// The number of messages that each source pipelines.
int messages_of(const BroadcastPoint& point) {
  if (point.messages != 0) return point.messages;
  const std::size_t by_size = (512 * 1024) / ((point.bytes + 1) * static_cast<std::size_t>(point.sources));
  return static_cast<int>(std::clamp<std::size_t>(by_size, 1, 40));
}

// Fills the caches with lines that were written, or only read.
void fill_caches(Core& core, bool written) {
  for (std::size_t at = 0; at < kWarmBytes; at += kLineBytes) {
    if (written) {
      core.copy(private_address(kWarmAt + at), mpb_line(core.id(), 0), kLineBytes);
    } else {
      core.load<std::uint32_t>(private_address(kWarmAt + at));
    }
  }
}

class Measurement {
 public:
  Measurement(const ChipOptions& options, const BroadcastPoint& point) : options_(options), point_(point) {}

  absl::StatusOr<BroadcastResult> run();

 private:
  absl::Status prepare_chip();
  absl::Status warm_up();
  absl::Status latencies();
  absl::Status throughput();
  absl::Status run_messages(const std::vector<Message>& messages, Picoseconds& duration);
  std::size_t take_room();  // address of the next message in every private memory
  void fill(const Message& message);
  absl::Status check_arrived(const Message& message) const;
  int source(int i) const {
    return setup_->group.core((setup_->group.rank(point_.source) + i * point_.cores / point_.sources) % point_.cores);
  }

  ChipOptions options_;
  const BroadcastPoint point_;
  std::unique_ptr<Chip> chip_;
  std::optional<BroadcastSetup> setup_;
  std::unique_ptr<BackgroundTraffic> background_;
  std::vector<std::unique_ptr<Broadcast>> broadcasts_;
  std::size_t used_ = 0;
  Prng random_{1};
  BroadcastResult result_;
};

absl::StatusOr<BroadcastResult> Measurement::run() {
  for (const auto step : {&Measurement::prepare_chip, &Measurement::warm_up, &Measurement::latencies,
                          &Measurement::throughput}) {
    if (absl::Status status = (this->*step)(); !status.ok()) return status;
  }
  result_.accesses = chip_->statistics().accesses();
  result_.trace_hash = chip_->trace_hash();
  return result_;
}

absl::Status Measurement::prepare_chip() {
  options_.private_bytes = kMeasurePrivateBytes;
  auto chip = Chip::create(options_);
  if (!chip.ok()) return chip.status();
  chip_ = *std::move(chip);
  setup_.emplace(BroadcastSetup{.group = Group::first(point_.cores), .k = point_.k, .plans = nullptr});
  if (absl::Status status = prepare(*setup_, options_); !status.ok()) return status;
  random_ = Prng(options_.seed);
  broadcasts_.resize(kCores);
  return absl::OkStatus();
}

absl::Status Measurement::warm_up() {
  const BroadcastAlgorithm* algorithm = find_broadcast(point_.algorithm);
  const absl::Status status = chip_->run(setup_->group.cores(), [&](Core& core) {
    if (point_.warm_caches) fill_caches(core, core.id() != point_.source);
    broadcasts_[static_cast<std::size_t>(core.id())] = algorithm->make(core, *setup_);
  });
  if (point_.background_us > 0) background_ = std::make_unique<BackgroundTraffic>(*chip_, point_.background_us);
  return status;
}

std::size_t Measurement::take_room() {
  const std::size_t stride = stride_of(point_.bytes);
  if (used_ + stride > kRoomBytes) used_ = 0;
  const std::size_t at = used_;
  used_ += stride;
  return at;
}

void Measurement::fill(const Message& message) {
  const auto at = chip_->private_memory(message.source).subspan(message.at, message.bytes);
  std::size_t i = 0;
  for (; i + 8 <= at.size(); i += 8) {
    const std::uint64_t word = random_();
    std::memcpy(at.data() + i, &word, 8);
  }
  for (; i < at.size(); ++i) at[i] = static_cast<std::byte>(random_());
}

absl::Status Measurement::check_arrived(const Message& message) const {
  const auto sent = chip_->private_memory(message.source).subspan(message.at, message.bytes);
  for (const int core : setup_->group.cores()) {
    const auto arrived = chip_->private_memory(core).subspan(message.at, message.bytes);
    if (message.bytes == 0 || std::memcmp(sent.data(), arrived.data(), sent.size()) == 0) continue;
    return absl::InternalError(absl::StrCat(point_.algorithm, " brought wrong bytes to core ", core, ": ", point_.bytes,
                                            " bytes from core ", message.source, ", seed ", options_.seed));
  }
  return absl::OkStatus();
}

absl::Status Measurement::run_messages(const std::vector<Message>& messages, Picoseconds& duration) {
  for (const Message& message : messages) fill(message);
  const Picoseconds begin = chip_->now_ps();
  if (background_ != nullptr) background_->resume();
  const absl::Status status = chip_->run(setup_->group.cores(), [&](Core& core) {
    broadcasts_[static_cast<std::size_t>(core.id())]->broadcast_all(messages);
  });
  if (!status.ok()) return status;
  Picoseconds last = begin;
  for (const int core : setup_->group.cores()) {
    last = std::max(last, broadcasts_[static_cast<std::size_t>(core)]->delivered_ps());
  }
  duration = last - begin;
  for (const Message& message : messages) {
    if (absl::Status arrived = check_arrived(message); !arrived.ok()) return arrived;
  }
  return absl::OkStatus();
}

absl::Status Measurement::latencies() {
  const std::size_t by_size = (256 * 1024) / (point_.bytes + 4096);
  const int repetitions = point_.repetitions != 0 ? point_.repetitions
                                                  : static_cast<int>(std::clamp<std::size_t>(by_size, 1, 10));
  const Energy before = chip_->energy();
  double sum_us = 0;
  for (int i = 0; i < repetitions; ++i) {
    const Message message{.source = point_.source, .bytes = point_.bytes, .at = private_address(take_room())};
    Picoseconds duration = 0;
    if (absl::Status status = run_messages({message}, duration); !status.ok()) return status;
    sum_us += static_cast<double>(duration) * 1e-6;
  }
  result_.latency_us = sum_us / repetitions;
  result_.energy_uj = (chip_->energy() - before).total_uj() / repetitions;
  return absl::OkStatus();
}

absl::Status Measurement::throughput() {
  const int messages = messages_of(point_);
  if (messages == 1 && point_.sources == 1) {  // nothing is pipelined: the latency gives the throughput
    if (result_.latency_us > 0) result_.throughput_mb_per_s = static_cast<double>(point_.bytes) / result_.latency_us;
    return absl::OkStatus();
  }
  const std::size_t all = static_cast<std::size_t>(messages) * static_cast<std::size_t>(point_.sources);
  used_ = 0;
  std::vector<Message> list;
  for (int i = 0; i < point_.sources; ++i) {
    for (int j = 0; j < messages; ++j) {
      list.push_back({.source = source(i), .bytes = point_.bytes, .at = private_address(take_room())});
    }
  }
  Picoseconds duration = 0;
  if (absl::Status status = run_messages(list, duration); !status.ok()) return status;
  const double bytes = static_cast<double>(all) * static_cast<double>(point_.bytes);
  if (duration > 0) result_.throughput_mb_per_s = bytes / (static_cast<double>(duration) * 1e-6);
  return absl::OkStatus();
}

}  // namespace

absl::Status validate(const BroadcastPoint& point) {
  if (find_broadcast(point.algorithm) == nullptr) {
    std::string names;
    for (const auto& each : broadcast_algorithms()) names += std::string(each.name) + ", ";
    return absl::InvalidArgumentError(
        absl::StrCat("there is no broadcast \"", point.algorithm, "\": there are ", names, "or all"));
  }
  absl::Status status = check("the number of cores", point.cores, 2, kCores);
  status.Update(check("the size in bytes", static_cast<std::int64_t>(point.bytes), 0, kMeasureMessageBytesMax));
  status.Update(check("k", point.k, 1, kTreeChildrenMax));
  status.Update(check("the number of repetitions", point.repetitions, 0, kMeasureRepetitionsMax));
  status.Update(check("the number of messages", point.messages, 0, kMeasureMessagesMax));
  if (!status.ok()) return status;
  if (point.source < 0 || point.source >= point.cores) {
    return absl::InvalidArgumentError(absl::StrCat("core ", point.source, " cannot be the source: cores 0 to ",
                                                   point.cores - 1, " take part"));
  }
  status.Update(check("the number of sources", point.sources, 1, point.cores));
  if (status.ok() && !(point.background_us == 0 || (point.background_us >= 1 && point.background_us <= 1e9))) {
    return absl::InvalidArgumentError("background traffic comes every 1 to 1e9 microseconds, or not at all (0)");
  }
  if (!status.ok()) return status;
  const std::size_t all = static_cast<std::size_t>(messages_of(point)) * static_cast<std::size_t>(point.sources);
  if (all * stride_of(point.bytes) > kRoomBytes) {
    return absl::InvalidArgumentError(absl::StrCat(all, " messages of ", point.bytes,
                                                   " bytes do not fit into a core's ", kRoomBytes,
                                                   " bytes for messages: take fewer with --messages"));
  }
  return status;
}

absl::StatusOr<BroadcastResult> measure_broadcast(const ChipOptions& options, const BroadcastPoint& point) {
  if (absl::Status status = validate(point); !status.ok()) return status;
  if (absl::Status status = validate(options); !status.ok()) return status;
  return Measurement(options, point).run();
}

}  // namespace ingot::scc
