#include "services/supervision/child.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/process/descriptor_passing.h"
#include "services/supervision/pidfd.h"
#include "services/supervision/supervision_limits.h"

namespace ingot {

ChildRole ChildRole::replica(int id) { return {"replica", absl::StrCat("replica ", id), {id}, id}; }

ChildRole ChildRole::all_replicas(int replicas) {
  ChildRole role{"replicas", kAllReplicasLabel, {}, -1};
  for (int id = 0; id < replicas; ++id) role.replicas.push_back(id);
  return role;
}

ChildRole ChildRole::front_end(int replicas) { return {"front-end", kFrontEndLabel, {}, replicas}; }

Child::Child(boost::asio::io_context& io, ChildRole role, pid_t pid, Descriptor pidfd, Descriptor control,
             std::uint32_t incarnation)
    : role(std::move(role)),
      pid(pid),
      incarnation(incarnation),
      control(io, control.release()),
      pidfd(io, pidfd.release()) {}

std::string Child::name() const { return absl::StrCat(role.label, " (pid ", pid, ")"); }

void Child::send(std::string_view text, std::span<const int> fds, int endpoint) {
  if (pending_.empty() && !absl::IsUnavailable(send_message(control.native_handle(), text, fds))) return;
  const bool waits = !pending_.empty();
  remember(text, fds, endpoint);
  if (!waits) send_when_writable();
}

void Child::remember(std::string_view text, std::span<const int> fds, int endpoint) {
  const auto same = [&](const Pending& each) { return endpoint >= 0 && each.endpoint == endpoint; };
  if (std::count_if(pending_.begin(), pending_.end(), same) >= static_cast<std::ptrdiff_t>(kPendingIncarnationsPerEndpoint)) {
    pending_.erase(std::find_if(pending_.begin(), pending_.end(), same));
  }
  Pending word{std::string(text), {}, endpoint};
  for (const int fd : fds) word.fds.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  pending_.push_back(std::move(word));
}

void Child::send_when_writable() {
  control.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (!error) self->send_pending();
                     });
}

void Child::send_pending() {
  while (!pending_.empty()) {
    std::vector<int> fds;
    for (const Descriptor& fd : pending_.front().fds) fds.push_back(fd.get());
    if (absl::IsUnavailable(send_message(control.native_handle(), pending_.front().text, fds))) {
      send_when_writable();
      return;
    }
    pending_.pop_front();
  }
}

void Child::signal(int number) { (void)!::pidfd_send_signal(pidfd.native_handle(), number, nullptr, 0); }

}  // namespace ingot
