#include "services/ingotd/flags.h"

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/limits.h"
#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/cli/endpoint.h"

namespace ingot {

namespace {

constexpr const char* kDescription =
    "ingotd keeps key-value state replicated across the cores of this machine and serves it by the etcd v3 API.\n"
    "State lives in memory: it survives the death of processes, not of all of them, nor loss of power.\n"
    "Whatever of it dies is started again. If this process itself dies, start it again with the same flags: it attaches.\n";

constexpr const char* kExamples =
    "Examples:\n"
    "  ingotd                                      three replicas, 1Paxos over NVP, 127.0.0.1:2379\n"
    "  ingotd --replicas=5 --listen=127.0.0.1:3379 --metrics-listen=127.0.0.1:3464\n"
    "  ingotd --agreement=2pc --transport=srbp --isolation=thread\n"
    "  ingotd --backend=scc --scc-cores=0,12,24 --scc-record=run.rec   on a simulated Intel SCC\n"
    "  ingotd --backend=scc --scc-replay=run.rec                       the same run again\n"
    "Then:\n"
    "  etcdctl --endpoints=127.0.0.1:2379 put flag on\n"
    "  ingotctl status\n"
    "Exit codes: 0 stopped by a signal after draining; 1 failed while running; 2 could not start as asked.";

void add_group_flags(CLI::App& app, DaemonConfig& config) {
  app.add_option("--replicas", config.replicas, absl::StrCat("copies of the state, 1 to ", kReplicasMax))
      ->envname("INGOT_REPLICAS")
      ->capture_default_str();
  app.add_option("--voters", config.voters,
                 absl::StrCat("replicas that may lead, accept and vote, 1 to ", kVotersMax, "; 0: as many as replicas, at most ",
                              kVotersDefault))
      ->envname("INGOT_VOTERS")
      ->capture_default_str();
  app.add_option("--agreement", config.agreement, "how replicas agree on writes: 1paxos, multipaxos or 2pc")
      ->envname("INGOT_AGREEMENT")
      ->check(one_of({"1paxos", "multipaxos", "2pc"}))
      ->capture_default_str();
  app.add_flag("--fence", config.fence,
               "1Paxos: kill a stopped acceptor when only its end lets the group go on, instead of waiting for it")
      ->envname("INGOT_FENCE");
}

void add_machine_flags(CLI::App& app, DaemonConfig& config) {
  app.add_option("--transport", config.transport, "how messages travel between cores: nvp or srbp")
      ->envname("INGOT_TRANSPORT")
      ->check(one_of({"nvp", "srbp"}))
      ->capture_default_str();
  app.add_option("--backend", config.backend, "the machine below: shm (this one's shared memory) or scc (a simulated Intel SCC)")
      ->envname("INGOT_BACKEND")
      ->check(one_of({"shm", "scc"}))
      ->capture_default_str();
  app.add_option("--isolation", config.isolation, "replicas as processes or as threads of one: process or thread")
      ->envname("INGOT_ISOLATION")
      ->check(one_of({"process", "thread"}))
      ->capture_default_str();
}

void add_tree_flags(CLI::App& app, DaemonConfig& config) {
  app.add_option("--tree", config.tree,
                 "shape of the trees that broadcasts travel on: best, star, two-level, or a planner of `ingotctl plan`")
      ->envname("INGOT_TREE")
      ->capture_default_str();
  app.add_option("--machine", config.machine,
                 "machine file that trees are planned from; default: derived from this machine's topology")
      ->envname("INGOT_MACHINE");
}

void add_service_flags(CLI::App& app, DaemonConfig& config) {
  app.add_option("--listen", config.listen, "HOST:PORT of the gRPC API; port 0 takes a free one")
      ->envname("INGOT_LISTEN")
      ->check(host_port())
      ->capture_default_str();
  app.add_option("--metrics-listen", config.metrics_listen, "HOST:PORT of the Prometheus metrics; empty: none")
      ->envname("INGOT_METRICS_LISTEN")
      ->capture_default_str();
  app.add_option("--name", config.name, "name of this instance; default: ingot-PORT")->envname("INGOT_NAME");
  app.add_option("--etcd-version", config.etcd_version, "the etcd version that clients are told")
      ->envname("INGOT_ETCD_VERSION")
      ->capture_default_str();
}

// As add_duration, into milliseconds.
void add_supervision_flags(CLI::App& app, DaemonConfig& config) {
  const auto store = [&config](const std::string& text) {
    const auto grace = parse_duration(text);
    if (grace.ok()) config.orphan_grace_ms = std::chrono::ceil<std::chrono::milliseconds>(*grace).count();
    return grace.ok();
  };
  const auto check = [](const std::string& text) { return std::string(parse_duration(text).status().message()); };
  app.add_option_function<std::string>("--orphan-grace", store,
                                       "how long everything goes on without this process, until another ingotd of the "
                                       "same name and flags attaches; 0: not at all")
      ->envname("INGOT_ORPHAN_GRACE")
      ->check(CLI::Validator(check, ""))
      ->type_name("DURATION")
      ->default_str(format_duration(std::chrono::milliseconds(config.orphan_grace_ms)));
}

}  // namespace

void add_flags(CLI::App& app, DaemonConfig& config) {
  app.name("ingotd");
  app.description(kDescription);
  app.footer(kExamples);
  app.set_version_flag("--version", std::string("ingotd ") + kIngotVersion);
  config.voters = 0;
  add_group_flags(app, config);
  add_machine_flags(app, config);
  add_tree_flags(app, config);
  add_service_flags(app, config);
  add_supervision_flags(app, config);
}

}  // namespace ingot
