#include "services/ingotctl/connection.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/cli/duration.h"
#include "services/ingotctl/instance_socket.h"

namespace ingot::inline services_ingotctl {
namespace {

// True for a status that gRPC produced itself, false for one that the daemon sent.
bool never_arrived(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE &&
         (absl::StrContains(status.error_message(), "onnect") ||  // "connect" or "Connection"
          absl::StrContains(status.error_message(), "DNS") ||
          absl::StrContains(status.error_message(), "Socket closed"));
}

}  // namespace

Connection::Connection(const CtlOptions& options) : options_(options), channel_(open_channel(options.endpoint)) {
  const std::string socket = find_instance_socket(options.endpoint, channel_, options.timeout);
  if (!socket.empty()) channel_ = open_channel("unix:" + socket);
}

absl::Status Connection::explain(const grpc::Status& status) const {
  if (status.ok()) return absl::OkStatus();
  if (never_arrived(status)) {
    return absl::UnavailableError(absl::StrCat("cannot reach a daemon at ", options_.endpoint,
                                               "; is ingotd running, and is --endpoint where it listens?"));
  }
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return absl::DeadlineExceededError(absl::StrCat("no answer from ", options_.endpoint, " within ",
                                                    format_duration(options_.timeout),
                                                    "; try again, or wait longer with --timeout"));
  }
  return absl::UnknownError(absl::StrCat("the daemon at ", options_.endpoint, " said: ", status.error_message()));
}

}  // namespace ingot::services_ingotctl
