#include "transport/scc/broadcast/planned_trees.h"

#include <algorithm>
#include <bit>

#include "core/check.h"
#include "core/planning/tree_planner/planner.h"
#include "transport/scc/broadcast/get_tree.h"

namespace ingot::scc::inline transport_scc_broadcast {
namespace {

std::size_t kind(std::size_t n, std::size_t most) { return n >= most ? most : std::min(std::bit_ceil(n), most); }
constexpr std::size_t kChunksMax = 1024;

// From the start of an access to its end, without queueing.
double round_trip_ps(const Path& path, int from, int to) {
  const auto n = static_cast<std::size_t>(routers(tile_of(from), tile_of(to)));
  return static_cast<double>(path.request[n] + path.reply[n]);
}

class GetCosts {
 public:
  GetCosts(const Costs& costs, std::size_t lines) : costs_(costs), lines_(static_cast<double>(lines)) {}

  double flag(int at, int from) const {
    return ps(costs_.put_mpb_call) + ps(costs_.copy_words[1]) + round_trip_ps(costs_.mpb_write, from, at);
  }
  double push(int at, int from) const { return flag(at, from) - ps(costs_.copy_words[1]) + ps(costs_.copy_words[8]); }
  double poll_line(int core) const { return poll(core) - ps(costs_.copy_words[1]) + ps(costs_.copy_words[8]); }
  double poll(int core) const {
    return ps(costs_.invalidate) + ps(costs_.copy_words[1]) + round_trip_ps(costs_.mpb_read, core, core);
  }
  double get(int from, int core) const {
    const double line = 2 * ps(costs_.copy_words[8]) + round_trip_ps(costs_.mpb_read, core, from) +
                        round_trip_ps(costs_.mpb_write, core, core);
    return ps(costs_.get_mpb_call) + ps(costs_.invalidate) + lines_ * line;
  }
  double to_private(int core) const {
    const double line = 2 * ps(costs_.copy_words[8]) + round_trip_ps(costs_.mpb_read, core, core) + ps(costs_.l2) +
                        round_trip_ps(costs_.memory, core, 2 * controller_tile(controller_of(core)));
    return ps(costs_.get_memory_call) + ps(costs_.invalidate) + lines_ * (line + ps(costs_.write_back));
  }
  double cycles(double in_ps) const { return in_ps * static_cast<double>(costs_.core_mhz) * 1e-6; }

 private:
  static double ps(Picoseconds value) { return static_cast<double>(value); }
  const Costs& costs_;
  const double lines_;
};

Tree plan(const char* planner, const ::ingot::CostModel& model, int root, Objective objective) {
  const absl::StatusOr<Tree> tree = find_planner(planner)->plan(model, {.objective = objective, .root = root});
  INGOT_CHECK(tree.ok(), "planners accept every model of a chip");
  return *tree;
}

}  // namespace

::ingot::CostModel model_of_gets(const Group& group, const ChipOptions& options, std::size_t lines) {
  const Costs costs(options);
  const GetCosts gets(costs, lines);
  ::ingot::CostModel model;
  model.name = "scc";
  model.frequency_hz = static_cast<double>(costs.core_mhz) * 1e6;
  model.send = CycleMatrix(group.size());
  model.receive = CycleMatrix(group.size());
  for (int from = 0; from < group.size(); ++from) {
    const int sender = group.core(from);
    model.cores.push_back({CoreId(static_cast<std::uint16_t>(sender)), controller_of(sender), 0});
    for (int to = 0; to < group.size(); ++to) {
      const int receiver = group.core(to);
      if (from == to) continue;
      const double get = gets.poll(receiver) + gets.get(sender, receiver) + gets.flag(sender, receiver);
      model.send.set(from, to, gets.cycles(lines == 0 ? gets.push(receiver, sender) : gets.flag(receiver, sender)));
      model.receive.set(from, to, gets.cycles(lines == 0 ? gets.poll_line(receiver) : get));
    }
  }
  return model;
}

double private_copy_cycles(const ChipOptions& options, std::size_t lines) {
  const Costs costs(options);
  const GetCosts gets(costs, lines);
  return gets.cycles(gets.to_private(0));
}

PlannedTrees::Kind PlannedTrees::kind_of(std::size_t bytes) {
  if (bytes <= kPushBytes) return {0, 1};
  const std::size_t lines = std::max<std::size_t>(1, lines_of(std::min(bytes, kGetChunkBytes)));
  const std::size_t chunks = std::max<std::size_t>(1, (bytes + kGetChunkBytes - 1) / kGetChunkBytes);
  return {kind(lines, kGetChunkLines), kind(chunks, kChunksMax)};
}

const Tree& PlannedTrees::smelt(int source_rank, Kind kind) {
  kind.chunks = 1;
  const auto [found, inserted] = trees_.try_emplace({false, source_rank, kind});
  if (inserted) {
    found->second = plan("smelt", model_of_gets(group_, options_, kind.lines), source_rank, Objective::kBroadcast);
  }
  return found->second;
}

const Tree& PlannedTrees::ingot(int source_rank, Kind kind) {
  const auto [found, inserted] = trees_.try_emplace({true, source_rank, kind});
  if (!inserted) return found->second;
  const ::ingot::CostModel model = model_of_gets(group_, options_, kind.lines);
  const double beside = private_copy_cycles(options_, kind.lines);
  double best = 0;
  for (const Objective objective : {Objective::kBroadcast, Objective::kThroughput}) {
    Tree tree = plan("ingot", model, source_rank, objective);
    const Prediction prediction = predict(model, tree);
    const double total =
        prediction.broadcast + static_cast<double>(kind.chunks - 1) * (prediction.bottleneck + beside);
    if (best != 0 && total >= best) continue;
    best = total;
    found->second = std::move(tree);
  }
  return found->second;
}

}  // namespace ingot::scc::transport_scc_broadcast
