#include "services/ingotctl/verbs/elect.h"

#include <chrono>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "proto/etcd/election.grpc.pb.h"
#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/interruption.h"
#include "services/ingotctl/lease_session.h"
#include "services/ingotctl/render/lock.h"
#include "services/ingotctl/waiting_call.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

namespace ep = v3electionpb;

// Between two streams, so that a daemon that ends each at once is not flooded.
constexpr auto kAgainAfter = std::chrono::milliseconds(100);

struct ElectArguments {
  std::string name;
  std::string value;
  bool observe = false;
  std::chrono::nanoseconds ttl = std::chrono::seconds(60);
};

absl::Status run_campaign(const CtlOptions& options, const ElectArguments& arguments) {
  Interruption interruption;
  const auto session = LeaseSession::open(options, arguments.ttl);
  if (!session.ok()) return session.status();
  const Connection connection(options);
  const auto stub = ep::Election::NewStub(connection.channel());
  ep::CampaignRequest request;
  request.set_name(arguments.name);
  request.set_value(arguments.value);
  request.set_lease((*session)->lease());
  ep::CampaignResponse won;
  const absl::Status leads =
      wait_for(options, connection, **session, interruption,
               [&](grpc::ClientContext* context) { return stub->Campaign(context, request, &won); });
  if (!leads.ok()) return leads;
  mvccpb::KeyValue leader;
  leader.set_key(won.leader().key());
  leader.set_value(arguments.value);
  leader.set_create_revision(won.leader().rev());
  leader.set_mod_revision(won.header().revision());
  leader.set_version(1);
  leader.set_lease(won.leader().lease());
  print_leader(leader, options.json());
  if (const absl::Status printed = flush_output(); !printed.ok()) return printed;
  if (!hold_until_interrupted(**session, interruption)) return absl::OkStatus();
  return absl::AbortedError("it leads no more: its lease has ended, and another may lead now");
}

// What was shown last. A leader that follows may have an older key than the last one's last value.
struct Shown {
  std::string key;
  std::int64_t mod_revision = 0;
};

// One stream, until it ends or standard output does not take a leader.
absl::Status follow(const CtlOptions& options, const ep::LeaderRequest& request, const Connection& connection,
                    Shown& shown) {
  grpc::ClientContext context;
  const auto stub = ep::Election::NewStub(connection.channel());
  const auto stream = stub->Observe(&context, request);
  ep::LeaderResponse response;
  while (stream->Read(&response)) {
    if (response.kv().mod_revision() == shown.mod_revision && response.kv().key() == shown.key) continue;
    shown = {response.kv().key(), response.kv().mod_revision()};
    print_leader(response.kv(), options.json());
    const absl::Status printed = flush_output();
    if (printed.ok()) continue;
    context.TryCancel();
    return printed;
  }
  const grpc::Status status = stream->Finish();
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) return absl::OkStatus();
  return connection.explain(status);
}

// If the front end dies, the next one tells who leads by then.
absl::Status run_observe(const CtlOptions& options, const ElectArguments& arguments) {
  const Connection connection(options);
  ep::LeaderRequest request;
  request.set_name(arguments.name);
  Shown shown;
  while (true) {
    if (!connection.channel()->WaitForConnected(std::chrono::system_clock::now() + options.timeout)) {
      return connection.explain({grpc::StatusCode::UNAVAILABLE, "no connection"});
    }
    if (const absl::Status followed = follow(options, request, connection, shown); !followed.ok()) return followed;
    std::this_thread::sleep_for(kAgainAfter);
  }
}

absl::Status run_elect(const CtlOptions& options, const ElectArguments& arguments) {
  if (arguments.observe && !arguments.value.empty()) {
    return absl::InvalidArgumentError("--observe shows who leads, and takes no value; leave out one of them");
  }
  if (!arguments.observe && arguments.value.empty()) {
    return absl::InvalidArgumentError("a candidate needs a value: ingotctl elect NAME VALUE; or give --observe");
  }
  return arguments.observe ? run_observe(options, arguments) : run_campaign(options, arguments);
}

}  // namespace

void register_elect(CLI::App& app, Command& chosen) {
  static ElectArguments arguments;
  CLI::App* command = app.add_subcommand("elect", "Lead with a value until interrupted, or show who leads");
  command->add_option("NAME", arguments.name, "The election's name")->required();
  command->add_option("VALUE", arguments.value, "What the leader's key holds, such as its address");
  command->add_flag("--observe", arguments.observe, "Show who leads, and each change, until interrupted");
  add_duration(*command, "--ttl", arguments.ttl,
               "How long this program leads when it can give no sign of life, in whole seconds");
  command->footer(
      "A leader is two lines, its key and its value. The candidates lead in the order in which they came; one resigns\n"
      "at SIGINT and SIGTERM. Programs that use etcd's elections by this name take part.\n"
      "Examples:\n"
      "  ingotctl elect scheduler 10.0.0.7:80       # prints its key and value once it leads\n"
      "  ingotctl elect --observe scheduler");
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_elect(o, arguments); }; });
}

}  // namespace ingot::services_ingotctl_verbs
