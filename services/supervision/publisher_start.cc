#include "services/supervision/publisher_start.h"

#include <signal.h>

#include "services/launch/child_role.h"
#include "services/launch/process_signal.h"
#include "services/log/log.h"
#include "services/supervision/limits.h"

namespace ingot::inline services_supervision {

PublisherStart::PublisherStart(boost::asio::io_context& io, Instance& instance, Children& children,
                               Restarts& restarts)
    : instance_(instance),
      children_(children),
      restarts_(restarts),
      socket_(io),
      watch_(io, children, kPublisherLabel, [] {}) {}

void PublisherStart::begin() {
  if (!instance_.has_view_socket()) return;
  if (Child* adopted = children_.running(kPublisherLabel)) {
    watch_.start(kPublisherTimeoutMs);
    // It serves a socket whose path leads nowhere; the next one gets the new socket.
    if (instance_.new_view_socket()) adopted->signal(SIGKILL);
    return;
  }
  end_unadopted();
  if (instance_.config().view == ViewMode::kAlways) return start();
  wait_for_reader();
}

void PublisherStart::end_unadopted() {
  const ViewPage* const page = instance_.view_page();
  if (page == nullptr) return;
  const auto pid = static_cast<pid_t>(page->pid.get_acquire());
  const std::uint64_t started = page->started.get();
  if (pid > 0 && started > 0) send_signal(pid, started, SIGKILL).IgnoreError();
}

void PublisherStart::wait_for_reader() {
  socket_.assign(instance_.view_socket());
  socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    socket_.release();
    log_info("a reader has come: the view's publisher starts");
    start();
  });
}

void PublisherStart::start() {
  watch_.start(kPublisherTimeoutMs);
  restarts_.begin(ChildRole::publisher(instance_.config()));
}

// The socket is the instance's, so Asio only releases it.
void PublisherStart::cancel() {
  watch_.cancel();
  if (socket_.is_open()) socket_.release();
}

}  // namespace ingot::services_supervision
