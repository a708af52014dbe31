// ingotd's first process: starts the others, watches them, restarts them, and takes the instance down in order. It
// serves no requests, has one thread, and never initialises gRPC.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "absl/status/status.h"
#include "services/handover/orphans.h"
#include "services/instance/instance.h"
#include "services/supervision/answer_watch.h"
#include "services/supervision/children.h"
#include "services/supervision/publisher_start.h"
#include "services/supervision/restarts.h"
#include "services/supervision/revision_window.h"

namespace ingot::inline services_supervision {

// Life of an instance: replicas start; when all are ready, the front end starts; when it is ready, the instance serves.
// From then on a process that dies is started again (services/supervision/restarts.h), and a front end that answers
// nothing is killed for that (services/supervision/answer_watch.h). There are two exceptions: if all
// replicas are threads of one process, its death loses the state, and the instance ends with an error; and a process
// that cannot start the first time ends the instance, too. An attached instance serves at once. SIGTERM or SIGINT: the
// front end drains, then the replicas leave, then run() returns OK.
class Supervisor final : private ChildObserver {
 public:
  explicit Supervisor(Instance& instance);

  // run() starts the instance; run_attached() takes over its orphans, which had no supervisor for `orphan_ms`. Both
  // block until the instance has ended and no child is left.
  absl::Status run();
  absl::Status run_attached(std::vector<Orphan> orphans, std::int64_t orphan_ms);

 private:
  enum class Phase { kReplicasStart, kFrontEndStarts, kServing, kDraining, kStopping };

  void child_ready(Child& child) override;
  void child_failed(Child& child, const absl::Status& why) override;
  void child_answered(Child& child) override;
  void child_published(Child& child, const supervision_v1::Snapshot& published, Descriptor snapshot) override;
  void child_ended(Child& child, const std::string& how) override;

  absl::Status run_loop();
  absl::Status start_replicas();
  void adopt(std::vector<Orphan> orphans, std::int64_t orphan_ms);
  void start_missing();
  void prepare_standby();
  void start_if_missing(const ChildRole& role);
  bool starts_for_the_first_time(const Child& child) const;
  void react_to_end(Child& child, const std::string& how);
  void watch_stop_signals();
  void log_serving();
  void begin_service();
  void keep_trace();
  void drain();
  void stop(absl::Status why);
  void kill_after_deadline();

  Instance& instance_;
  boost::asio::io_context io_{1};
  boost::asio::signal_set stop_signals_{io_};
  boost::asio::steady_timer deadline_{io_};
  boost::asio::steady_timer trace_timer_{io_};
  Children children_{io_, instance_, *this};
  Restarts restarts_{io_, instance_, children_};
  AnswerWatch front_end_watch_{io_, children_, kFrontEndLabel, [this] { instance_.page().front_end_hangs.add(1); }};
  PublisherStart publisher_{io_, instance_, children_, restarts_};
  RevisionTimer revision_timer_{io_, instance_};
  Phase phase_ = Phase::kReplicasStart;
  bool serving_logged_ = false;
  absl::Status outcome_;
};

}  // namespace ingot::services_supervision
