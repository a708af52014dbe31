// The sockets on which an instance listens: made at its start, handed over with it, and given up at its end.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/instance/instance.h"
#include "services/sockets/tcp_listener.h"

namespace ingot::inline services_instance {

void Instance::take_sockets(Descriptor listener, ConfiguredSocket socket) {
  listener_ = std::move(listener);
  socket_ = std::move(socket.listener);
  binding_ = socket_.valid() ? 1 : 0;
  if (std::string exposure = describe_exposure(config_, listener_.get()); !exposure.empty()) {
    warnings_.push_back(std::move(exposure));
  }
  if (!socket.why_none.empty()) warnings_.push_back(std::move(socket.why_none));
}

// REQUIRES: listen_again() has succeeded with the TCP socket.
void Instance::take_over_sockets(HandoverState& known) {
  const LaunchSpec& spec = known.spec();
  listener_ = known.take(spec.listen_fd);
  if (std::string exposure = describe_exposure(config_, listener_.get()); !exposure.empty()) {
    warnings_.push_back(std::move(exposure));
  }
  if (spec.socket.fd < 0) return;
  binding_ = spec.socket.binding;
  socket_ = UnixListener(known.take(spec.socket.fd), config_.socket, spec.socket.file);
  socket_.listen_again();
  if (!socket_.has_file()) bind_lost_socket();
}

// The instance goes on without it if that cannot be: its clients can still connect over TCP.
void Instance::bind_lost_socket() {
  auto bound = open_socket_again(config_);
  if (!bound.ok()) {
    warnings_.push_back(absl::StrCat("the Unix socket's file is gone, and no new one can be made: ",
                                     std::string(bound.status().message())));
    return;
  }
  socket_ = *std::move(bound);
  ++binding_;
}

// The Unix socket cannot listen again once it has been shut down; without its file it is bound anew.
void Instance::refuse_connections() {
  ingot::refuse_connections(listener_.get());
  socket_.remove_file();
  view_socket_.remove_file();
}

// Every process knows the first binding since its start, also one that was stopped and has not said so.
absl::Status Instance::tell_socket(SupervisionChannel& channel, Told& told) const {
  if (std::max(told.binding, 1U) >= binding_) return absl::OkStatus();
  const int fds[] = {socket_.fd()};
  absl::Status status = channel.send(socket_message(binding_, socket_.file()), fds);
  if (status.ok()) told.binding = binding_;
  return status;
}

}  // namespace ingot::services_instance
