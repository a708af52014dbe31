#include "services/handover/adoption.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/handover/process_sockets.h"
#include "services/sockets/passed_descriptors.h"

namespace ingot::inline services_handover {

absl::StatusOr<Descriptor> listen_for_supervisor(const std::string& instance, const std::string& child) {
  auto listener = listen_as(instance, child, kSupervisorsWaitingMax);
  if (!listener.ok()) return listener.status();
  return std::move(listener->fd);
}

absl::StatusOr<Descriptor> accept_supervisor(int listener) {
  for (int strangers = 0; strangers <= kSupervisorsWaitingMax; ++strangers) {
    Descriptor fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid()) {
      const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (!exhausted) break;
      return absl::ResourceExhaustedError(absl::StrCat("cannot accept a supervisor: ", std::strerror(errno)));
    }
    pid_t ignored = 0;
    if (same_user(fd.get(), ignored)) {
      allow_passed_descriptors(fd.get());
      return fd;
    }
    close_unread(std::move(fd));
  }
  return Descriptor();
}

}  // namespace ingot::services_handover
