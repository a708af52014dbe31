// bench/collectives: the tree barrier compared with pthread's and GNU OpenMP's; broadcast, reduction, allreduce and
// barrier compared with Open MPI's and MPICH's over shared memory; all in turns in one run. Flags and output only.
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bench/barrier_race.h"
#include "bench/mpi.h"
#include "bench/rank_race.h"
#include "bench/statistics.h"
#include "services/cli/cli.h"
#include "services/cli/table.h"

namespace {

using namespace ingot;
using namespace ingot::bench;

struct Flags {
  BarrierOptions barrier;
  std::vector<int> threads = {2};
  RankOptions ranks;
  bool as_rank = false;
  bool skip_threads = false, skip_mpi = false;
  std::string mpi = "open_mpi";
  std::string output = "table";
};

void report_barriers(const Flags& flags, const BarrierOptions& options, const std::vector<BarrierSeries>& all,
                     Table& table) {
  for (const BarrierSeries& series : all) {
    const Quantiles ns = quantiles_of(series.ns);
    const Quantiles ratio = quantiles_of(ratios(all[0].ns, series.ns));
    table.add_row({series.kind, absl::StrCat(options.threads), cell(ns, 0), cell(ratio, 2)});
    if (flags.output != "json") continue;
    nlohmann::ordered_json object = {{"benchmark", "barriers"},
                                     {"barrier", series.kind},
                                     {"threads", options.threads},
                                     {"repetitions", options.repetitions}};
    add(object, "ns", ns);
    add(object, "tree_ratio_to_this", ratio);
    std::cout << object.dump() << std::endl;
  }
}

absl::Status race_threads(const Flags& flags) {
  const auto right = Table::Align::kRight;
  Table table({{"barrier"}, {"threads", right}, {"ns", right}, {"tree to this", right}});
  for (const int threads : flags.threads) {
    BarrierOptions options = flags.barrier;
    options.threads = threads;
    std::fprintf(stderr, "barriers of %d threads\n", threads);
    const auto series = race_barriers(options);
    if (!series.ok()) return series.status();
    report_barriers(flags, options, *series, table);
  }
  if (flags.output == "table") {
    std::cout << "Barriers between threads, medians (10th to 90th percentile).\n\n";
    table.print(std::cout);
  }
  return absl::OkStatus();
}

// Called in rank 0. Always prints JSON, which the process that started mpirun passes on or turns into a table.
void print_ranks(const RankOptions& options, const std::vector<RankSeries>& all) {
  for (const RankSeries& series : all) {
    nlohmann::ordered_json object = {{"benchmark", "collectives"},     {"operation", series.operation},
                                     {"bytes", series.bytes},          {"contender", series.contender},
                                     {"transport", options.transport}, {"repetitions", options.repetitions}};
    add(object, "ns", quantiles_of(series.ns));
    add(object, "ratio_to_mpi", quantiles_of(ratios(series.ns, all[0].ns)));
    std::cout << object.dump() << std::endl;
  }
}

const char* name_of(MpiKind kind) { return kind == MpiKind::kOpenMpi ? "open_mpi" : "mpich"; }

Quantiles read(const nlohmann::json& object, const std::string& name) {
  return {object.at(name + "_p10"), object.at(name + "_median"), object.at(name + "_p90")};
}

std::string mpirun_command(const Flags& flags) {
  char self[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self - 1);
  const std::string path(self, static_cast<std::size_t>(length < 0 ? 0 : length));
  const bool open = flags.ranks.mpi == MpiKind::kOpenMpi;
  const std::string launcher =
      open ? absl::StrCat("mpirun.openmpi -n 2 --bind-to core --map-by core --mca pml ob1 --mca btl self,vader",
                          ::geteuid() == 0 ? " --allow-run-as-root" : "")
           : "mpirun.mpich -n 2 -bind-to core";
  return absl::StrCat(launcher, " '", path, "' --as-rank --mpi=", name_of(flags.ranks.mpi),
                      " --repetitions=", flags.ranks.repetitions, " --bytes=", absl::StrJoin(flags.ranks.bytes, ","),
                      " --one-copy-bytes=", flags.ranks.one_copy_bytes, " --chunk-bytes=", flags.ranks.chunk_bytes,
                      " --transport=", flags.ranks.transport);
}

absl::Status race_ranks(const Flags& flags) {
  const bool open = flags.ranks.mpi == MpiKind::kOpenMpi;
  const char* const launcher = open ? "mpirun.openmpi" : "mpirun.mpich";
  if (std::system(absl::StrCat("command -v ", launcher, " >/dev/null 2>&1").c_str()) != 0) {
    std::fprintf(stderr, "collectives: skipping %s: there is no %s; ./deploy/install.sh --benches installs it\n",
                 name_of(flags.ranks.mpi), launcher);
    return absl::OkStatus();
  }
  if (const auto mpi = load_mpi(flags.ranks.mpi); !mpi.ok()) {
    std::fprintf(stderr, "collectives: skipping it: %s\n", std::string(mpi.status().message()).c_str());
    return absl::OkStatus();
  }
  std::fprintf(stderr, "collectives of two ranks under %s\n", launcher);
  const auto right = Table::Align::kRight;
  Table table({{"operation"}, {"bytes", right}, {"contender"}, {"ns", right}, {"to mpi", right}});
  FILE* const pipe = ::popen(mpirun_command(flags).c_str(), "r");
  if (pipe == nullptr) return absl::InternalError("mpirun cannot be started");
  char line[4096];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    if (flags.output == "json") std::cout << line << std::flush;
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (object.is_discarded()) continue;  // a message of the MPI's own
    table.add_row({object.at("operation"), absl::StrCat(object.at("bytes").get<std::size_t>()), object.at("contender"),
                   cell(read(object, "ns"), 0), cell(read(object, "ratio_to_mpi"), 2)});
  }
  if (::pclose(pipe) != 0) return absl::InternalError("mpirun failed; what it said is above");
  if (flags.output == "table") {
    std::cout << "\nCollectives of two processes, medians (10th to 90th percentile).\n\n";
    table.print(std::cout);
  }
  return absl::OkStatus();
}

