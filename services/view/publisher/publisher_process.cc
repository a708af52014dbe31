#include "services/view/publisher/publisher_process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "absl/strings/str_cat.h"
#include "replication/client/session_client.h"
#include "services/access/view_rights.h"
#include "services/handover/supervisor_link.h"
#include "services/instance/instance_memory.h"
#include "services/instance/session_options.h"
#include "services/launch/process_signal.h"
#include "services/log/log.h"
#include "services/rpc/loop/asio_waiter.h"
#include "services/view/publisher/limits.h"
#include "services/view/publisher/publisher.h"
#include "services/view/tickets/server.h"
#include "transport/channel_transport.h"
#include "transport/host/event_loop.h"
#include "transport/host/host_transport.h"

namespace ingot::inline services_view_publisher {

namespace {

EndpointId endpoint_of(const LaunchSpec& spec) {
  return EndpointId(static_cast<std::uint16_t>(view_endpoint(spec.config)));
}

// What waits for a view can wait a little longer; what is lost with it can be made anew.
void yield_to_others() {
  (void)::setpriority(PRIO_PROCESS, 0, kPublisherNice);
  std::ofstream("/proc/self/oom_score_adj") << kPublisherOomScore;
}

// The pid has release: who reads it with acquire has the start time that belongs to it.
void show_process(ViewPage& page) {
  page.layout_version.set(kViewPageLayoutVersion);
  page.pid.set(0);
  page.started.set(process_start(::getpid()));
  page.pid.set_release(static_cast<std::uint64_t>(::getpid()));
}

// It would never exchange messages with the incarnation that it was to be told of; the next publisher does.
void leave_after_loss(const absl::Status& why) {
  log_last(absl::StrCat("ends, to be started again: a message of the supervisor was lost: ",
                        std::string(why.message())));
  ::_exit(1);
}

// The objects of the process. The order of the members is that of construction: later ones use earlier ones.
class PublisherProcess {
 public:
  // `page`: mapped for writing. All arguments outlive the object.
  PublisherProcess(const LaunchSpec& spec, InstanceMemory& memory, ViewPage& page)
      : spec_(spec),
        memory_(memory),
        page_(page),
        transport_(make_transport(spec.config.transport, memory.inboxes(), endpoint_of(spec), memory.fabric(), {})),
        incarnations_(memory.fabric(), *transport_, memory.incarnations()),
        client_(*transport_, session_options(spec, memory.view(), incarnations_,
                                             Incarnation(spec.publisher_incarnation))) {}

  absl::Status start(Descriptor listener) {
    auto rights = view_rights(spec_.config.view_users, spec_.config.view_groups);
    if (!rights.ok()) return rights.status();
    auto loop = EventLoop::create(WaitOptions{}, {}, std::make_unique<rpc::AsioWaiter>(io_));
    if (!loop.ok()) return loop.status();
    loop_ = *std::move(loop);
    tickets_ = std::make_unique<TicketServer>(*loop_, std::move(listener), *std::move(rights), page_);
    const PublisherOptions options{spec_.config.cluster_id, spec_.publisher_incarnation,
                                   static_cast<std::uint64_t>(spec_.config.view_bytes),
                                   spec_.config.view == ViewMode::kAuto};
    auto publisher = Publisher::create(options, client_, memory_.view(), page_, *tickets_);
    if (!publisher.ok()) return publisher.status();
    publisher_ = *std::move(publisher);
    loop_->add(*publisher_);
    loop_->add(*tickets_);
    loop_->add(client_, memory_.fabric(), endpoint_of(spec_));  // last: the round ends with the session's messages
    return absl::OkStatus();
  }

  void run(SupervisorLink& link) {
    link.watch(*loop_, [&](const SupervisionMessage& message, const std::vector<Descriptor>& fds) {
      if (message.has_incarnation()) begin_incarnation(message.incarnation(), fds);
      if (message.has_ping()) link.send(pong_message()).IgnoreError();
      if (!message.has_leave()) return;
      publisher_->close();
      loop_->stop();
    }, leave_after_loss);
    link.send_ready();
    loop_->run();
  }

 private:
  void begin_incarnation(const supervision_v1::NewIncarnation& started, const std::vector<Descriptor>& fds) {
    if (started.endpoint() >= spec_.config.replicas || started.ended()) return;  // the next one begins
    auto inbox = memory_.fabric().map_inbox(fds[0].get());
    if (!inbox.ok()) {
      return log_warning(absl::StrCat("a new incarnation could not be taken up: ", inbox.status().ToString()));
    }
    client_.begin_incarnation({EndpointId(static_cast<std::uint16_t>(started.endpoint())),
                               Incarnation(started.incarnation()), *std::move(inbox)});
  }

  const LaunchSpec& spec_;
  InstanceMemory& memory_;
  ViewPage& page_;
  boost::asio::io_context io_{1};
  std::unique_ptr<EventLoop> loop_;
  const std::unique_ptr<ChannelTransport> transport_;
  PeerIncarnations incarnations_;
  SessionClient client_;
  std::unique_ptr<TicketServer> tickets_;
  std::unique_ptr<Publisher> publisher_;
};

}  // namespace

int run_publisher_process(LaunchSpec spec) {
  const auto link = SupervisorLink::open(spec, "view");
  if (link == nullptr) return 1;
  yield_to_others();
  auto memory = InstanceMemory::attach(spec);
  auto page = Segment::map(spec.view_page_fd, Segment::Access::kReadWrite);
  absl::Status status = memory.status();
  status.Update(page.status());
  if (!status.ok()) {
    link->send_failed(status);
    return 1;
  }
  Descriptor listener(std::exchange(spec.view_socket.fd, -1));
  spec.close_descriptors();
  (*memory)->forget_stable_segments();
  ViewPage& shown = *page->as<ViewPage>();
  show_process(shown);
  PublisherProcess process(spec, **memory, shown);
  if (status = process.start(std::move(listener)); !status.ok()) {
    link->send_failed(status);
    return 1;
  }
  process.run(*link);
  return 0;
}

}  // namespace ingot::services_view_publisher
