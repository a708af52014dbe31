#include "services/ingotctl/verbs/watch.h"

#include <chrono>
#include <cstdint>
#include <iostream>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "services/cli/cli.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/render/kv.h"
#include "services/ingotctl/verbs/key_range.h"
#include "services/ingotctl/verbs/watch_view.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

using etcdserverpb::WatchRequest;
using etcdserverpb::WatchResponse;

// Between two streams, so that a daemon that ends each at once is not flooded.
constexpr auto kAgainAfter = std::chrono::milliseconds(100);

struct WatchArguments {
  KeyArguments keys;
  std::int64_t revision = 0;
  std::int64_t count = 0;  // end after so many events; 0: never
  bool prev_kv = false;
  bool view = false;
};

// What is known over all streams.
struct Watched {
  std::int64_t next = 0;  // revision to watch from; 0: the present
  std::int64_t events = 0;
};

absl::Status end_of(const WatchResponse& response) {
  if (response.compact_revision() > 0) {
    return absl::OutOfRangeError(absl::StrCat(
        "the revisions before ", response.compact_revision(),
        " are compacted; read the keys, and watch from the revision after that answer's with --rev"));
  }
  return absl::UnknownError(absl::StrCat("the daemon has ended the watch: ", response.cancel_reason()));
}

// Prints what a response has. True: go on.
absl::StatusOr<bool> take(const WatchResponse& response, const CtlOptions& options, const WatchArguments& arguments,
                          Watched& watched) {
  if (response.canceled()) return end_of(response);
  if (response.created()) {
    if (watched.next == 0) watched.next = response.header().revision() + 1;
    print_watching(watched.next, options.json());
  }
  for (const mvccpb::Event& event : response.events()) {
    print_event(event, arguments.prev_kv, options.json());
    if (++watched.events == arguments.count) break;
  }
  if (response.events_size() > 0) watched.next = response.header().revision() + 1;
  const absl::Status printed = flush_output();
  if (!printed.ok()) return printed;
  return arguments.count == 0 || watched.events < arguments.count;
}

// One stream, until it ends, the requested number is reached, or standard output does not take an event. True: another
// one may go on.
absl::StatusOr<bool> follow(const CtlOptions& options, const WatchArguments& arguments, const Connection& connection,
                            Watched& watched) {
  WatchRequest request;
  set_keys(arguments.keys, *request.mutable_create_request());
  request.mutable_create_request()->set_start_revision(watched.next);
  request.mutable_create_request()->set_prev_kv(arguments.prev_kv);
  grpc::ClientContext context;
  const auto stub = etcdserverpb::Watch::NewStub(connection.channel());
  const auto stream = stub->Watch(&context);
  stream->Write(request);
  WatchResponse response;
  bool created = false;
  while (stream->Read(&response)) {
    created = true;
    const absl::StatusOr<bool> more = take(response, options, arguments, watched);
    if (more.ok() && *more) continue;
    context.TryCancel();
    return more;
  }
  const grpc::Status status = stream->Finish();
  if (created && (status.ok() || status.error_code() == grpc::StatusCode::UNAVAILABLE ||
                  status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED)) {
    return true;
  }
  const absl::Status explained = connection.explain(status);
  return explained.ok() ? absl::UnavailableError("the daemon has ended the watch") : explained;
}

// If the front end dies, the watch goes on with its next incarnation, from the revision after the last one that it has
// shown. A daemon that has never answered is not waited for.
absl::Status run_watch(const CtlOptions& options, const WatchArguments& arguments) {
  if (arguments.view) return watch_view(options, arguments.keys, arguments.revision, arguments.count);
  const Connection connection(options);
  Watched watched{arguments.revision};
  while (true) {
    const absl::StatusOr<bool> again = follow(options, arguments, connection, watched);
    if (!again.ok()) return again.status();
    if (!*again) return absl::OkStatus();
    std::this_thread::sleep_for(kAgainAfter);
    if (!connection.channel()->WaitForConnected(std::chrono::system_clock::now() + options.timeout)) {
      return absl::UnavailableError(absl::StrCat("the daemon at ", options.endpoint, " has gone; go on with --rev=",
                                                 watched.next));
    }
  }
}

}  // namespace

void register_watch(CLI::App& app, Command& chosen) {
  static WatchArguments arguments;
  CLI::App* command = app.add_subcommand("watch", "Follow keys: a line for each change");
  add_key_options(*command, arguments.keys);
  command->add_option("--rev", arguments.revision, "From this revision on; 0: from the next one")
      ->check(whole_number(0))
      ->type_name("REVISION");
  command->add_option("--count", arguments.count, "End after so many changes; 0: go on until interrupted")
      ->check(whole_number(0))
      ->type_name("NUMBER");
  CLI::Option* prev_kv = command->add_flag("--prev-kv", arguments.prev_kv, "Also show what was there before");
  command
      ->add_flag("--view", arguments.view,
                 "Follow the instance's view: of several changes of a key in quick succession only the last")
      ->excludes(prev_kv);
  command->footer(
      "The first line says from which revision on changes are shown. If the daemon's front end dies, the watch goes\n"
      "on with the next one and misses nothing; then that line comes again. With -o json each line is an object.\n"
      "Examples:\n"
      "  ingotctl watch greeting\n"
      "  ingotctl watch config/ --prefix --prev-kv\n"
      "  ingotctl watch config/ --prefix --view\n"
      "  ingotctl watch \"\" --from-key --rev=1 -o json    # all changes, from the first that is kept");
  command->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_watch(o, arguments); }; });
}

}  // namespace ingot::services_ingotctl_verbs