absl::Status run(Flags& flags) {
  if (flags.as_rank) {
    return race_as_rank(flags.ranks, [&](const std::vector<RankSeries>& all) { print_ranks(flags.ranks, all); });
  }
  if (!flags.skip_threads) {
    if (absl::Status status = race_threads(flags); !status.ok()) return status;
  }
  for (const MpiKind kind : {MpiKind::kOpenMpi, MpiKind::kMpich}) {
    flags.ranks.mpi = kind;
    if (flags.skip_mpi) break;
    if (absl::Status status = race_ranks(flags); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void add_flags(CLI::App& app, Flags& flags) {
  app.add_option("--threads", flags.threads, "of the barriers between threads, such as 2,8")
      ->delimiter(',')->check(whole_number(1, 256))->capture_default_str();
  app.add_option("--repetitions", flags.ranks.repetitions, "of everything, by turns")
      ->check(whole_number(1, 1'000'000))->capture_default_str();
  app.add_option("--barriers", flags.barrier.barriers, "between threads in one repetition")
      ->check(whole_number(1, 1'000'000))->capture_default_str();
  app.add_option("--bytes", flags.ranks.bytes, "sizes of collectives: multiples of 8")
      ->delimiter(',')->check(whole_number(8, 64 * 1024 * 1024))->capture_default_str();
  app.add_option("--one-copy-bytes", flags.ranks.one_copy_bytes, "payloads that are copied from memory to memory")
      ->check(whole_number(1, 64 * 1024 * 1024))->capture_default_str();
  app.add_option("--chunk-bytes", flags.ranks.chunk_bytes, "of these")
      ->check(whole_number(1, 4'000'000))->capture_default_str();
  app.add_option("--transport", flags.ranks.transport, "of our collectives")
      ->check(one_of({"nvp", "srbp"}))->capture_default_str();
  app.add_flag("--skip-threads", flags.skip_threads, "no barriers between threads");
  app.add_flag("--skip-mpi", flags.skip_mpi, "nothing beside Open MPI and MPICH");
  app.add_option("--mpi", flags.mpi, "with --as-rank: whose rank")->check(one_of({"open_mpi", "mpich"}));
  app.add_flag("--as-rank", flags.as_rank, "be one of the two processes that mpirun starts");
  app.add_option("-o,--output", flags.output, "table or json (one object per line)")
      ->check(one_of({"table", "json"}))->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Barriers and collectives, beside those of pthread, GNU OpenMP, Open MPI and MPICH in the same run.",
               "collectives");
  Flags flags;
  add_flags(app, flags);
  return run_cli(app, argc, argv, [&] {
    for (const std::size_t bytes : flags.ranks.bytes) {
      if (bytes % 8 != 0) return absl::InvalidArgumentError("--bytes takes multiples of 8, the size of a double");
    }
    flags.barrier.repetitions = flags.ranks.repetitions;
    flags.ranks.mpi = flags.mpi == "mpich" ? MpiKind::kMpich : MpiKind::kOpenMpi;
    return run(flags);
  });
}
