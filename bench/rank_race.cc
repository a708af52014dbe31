#include "bench/rank_race.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/mpi.h"
#include "core/check.h"
#include "core/enum_names.h"
#include "core/planning/tree.h"
#include "transport/collectives/collectives.h"
#include "transport/collectives/progress_engine.h"
#include "transport/collectives/tree_barrier.h"
#include "transport/collectives/tree_collectives.h"
#include "transport/host/cross_memory.h"
#include "transport/host/host_memory.h"
#include "transport/host/host_transport.h"

namespace ingot::bench {
namespace {

constexpr int kRanks = 2;
const GroupId kGroup(0);

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

EndpointId endpoint(int rank) { return EndpointId(static_cast<std::uint16_t>(rank)); }

Tree tree_from(int root) {
  Tree tree(kRanks, root);
  tree.children[static_cast<std::size_t>(root)] = {1 - root};
  return tree;
}

// Both sides spin without sleeping, as those of MPIs do.
struct Spin {
  template <typename Done>
  void until(Done&& done) {
    while (!done()) {
    }
  }
  void wrote(EndpointId) {}
};

// Ingot's side of one rank: a transport over memory that both ranks map, and the engine.
class OurRank {
 public:
  OurRank(const std::string& kind, std::vector<std::span<std::byte>> inboxes, int rank, OneCopy one_copy)
      : rank_(rank),
        transport_(make_transport(*value_of<TransportKind>(kind), std::move(inboxes), endpoint(rank), waker_, {})),
        engine_(*transport_, kRanks, {}, one_copy) {}

  TreeSeat seat(int root) const {
    const std::array members = {endpoint(0), endpoint(1)};
    auto seat = TreeSeat::of(tree_from(root), members, endpoint(rank_), kRanks);
    INGOT_CHECK(seat.ok());
    return *seat;
  }

  void run(Schedule& schedule) {
    INGOT_CHECK(engine_.start(kGroup, schedule).ok());
    while (!schedule.done()) {
      if (++polls_ % 256 == 0) clock_ns_ = now_ns();
      engine_.poll(clock_ns_);
    }
  }

  // A send is complete when the transport has accepted it; all messages must have left before this rank calls MPI.
  void drain() {
    while (transport_->flush()) {
    }
  }

 private:
  const int rank_;
  NeverAsleep waker_;
  std::unique_ptr<Transport> transport_;
  ProgressEngine engine_;
  std::uint64_t polls_ = 0;
  std::uint64_t clock_ns_ = now_ns();
};

void add_doubles(std::span<std::byte> target, std::span<const std::byte> source) {
  auto* const to = reinterpret_cast<double*>(target.data());
  const auto* const from = reinterpret_cast<const double*>(source.data());
  for (std::size_t i = 0; i < target.size() / sizeof(double); ++i) to[i] += from[i];
}

Schedule built(absl::StatusOr<Schedule> schedule) {
  INGOT_CHECK(schedule.ok());
  return *std::move(schedule);
}

struct Contender {
  std::string name;
  std::function<void(int)> run;  // the i-th operation; its root is i % kRanks
};

// One rank's race.
class Race {
 public:
  Race(Mpi& mpi, const RankOptions& options) : mpi_(mpi), options_(options), rank_(mpi.rank()) {
    inbox_bytes_ = (ingot::inbox_bytes(*value_of<TransportKind>(options.transport), kRanks) + kPageBytes - 1) /
                   kPageBytes * kPageBytes;
    const auto shares = allocate();
    std::vector<std::span<std::byte>> inboxes, more_inboxes, lines;
    for (std::byte* share : shares) {
      inboxes.push_back({share, inbox_bytes_});
      more_inboxes.push_back({share + inbox_bytes_, inbox_bytes_});
      lines.push_back({share + 2 * inbox_bytes_, kLinesBytes});
    }
    const int rank = rank_;
    copies_.emplace(std::span(shares[0] + 2 * inbox_bytes_ + kLinesBytes, kPageBytes), endpoint(rank));
    ours_ = std::make_unique<OurRank>(options.transport, inboxes, rank, OneCopy());
    copying_ = std::make_unique<OurRank>(options.transport, more_inboxes, rank,
                                         OneCopy{&*copies_, options.one_copy_bytes});
    const HostMemory memory(endpoint(rank), lines);
    lines_.emplace(memory, tree_from(0));
    const std::uint32_t first = tree_barrier_lines(1);
    on_lines_.emplace_back(memory, tree_from(0), kRingLines, first);
    on_lines_.emplace_back(memory, tree_from(1), kRingLines, first + tree_collectives_lines(1, kRingLines));
  }

