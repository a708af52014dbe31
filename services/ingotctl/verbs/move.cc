#include "services/ingotctl/verbs/move.h"

#include <chrono>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "core/limits.h"
#include "proto/ingot/control/v1/control.grpc.pb.h"
#include "services/cli/cli.h"
#include "services/cli/duration.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/move_watch.h"
#include "services/ingotctl/render/move.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

using control_v1::Control;

constexpr std::chrono::milliseconds kPollPause{10};  // between two checks whether a move is done

struct MoveArguments {
  std::string role;  // leader | acceptor
  int to = 0;
  bool wait = true;
};

absl::Status watch_move(const CtlOptions& options, const Connection& connection, Control::Stub& stub,
                        const MoveArguments& arguments, MoveWatch& watch) {
  const auto end = std::chrono::steady_clock::now() + options.timeout;
  for (;;) {
    control_v1::GetStatusResponse response;
    const absl::Status status = connection.call(
        [&](grpc::ClientContext* context) { return stub.GetStatus(context, {}, &response); });
    if (!status.ok()) return status;
    switch (watch.observe(response)) {
      case MoveWatch::Outcome::kDone:
        return absl::OkStatus();
      case MoveWatch::Outcome::kLost:
        return absl::AbortedError(
            absl::StrCat("another change came first: ", holder_text(watch, arguments.role), "; ask again"));
      case MoveWatch::Outcome::kPending:
        break;
    }
    if (std::chrono::steady_clock::now() >= end) {
      return absl::DeadlineExceededError(absl::StrCat("begun, but not done after ", format_duration(options.timeout),
                                                      ": ", holder_text(watch, arguments.role)));
    }
    std::this_thread::sleep_for(kPollPause);
  }
}

// Unless told not to wait, prints the final holder of the role; an error if that is another replica, or none in time.
// Where nothing had to change there is nothing to wait for.
absl::Status run_move(const CtlOptions& options, const MoveArguments& arguments) {
  const Connection connection(options);
  const auto stub = Control::NewStub(connection.channel());
  control_v1::MoveRequest request;
  request.set_role(arguments.role == "leader" ? control_v1::ROLE_LEADER : control_v1::ROLE_ACCEPTOR);
  request.set_to(static_cast<std::uint32_t>(arguments.to));
  control_v1::MoveResponse begun;
  absl::Status status =
      connection.call([&](grpc::ClientContext* context) { return stub->Move(context, request, &begun); });
  if (!status.ok()) return status;
  const bool look = arguments.wait || begun.already();
  MoveWatch watch(request.role(), request.to(), begun.already() ? std::nullopt : std::optional(begun.ballot()));
  if (look) status = watch_move(options, connection, *stub, arguments, watch);
  if (options.json()) {
    std::cout << move_json(arguments.role, arguments.to, begun, look ? &watch : nullptr) << "\n";
  } else if (!look) {
    std::cout << "replica " << begun.asked() << " has begun the change; the status shows when it is done\n";
  } else if (status.ok()) {
    std::cout << holder_text(watch, arguments.role) << "\n";
  }
  return status;
}

}  // namespace

void register_move(CLI::App& app, Command& chosen) {
  static MoveArguments arguments;
  CLI::App* command = app.add_subcommand("move", "Move the leader's or the acceptor's role to a voter");
  command->add_option("ROLE", arguments.role, "leader or acceptor")
      ->required()
      ->check(one_of({"leader", "acceptor"}).description(""))
      ->type_name("");
  command->add_option("--to", arguments.to, "The voter that gets it")
      ->required()
      ->check(whole_number(0, kReplicasMax - 1))
      ->type_name("REPLICA");
  command->add_flag("!--no-wait", arguments.wait, "Do not wait until it is done");
  command->footer(
      "Waits, at most --timeout, and says who has the role in the end; a voter that has it already keeps it. Refused\n"
      "with the reason where it cannot be.\n"
      "Examples:\n"
      "  ingotctl move leader --to=2\n"
      "  ingotctl move acceptor --to=0 --no-wait");
  command->callback([&chosen] { chosen = [](const CtlOptions& options) { return run_move(options, arguments); }; });
}

}  // namespace ingot::services_ingotctl_verbs
