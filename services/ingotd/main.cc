// ingotd takes flags only. The same program runs as supervisor, replica and front end; a first argument that starts
// with "@" names the role of a process that the supervisor started.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "services/cli/cli.h"
#include "services/ingotd/flags.h"
#include "services/process/launch_spec.h"
#include "services/process/replica_process.h"
#include "services/process/standby_process.h"
#include "services/scc/replay.h"
#include "services/scc/scc_daemon.h"
#include "services/serving/front_end_process.h"
#include "services/supervision/attach.h"
#include "services/supervision/instance.h"
#include "services/supervision/supervisor.h"

namespace {

// Sets the name that ps, top and profilers show; at most 15 characters.
void name_process(const std::string& part) { ::prctl(PR_SET_NAME, ("ingotd-" + part).c_str()); }

int run_child(std::string_view role, int launch_fd) {
  auto spec = ingot::read_launch_spec(ingot::Descriptor(launch_fd).get());
  if (!spec.ok()) {
    std::fprintf(stderr, "ingotd: %s\n", spec.status().ToString().c_str());
    return ingot::kExitUsage;
  }
  if (role == "@front-end") {
    name_process("front");
    return ingot::run_front_end_process(*std::move(spec));
  }
  name_process(spec->replica < 0 ? "replicas" : "r" + std::to_string(spec->replica));
  return ingot::run_replica_process(*std::move(spec));
}

// Runs a process that the supervisor started. Arguments: the word that names its role, and a descriptor.
int run_process(char** argv) {
  // The terminal's and the service manager's signals go to the whole group; the supervisor decides what they mean.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_IGN);
  const int fd = std::atoi(argv[2]);
  if (std::string_view(argv[1]) != "@standby") return run_child(argv[1], fd);
  name_process("standby");
  const auto role = ingot::wait_for_role(ingot::Descriptor(fd), argv[1], argv[2]);
  // Ends without exit handlers: nothing has begun that needs an orderly end, and a leak checker's handler would hang,
  // since it stops the process with SIGSTOP and the SIGCONT at the supervisor's death continues it.
  if (!role) ::_exit(ingot::kExitOk);
  return run_child(role->word, role->launch_fd);
}

// Raises the limit of open files: a supervisor holds the segments of several incarnations of each replica.
void allow_many_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

absl::Status run_supervisor(const ingot::DaemonConfig& config) {
  allow_many_descriptors();
  auto attached = ingot::attach(config);
  if (!attached.ok()) return attached.status();
  if (attached->instance != nullptr) {
    return ingot::Supervisor(*attached->instance).run_attached(std::move(attached->orphans), attached->orphan_ms);
  }
  auto instance = ingot::Instance::create(config);
  if (!instance.ok()) return instance.status();
  return ingot::Supervisor(**instance).run();
}

absl::Status run_scc(const ingot::DaemonConfig& config, const ingot::SccConfig& scc) {
  return scc.replay.empty() ? ingot::run_scc_daemon(config, scc) : ingot::run_replay(scc.replay);
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
  open_standard_descriptors();
  if (argc == 3 && argv[1][0] == '@') return run_process(argv);
  CLI::App app;
  ingot::DaemonConfig config;
  ingot::SccConfig scc;
  ingot::add_flags(app, config, scc);
  return ingot::run_cli(app, argc, argv, [&]() -> absl::Status {
    if (auto status = ingot::settle_flags(app, config, scc); !status.ok()) return status;
    return config.backend == ingot::Backend::kScc ? run_scc(config, scc) : run_supervisor(config);
  });
}
