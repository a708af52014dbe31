#include "services/ingotctl/verbs/lease.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/lease_session.h"
#include "services/ingotctl/render/lease.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

namespace pb = etcdserverpb;
using std::chrono::seconds;
using std::chrono::steady_clock;

// Between two attempts to reach a daemon that does not answer.
constexpr auto kAgainAfter = std::chrono::milliseconds(500);

struct LeaseArguments {
  std::chrono::nanoseconds ttl = seconds(60);
  std::int64_t id = 0;  // of a grant: 0: the daemon draws one
  bool once = false;
  bool keys = false;
};

absl::Status run_grant(const CtlOptions& options, const LeaseArguments& arguments) {
  pb::LeaseGrantRequest request;
  request.set_ttl(std::chrono::ceil<seconds>(arguments.ttl).count());
  request.set_id(arguments.id);
  const Connection connection(options);
  const auto stub = pb::Lease::NewStub(connection.channel());
  pb::LeaseGrantResponse response;
  const absl::Status status =
      connection.call([&](grpc::ClientContext* context) { return stub->LeaseGrant(context, request, &response); });
  if (status.ok()) print_grant(response, options.json());
  return status;
}

absl::Status run_revoke(const CtlOptions& options, const LeaseArguments& arguments) {
  pb::LeaseRevokeRequest request;
  request.set_id(arguments.id);
  const Connection connection(options);
  const auto stub = pb::Lease::NewStub(connection.channel());
  pb::LeaseRevokeResponse response;
  const absl::Status status =
      connection.call([&](grpc::ClientContext* context) { return stub->LeaseRevoke(context, request, &response); });
  if (status.ok()) print_revoked(arguments.id, response, options.json());
  return status;
}

absl::Status run_list(const CtlOptions& options) {
  const Connection connection(options);
  const auto stub = pb::Lease::NewStub(connection.channel());
  pb::LeaseLeasesResponse response;
  const absl::Status status = connection.call([&](grpc::ClientContext* context) {
    return stub->LeaseLeases(context, pb::LeaseLeasesRequest(), &response);
  });
  if (status.ok()) print_leases(response, options.json());
  return status;
}

absl::Status run_ttl(const CtlOptions& options, const LeaseArguments& arguments) {
  pb::LeaseTimeToLiveRequest request;
  request.set_id(arguments.id);
  request.set_keys(arguments.keys);
  const Connection connection(options);
  const auto stub = pb::Lease::NewStub(connection.channel());
  pb::LeaseTimeToLiveResponse response;
  const absl::Status status = connection.call(
      [&](grpc::ClientContext* context) { return stub->LeaseTimeToLive(context, request, &response); });
  if (!status.ok()) return status;
  if (response.ttl() < 0) return no_lease(arguments.id);
  print_time_to_live(response, options.json());
  return absl::OkStatus();
}

// A daemon that cannot be reached for a while has not ended the lease: as long as it may live, it is asked again.
absl::Status run_keep_alive(const CtlOptions& options, const LeaseArguments& arguments) {
  const Connection connection(options);
  auto ends = steady_clock::time_point::min();
  while (true) {
    const auto kept = keep_alive_once(connection, arguments.id);
    if (kept.ok()) print_kept_alive(*kept, options.json());
    if (absl::IsNotFound(kept.status()) || arguments.once) return kept.status();
    if (kept.ok()) {
      if (const absl::Status printed = flush_output(); !printed.ok()) return printed;
      ends = steady_clock::now() + seconds(kept->ttl());
      std::this_thread::sleep_for(std::chrono::milliseconds(1000) * kept->ttl() / 3);
    } else {
      if (steady_clock::now() >= ends) return kept.status();
      std::this_thread::sleep_for(kAgainAfter);
    }
  }
}

void add_grant(CLI::App& lease, Command& chosen) {
  static LeaseArguments arguments;
  CLI::App* command = lease.add_subcommand("grant", "Make a lease, and show its id");
  add_duration(*command, "TTL", arguments.ttl, "How long it lasts without a keep-alive, in whole seconds")->required();
  add_lease(*command, "--id", arguments.id, "Its id; without one, the daemon draws one");
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_grant(o, arguments); }; });
}

void add_revoke(CLI::App& lease, Command& chosen) {
  static LeaseArguments arguments;
  CLI::App* command = lease.add_subcommand("revoke", "End a lease now; its keys are deleted");
  add_lease(*command, "ID", arguments.id, "Its id")->required();
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_revoke(o, arguments); }; });
}

void add_keep_alive(CLI::App& lease, Command& chosen) {
  static LeaseArguments arguments;
  CLI::App* command = lease.add_subcommand("keep-alive", "Give a lease its whole time, again and again");
  add_lease(*command, "ID", arguments.id, "Its id")->required();
  command->add_flag("--once", arguments.once, "Only once; else until interrupted, or until the lease has ended");
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_keep_alive(o, arguments); }; });
}

void add_ttl(CLI::App& lease, Command& chosen) {
  static LeaseArguments arguments;
  CLI::App* command = lease.add_subcommand("ttl", "Show how long a lease lasts");
  add_lease(*command, "ID", arguments.id, "Its id")->required();
  command->add_flag("--keys", arguments.keys, "Also show its keys");
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_ttl(o, arguments); }; });
}

}  // namespace

CLI::Option* add_lease(CLI::App& command, const std::string& name, std::int64_t& id, const std::string& help) {
  const auto store = [&id](const std::string& text) {
    const absl::StatusOr<std::int64_t> parsed = parse_lease(text);
    if (parsed.ok()) id = *parsed;
    return parsed.ok();
  };
  const auto check = [](const std::string& text) { return std::string(parse_lease(text).status().message()); };
  return command.add_option_function<std::string>(name, store, help)->check(CLI::Validator(check, ""))->type_name("ID");
}

void register_lease(CLI::App& app, Command& chosen) {
  CLI::App* lease = app.add_subcommand("lease", "Grant, keep and end leases, with which keys vanish");
  lease->require_subcommand(1);
  add_grant(*lease, chosen);
  add_revoke(*lease, chosen);
  add_keep_alive(*lease, chosen);
  lease->add_subcommand("list", "Show the ids of all leases, the one that ends first at the top")
      ->callback([&chosen] { chosen = run_list; });
  add_ttl(*lease, chosen);
  lease->footer(
      "A key that is put with a lease is deleted when the lease ends: when it is revoked, or its time has passed\n"
      "without a keep-alive. Ids are hexadecimal, as etcdctl shows them.\n"
      "Examples:\n"
      "  ingotctl lease grant 1m                              # prints the id\n"
      "  ingotctl put workers/7 ready --lease=694d77aa9e38260f\n"
      "  ingotctl lease keep-alive 694d77aa9e38260f           # as long as this worker runs\n"
      "  ingotctl lease ttl 694d77aa9e38260f --keys\n"
      "  ingotctl lease revoke 694d77aa9e38260f");
}

}  // namespace ingot::services_ingotctl_verbs
