// ingotd takes flags only. The same program runs as supervisor, replica, front end and publisher of the view; a first
// argument that starts with "@" names the role of a process that the supervisor started.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "services/cli/cli.h"
#include "services/cli/utf8.h"
#include "services/ingotd/etcd_flags.h"
#include "services/ingotd/flags.h"
#include "services/instance/instance.h"
#include "services/instance/resource_limits.h"
#include "services/launch/descriptor_table.h"
#include "services/launch/launch_spec.h"
#include "services/launch/standby_process.h"
#include "services/launch/tasks.h"
#include "services/log/log.h"
#include "services/replica_process/replica_process.h"
#include "services/scc/replay.h"
#include "services/scc/scc_daemon.h"
#include "services/serving/front_end_process.h"
#include "services/supervision/attach.h"
#include "services/supervision/supervisor.h"
#include "services/view/publisher/publisher_process.h"

namespace {

// Sets the name that ps, top and profilers show; at most 15 characters.
void name_process(const std::string& part) { ::prctl(PR_SET_NAME, ("ingotd-" + part).c_str()); }

// Refuses a word with "@" that was given by hand.
int refuse_role(const std::string& word, const std::string& why) {
  std::fprintf(stderr,
               "ingotd: %s: words with @ are roles of processes that ingotd starts itself (%s); to run an instance, "
               "start ingotd without it, as in ingotd --listen=127.0.0.1:2379 (see ingotd --help)\n",
               ingot::printable(word).c_str(), why.c_str());
  return ingot::kExitUsage;
}

// The name of a process of replicas in its log and in metrics.
std::string log_name(const ingot::LaunchSpec& spec) {
  return spec.replica < 0 ? "replicas" : "replica-" + std::to_string(spec.replica);
}

int run_child(const std::string& role, int launch_fd) {
  auto spec = ingot::read_launch_spec(ingot::Descriptor(launch_fd).get());
  if (!spec.ok()) return refuse_role(role, std::string(spec.status().message()));
  // Not before a standby process has its role: that puts descriptors under fixed numbers, which the log may hold.
  const bool front_end = role == "@front-end", view = role == "@view";
  ingot::start_log(front_end ? "front-end" : view ? "view" : log_name(*spec), spec->config.log_format,
                   spec->config.log_level);
  if (view) {
    name_process("view");
    ingot::explain_terminate("the view's publisher");
    return ingot::run_publisher_process(*std::move(spec));
  }
  if (front_end) {
    name_process("front");
    ingot::explain_terminate("the front end");
    return ingot::run_front_end_process(*std::move(spec));
  }
  ingot::explain_terminate("a replica's process");
  name_process(spec->replica < 0 ? "replicas" : "r" + std::to_string(spec->replica));
  return ingot::run_replica_process(*std::move(spec));
}

bool is_role(std::string_view word) {
  return word == "@replica" || word == "@replicas" || word == "@front-end" || word == "@view" || word == "@standby";
}

// Runs a process that the supervisor started. Arguments: the word that names its role, and a descriptor.
int run_process(int argc, char** argv) {
  if (argc != 3 || !is_role(argv[1])) return refuse_role(argv[1], "with a descriptor that names its instance");
  // The terminal's and the service manager's signals go to the whole group; the supervisor decides what they mean.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_IGN);
  const int fd = std::atoi(argv[2]);
  const bool standby = std::string_view(argv[1]) == "@standby";
  // Those that may have many connections, while they have one thread.
  if (standby || std::string_view(argv[1]) == "@front-end") ingot::grow_descriptor_table();
  if (!standby) return run_child(argv[1], fd);
  name_process("standby");
  if (!ingot::is_supervision_channel(fd)) return refuse_role(argv[1], "with a channel to its supervisor");
  const auto role = ingot::wait_for_role(ingot::Descriptor(fd), argv[1], argv[2]);
  // Ends without exit handlers: nothing has begun that needs an orderly end, and a leak checker's handler would hang,
  // since it stops the process with SIGSTOP and the SIGCONT at the supervisor's death continues it.
  if (!role) ::_exit(ingot::kExitOk);
  return run_child(role->word, role->launch_fd);
}

// The log begins here: what kept the instance from its start has been said on the command line.
absl::Status supervise(ingot::Instance& instance, absl::FunctionRef<absl::Status(ingot::Supervisor&)> run) {
  ingot::start_log("supervisor", instance.config().log_format, instance.config().log_level);
  const ingot::LostLinesShown lost_lines(instance.page().log_lines_lost);
  ingot::Supervisor supervisor(instance);
  return ingot::logged(run(supervisor));
}

absl::Status run_supervisor(const ingot::DaemonConfig& config) {
  ingot::raise_limits();
  auto attached = ingot::attach(config);
  if (!attached.ok()) return attached.status();
  if (attached->instance != nullptr) {
    return supervise(*attached->instance, [&](ingot::Supervisor& supervisor) {
      return supervisor.run_attached(std::move(attached->orphans), attached->orphan_ms);
    });
  }
  auto instance = ingot::Instance::create(config);
  if (!instance.ok()) return instance.status();
  return supervise(**instance, [](ingot::Supervisor& supervisor) { return supervisor.run(); });
}

absl::Status run_scc(const ingot::DaemonConfig& config, const ingot::SccConfig& scc) {
  ingot::raise_limits();
  return scc.replay.empty() ? ingot::run_scc_daemon(config, scc) : ingot::run_replay(scc.replay, config.log_format);
}

// Opens missing standard descriptors (0 to 2) on /dev/null, so that no segment gets one of their numbers.
void open_standard_descriptors() {
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR);
  if (fd > STDERR_FILENO) ::close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);  // ignored by whoever started it, no child would leave an outcome
  ::signal(SIGXFSZ, SIG_IGN);  // a file that reaches its limit is an error like others
  open_standard_descriptors();
  ingot::bound_stderr();
  if (argc > 1 && argv[1][0] == '@') return run_process(argc, argv);
  ingot::explain_terminate("the supervisor");
  std::vector<std::string> words(argv, argv + argc);
  const absl::Status translated = ingot::translate_etcd(words);
  if (!translated.ok()) {
    const std::string sentence(translated.message());
    std::fprintf(stderr, "ingotd: %s (see ingotd --help)\n", ingot::printable(sentence).c_str());
    return ingot::exit_code(translated);
  }
  std::vector<const char*> given;
  for (const std::string& word : words) given.push_back(word.c_str());
  CLI::App app;
  ingot::DaemonConfig config;
  ingot::SccConfig scc;
  ingot::add_flags(app, config, scc);
  return ingot::run_cli(app, static_cast<int>(given.size()), given.data(), [&]() -> absl::Status {
    if (auto status = ingot::settle_flags(app, config, scc); !status.ok()) return status;
    return config.backend == ingot::Backend::kScc ? run_scc(config, scc) : run_supervisor(config);
  });
}
