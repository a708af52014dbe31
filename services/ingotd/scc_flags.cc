#include "services/ingotd/scc_flags.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/cli/cli.h"
#include "transport/scc/options.h"

namespace ingot {
namespace {

constexpr const char* kGroup = "Simulated Intel SCC (--backend=scc)";

// "" or what is wrong, as CLI11 wants it.
CLI::Validator clocks() {
  return CLI::Validator(
      [](const std::string& given) {
        scc::Clocks parsed;
        return std::string(scc::parse_clocks(given, parsed).message());
      },
      "");
}

bool given(const CLI::App& app, const char* flag) { return app.get_option(flag)->count() > 0; }

absl::Status check_backend(const CLI::App& app, const DaemonConfig& config) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (config.backend != "scc" && absl::StartsWith(name, "--scc-") && option->count() > 0) {
      return absl::InvalidArgumentError(absl::StrCat(name, " is for the simulated chip; give --backend=scc, too"));
    }
  }
  if (config.backend != "scc") return absl::OkStatus();
  for (const char* flag : {"--isolation", "--machine"}) {
    if (given(app, flag)) {
      return absl::InvalidArgumentError(absl::StrCat(flag,
                                                     " is for this machine's cores, not for the simulated chip's; "
                                                     "leave it out, or choose cores by --scc-cores"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void add_scc_flags(CLI::App& app, SccConfig& scc) {
  app.add_option("--scc-cores", scc.cores,
                 "core of each replica, 0 to 47, comma-separated; default: spread over the mesh")
      ->envname("INGOT_SCC_CORES")
      ->delimiter(',')
      ->type_name("CORE,...")
      ->group(kGroup);
  app.add_option("--scc-gateway", scc.gateway,
                 "core where requests enter and leave; default: a free one amid the replicas")
      ->envname("INGOT_SCC_GATEWAY")
      ->check(whole_number(0, 47).description(""))
      ->type_name("CORE")
      ->group(kGroup);
  app.add_option("--scc-clocks", scc.clocks, "MHz of cores, mesh and memory")
      ->envname("INGOT_SCC_CLOCKS")
      ->check(clocks())
      ->capture_default_str()
      ->type_name("C/M/D")
      ->group(kGroup);
  app.add_option("--scc-cost-model", scc.cost_model, "how writes to message buffers are charged: logp or wgr")
      ->envname("INGOT_SCC_COST_MODEL")
      ->check(one_of({"logp", "wgr"}))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--scc-seed", scc.seed, "decides who goes first among cores at the same virtual time")
      ->envname("INGOT_SCC_SEED")
      ->capture_default_str()
      ->type_name("NUMBER")
      ->group(kGroup);
  app.add_option("--scc-cycles-per-message", scc.cycles_per_message,
                 "core cycles charged for each message that is handled; an assumption")
      ->envname("INGOT_SCC_CYCLES_PER_MESSAGE")
      ->check(whole_number(0, static_cast<std::int64_t>(kCyclesPerMessageMax)).description(""))
      ->capture_default_str()
      ->type_name("NUMBER")
      ->group(kGroup);
  CLI::Option* record =
      app.add_option("--scc-record", scc.record, "write every input with its virtual time to a new file");
  record->envname("INGOT_SCC_RECORD")->type_name("FILE")->group(kGroup);
  app.add_option("--scc-replay", scc.replay, "run a recording again, compare, print where it ended, and leave")
      ->type_name("FILE")
      ->excludes(record)
      ->group(kGroup);
}

absl::Status settle_scc_flags(const CLI::App& app, DaemonConfig& config, const SccConfig& scc) {
  if (auto status = check_backend(app, config); !status.ok()) return status;
  if (!scc.cores.empty() && !given(app, "--replicas")) config.replicas = static_cast<int>(scc.cores.size());
  return absl::OkStatus();
}

}  // namespace ingot