  absl::Status run(absl::FunctionRef<void(const std::vector<RankSeries>&)> report) {
    report_series("barrier", 0, barriers(), report);
    for (const std::size_t bytes : options_.bytes) {
      if (absl::Status status = check(bytes); !status.ok()) return status;
      report_series("broadcast", bytes, broadcasts(bytes), report);
      report_series("reduction", bytes, reductions(bytes), report);
      report_series("allreduce", bytes, allreduces(bytes), report);
    }
    return absl::OkStatus();
  }

 private:
  static constexpr std::size_t kPageBytes = 4096;
  static_assert(cross_memory_bytes(kRanks) <= kPageBytes);
  static constexpr std::uint32_t kRingLines = 512;
  static constexpr std::size_t kLinesBytes =
      (HostMemory::kLineBytes * (tree_barrier_lines(1) + 2 * tree_collectives_lines(1, kRingLines)) + kPageBytes - 1) /
      kPageBytes * kPageBytes;

  // Zero-filled memory of both ranks, as mapped here.
  std::array<std::byte*, kRanks> allocate() {
    std::array<std::byte*, kRanks> shares{};
    const auto unaligned = mpi_.share(2 * inbox_bytes_ + kLinesBytes + 2 * kPageBytes);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      // Rounded up to a page, which is the same place in both mappings, since these begin at a page boundary.
      const std::uintptr_t over = reinterpret_cast<std::uintptr_t>(unaligned[i]) % kPageBytes;
      shares[i] = unaligned[i] + (over == 0 ? 0 : kPageBytes - over);
    }
    return shares;
  }

  std::span<std::byte> bytes_of(std::vector<double>& values, std::size_t bytes) {
    return std::as_writable_bytes(std::span(values)).first(bytes);
  }
  static std::vector<double> values_for(std::size_t bytes) { return std::vector<double>((bytes + 7) / 8, 1.0); }

  std::vector<Contender> barriers() {
    auto schedule = std::make_shared<Schedule>(built(make_barrier(ours_->seat(0))));
    return {{mpi_name(), [this](int) { mpi_.barrier(); }},
            {"schedule", [this, schedule](int) { ours_->run(*schedule); }},
            {"tree_lines", [this](int) { lines_->wait(Spin()); }}};
  }

  // Ingot's contenders: a schedule for each root, on data of its own. `make` builds it of seat, data and chunk size.
  template <typename Make>
  Contender scheduled(std::size_t bytes, Make make) {
    return scheduled("schedule", *ours_, bytes, kLineChunkBytes, make);
  }
  template <typename Make>
  Contender copied(std::size_t bytes, Make make) {
    return scheduled("one_copy", *copying_, bytes, options_.chunk_bytes, make);
  }
  template <typename Make>
  Contender scheduled(const std::string& name, OurRank& rank, std::size_t bytes, std::size_t chunk_bytes, Make make) {
    struct State {
      std::vector<double> values;
      std::vector<Schedule> by_root;
    };
    auto state = std::make_shared<State>();
    state->values = values_for(bytes);
    for (int root = 0; root < kRanks; ++root) {
      state->by_root.push_back(built(make(rank.seat(root), bytes_of(state->values, bytes), chunk_bytes)));
    }
    return {name, [&rank, state](int i) { rank.run(state->by_root[static_cast<std::size_t>(i % kRanks)]); }};
  }

  // Ingot's contender without an engine, over lines: `run` does it on the collectives of a root.
  template <typename Run>
  Contender on_lines(std::size_t bytes, Run run) {
    auto values = std::make_shared<std::vector<double>>(values_for(bytes));
    return {"tree_lines", [this, values, bytes, run](int i) {
              run(on_lines_[static_cast<std::size_t>(i % kRanks)], bytes_of(*values, bytes));
            }};
  }

  std::vector<Contender> broadcasts(std::size_t bytes) {
    auto values = std::make_shared<std::vector<double>>(values_for(bytes));
    const auto make = [](const TreeSeat& seat, std::span<std::byte> data, std::size_t chunk_bytes) {
      return make_broadcast(seat, data, chunk_bytes);
    };
    return {{mpi_name(), [this, values, bytes](int i) { mpi_.broadcast(bytes_of(*values, bytes), i % kRanks); }},
            scheduled(bytes, make),
            copied(bytes, make),
            on_lines(bytes, [](auto& lines, std::span<std::byte> data) { lines.broadcast(data, Spin()); })};
  }

  std::vector<Contender> reductions(std::size_t bytes) {
    auto values = std::make_shared<std::vector<double>>(values_for(bytes));
    const auto make = [](const TreeSeat& seat, std::span<std::byte> data, std::size_t chunk_bytes) {
      return make_reduction(seat, reducer<double>(ReduceOperation::kSum), data, chunk_bytes);
    };
    auto scratch = std::make_shared<std::vector<double>>(values_for(bytes));
    return {{mpi_name(), [this, values, scratch](int i) { mpi_.reduce(*values, *scratch, i % kRanks); }},
            scheduled(bytes, make),
            copied(bytes, make),
            on_lines(bytes, [](auto& lines, std::span<std::byte> data) { lines.reduce(data, add_doubles, Spin()); })};
  }

