// The view of an instance as its supervisor holds it: the socket on which readers connect, the page on which the
// publisher shows itself, and the publisher's incarnations. Generations are the publisher's own.
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/access/view_rights.h"
#include "services/config/limits.h"
#include "services/instance/instance.h"
#include "services/sockets/socket_path.h"

namespace ingot::inline services_instance {

namespace {

// Who may connect is decided by the publisher, by the kernel's word. The file keeps others away if there is nobody to
// decide about.
SocketRights view_socket_rights(const DaemonConfig& config) {
  SocketRights rights;
  rights.mode = config.view_users.empty() && config.view_groups.empty() ? 0600 : 0666;
  return rights;
}

absl::StatusOr<UnixListener> bind_view_socket(const DaemonConfig& config) {
  const std::string path = view_socket_path(config.socket);
  if (path.size() <= kSocketPathBytesMax) return UnixListener::bind(path, view_socket_rights(config));
  return absl::FailedPreconditionError(absl::StrCat("its path would be ", path, ", which is longer than ",
                                                    kSocketPathBytesMax, " bytes; give a shorter one with --socket"));
}

}  // namespace

absl::Status Instance::open_view() {
  if (!has_view(config_)) return absl::OkStatus();
  if (auto rights = view_rights(config_.view_users, config_.view_groups); !rights.ok()) return rights.status();
  auto page = create_segment(absl::StrCat(config_.name, "-view"), sizeof(ViewPage));
  if (!page.ok()) return page.status();
  auto segment = Segment::map(page->get(), Segment::Access::kReadWrite);
  if (!segment.ok()) return segment.status();
  view_page_fd_ = *std::move(page);
  view_page_segment_ = *std::move(segment);
  const bool asked = config_.view == ViewMode::kAlways;
  if (config_.socket.empty()) {
    if (!asked) return absl::OkStatus();
    return absl::FailedPreconditionError("--view=always needs the instance's Unix socket, beside which the view socket "
                                         "is made; name one with --socket=PATH, or leave --view out");
  }
  auto socket = bind_view_socket(config_);
  if (socket.ok()) {
    view_socket_ = *std::move(socket);
  } else if (asked) {
    return socket.status();
  } else {
    warnings_.push_back(absl::StrCat("there is no view socket, so no process can read the keys in place: ",
                                     std::string(socket.status().message())));
  }
  return absl::OkStatus();
}

// Its publishers had the old socket; the next one gets the new one.
void Instance::take_over_view(HandoverState& known) {
  const LaunchSpec& spec = known.spec();
  publisher_incarnation_ = spec.publisher_incarnation;
  if (spec.view_page_fd < 0) return;
  auto segment = Segment::map(spec.view_page_fd, Segment::Access::kReadOnly);
  if (!segment.ok()) return;  // then there is no view any more
  view_page_segment_ = *std::move(segment);
  view_page_fd_ = known.take(spec.view_page_fd);
  if (spec.view_socket.fd < 0) return;
  const std::string path = view_socket_path(config_.socket);
  view_binding_ = spec.view_socket.binding;
  view_socket_ = UnixListener(known.take(spec.view_socket.fd), path, spec.view_socket.file);
  view_socket_.listen_again();
  if (view_socket_.has_file()) return;
  auto bound = bind_view_socket(config_);
  if (!bound.ok()) {
    warnings_.push_back(absl::StrCat("the view socket's file is gone, and no new one can be made: ",
                                     std::string(bound.status().message())));
    return;
  }
  view_socket_ = *std::move(bound);
  ++view_binding_;
  new_view_socket_ = true;
}

absl::Status Instance::begin_publisher() {
  auto inbox = fabric_.renew_inbox(EndpointId(static_cast<std::uint16_t>(view_endpoint(config_))));
  if (!inbox.ok()) return inbox.status();
  ++publisher_incarnation_;
  return absl::OkStatus();
}

absl::Status Instance::tell_publisher(SupervisionChannel& channel, Told& told) const {
  std::uint32_t& known = told.incarnations[static_cast<std::size_t>(config_.replicas) + 1];
  if (known >= publisher_incarnation_) return absl::OkStatus();
  const int endpoint = view_endpoint(config_);
  const int fds[] = {inbox(endpoint)};
  absl::Status status = channel.send(incarnation_message(endpoint, publisher_incarnation_), fds);
  if (status.ok()) known = publisher_incarnation_;
  return status;
}

}  // namespace ingot::services_instance
