#include "services/ingotctl/verbs/open_view.h"

#include <chrono>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/cli/endpoint.h"
#include "services/ingotctl/instance_socket.h"
#include "services/sockets/socket_path.h"

namespace ingot::inline services_ingotctl_verbs {

namespace {

absl::StatusOr<std::string> socket_of(const CtlOptions& options) {
  if (const auto path = unix_path(options.endpoint)) return view_socket_path(*path);
  const std::string path = find_instance_socket(options.endpoint, open_channel(options.endpoint), options.timeout);
  if (!path.empty()) return view_socket_path(path);
  return absl::NotFoundError(absl::StrCat(
      "the Unix socket of the instance at ", options.endpoint,
      " is not found, beside which the view socket is; name it with --endpoint=unix:PATH, on the instance's machine"));
}

}  // namespace

int wait_ms(const CtlOptions& options) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout).count());
}

absl::StatusOr<ViewConnection> connect_for_view(const std::string& path, const CtlOptions& options) {
  auto connection = ViewConnection::open(path);
  if (!connection.ok()) return connection.status();
  const auto ticket = connection->take(wait_ms(options));
  if (!ticket) return absl::DeadlineExceededError("the view's publisher does not answer; give it longer by --timeout");
  if (!ticket->ok()) return ticket->status();
  return connection;
}

// The first ticket is only to learn why there is none: a handle tells no more than that.
absl::StatusOr<OpenView> open_view(const CtlOptions& options) {
  auto path = socket_of(options);
  if (!path.ok()) return path.status();
  auto connection = connect_for_view(*path, options);
  if (!connection.ok()) return connection.status();
  const ViewDemands demands{.wait_ms = wait_ms(options)};
  auto handle = std::make_unique<ViewHandle>(connect_view(*path), demands, std::random_device{}());
  return OpenView{*std::move(path), *std::move(connection), std::move(handle)};
}

mvccpb::KeyValue key_value_of(const ViewEntry& entry) {
  mvccpb::KeyValue kv;
  kv.set_key(std::string(entry.key));
  kv.set_mod_revision(entry.revision);
  if (entry.deleted) return kv;
  kv.set_value(std::string(entry.value));
  kv.set_create_revision(entry.created);
  kv.set_version(entry.version);
  kv.set_lease(entry.lease);
  return kv;
}

absl::Status status_of(ViewError error, const ViewHandle& handle) {
  if (error == ViewError::kNone) return absl::OkStatus();
  if (handle.board() != nullptr || handle.refusal().ok()) return absl::UnavailableError(sentence_of(error));
  return absl::UnavailableError(absl::StrCat(sentence_of(error), ": ", handle.refusal().message()));
}

absl::Status wait_for_revision(OpenView& view, std::int64_t revision, const CtlOptions& options) {
  const absl::Status status = status_of(view.handle->wait_for(revision, wait_ms(options)), *view.handle);
  if (status.ok()) return status;
  return absl::UnavailableError(
      absl::StrCat("it was written, but the view does not show it yet: ", status.message()));
}

}  // namespace ingot::services_ingotctl_verbs