  std::vector<Contender> allreduces(std::size_t bytes) {
    auto values = std::make_shared<std::vector<double>>(values_for(bytes));
    const auto make = [](const TreeSeat& seat, std::span<std::byte> data, std::size_t chunk_bytes) {
      return make_allreduce(seat, reducer<double>(ReduceOperation::kSum), data, chunk_bytes);
    };
    return {
        {mpi_name(), [this, values](int) { mpi_.allreduce(*values); }},
        scheduled(bytes, make),
        copied(bytes, make),
        on_lines(bytes, [](auto& lines, std::span<std::byte> data) { lines.allreduce(data, add_doubles, Spin()); })};
  }

  // Checks the results of Ingot's contenders before any measurement.
  absl::Status check(std::size_t bytes) {
    std::vector<double> values((bytes + 7) / 8);
    for (OurRank* rank : {&*ours_, &*copying_}) {
      std::fill(values.begin(), values.end(), rank_ == 1 ? 2.5 : 0);
      Schedule broadcast = built(make_broadcast(rank->seat(1), bytes_of(values, bytes)));
      rank->run(broadcast);
      if (values.front() != 2.5 || values.back() != 2.5) {
        return absl::InternalError("a broadcast brought something else");
      }
      const Reducer add = reducer<double>(ReduceOperation::kSum);
      Schedule sum = built(make_allreduce(rank->seat(0), add, bytes_of(values, bytes)));
      rank->run(sum);
      rank->drain();
      if (values.front() != 5 || values.back() != 5) return wrong_sum();
    }
    std::fill(values.begin(), values.end(), rank_ == 1 ? 2.5 : 0);
    on_lines_[1].broadcast(bytes_of(values, bytes), Spin());
    on_lines_[0].allreduce(bytes_of(values, bytes), add_doubles, Spin());
    return values.front() == 5 && values.back() == 5 ? absl::OkStatus() : wrong_sum();
  }
  static absl::Status wrong_sum() { return absl::InternalError("an allreduce summed up something else"); }

  double time_ns(const Contender& contender, int count) {
    mpi_.barrier();
    const std::uint64_t start = now_ns();
    for (int i = 0; i < count; ++i) contender.run(i);
    ours_->drain();
    copying_->drain();
    return static_cast<double>(now_ns() - start) / count;
  }

  // Chooses the count for which a repetition of the first contender takes sample_us; rank 0 decides.
  int calibrate(const Contender& contender) {
    int count = 64;
    time_ns(contender, count);
    const double ns = time_ns(contender, count);
    count = std::clamp(static_cast<int>(1e3 * options_.sample_us / ns), 4, 4096) / kRanks * kRanks;
    mpi_.broadcast(std::as_writable_bytes(std::span(&count, 1)), 0);
    return count;
  }

  void report_series(const std::string& operation, std::size_t bytes, const std::vector<Contender>& contenders,
                     absl::FunctionRef<void(const std::vector<RankSeries>&)> report) {
    const int count = calibrate(contenders[0]);
    std::vector<RankSeries> series;
    for (const Contender& each : contenders) {
      series.push_back({operation, bytes, each.name, {}});
      time_ns(each, count);  // warm-up
    }
    for (int i = 0; i < options_.repetitions; ++i) {
      for (std::size_t c = 0; c < contenders.size(); ++c) series[c].ns.push_back(time_ns(contenders[c], count));
    }
    if (rank_ == 0) report(series);
  }

  std::string mpi_name() const { return options_.mpi == MpiKind::kOpenMpi ? "open_mpi" : "mpich"; }

  Mpi& mpi_;
  const RankOptions& options_;
  const int rank_;
  std::size_t inbox_bytes_ = 0;
  std::optional<CrossMemory> copies_;
  std::unique_ptr<OurRank> ours_;     // through lines
  std::unique_ptr<OurRank> copying_;  // with copies_
  std::optional<TreeBarrier<HostMemory>> lines_;
  std::vector<TreeCollectives<HostMemory>> on_lines_;  // by root
};

}  // namespace

absl::Status race_as_rank(const RankOptions& options,
                          absl::FunctionRef<void(const std::vector<RankSeries>&)> report) {
  auto loaded = load_mpi(options.mpi);
  if (!loaded.ok()) return loaded.status();
  Mpi& mpi = **loaded;
  mpi.init();
  absl::Status status = absl::FailedPreconditionError(absl::StrCat("--as-rank needs two ranks, not ", mpi.size()));
  if (mpi.size() == kRanks) status = Race(mpi, options).run(report);
  mpi.finalize();
  return status;
}

}  // namespace ingot::bench
