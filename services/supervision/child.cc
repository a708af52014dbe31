#include "services/supervision/child.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/supervision/pidfd.h"

namespace ingot {

ChildRole ChildRole::replica(int id) { return {"replica", absl::StrCat("replica ", id), {id}, id}; }

ChildRole ChildRole::all_replicas(int replicas) {
  ChildRole role{"replicas", kAllReplicasLabel, {}, -1};
  for (int id = 0; id < replicas; ++id) role.replicas.push_back(id);
  return role;
}

ChildRole ChildRole::front_end(int replicas) { return {"front-end", kFrontEndLabel, {}, replicas}; }

Child::Child(boost::asio::io_context& io, ChildRole role, pid_t pid, Descriptor pidfd, SupervisionChannel channel,
             std::uint32_t incarnation)
    : role(std::move(role)),
      pid(pid),
      incarnation(incarnation),
      channel(std::move(channel)),
      channel_ready(io, this->channel.fd()),
      pidfd(io, pidfd.release()) {}

Child::~Child() { close(); }

std::string Child::name() const { return absl::StrCat(role.label, " (pid ", pid, ")"); }

void Child::post(const SupervisionMessage& message, std::span<const int> fds) {
  channel.post(message, fds);
  if (channel.pending() && !waits_for_room_) flush_when_writable();
}

void Child::flush_when_writable() {
  waits_for_room_ = true;
  channel_ready.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                           [self = shared_from_this()](const boost::system::error_code& error) {
                             self->waits_for_room_ = false;
                             if (error) return;
                             self->channel.flush();
                             if (self->channel.pending()) self->flush_when_writable();
                           });
}

void Child::signal(int number) { (void)!::pidfd_send_signal(pidfd.native_handle(), number, nullptr, 0); }

// The channel owns the socket and closes it, so Asio only releases it.
void Child::close() {
  if (channel_ready.is_open()) channel_ready.release();
  channel.close();
  boost::system::error_code ignored;
  pidfd.close(ignored);
}

}  // namespace ingot
