// Automatic compaction, the supervisor's part: finds out which revisions are old enough, and writes that on DaemonPage.
// The front end compacts to it (services/serving/auto_compaction.h). The window of revisions by time lies on the page,
// too, so that neither a new supervisor nor a new front end begins to count anew.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "absl/status/status.h"
#include "replication/pages/pages.h"
#include "services/config/auto_compaction.h"
#include "services/instance/instance.h"
#include "transport/host/segment.h"

namespace ingot::inline services_supervision {

// Used by one thread, the page's only writer.
class RevisionWindow {
 public:
  // The page outlives the object. REQUIRES: wanted.on().
  RevisionWindow(const AutoCompaction& wanted, DaemonPage& page);

  // How often note() is to be called.
  std::int64_t interval_ms() const { return interval_ms_; }

  // The store is at `revision`. `now_ms`: steady time of the machine, which all processes share; above 0.
  void note(std::int64_t now_ms, std::int64_t revision);

 private:
  void sample(std::int64_t now_ms, std::int64_t revision);

  const AutoCompaction wanted_;
  const std::int64_t interval_ms_;
  DaemonPage& page_;
};

// Notes the store's revision, as the replicas' pages show it, as long as the supervisor runs. Used by its one thread.
class RevisionTimer {
 public:
  RevisionTimer(boost::asio::io_context& io, Instance& instance) : instance_(instance), timer_(io) {}

  // From now on, if automatic compaction is on. To be called once. Errors: RESOURCE_EXHAUSTED (the pages cannot be
  // mapped); then there is none.
  absl::Status start();

 private:
  void tick();

  Instance& instance_;
  boost::asio::steady_timer timer_;
  std::vector<Segment> pages_;  // of the replicas
  std::optional<RevisionWindow> window_;
};

}  // namespace ingot::services_supervision
