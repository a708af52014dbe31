#include "services/ingotd/flags.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/config/daemon_settings.h"
#include "services/config/scc_settings.h"
#include "services/ingotd/setting_flags.h"

namespace ingot::inline services_ingotd {

namespace {

constexpr const char* kDescription =
    "ingotd keeps key-value state replicated across the cores of this machine and serves it by the etcd v3 API.\n"
    "State lives in memory: it survives the death of processes, not of all of them, nor loss of power.\n"
    "Whatever of it dies is started again. If this process itself dies, start it again with the same flags: it "
    "attaches.\n";

constexpr const char* kExamples =
    "Examples:\n"
    "  ingotd                                      three replicas, 1Paxos over NVP, 127.0.0.1:2379\n"
    "  ingotd --replicas=5 --listen=127.0.0.1:3379 --metrics-listen=127.0.0.1:3464\n"
    "  ingotd --agreement=2pc --transport=srbp --isolation=thread\n"
    "  ingotd --restore=backup.snap                the state of an `ingotctl snapshot save`\n"
    "  ingotd --backend=scc --scc-cores=0,12,24 --scc-record=run.rec   on a simulated Intel SCC\n"
    "  ingotd --backend=scc --scc-replay=run.rec                       the same run again\n"
    "Then:\n"
    "  etcdctl --endpoints=127.0.0.1:2379 put flag on\n"
    "  ingotctl status\n"
    "A variable that is set counts as the flag with its value, an empty one, too; the flag wins.\n"
    "etcd's flags and variables (--listen-client-urls, ETCD_NAME, ...) are taken where they have a meaning here.\n"
    "Exit codes: 0 stopped by a signal after draining; 1 failed while running; 2 could not start as asked.";

bool given(const CLI::App& app, const char* flag) { return app.get_option(flag)->count() > 0; }

absl::Status check_no_scc_flags(const CLI::App& app, const SccConfig& scc) {
  absl::Status outcome;
  visit_settings(scc, [&](const auto& setting) {
    if (!outcome.ok() || !given(app, setting.flag)) return;
    outcome = absl::InvalidArgumentError(
        absl::StrCat(setting.flag, " is for the simulated chip; give --backend=scc, too"));
  });
  return outcome;
}

absl::Status check_no_host_flags(const CLI::App& app, const DaemonConfig& config) {
  absl::Status outcome;
  visit_settings(config, [&](const auto& setting) {
    if (!outcome.ok() || !setting.has(settings::kHostOnly) || !given(app, setting.flag)) return;
    if (absl::StartsWith(setting.flag, "--view")) {
      outcome = absl::InvalidArgumentError(absl::StrCat(
          setting.flag, ": the simulated chip has no memory that other processes could read; leave it out"));
      return;
    }
    outcome = absl::InvalidArgumentError(absl::StrCat(setting.flag,
                                                      " is for this machine's cores, not for the simulated chip's; "
                                                      "leave it out, or choose cores by --scc-cores"));
  });
  return outcome;
}

absl::Status check_restore_flags(const CLI::App& app, const DaemonConfig& config) {
  if (given(app, "--restore") && config.restore.empty()) {
    return absl::InvalidArgumentError("--restore names no file; give the path of a snapshot, or leave it out");
  }
  if (config.restore.empty() && (given(app, "--bump-revision") || given(app, "--mark-compacted"))) {
    return absl::InvalidArgumentError(
        "--bump-revision and --mark-compacted say how a snapshot is restored; give --restore=FILE, too");
  }
  if ((config.bump_revision > 0) != config.mark_compacted) {
    return absl::InvalidArgumentError(
        "--bump-revision=N and --mark-compacted go together: without the mark a watch from a revision that was skipped "
        "would wait without a word, and without a bump there is nothing to mark");
  }
  return absl::OkStatus();
}

}  // namespace

void add_flags(CLI::App& app, DaemonConfig& config, SccConfig& scc) {
  app.name("ingotd");
  app.description(kDescription);
  app.footer(kExamples);
  app.set_version_flag("--version", std::string("ingotd ") + kIngotVersion);
  add_settings(app, config);
  add_settings(app, scc, "Simulated Intel SCC (--backend=scc)");
  app.get_option("--scc-replay")->excludes(app.get_option("--scc-record"));
}

absl::Status settle_flags(const CLI::App& app, DaemonConfig& config, SccConfig& scc) {
  if (auto status = apply_empty_variables(app, config); !status.ok()) return status;
  if (auto status = apply_empty_variables(app, scc); !status.ok()) return status;
  if (config.backend != Backend::kScc) {
    auto status = check_no_scc_flags(app, scc);
    return status.ok() ? check_restore_flags(app, config) : status;
  }
  if (auto status = check_no_host_flags(app, config); !status.ok()) return status;
  if (!scc.cores.empty() && !given(app, "--replicas")) config.replicas = static_cast<int>(scc.cores.size());
  return absl::OkStatus();
}

}  // namespace ingot::services_ingotd
