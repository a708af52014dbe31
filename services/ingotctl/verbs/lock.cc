#include "services/ingotctl/verbs/lock.h"

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/etcd/lock.grpc.pb.h"
#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/held_command.h"
#include "services/ingotctl/interruption.h"
#include "services/ingotctl/lease_session.h"
#include "services/ingotctl/render/lock.h"
#include "services/ingotctl/waiting_call.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

using v3lockpb::LockRequest;
using v3lockpb::LockResponse;

struct LockArguments {
  std::string name;
  std::vector<std::string> words;
  std::chrono::nanoseconds ttl = std::chrono::seconds(10);
};

absl::Status lost() {
  return absl::AbortedError("the lock is lost: its lease has ended, and another may hold it now");
}

// The command's exit code is this program's (held_exit_code).
absl::Status hold_for_command(const LockArguments& arguments, const LockResponse& lock, const LeaseSession& session,
                              Interruption& interruption) {
  const std::vector<std::string> environment = {absl::StrCat("ETCD_LOCK_KEY=", lock.key()),
                                                absl::StrCat("ETCD_LOCK_REV=", lock.header().revision())};
  const absl::StatusOr<int> code = run_held(arguments.words, environment, interruption);
  if (!code.ok()) return code.status();
  return session.ended() ? lost() : absl::OkStatus();
}

absl::Status hold(const CtlOptions& options, const LockResponse& lock, const LeaseSession& session,
                  Interruption& interruption) {
  print_locked(lock.key(), lock.header().revision(), session.lease(), options.json());
  if (const absl::Status printed = flush_output(); !printed.ok()) return printed;
  return hold_until_interrupted(session, interruption) ? lost() : absl::OkStatus();
}

absl::Status run_lock(const CtlOptions& options, const LockArguments& arguments) {
  Interruption interruption;
  const auto session = LeaseSession::open(options, arguments.ttl);
  if (!session.ok()) return session.status();
  const Connection connection(options);
  const auto stub = v3lockpb::Lock::NewStub(connection.channel());
  LockRequest request;
  request.set_name(arguments.name);
  request.set_lease((*session)->lease());
  LockResponse lock;
  const absl::Status locked =
      wait_for(options, connection, **session, interruption,
               [&](grpc::ClientContext* context) { return stub->Lock(context, request, &lock); });
  if (!locked.ok()) return locked;
  if ((*session)->ended()) return lost();  // the answer may have come late
  return arguments.words.empty() ? hold(options, lock, **session, interruption)
                                 : hold_for_command(arguments, lock, **session, interruption);
}

}  // namespace

void register_lock(CLI::App& app, Command& chosen) {
  static LockArguments arguments;
  CLI::App* command = app.add_subcommand("lock", "Hold a lock, while a command runs or until interrupted");
  command->add_option("NAME", arguments.name, "The lock's name")->required();
  command->add_option("COMMAND", arguments.words, "What to run while the lock is held, behind --");
  add_duration(*command, "--ttl", arguments.ttl,
               "How long the lock is held when this program can give no sign of life, in whole seconds");
  command->footer(
      "Without a command, the lock's key is printed once it is held. The command has ETCD_LOCK_KEY and ETCD_LOCK_REV\n"
      "in its environment, as etcdctl's, and its exit code is this one's. The lock is given back at the end, and at\n"
      "SIGINT or SIGTERM, which a command gets, too. Programs that use etcd's locks by this name wait for it.\n"
      "Examples:\n"
      "  ingotctl lock nightly                      # until Ctrl-C\n"
      "  ingotctl lock nightly -- ./backup.sh --all");
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_lock(o, arguments); }; });
}

}  // namespace ingot::services_ingotctl_verbs
