#include "services/ingotctl/verbs/drill.h"

#include <chrono>
#include <iostream>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/ingot/control/v1/control.grpc.pb.h"
#include "services/cli/duration.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/render/drill.h"

namespace ingot {

namespace {

using control_v1::Control;
using control_v1::DrillRequest;
using control_v1::DrillResponse;

constexpr std::chrono::milliseconds kPollPause{10};  // between two checks whether a move is done

DrillRequest::Action action_of(const std::string& word) {
  if (word == "kill") return DrillRequest::ACTION_KILL;
  return word == "stop" ? DrillRequest::ACTION_STOP : DrillRequest::ACTION_CONT;
}

// A stopped front end answers nothing more, and a killed one ends the connection: neither is an error then.
bool says_no_more(const DrillRequest& request) { return request.target() == DrillRequest::TARGET_FRONT_END; }

absl::Status explain_silence(const Connection& connection, const DrillRequest& request, const grpc::Status& status) {
  absl::Status error = connection.explain(status);
  const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  if (late && request.wait()) {
    return absl::DeadlineExceededError("no write was committed in that time; the status says what it waits for, and "
                                       "--timeout how long to wait");
  }
  if (late && request.action() == DrillRequest::ACTION_CONT && says_no_more(request)) {
    return absl::DeadlineExceededError(
        absl::StrCat(std::string(error.message()), "; a front end that is stopped cannot be asked: kill -CONT its pid"));
  }
  return error;
}

void print(const CtlOptions& options, const DrillArguments& arguments, const DrillResponse& told) {
  if (options.json()) {
    std::cout << drill_json(arguments.action, told) << std::endl;
  } else if (told.has_outage()) {
    std::cout << outage_line(told.outage()) << std::flush;
  } else {
    std::cout << drill_table(told) << std::flush;
  }
}

std::string holder_text(const MoveWatch& watch, const std::string& role) {
  if (!watch.holder()) return role == "leader" ? "nobody leads" : "nobody is the acceptor";
  return absl::StrCat("replica ", watch.holder()->id(), role == "leader" ? " leads" : " is the acceptor", " (epoch ",
                      watch.holder()->epoch(), ", ballot ", watch.holder()->ballot(), ")");
}

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

}  // namespace

std::optional<DrillRequest> parse_target(const std::string& text) {
  DrillRequest request;
  if (text == "leader") {
    request.set_target(DrillRequest::TARGET_LEADER);
  } else if (text == "acceptor") {
    request.set_target(DrillRequest::TARGET_ACCEPTOR);
  } else if (text == "both") {
    request.set_target(DrillRequest::TARGET_BOTH);
  } else if (text == "front-end") {
    request.set_target(DrillRequest::TARGET_FRONT_END);
  } else if (text == "supervisor") {
    request.set_target(DrillRequest::TARGET_SUPERVISOR);
  } else {
    absl::string_view number = text;
    std::uint32_t replica = 0;
    if (!absl::ConsumePrefix(&number, "replica=") || !absl::SimpleAtoi(number, &replica)) return std::nullopt;
    request.set_target(DrillRequest::TARGET_REPLICA);
    request.set_replica(replica);
  }
  return request;
}

absl::Status run_drill(const CtlOptions& options, const DrillArguments& arguments) {
  DrillRequest request = *parse_target(arguments.target);
  request.set_action(action_of(arguments.action));
  request.set_wait(arguments.wait);
  const Connection connection(options);
  const auto stub = Control::NewStub(connection.channel());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + options.timeout);
  const auto reader = stub->Drill(&context, request);
  DrillResponse told;
  if (!reader->Read(&told)) return explain_silence(connection, request, reader->Finish());
  const bool more = arguments.wait;
  if (!options.json() || !more) print(options, arguments, told);
  if (says_no_more(request)) {
    context.TryCancel();
    return absl::OkStatus();
  }
  DrillResponse measured;
  if (reader->Read(&measured)) {
    *told.mutable_outage() = measured.outage();
  }
  if (more && (options.json() || told.has_outage())) print(options, arguments, told);
  const grpc::Status ended = reader->Finish();
  // Without its supervisor an instance may end, and the connection with it.
  const bool taken_along = request.target() == DrillRequest::TARGET_SUPERVISOR && !more;
  if (taken_along && ended.error_code() == grpc::StatusCode::UNAVAILABLE) return absl::OkStatus();
  return explain_silence(connection, request, ended);
}

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
  MoveWatch watch(request.role(), request.to(), begun.ballot());
  if (arguments.wait) status = watch_move(options, connection, *stub, arguments, watch);
  if (options.json()) {
    std::cout << move_json(arguments.role, arguments.to, begun, arguments.wait ? &watch : nullptr) << "\n";
  } else if (!arguments.wait) {
    std::cout << "replica " << begun.asked() << " has begun the change; the status shows when it is done\n";
  } else if (status.ok()) {
    std::cout << holder_text(watch, arguments.role) << "\n";
  }
  return status;
}

}  // namespace ingot
