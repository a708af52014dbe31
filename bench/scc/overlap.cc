// bench/scc_overlap: collectives that progress while all cores of the simulated SCC compute: by tests, by a helper
// thread, by interrupts.
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/scc/flags.h"
#include "bench/scc/overlap_run.h"
#include "core/enum_names.h"
#include "services/cli/table.h"

namespace {

using namespace ingot;
using namespace ingot::scc;

struct Flags {
  std::vector<std::string> operations{"broadcast", "reduction", "allreduce", "barrier"};
  std::vector<std::string> ways{"explicit", "thread", "polling-thread", "interrupt"};
  std::vector<std::int64_t> bytes{8, 1024, 8192, 65536, 1048576};
  std::vector<int> cores{32, 48};
  std::vector<std::int64_t> test_every{2'000, 8'000, 32'000, 128'000, 512'000};
  int children = 2;
  std::int64_t switch_cycles = kThreadSwitchCycles;
  int repetitions = 0;
  ChipFlags chip;
};

template <typename E>
absl::StatusOr<E> parse(const char* what, const std::string& name, const char* words) {
  if (const auto value = value_of<E>(name); value) return *value;
  return absl::InvalidArgumentError(absl::StrCat("there is no ", what, " \"", name, "\": ", words, " are possible"));
}

class Report {
 public:
  explicit Report(bool json) : json_(json) {}

  void add(const OverlapPoint& point, const OverlapResult& result) {
    const bool tests = point.how == Progress::kExplicit;
    const std::size_t bytes = point.operation == OverlapOperation::kBarrier ? 0 : point.bytes;
    if (json_) {
      nlohmann::ordered_json row{{"operation", name_of(point.operation)}, {"bytes", bytes},
                                 {"processes", point.cores}, {"how", name_of(point.how)},
                                 {"test_every_cycles", nullptr}, {"completion_us", result.completion_us},
                                 {"cpu_lost_percent", result.cpu_lost_percent},
                                 {"overlap_percent", result.overlap_percent}, {"alone_us", result.alone_us}};
      if (tests) row["test_every_cycles"] = point.test_every_cycles;
      std::cout << row.dump() << std::endl;
      return;
    }
    table_.add_row({std::string(name_of(point.operation)), absl::StrCat(bytes), absl::StrCat(point.cores),
                    tests ? absl::StrCat("test every ", point.test_every_cycles) : std::string(name_of(point.how)),
                    absl::StrFormat("%.1f", result.completion_us), absl::StrFormat("%.1f", result.cpu_lost_percent),
                    absl::StrFormat("%.1f", result.overlap_percent), absl::StrFormat("%.1f", result.alone_us)});
  }
  void print() {
    if (!json_) table_.print(std::cout);
  }

 private:
  static constexpr auto kRight = Table::Align::kRight;
  const bool json_;
  Table table_{{{"operation"}, {"bytes", kRight}, {"cores", kRight}, {"how"}, {"completion us", kRight},
                {"cpu lost %", kRight}, {"overlap %", kRight}, {"alone us", kRight}}};
};

// All ways and frequencies of one operation and size.
absl::Status run_ways(const Flags& flags, const ChipOptions& options, OverlapPoint point, Report& report) {
  for (const std::string& name : flags.ways) {
    const auto how = parse<Progress>("way to progress", name, "explicit, thread, polling-thread and interrupt");
    if (!how.ok()) return how.status();
    point.how = *how;
    const std::vector<std::int64_t> once{0};
    for (const std::int64_t every : point.how == Progress::kExplicit ? flags.test_every : once) {
      point.test_every_cycles = static_cast<std::uint64_t>(every);
      const auto result = measure_overlap(options, point);
      if (!result.ok()) return result.status();
      report.add(point, *result);
    }
  }
  return absl::OkStatus();
}

absl::Status run(const Flags& flags) {
  const auto options = flags.chip.options();
  if (!options.ok()) return options.status();
  Report report(flags.chip.json());
  OverlapPoint point{.children = flags.children,
                     .switch_cycles = static_cast<std::uint64_t>(flags.switch_cycles),
                     .repetitions = flags.repetitions};
  for (const std::string& name : flags.operations) {
    const auto operation =
        parse<OverlapOperation>("operation", name, "broadcast, reduction, allreduce and barrier");
    if (!operation.ok()) return operation.status();
    point.operation = *operation;
    const std::vector<std::int64_t> once{8};
    for (const std::int64_t bytes : point.operation == OverlapOperation::kBarrier ? once : flags.bytes) {
      point.bytes = static_cast<std::size_t>(bytes);
      for (const int cores : flags.cores) {
        point.cores = cores;
        if (absl::Status status = run_ways(flags, *options, point, report); !status.ok()) return status;
      }
    }
  }
  report.print();
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Collectives that progress while all cores of the simulated SCC compute, in virtual time.");
  Flags flags;
  app.add_option("--operation", flags.operations, "broadcast, reduction, allreduce, barrier")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--how", flags.ways,
                 "who makes them progress: explicit (tests), thread (sleeps until it is interrupted), polling-thread "
                 "(shares the core in slices), interrupt (a handler)")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--bytes", flags.bytes, "payload, a multiple of 8; barriers have none")
      ->delimiter(',')
      ->check(whole_number(8, kOverlapBytesMax))
      ->capture_default_str();
  app.add_option("--cores", flags.cores, "how many take part, 2 to 48: core 0 and so on")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--test-every", flags.test_every, "core cycles of computation between two tests, for --how=explicit")
      ->delimiter(',')
      ->check(whole_number(100, 1'000'000'000))
      ->capture_default_str();
  app.add_option("--children", flags.children, "of an inner core of the tree")->capture_default_str();
  app.add_option("--switch-cycles", flags.switch_cycles, "of a core, for a switch between two threads")
      ->check(whole_number(0, 10'000'000))
      ->capture_default_str();
  app.add_option("--repetitions", flags.repetitions, "to take the mean of; 0: by size")
      ->check(whole_number(0, 10'000))
      ->capture_default_str();
  flags.chip.add_to(app);
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
