#include "services/ingotctl/verbs/kv.h"

#include <cstdint>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "proto/etcd/rpc.grpc.pb.h"
#include "services/cli/cli.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/render/kv.h"
#include "services/ingotctl/verbs/key_range.h"
#include "services/ingotctl/verbs/lease.h"
#include "services/ingotctl/verbs/open_view.h"
#include "services/ingotctl/verbs/view.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

struct GetArguments {
  KeyArguments keys;
  std::int64_t limit = 0;
  std::int64_t revision = 0;
  bool keys_only = false;
  bool count_only = false;
  bool serializable = false;
  bool view = false;
};

struct PutArguments {
  std::string key;
  std::optional<std::string> value;  // absent: all of standard input
  std::int64_t lease = 0;
  bool prev_kv = false;
  bool view = false;
};

struct DelArguments {
  KeyArguments keys;
  bool prev_kv = false;
  bool view = false;
};

// Makes the write. With `view` that is open before, so that nothing is written where there is none, and shows the write
// afterwards.
template <typename Response, typename Call, typename Print>
absl::Status make_write(const CtlOptions& options, bool view, Call make_call, Print print) {
  std::optional<OpenView> shown;
  if (view) {
    auto opened = open_view(options);
    if (!opened.ok()) return opened.status();
    shown.emplace(*std::move(opened));
  }
  const Connection connection(options);
  const auto stub = etcdserverpb::KV::NewStub(connection.channel());
  Response response;
  const absl::Status status =
      connection.call([&](grpc::ClientContext* context) { return make_call(*stub, context, &response); });
  if (!status.ok()) return status;
  print(response);
  return shown ? wait_for_revision(*shown, response.header().revision(), options) : status;
}

absl::Status run_get(const CtlOptions& options, const GetArguments& arguments) {
  etcdserverpb::RangeRequest request;
  set_keys(arguments.keys, request);
  request.set_limit(arguments.limit);
  request.set_revision(arguments.revision);
  request.set_keys_only(arguments.keys_only);
  request.set_count_only(arguments.count_only);
  request.set_serializable(arguments.serializable);

  etcdserverpb::RangeResponse response;
  if (arguments.view) {
    const absl::Status status = read_view(options, request, response);
    if (status.ok()) print_range(response, !arguments.keys_only, options.json());
    return status;
  }
  const Connection connection(options);
  const auto stub = etcdserverpb::KV::NewStub(connection.channel());
  const absl::Status status =
      connection.call([&](grpc::ClientContext* context) { return stub->Range(context, request, &response); });
  if (status.ok()) print_range(response, !arguments.keys_only, options.json());
  return status;
}

absl::Status run_put(const CtlOptions& options, const PutArguments& arguments) {
  etcdserverpb::PutRequest request;
  request.set_key(arguments.key);
  request.set_value(arguments.value ? *arguments.value
                                    : std::string(std::istreambuf_iterator<char>(std::cin), {}));
  request.set_lease(arguments.lease);
  request.set_prev_kv(arguments.prev_kv);

  return make_write<etcdserverpb::PutResponse>(
      options, arguments.view,
      [&](auto& stub, auto* context, auto* response) { return stub.Put(context, request, response); },
      [&](const auto& response) { print_put(response, arguments.prev_kv, options.json()); });
}

absl::Status run_del(const CtlOptions& options, const DelArguments& arguments) {
  etcdserverpb::DeleteRangeRequest request;
  set_keys(arguments.keys, request);
  request.set_prev_kv(arguments.prev_kv);

  return make_write<etcdserverpb::DeleteRangeResponse>(
      options, arguments.view,
      [&](auto& stub, auto* context, auto* response) { return stub.DeleteRange(context, request, response); },
      [&](const auto& response) { print_deleted(response, arguments.prev_kv, options.json()); });
}

void add_get(CLI::App& app, Command& chosen) {
  static GetArguments arguments;
  CLI::App* command = app.add_subcommand("get", "Read keys");
  add_key_options(*command, arguments.keys);
  command->add_option("--limit", arguments.limit, "At most so many keys; 0: all")
      ->check(whole_number(0))
      ->type_name("NUMBER");
  CLI::Option* revision = command->add_option("--rev", arguments.revision, "As of this revision; 0: the newest");
  revision->check(whole_number(0))->type_name("REVISION");
  command->add_flag("--keys-only", arguments.keys_only, "Leave the values out");
  command->add_flag("--count-only", arguments.count_only, "Only say how many there are");
  command->add_flag("--serializable", arguments.serializable,
                    "Read the nearest replica's own state: faster, and perhaps not the newest");
  command->add_flag("--view", arguments.view, "Read in place what the instance's view shows; perhaps not the newest")
      ->excludes(revision);
  command->footer(
      "Examples:\n"
      "  ingotctl get greeting\n"
      "  ingotctl get config/ --prefix --limit=10\n"
      "  ingotctl get \"\" --from-key --count-only   # how many keys there are\n"
      "  ingotctl get greeting --rev=5 -o json\n"
      "  ingotctl get config/ --prefix --view");
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_get(o, arguments); }; });
}

void add_put(CLI::App& app, Command& chosen) {
  static PutArguments arguments;
  CLI::App* command = app.add_subcommand("put", "Write a key");
  command->add_option("KEY", arguments.key, "The key")->required()->type_name("");
  command->add_option("VALUE", arguments.value, "The value; without one, all of standard input")->type_name("");
  add_lease(*command, "--lease", arguments.lease, "The lease with which the key vanishes; without one, it stays");
  command->add_flag("--prev-kv", arguments.prev_kv, "Also show what was there before");
  command->add_flag("--view", arguments.view, "Wait until the instance's view shows it");
  command->footer(
      "Examples:\n"
      "  ingotctl put greeting hello\n"
      "  ingotctl put config/site < site.json");
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_put(o, arguments); }; });
}

void add_del(CLI::App& app, Command& chosen) {
  static DelArguments arguments;
  CLI::App* command = app.add_subcommand("del", "Delete keys");
  add_key_options(*command, arguments.keys);
  command->add_flag("--prev-kv", arguments.prev_kv, "Also show what was deleted");
  command->add_flag("--view", arguments.view, "Wait until the instance's view shows it");
  command->footer(
      "Examples:\n"
      "  ingotctl del greeting\n"
      "  ingotctl del config/ --prefix --prev-kv");
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_del(o, arguments); }; });
}

}  // namespace

void register_kv(CLI::App& app, Command& chosen) {
  add_get(app, chosen);
  add_put(app, chosen);
  add_del(app, chosen);
}

}  // namespace ingot::services_ingotctl_verbs
